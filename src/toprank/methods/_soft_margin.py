"""What the 1-norm soft margins share: rankers of given features, and what a fit guarantees."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import Ranker, fitting, warn_caller, warn_trivial, warn_unconverged
from ..designs import DenseDesign, SparseDesign
from ..exceptions import TrivialSolutionWarning
from ..losses import ClassTailLoss
from ..problem import BallProblem, Certificate, Solution
from ..rankers import Pick, StumpSum
from ..solvers import TRIVIAL, close_enough
from ..split import Split
from ..validation import check_labels, check_matrix, check_weights
from ..watch import Watch
from ._rankers import Rankers, merged
from ._stump_margins import StumpRankers

Array = NDArray[np.float64]

#: Where the optimum is trivial, the next of these shares of pairs is tried.
GRID = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Beyond so many columns as rankers a step of the solvers is no longer to be waited for.
MOST_COLUMNS = 4000
#: Numbers of pairs that differ by this share are the same.
_SAME = 1e-12


AnyRankers = Rankers | StumpRankers


@dataclass
class Fit:
    """A solution, the problem it is of, and what is proven of it."""

    problem: BallProblem
    solution: Solution
    certificate: Certificate
    epsilon: float
    #: Whether no margin is above zero, as far as can be told, and a constant score is allowed.
    trivial: bool = False


class SoftMarginRanker(Ranker):
    """A ranker with the largest soft margin of weights of 1-norm one, and its guarantees."""

    epsilon: float
    nu: float | None
    rankers: str
    positive: bool
    tol: float
    max_iter: int
    on_trivial: str
    verbose: int
    certificate_: Certificate
    history_: NDArray[np.void]
    n_iter_: int
    trivial_: bool
    epsilon_: float
    gamma_lower_: float
    gamma_upper_: float
    rho_: float
    ranker_weights_: Array
    features_: NDArray[np.int64]
    thresholds_: Array
    _sum: StumpSum

    _scores_by: ClassVar[str] = "ranker_weights_"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "epsilon": [Interval(Real, 0, 1, closed="right")],
        "nu": [None, Interval(Real, 0, None, closed="neither")],
        "rankers": [StrOptions({"linear", "stumps", "precomputed"})],
        "positive": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "on_trivial": [StrOptions({"raise_epsilon", "keep"})],
        "verbose": ["verbose"],
    }

    _why_trivial: ClassVar[str] = (
        "The worst pairs, the share epsilon of all, have no positive mean margin by any weights."
    )
    _instead: ClassVar[str] = "Raise epsilon, or try other features."

    @abstractmethod
    def _solve(self, rankers: AnyRankers, split: Split, epsilon: float, watch: Watch) -> Fit:
        """The fit at some epsilon."""

    @abstractmethod
    def _guarantee(self, fit: Fit, split: Split, s: Array) -> None:
        """Set what the fit guarantees of the half scores s."""

    @fitting
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. float32 and float64 are used as they are, without a copy.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none. A pair weighs the
            product of its rows' weights.

        Returns
        -------
        self
            The fitted ranker.
        """
        design = check_matrix(self, X, reset=True, n_threads=self.n_threads)
        self.classes_, split = check_labels(y, sample_weight, design, self.pos_label)
        self._totals = _totals(split, sample_weight)
        asked = self._asked()
        rankers = self._make(design, split)
        if isinstance(rankers, Rankers):
            split = merged(rankers.design, split)
        watch = Watch(rankers.design, verbose=self.verbose)
        fit = self._fit_at(rankers, split, asked, watch)
        if fit.trivial and self.on_trivial == "raise_epsilon" and len(rankers.columns):
            fit = self._raise(fit, rankers, split, asked, watch)
        self._keep(fit, rankers, split, design, watch)
        self._warn(fit, asked)
        return self

    def _make(self, design: DenseDesign | SparseDesign, split: Split) -> AnyRankers:
        """The base rankers."""
        if self.rankers != "stumps":
            made = Rankers.of(design, split, self.rankers)
            if (count := len(made.columns)) > MOST_COLUMNS:
                raise ValueError(
                    f"X has {count} columns that are not constant: matrices of that side are too "
                    f"large from {MOST_COLUMNS} on. Choose columns first, or take "
                    "rankers='stumps', of which only those that matter come into a matrix."
                )
            return made
        if self.positive:
            raise ValueError(
                "positive=True takes rankers without their negatives, which rankers='stumps' have "
                "among them: use positive=False."
            )
        return StumpRankers(design, split)

    def _scores(self, design: DenseDesign | SparseDesign) -> Array:
        return super()._scores(design) if hasattr(self, "coef_") else self._sum.scores(design)

    def _asked(self) -> float:
        """The share of pairs asked for, by epsilon or by nu."""
        if self.nu is None:
            return float(self.epsilon)
        pairs = self._totals[0] * self._totals[1]
        if self.nu > pairs * (1.0 + _SAME):
            raise ValueError(
                f"nu is {self.nu:g}, but there are {pairs:g} pairs: nu is a number of pairs, "
                "from one to all of them."
            )
        return min(float(self.nu) / pairs, 1.0)

    def _fit_at(self, rankers: AnyRankers, split: Split, epsilon: float, watch: Watch) -> Fit:
        """The fit at some epsilon; w = 0 where that is the optimum."""
        if not len(rankers.columns):
            return self._nothing(rankers, split, epsilon)
        fit = self._solve(rankers, split, epsilon, watch)
        watch.iterations_before += fit.solution.n_iter
        constant = rankers.constant
        if -fit.certificate.dual > TRIVIAL or (self.positive and not constant.any()):
            return fit
        fit.trivial = True
        fit.solution.w = np.zeros_like(fit.solution.w)
        if self.positive:
            fit.solution.w = constant / float(constant.sum())
        fit.certificate = Certificate(0.0, min(fit.certificate.dual, 0.0))
        return fit

    def _nothing(self, rankers: AnyRankers, split: Split, epsilon: float) -> Fit:
        """The fit without a ranker."""
        loss = ClassTailLoss(split, 1.0, 1.0)
        solution = Solution(np.zeros(0), np.zeros(split.n_rows), converged=True)
        problem = BallProblem(rankers.design, loss, signed=True)
        return Fit(problem, solution, Certificate(0.0, 0.0), epsilon, trivial=True)

    def _raise(
        self, fit: Fit, rankers: AnyRankers, split: Split, asked: float, watch: Watch
    ) -> Fit:
        """The fit at the smallest epsilon of the grid that leaves a margin: gamma rises with it."""
        grid = [epsilon for epsilon in GRID if asked < epsilon <= self._largest_epsilon()]
        low, high, found = 0, len(grid), fit
        while low < high:
            middle = (low + high) // 2
            tried = self._fit_at(rankers, split, grid[middle], watch)
            if tried.trivial:
                low = middle + 1
            else:
                high, found = middle, tried
        return found

    def _largest_epsilon(self) -> float:
        """The largest epsilon that the other parameters allow."""
        return 1.0

    def _keep(
        self,
        fit: Fit,
        rankers: AnyRankers,
        split: Split,
        design: DenseDesign | SparseDesign,
        watch: Watch,
    ) -> None:
        """Set the fitted attributes."""
        w = fit.solution.w
        s = fit.problem.design.scores(w) if len(w) else np.zeros(split.n_rows)
        self.certificate_, self.history_ = fit.certificate, watch.history
        self.n_iter_, self.solver_ = watch.iterations_before, fit.solution.solver
        self.trivial_ = fit.trivial
        self.gamma_lower_ = 0.0 - fit.certificate.primal
        self.gamma_upper_ = 0.0 - fit.certificate.dual
        self.epsilon_ = fit.epsilon
        self._guarantee(fit, split, s)
        scores = self._keep_score(fit, rankers, design)
        self.intercept_ = np.array([-self._threshold(split, scores)])

    def _keep_score(
        self, fit: Fit, rankers: AnyRankers, design: DenseDesign | SparseDesign
    ) -> Array:
        """Set the attributes of the score, and score the training rows."""
        for name in ("coef_", "features_", "thresholds_"):
            self.__dict__.pop(name, None)  # of a fit with other rankers
        w = fit.solution.w
        if isinstance(rankers, StumpRankers):
            self.ranker_weights_, picks = w, cast(list[Pick], fit.solution.kept or [])
            self._sum, self.features_, self.thresholds_ = rankers.sum_of(picks, w)
            return self._sum.scores(design)
        self.ranker_weights_ = np.zeros(rankers.n_features)
        self.ranker_weights_[rankers.columns] = w
        self.coef_ = rankers.coef(w)[np.newaxis]
        return design.scores(self.coef_[0])

    def _threshold(self, split: Split, scores: Array) -> float:
        """Halfway between theta+ and theta- of the reduction, at the root of epsilon."""
        share = float(np.sqrt(self.epsilon_))
        low, high = ClassTailLoss(split, share, share).levels(scores)
        return 0.5 * (low - high)

    def _warn(self, fit: Fit, asked: float) -> None:
        name, reached = type(self).__name__, fit.certificate
        if self.trivial_:
            warn_trivial(self, self._why_trivial, self._instead)
        elif self.epsilon_ != asked:
            warn_caller(
                f"At epsilon={asked:g} the optimum of {name} on these data is trivial: w = 0, "
                f"every row gets the same score. {self._why_trivial} epsilon was raised to "
                f"{self.epsilon_:g}, the smallest of a grid that leaves a margin; it is kept as "
                'epsilon_. on_trivial="keep" keeps w = 0 instead.',
                TrivialSolutionWarning,
                about=type(self),
            )
        lower, upper = -reached.primal, -reached.dual
        if not (self.trivial_ or close_enough(lower, upper, 1.01 * self.tol, not self.positive)):
            gap = f"a relative gap of {reached.relative_gap:.2g}, above tol={self.tol:g}"
            warn_unconverged(self, gap, fit.solution.n_iter, ["scale the features"])

    def _pairs(self, share: float) -> float:
        """A share of the pairs as their number, or as their weight where rows have weights."""
        pairs = share * self._totals[0] * self._totals[1]
        return round(pairs) if self._totals[2] else pairs

    def _at_most(self, share: float, total: float) -> float:
        """The share that whole rows, or pairs, up to `share` of `total` have."""
        if not self._totals[2]:
            return share
        return float(np.floor(share * total * (1.0 + _SAME))) / total


def _totals(split: Split, sample_weight: ArrayLike | None) -> tuple[float, float, bool]:
    """What the positives weigh, and the negatives; whether all weights are whole numbers."""
    if sample_weight is None:
        return float(len(split.pos)), float(len(split.neg)), True
    weight = check_weights(sample_weight, split.n_rows, summed=True)
    whole = bool((weight == np.floor(weight)).all())
    return float(weight[split.pos].sum()), float(weight[split.neg].sum()), whole
