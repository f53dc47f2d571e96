"""What the 1-norm soft margins share: rankers of given features, and what a fit guarantees."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ...designs import Design, MemoryDesign
from ...estimators.ranker import Learnt, Ranker
from ...estimators.validation import LabelledRows
from ...exceptions import warn_raised
from ...inputs.class_split import Split
from ...losses import ClassTailLoss
from ...problems import BallProblem, Certificate, Solution
from ...solvers.watch import Watch
from ...weak_learners import StumpSum, importances
from .column_generation import StumpMargins
from .minimax import TRIVIAL, close_enough
from .scaled_columns import ScaledColumns, merged

Array = NDArray[np.float64]

#: Where the optimum is trivial, the next of these shares of pairs is tried.
GRID = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Beyond so many columns as rankers a step of the solvers is no longer to be waited for.
MOST_COLUMNS = 4000
#: Numbers of pairs that differ by this share are the same.
_SAME = 1e-12


Learners = ScaledColumns | StumpMargins


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
    weak_learners: str
    nonnegative: bool
    tol: float
    max_iter: int
    on_trivial: str
    verbose: int
    epsilon_: float
    gamma_lower_: float
    gamma_upper_: float
    rho_: float
    ranker_weights_: Array
    features_: NDArray[np.int64]
    thresholds_: Array
    _sum: StumpSum

    _scores_by: ClassVar[str] = "ranker_weights_"
    _sums_weights = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "epsilon": [Interval(Real, 0, 1, closed="right")],
        "nu": [None, Interval(Real, 0, None, closed="neither")],
        "weak_learners": [StrOptions({"linear", "stumps", "precomputed"})],
        "nonnegative": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "on_trivial": [StrOptions({"raise_epsilon", "keep"})],
    }

    _why_trivial: ClassVar[str] = (
        "The worst pairs, the share epsilon of all, have no positive mean margin by any weights."
    )
    _instead: ClassVar[str] = "Raise epsilon, or try other features."

    @abstractmethod
    def _solve(self, rankers: Learners, split: Split, epsilon: float, watch: Watch) -> Fit:
        """The fit at some epsilon."""

    @abstractmethod
    def _guarantee(self, fit: Fit, split: Split, s: Array) -> dict[str, Any]:
        """What the fit guarantees of the half scores s, as attributes."""

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        self._totals = _totals(rows)
        asked, split = self._asked(), rows.split
        rankers = self._make(rows.design, split)
        if isinstance(rankers, ScaledColumns):
            split = merged(rankers.design, split)
        watch.design = rankers.design
        shares = 2 * (float(np.sqrt(asked)),)  # of SoftMarginRank others may come out
        watch.attributes = partial(_attributes, rankers, rows.design, split, shares)
        fit = self._fit_at(rankers, split, asked, watch)
        if fit.trivial and self.on_trivial == "raise_epsilon" and len(rankers.columns):
            fit = self._raise(fit, rankers, split, asked, watch)
        return self._learnt(fit, rankers, split, rows.design, watch)

    def _make(self, design: MemoryDesign, split: Split) -> Learners:
        """The weak learners."""
        if self.weak_learners != "stumps":
            made = ScaledColumns.of(design, split, self.weak_learners)
            if (count := len(made.columns)) > MOST_COLUMNS:
                raise ValueError(
                    f"X has {count} columns that are not constant: matrices of that side are too "
                    f"large from {MOST_COLUMNS} on. Choose columns first, or take "
                    "weak_learners='stumps', of which only those that matter come into a matrix."
                )
            return made
        if self.nonnegative:
            raise ValueError(
                "nonnegative=True takes weak learners without their negatives, which "
                "weak_learners='stumps' includes: use nonnegative=False."
            )
        return StumpMargins(design, split)

    @property
    def feature_importances_(self) -> Array:
        """The share of every feature in the sizes of the stumps' weights; of stumps only."""
        return importances(self.features_, self.ranker_weights_, self.n_features_in_)

    def _scores(self, design: Design) -> Array:
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

    def _fit_at(self, rankers: Learners, split: Split, epsilon: float, watch: Watch) -> Fit:
        """The fit at some epsilon; w = 0 where that is the optimum."""
        if not len(rankers.columns):
            return self._nothing(rankers, split, epsilon)
        fit = self._solve(rankers, split, epsilon, watch)
        watch.iterations_before += fit.solution.n_iter
        constant = rankers.constant
        if -fit.certificate.dual > TRIVIAL or (self.nonnegative and not constant.any()):
            return fit
        fit.trivial = True
        fit.solution.w = np.zeros_like(fit.solution.w)
        if self.nonnegative:
            fit.solution.w = constant / float(constant.sum())
        fit.certificate = Certificate(0.0, min(fit.certificate.dual, 0.0))
        return fit

    def _nothing(self, rankers: Learners, split: Split, epsilon: float) -> Fit:
        """The fit without a ranker."""
        loss = ClassTailLoss(split, 1.0, 1.0)
        solution = Solution(np.zeros(0), np.zeros(split.n_rows), converged=True)
        problem = BallProblem(rankers.design, loss, signed=True)
        return Fit(problem, solution, Certificate(0.0, 0.0), epsilon, trivial=True)

    def _raise(self, fit: Fit, rankers: Learners, split: Split, asked: float, watch: Watch) -> Fit:
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

    def _learnt(
        self,
        fit: Fit,
        rankers: Learners,
        split: Split,
        design: Design,
        watch: Watch,
    ) -> Learnt:
        """A fit with what it guarantees."""
        w, certificate = fit.solution.w, fit.certificate
        s = fit.problem.design.scores(w) if len(w) else np.zeros(split.n_rows)
        lower, upper = 0.0 - certificate.primal, 0.0 - certificate.dual
        weights = (fit.solution.kept or [], w) if isinstance(rankers, StumpMargins) else w
        score = _attributes(rankers, design, split, self._shares(fit), weights)
        met = fit.trivial or close_enough(lower, upper, 1.01 * self.tol, not self.nonnegative)
        return Learnt(
            score,
            watch.iterations_before,
            certificate,
            fit.solution.solver,
            watch.history,
            trivial=fit.trivial,
            converged=met,
            solver_iterations=fit.solution.n_iter,
            remedies=["scale the features"],
            more={
                "epsilon_": fit.epsilon,
                "gamma_lower_": lower,
                "gamma_upper_": upper,
                **self._guarantee(fit, split, s),
            },
        )

    def _shares(self, fit: Fit) -> tuple[float, float]:
        """The shares of the two classes whose tails the threshold lies between."""
        return float(np.sqrt(fit.epsilon)), float(np.sqrt(fit.epsilon))

    def _warn(self, learnt: Learnt) -> None:
        if not learnt.trivial and self.epsilon_ != (asked := self._asked()):
            warn_raised(self, asked, self.epsilon_, self._why_trivial)
        super()._warn(learnt)

    def _pairs(self, share: float) -> float:
        """A share of the pairs as their number, or as their weight where rows have weights."""
        pairs = share * self._totals[0] * self._totals[1]
        return round(pairs) if self._totals[2] else pairs

    def _at_most(self, share: float, total: float) -> float:
        """The share that whole rows, or pairs, up to `share` of `total` have."""
        if not self._totals[2]:
            return share
        return float(np.floor(share * total * (1.0 + _SAME))) / total


