"""Sets of best scores, and whether a score is in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .distribution import Distribution
from .margins import check_scores, differences

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: P and Q that differ by less than this share, or two values of eta that differ by less than this,
#: are equal but for rounding.
EQUAL = 1e-13


@dataclass(frozen=True)
class OptimalScores:
    """An interval of best scores for every point.

    Parameters
    ----------
    D : Distribution
        The distribution whose points they are.
    low, high : ndarray of shape (n_points,)
        The ends, perhaps infinite.
    low_open, high_open : ndarray of shape (n_points,)
        Whether an end is itself left out.
    translates : bool, default=False
        Whether a common number may be added to all scores. Then the intervals are those of the
        scores that have zero for the highest negative.
    tol : float, default=1e-9
        How far outside its interval a score still counts as within it, for rounding.

    Examples
    --------
    >>> from theory import Distribution, bayes_balanced
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.0, 0.6])
    >>> best = bayes_balanced(D, "squared_hinge")
    >>> best.low.round(3), best.high.round(3)
    (array([ -inf, 0.556]), array([-1.   ,  0.556]))
    >>> best.contains(best.scores), best.contains([0, 1])
    (True, False)
    """

    D: Distribution
    low: Array
    high: Array
    low_open: Mask
    high_open: Mask
    translates: bool = False
    tol: float = 1e-9

    @property
    def scores(self) -> Array:
        """One of the best scores: the point of each interval that is nearest to zero.

        Where zero is the open end of an interval, plus or minus one.
        """
        nearest = np.clip(0.0, self.low, self.high)
        excluded_below = self.low_open & (nearest == self.low)
        excluded_above = self.high_open & (nearest == self.high)
        return np.asarray(nearest + excluded_below - 1.0 * excluded_above)

    @property
    def trivial(self) -> bool:
        """Whether the same score everywhere is among the best."""
        return self.contains(np.zeros(len(self.low)))

    def contains(self, f: ArrayLike) -> bool:
        """Whether a score is one of the best.

        Parameters
        ----------
        f : array-like of shape (n_points,)
            A score for every point.

        Returns
        -------
        bool
            Whether each of them lies in its interval, after translation where that is free.
        """
        scores = check_scores(f, self.D)
        if self.translates:
            scores = differences(scores, scores[self.D.negatives > 0].max())
        low, high = self.low - self._slack(self.low), self.high + self._slack(self.high)
        above = np.where(self.low_open, scores > self.low, scores >= low)
        below = np.where(self.high_open, scores < self.high, scores <= high)
        return bool(np.all(above & below))

    def _slack(self, end: Array) -> Array:
        finite = np.where(np.isfinite(end), end, 0.0)
        return np.asarray(self.tol * np.maximum(1.0, np.abs(finite)))


@dataclass(frozen=True)
class OptimalOrder:
    """All scores that order the points by eta.

    Parameters
    ----------
    D : Distribution
        The distribution whose points they are.

    Examples
    --------
    >>> from theory import Distribution, bayes_auc
    >>> best = bayes_auc(Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6]))
    >>> best.scores, best.contains([2, 1])
    (array([0.2, 0.6]), False)
    """

    D: Distribution

    @property
    def scores(self) -> Array:
        """One of the best scores: eta itself."""
        return self.D.eta

    @property
    def trivial(self) -> bool:
        """Whether the same score everywhere is among the best."""
        return self.contains(np.zeros(len(self.D.X)))

    def contains(self, f: ArrayLike) -> bool:
        """Whether a score is one of the best.

        Parameters
        ----------
        f : array-like of shape (n_points,)
            A score for every point.

        Returns
        -------
        bool
            Whether f is greater wherever eta is; where eta is equal any order will do.
        """
        scores, eta = check_scores(f, self.D), self.D.eta
        order = np.argsort(eta)
        starts = np.flatnonzero(np.diff(eta[order], prepend=-1.0) > EQUAL)
        lowest = np.minimum.reduceat(scores[order], starts)
        highest = np.maximum.reduceat(scores[order], starts)
        return bool(np.all(highest[:-1] < lowest[1:]))
