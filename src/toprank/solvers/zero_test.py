"""Test whether w = 0 is the optimum."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from ..losses import RankingLoss, ThresholdLoss
from ..problems import Problem, Solution

Array = NDArray[np.float64]

#: The mean positive is in the hull of the negatives if it is as near to it as this share of a
#: typical row.
_HULL_DISTANCE = 1e-4
#: Rows of a side that tell how long a typical one is.
_TYPICAL_ROWS = 10_000
#: The pull of all rows on w = 0 vanishes if it is this share of what typical rows have.
_NO_PULL = 1e-12


class ZeroTest:
    """Whether w = 0 is the optimum, at any alpha.

    It is where X'v = 0, v the slope of the loss at zero: where two classes have the same mean, for
    instance. Where only the highest negatives count, it is if the mean positive lies in the
    negatives' hull, or in the part of it that the loss allows.

    A small gap at w = 0 does not show it. At a large alpha, or for small features, the best w
    improves on zero by less than any tolerance, and still ranks.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem, self._loss = problem, problem.loss
        #: Whether the negatives' weights are free to choose.
        self._hull = self._loss.only_top or self._loss.tied_at_zero

    @cached_property
    def slope(self) -> Array:
        """v, the slope of the loss at zero."""
        return self._loss.slope(np.zeros(self._problem.design.shape[0]))

    @cached_property
    def _sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows that are to score high, and those that are to score low."""
        if self._hull:  # of the others its slope knows one
            split = cast(ThresholdLoss | RankingLoss, self._loss).split
            return split.pos, split.neg
        return np.flatnonzero(self.slope < 0), np.flatnonzero(self.slope > 0)

    @cached_property
    def typical(self) -> float:
        """The length of a typical row of the side with the longer ones.

        A single huge row says nothing of how far apart the others are, nor do empty ones.
        """
        norms, found = self._problem.design.norms, []
        for rows in self._sides:
            some = norms[rows[:: max(len(rows) // _TYPICAL_ROWS, 1)]]
            some = some if some.any() else norms[rows]
            found.append(float(np.median(some[some > 0])) if some.any() else 0.0)
        return max(found)

    @cached_property
    def _slope_of_high(self) -> Array:
        """What v has at the rows that are to score high."""
        if self._loss.only_top:  # known without all the others
            loss = cast(ThresholdLoss, self._loss)
            return np.asarray(-loss.surrogate.slope(np.zeros(1)) * loss.split.p)
        return self.slope[self._sides[0]]

    @cached_property
    def _steepness(self) -> float:
        """What the slopes sum to on the heavier side."""
        high = -float(self._slope_of_high.sum())
        return high if self._loss.only_top else max(high, float(self.slope[self._sides[1]].sum()))

    @cached_property
    def _reach(self) -> float:
        """The length of X'v that is none."""
        if self._hull:
            return _HULL_DISTANCE * self.typical * self._steepness
        # The pull itself is good to rounding only, which a huge row may rule.
        rounding = 4.0 * np.finfo(np.float64).eps
        rounding *= float(np.abs(self.slope) @ self._problem.design.norms)
        return _NO_PULL * self._steepness * self.typical + rounding

    @cached_property
    def _pull_of_high(self) -> Array:
        return self._problem.design.pull_back(self._slope_of_high, self._sides[0])

    def holds(self, v: Array) -> bool:
        """Whether the rows that are to score high are balanced: by the others, or by their hull.

        Where only the highest negatives count, their duals in v are taken as convex weights.
        """
        if self._loss.only_top:  # few negatives have a dual, and no positive one above zero
            used = np.flatnonzero(v > 0.0)
            weights = v[used]
        else:
            rows = self._sides[1]
            weights = v[rows] if self._hull else self.slope[rows]
            used = np.flatnonzero(weights)
            used, weights = rows[used], weights[used]
        if self._hull:
            total = weights.sum()
            if not total > 0:
                return False
            weights = weights * (self._steepness / total)
        pull = self._pull_of_high + self._problem.design.pull_back(weights, used)
        return bool(np.linalg.norm(pull) <= self._reach)

    @property
    def gap(self) -> float:
        """The relative gap at w = 0 by which duals that reach it are sure to be found."""
        return self._reach**2 / (2.0 * self._problem.alpha * self._loss.at_zero)


def settle_by_sums(problem: Problem, solution: Solution) -> Solution:
    """The same by sums over rows at w = 0, of a loss that is smooth: X'v vanishes, or not."""
    zero, loss = np.zeros(problem.design.shape[1]), cast(ThresholdLoss, problem.loss)
    _, sums = problem.examine(zero, loss.zero_bias)
    assert sums.bounds is not None
    reach = (_NO_PULL + 8.0 * np.finfo(np.float64).eps) * sums.bounds.pull_size
    if float(np.linalg.norm(sums.pull)) <= reach:
        solution.w, solution.b, solution.converged = zero, loss.zero_bias, True
    return solution


def settle(problem: Problem, solution: Solution, tol: float, dual: float) -> Solution:
    """Put w = 0 in place of a solution, of that dual value, if w = 0 is the optimum.

    Where the dual value says that w = 0 may be as good as any, only a proof tells a trivial
    optimum from a fit that has hardly begun.
    """
    zero, at_zero = not solution.w.any(), problem.loss.at_zero
    if zero or dual >= (1.0 - tol) * at_zero:
        solution.converged = solution.converged and not zero
        test = ZeroTest(problem)
        if test.holds(solution.dual):
            solution.w, solution.proof = np.zeros_like(solution.w), test.slope
            solution.converged = True
    return solution