def _totals(rows: LabelledRows) -> tuple[float, float, bool]:
    """What the positives weigh, and the negatives; whether all weights are whole numbers."""
    split, weight = rows.split, rows.weight
    if weight is None:
        return float(len(split.pos)), float(len(split.neg)), True
    whole = bool((weight == np.floor(weight)).all())
    return float(weight[split.pos].sum()), float(weight[split.neg].sum()), whole


def _threshold(split: Split, scores: Array, above: float, below: float) -> float:
    """Halfway between theta+ and theta- of the reduction."""
    low, high = ClassTailLoss(split, above, below).levels(scores)
    return 0.5 * (low - high)


def _attributes(
    rankers: Learners,
    design: Design,
    split: Split,
    shares: tuple[float, float],
    weights: Any,
) -> dict[str, Any]:
    """The attributes of the score: of weights of columns, or of stumps and their weights."""
    if isinstance(rankers, StumpMargins):
        total, features, thresholds = rankers.sum_of(*weights)
        score = {"_sum": total, "features_": features, "thresholds_": thresholds}
        score["ranker_weights_"], scores = weights[1], total.scores(design)
    else:
        coef, full = rankers.coef(weights), np.zeros(rankers.n_features)
        full[rankers.columns] = weights
        score, scores = {"ranker_weights_": full, "coef_": coef[np.newaxis]}, design.scores(coef)
    return {**score, "intercept_": np.array([-_threshold(split, scores, *shares)])}
