"""Active sampling of pairs and points: what ASRankSVM and ASCRC share.

Problem  min over w   alpha/2 |w|^2 + sum over the chosen pairs q of  c_q [1 - w.z_q]_+
         z_q = x_i - x_j, a positive row less a negative one; a pseudo-pair is one row: x_i or -x_j
Paper    W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear
         Bipartite Ranking, ACML 2013: Algorithm 1, the strategies of 3.3, (5), the weights of 4.2
Symbols  L* -> the chosen pairs;  B -> n_pairs;  b -> batch_size;  C B -> 1/alpha;
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

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..._core import PairDescent, PairSampler
from ...designs import NO_ROW, Design, PairDesign
from ...estimators.ranker import Learnt, Ranker, fitting
from ...estimators.validation import LabelledRows, check_matrix, check_two_labels
from ...inputs.class_split import Split
from ...losses import RowLoss
from ...metrics import auc
from ...problems import Problem, Solution
from ...solvers import hand_over, interior_point
from ...solvers.cost import CACHED_FEATURES
from ...solvers.watch import Watch
from ...surrogates import SURROGATES
from .chosen_pairs import WEIGHTINGS, ChosenPairs

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

STRATEGIES = ("random", "soft-close", "soft-correct", "hard-close", "hard-correct")

#: Steps of dual descent between two rounds at least, and one epoch: the w of few pairs comes cheap.
STEPS = 1000

#: The last of `max_iter`, kept for steps from inside, which are not taken where the differences
#: have more entries than this. Those of dense rows are written out for them.
INNER_STEPS, MOST_ENTRIES = 100, 1 << 25

#: The core counts epochs by a number of 64 bits.
MOST_EPOCHS = 2**63 - 1

#: One row of `rounds_`.
ROUNDS = np.dtype(
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

    alpha: float
    n_pairs: int
    batch_size: int
    strategy: str
    weighting: str
    tol: float
    max_iter: int

    _why_trivial: ClassVar[str] = (
        "The differences of the pairs that were drawn cancel each other out."
    )
    _instead: ClassVar[str] = (
        "See whether the two classes have the same mean, and try other features."
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "strategy": [StrOptions(set(STRATEGIES))],
        "weighting": [StrOptions(set(WEIGHTINGS))],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, MOST_EPOCHS, closed="both")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha: float = 1 / 800,
        *,
        n_pairs: int = 8000,
        batch_size: int = 100,
        strategy: str = "soft-correct",
        weighting: str = "rate",
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.n_pairs = n_pairs
        self.batch_size = batch_size
        self.strategy = strategy
        self.weighting = weighting
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    @abstractmethod
    def _gamma(self, split: Split) -> float:
        """The probability that a proposed pair is a real one."""

    @fitting
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
            Two labels; `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 0 is as if absent. Other weights change how much a pair counts once it
            is drawn: by the product of its rows' weights. They do not change how pairs are drawn.
        eval_set : tuple (X, y), optional
            Rows, such as held out ones, whose area under the ROC curve `rounds_` tells for every
            round. It takes no part in the fit.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight, eval_set=eval_set)

    def _check(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> LabelledRows:
        if self.batch_size > self.n_pairs:
            raise ValueError(
                f"batch_size={self.batch_size} is larger than n_pairs={self.n_pairs}: the pairs of "
                "one round cannot be more than those of all rounds. Lower batch_size or raise "
                "n_pairs."
            )
        return super()._check(X, y, sample_weight)

    def _learn(self, rows: LabelledRows, watch: Watch, eval_set: Any = None) -> Learnt:
        seed, split = self._seed(), rows.split
        design: Design = rows.design
        if self._gamma(split) == 1.0:  # of pairs alone offsets of columns change nothing
            design = design.centred(split.rows)
        watch.design = design
        watch.attributes = lambda w: self._score(design, split, w, design.scores(w))
        curve = _LearningCurve(self, eval_set, watch)
        chosen, solution = self._sample(design, split, curve, seed)
        return self._learnt(design, split, chosen, solution, curve)

    def _sample(
        self, design: Design, split: Split, curve: _LearningCurve, seed: int
    ) -> tuple[ChosenPairs, Solution]:
        """Algorithm 1: draw b pairs at the current w, add them to L*, train on L*; until |L*| = B.

        Where nothing can be drawn, no pair outside L* has a loss at w. Once w is the best for L*,
        it is then the best for all pairs, whatever the others' weights are: that is the end, too.
        """
        matrix, gamma = design.by_rows(), self._gamma(split)
        sampler = PairSampler(matrix, split.pos, split.neg, gamma, seed)
        svm = PairDescent(matrix, seed)
        chosen = ChosenPairs(split, gamma, min(self.n_pairs, sampler.n_pairs))
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
            stop = curve.note(len(chosen), proposals, acceptance, w)
            if stop and solution is None:
                svm.set_bounds(bounds)
                solution = self._optimum(design, chosen, svm)
            if stop:
                break
            strategy = self.strategy
        assert solution is not None
        return chosen, solution

    def _problem(self, design: Design, chosen: ChosenPairs) -> Problem:
        """That of the chosen pairs."""
        pairs = PairDesign(design, chosen.first, chosen.second)
        loss = RowLoss(chosen.weights(self.weighting), SURROGATES["hinge"])
        return Problem(pairs, loss, float(self.alpha))

    def _optimum(self, design: Design, chosen: ChosenPairs, svm: PairDescent) -> Solution:
        """The best w for the chosen pairs: by descent and, where that crawls, from inside."""
        n_features = design.shape[1]
        narrow = n_features <= CACHED_FEATURES and len(chosen) * n_features <= MOST_ENTRIES
        left = min(INNER_STEPS, self.max_iter // 2) if narrow else 0
        epochs, primal, dual = svm.solve(self.tol, self.max_iter - left)
        # alpha times what was divided by it may be a rounding too much
        v = np.maximum(-self.alpha * svm.duals, -chosen.weights(self.weighting))
        found = Solution(svm.weights, v, n_iter=epochs, solver="pair-descent", alpha=self.alpha)
        if primal - dual <= self.tol * primal or epochs == self.max_iter:
            return found
        problem = self._problem(design, chosen)
        # Its many products are with the differences themselves, as the rows of a matrix.
        problem.design = PairDesign(design, chosen.first, chosen.second).written_out()
        watch = Watch(problem.design)
        return hand_over(
            interior_point, problem, found, tol=self.tol, max_iter=self.max_iter, watch=watch
        )

    def _learnt(
        self,
        design: Design,
        split: Split,
        chosen: ChosenPairs,
        solution: Solution,
        curve: _LearningCurve,
    ) -> Learnt:
        """The weights, certified for the chosen pairs."""
        problem, scores = self._problem(design, chosen), design.scores(solution.w)
        above, below = (
            np.where(side == NO_ROW, 0.0, scores[side]) for side in (chosen.first, chosen.second)
        )
        certificate = problem.certify(solution, above - below)
        met = certificate.holds(self.tol)
        curve.watch.settle(certificate.primal, certificate.dual)
        learnt = Learnt(
            self._score(design, split, solution.w, scores),
            len(curve.rows),
            certificate,
            solution.solver,
            curve.watch.history,
            trivial=met and not solution.w.any(),
            converged=met,
            solver_iterations=solution.n_iter,
            more={
                "rounds_": np.array(curve.rows, dtype=ROUNDS),
                "pairs_": np.column_stack([chosen.first, chosen.second]),
                "pair_weight_": chosen.weights(self.weighting),
                "n_pairs_": len(chosen),
                "stopped_early_": len(chosen) < chosen.budget,
            },
        )
        learnt.reached = self._gap_left(learnt, f" on its {len(chosen)} pairs")
        return learnt

    def _score(self, design: Design, split: Split, w: Array, scores: Array) -> dict[str, Array]:
        """The attributes of the score x.w, less its threshold."""
        offset = 0.0 if design.offset is None else float(design.offset @ w)
        threshold = split.share_threshold(scores) + offset
        return {"coef_": w[np.newaxis], "intercept_": np.array([-threshold])}


class _LearningCurve:
    """A row a round, and what the weights are worth on rows held out."""

    def __init__(self, ranker: ActiveSamplingRanker, eval_set: Any, watch: Watch) -> None:
        self.rows: list[tuple[int, int, float, float, float]] = []
        self.watch = watch
        self._design: Design | None = None
        self._pos_label = ranker.classes_[1]
        if eval_set is None:
            return
        try:
            X, self._labels = eval_set
        except (TypeError, ValueError) as error:
            raise ValueError("eval_set must be a pair (X, y): rows and their labels.") from error
        try:
            self._design = check_matrix(ranker, X, reset=False, n_threads=ranker.n_threads)
            _, classes = check_two_labels(self._labels, self._design)
        except ValueError as error:
            raise ValueError(f"eval_set cannot be used: {error}") from error
        if not np.array_equal(classes, np.sort(ranker.classes_)):
            raise ValueError(
                f"eval_set has the labels {classes.tolist()}, y has {ranker.classes_.tolist()}: "
                "both need the same two."
            )

    def note(self, n_pairs: int, proposals: int, acceptance: float, w: Array) -> bool:
        """Add a row; True if someone asks to stop."""
        seconds, area = self.watch.seconds, np.nan
        if self._design is not None:
            area = auc(self._labels, self._design.scores(w), pos_label=self._pos_label)
        self.rows.append((n_pairs, proposals, acceptance, seconds, area))
        if self.watch.verbose > 0:
            if len(self.rows) == 1:
                names = ("pairs", "proposals", "acceptance", "seconds", "AUC")
                print("{:>9} {:>9} {:>10} {:>8} {:>8}".format(*names))
            print(
                f"{n_pairs:>9} {proposals:>9} {acceptance:>10.4g} {seconds:>8.2f} {area:>8.4f}",
                flush=True,
            )
        return self.watch.note(len(self.rows), lambda: w)
