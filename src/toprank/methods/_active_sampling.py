"""Active sampling of pairs and points: what ASRankSVM and ASCRC share.

Problem  min over w   alpha/2 |w|^2 + sum over the chosen pairs q of  c_q [1 - w.z_q]_+
         z_q = x_i - x_j, a positive row less a negative one; a pseudo-pair is one row: x_i or -x_j
Paper    W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear
         Bipartite Ranking, ACML 2013: Algorithm 1, the strategies of 3.3, (5), the weights of 4.2
Symbols  L* -> the chosen pairs;  B -> budget;  b -> batch_size;  C B -> 1/alpha;
         C_ij / (C B) -> c_q, which are |L*| / B together, in the end 1
Differs  Until the last round each is one epoch of dual descent from where the one before ended, or
         a thousand steps of it, for there w only steers the sampling; the last goes on to its
         duality gap. gamma is the probability that a proposal is a real pair: were proposals
         uniform over pairs and points, points would hardly ever be among them. The hard strategies
         enumerate nothing, the soft ones never wait long for a pair to be accepted, and where no
         pair is left that has a loss the fit ends early. How pairs are weighed is an option: see
         `loss_weights`.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from .._core import PairDescent, PairSampler
from ..base import Ranker, _seed, warn_caller, warn_trivial
from ..designs import NO_ROW, DenseDesign, MemoryDesign, PairDesign, centred
from ..losses import PointLoss
from ..metrics import auc
from ..problem import Certificate, Problem, Solution
from ..solvers import MOST_FEATURES, from_inside
from ..split import Split
from ..validation import check_labels, check_matrix
from ..watch import Watch
from ._chosen_pairs import WEIGHTINGS, ChosenPairs

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

STRATEGIES = ("random", "soft-close", "soft-correct", "hard-close", "hard-correct")

#: Steps of dual descent between two rounds at least, and one epoch: the w of few pairs comes cheap.
STEPS = 1000

#: The last of `max_iter`, kept for steps from inside, which are not taken where the differences
#: have more entries than this. Those of dense rows are written out for them.
INNER_STEPS, MOST_ENTRIES = 100, 1 << 25

#: One row of the history of a fit.
HISTORY = np.dtype(
    [
        ("n_pairs", np.int64),
        ("proposals", np.int64),
        ("acceptance", np.float64),
        ("seconds", np.float64),
        ("auc", np.float64),
    ]
)


class ActiveSamplingRanker(Ranker):
    """A ranker that learns from pairs it draws by how its weights so far score them."""

    certificate_: Certificate
    history_: NDArray[np.void]
    trivial_: bool

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "budget": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "strategy": [StrOptions(set(STRATEGIES))],
        "weighting": [StrOptions(set(WEIGHTINGS))],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_threads": [None, Interval(Integral, 1, 4096, closed="both")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alpha: float = 1 / 800,
        *,
        budget: int = 8000,
        batch_size: int = 100,
        strategy: str = "soft-correct",
        weighting: str = "rate",
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.budget = budget
        self.batch_size = batch_size
        self.strategy = strategy
        self.weighting = weighting
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _gamma(self, split: Split) -> float:
        """The probability that a proposed pair is a real one."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Draw pairs and learn the score from them, in turns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. float32 and float64 are used as they are, without a copy.
        y : array-like of shape (n_samples,)
            Two labels; the greater one is the positive class.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 0 is as if absent. Other weights change how much a pair counts once it
            is drawn: by the product of its rows' weights. They do not change how pairs are drawn.
        eval_set : tuple (X, y), optional
            Rows, such as held out ones, whose area under the ROC curve `history_` tells for every
            round. It takes no part in the fit.

        Returns
        -------
        self
            The fitted ranker.
        """
        if self.batch_size > self.budget:
            raise ValueError(
                f"batch_size={self.batch_size} is larger than budget={self.budget}: the pairs of "
                "one round cannot be more than those of all rounds. Lower batch_size or raise "
                "budget."
            )
        seed = _seed(self.random_state)
        design: MemoryDesign
        design = check_matrix(self, X, reset=True, n_threads=self.n_threads)
        self.classes_, split = check_labels(y, sample_weight, design)
        if self._gamma(split) == 1.0:  # of pairs alone offsets of columns change nothing
            design = centred(design, split.rows)
        curve = _LearningCurve(self, eval_set)
        chosen, solution = self._sample(design, split, curve, seed)
        self._keep(design, split, chosen, solution)
        self.n_iter_, self.history_ = len(curve.rows), np.array(curve.rows, dtype=HISTORY)
        return self

    def _sample(
        self, design: MemoryDesign, split: Split, curve: _LearningCurve, seed: int
    ) -> tuple[ChosenPairs, Solution]:
        """Algorithm 1: draw b pairs at the current w, add them to L*, train on L*; until |L*| = B.

        Where nothing can be drawn, no pair outside L* has a loss at w. Once w is the best for L*,
        it is then the best for all pairs, whatever the others' weights are: that is the end, too.
        """
        matrix, gamma = design.by_rows(), self._gamma(split)
        sampler = PairSampler(matrix, split.pos, split.neg, gamma, seed)
        svm = PairDescent(matrix, seed)
        chosen = ChosenPairs(split, gamma, min(self.budget, sampler.n_pairs))
        w, bounds = np.zeros(design.shape[1]), np.empty(0)
        strategy, solution = "random", None
        while len(chosen) < chosen.budget:
            wanted = min(self.batch_size, chosen.budget - len(chosen))
            first, second, p, acceptance, proposals = sampler.draw(
                w, wanted, strategy, n_threads=design.n_threads
            )
            if len(first) == 0 and solution is not None:
                break
            chosen.add(first, second, p, acceptance)
            before, bounds = bounds, chosen.weights(self.weighting) / self.alpha
            if len(before) > 0:  # all of them have changed by one factor
                heaviest = before.argmax()
                # ... which may be smaller than any number, but not zero
                svm.scale(max(bounds[heaviest] / before[heaviest], np.finfo(np.float64).tiny))
            svm.add(first, second, bounds[len(before) :], np.zeros(len(first)))
            if len(chosen) == chosen.budget or len(first) == 0:
                svm.set_bounds(bounds)  # free of the roundings of many factors
                solution = self._optimum(design, chosen, svm)
                w = solution.w
            else:
                for _ in range(max(1, STEPS // len(chosen))):
                    svm.epoch()
                w, solution = svm.weights, None
            curve.note(len(chosen), proposals, acceptance, w)
            strategy = self.strategy
        assert solution is not None
        self.stopped_early_ = len(chosen) < chosen.budget
        return chosen, solution

    def _problem(self, design: MemoryDesign, chosen: ChosenPairs) -> Problem:
        """That of the chosen pairs."""
        pairs = PairDesign(design, chosen.first, chosen.second)
        return Problem(pairs, PointLoss(chosen.weights(self.weighting)), float(self.alpha))

    def _optimum(self, design: MemoryDesign, chosen: ChosenPairs, svm: PairDescent) -> Solution:
        """The best w for the chosen pairs: by descent and, where that crawls, from inside."""
        n_features = design.shape[1]
        narrow = n_features <= MOST_FEATURES and len(chosen) * n_features <= MOST_ENTRIES
        left = min(INNER_STEPS, self.max_iter // 2) if narrow else 0
        epochs, primal, dual = svm.solve(self.tol, self.max_iter - left)
        # alpha times what was divided by it may be a rounding too much
        v = np.maximum(-self.alpha * svm.duals, -chosen.weights(self.weighting))
        found = Solution(svm.weights, v, n_iter=epochs, alpha=self.alpha)
        if primal - dual <= self.tol * primal or epochs == self.max_iter:
            return found
        problem = self._problem(design, chosen)
        if isinstance(design, DenseDesign):
            # Its many products are with the differences themselves, as the rows of a matrix.
            rows = np.arange(len(chosen))
            written_out = DenseDesign(problem.design.take(rows), design.n_threads)
            problem.design = PairDesign(written_out, rows, np.full(len(chosen), NO_ROW))
        watch = Watch(problem.design)
        return from_inside(problem, found, tol=self.tol, max_iter=self.max_iter, watch=watch)

    def _keep(
        self, design: MemoryDesign, split: Split, chosen: ChosenPairs, solution: Solution
    ) -> None:
        """Set the fitted attributes, certify the weights, and warn where the gap is too wide."""
        problem, scores = self._problem(design, chosen), design.scores(solution.w)
        above, below = (
            np.where(side == NO_ROW, 0.0, scores[side]) for side in (chosen.first, chosen.second)
        )
        self.certificate_ = problem.certify(solution.w, solution.dual, above - below)
        self.coef_ = solution.w[np.newaxis]
        offset = 0.0 if design.offset is None else float(design.offset @ solution.w)
        self.intercept_ = np.array([-split.share_threshold(scores) - offset])
        self.pairs_ = np.column_stack([chosen.first, chosen.second])
        self.pair_weight_ = chosen.weights(self.weighting)
        self.n_pairs_ = len(chosen)
        certified = self.certificate_.holds(self.tol)
        self.trivial_ = certified and not solution.w.any()
        if self.trivial_:
            warn_trivial(
                self,
                "The differences of the pairs that were drawn cancel each other out.",
                "See whether the two classes have the same mean, and try other features.",
            )
        if not certified:
            warn_caller(
                f"{type(self).__name__} ended with a relative gap of "
                f"{self.certificate_.relative_gap:.3g} on its {self.n_pairs_} pairs, above "
                f"tol={self.tol:g}. Raise max_iter or alpha, scale the features, or accept the gap "
                "by a larger tol.",
                ConvergenceWarning,
            )


class _LearningCurve:
    """A row of history a round, and what the weights are worth on rows held out."""

    def __init__(self, ranker: ActiveSamplingRanker, eval_set: Any) -> None:
        self.rows: list[tuple[int, int, float, float, float]] = []
        self._began, self._verbose = time.perf_counter(), ranker.verbose
        self._design: MemoryDesign | None = None
        if eval_set is None:
            return
        try:
            X, self._labels = eval_set
        except (TypeError, ValueError) as error:
            raise ValueError("eval_set must be a pair (X, y): rows and their labels.") from error
        try:
            self._design = check_matrix(ranker, X, reset=False, n_threads=ranker.n_threads)
            classes, _ = check_labels(self._labels, None, self._design)
        except ValueError as error:
            raise ValueError(f"eval_set cannot be used: {error}") from error
        if not np.array_equal(classes, ranker.classes_):
            raise ValueError(
                f"eval_set has the labels {classes.tolist()}, y has {ranker.classes_.tolist()}: "
                "both need the same two."
            )

    def note(self, n_pairs: int, proposals: int, acceptance: float, w: Array) -> None:
        """Add a row."""
        seconds = time.perf_counter() - self._began
        area = np.nan
        if self._design is not None:
            area = auc(self._labels, self._design.scores(w))
        self.rows.append((n_pairs, proposals, acceptance, seconds, area))
        if self._verbose > 0:
            if len(self.rows) == 1:
                names = ("pairs", "proposals", "acceptance", "seconds", "AUC")
                print("{:>9} {:>9} {:>10} {:>8} {:>8}".format(*names))
            print(
                f"{n_pairs:>9} {proposals:>9} {acceptance:>10.4g} {seconds:>8.2f} {area:>8.4f}",
                flush=True,
            )
