"""Quadratic models under a ceiling: their minimum, and the few negatives that bind there.

Solves   min over a step y = (w, b)  g'y + y'Hy/2   s.t.  h_j + x_j.w + b <= 0  for every negative j
by       rounds: a dual active-set method on the listed negatives, then a look at the others, of
         which the highest are listed for the next round.
Given    the lower Cholesky factor of H, g, and the scores h_j at the point, threshold included.
Returns  the step; the multipliers are left with the listed negatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm, dtrsv

from .._core import ActiveSet
from ..designs import Design
from .linalg import cholesky

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Rounds of a model. Most end after two or three.
_ROUNDS = 14
#: Steps of the active-set method in a round, a guard against cycles.
_MAX_STEPS = 20_000
#: A violated negative is listed once it costs this share of what the step may gain. The next
#: step sees to smaller violations.
_VIOLATION_SHARE = 0.2
#: The least curvature of a model in b, in units of that in w. Where no row has curvature, b would
#: have none, and the factor would not exist.
_LEAST_CURVATURE = 1e-4


class Listed:
    """The negatives that a model carries: their row numbers, rows and multipliers.

    Parameters
    ----------
    design : Design
        The matrix that rows are taken from.
    """

    def __init__(self, design: Design) -> None:
        self._design = design
        self.members = np.empty(0, dtype=np.int64)
        self.multiplier = np.empty(0)
        #: The rows with a last column of ones, and free memory for more of them.
        self._buffer = np.empty((0, design.shape[1] + 1))

    @property
    def rows(self) -> Array:
        """The rows with a last column of ones, for b."""
        return self._buffer[: len(self.members)]

    @property
    def longest(self) -> float:
        """The length of the longest row."""
        rows = self.rows[:, :-1]
        return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max(initial=0.0)))

    def unlisted(self, numbers: Rows) -> NDArray[np.bool_]:
        """Return a mask of the rows that are not on the list."""
        if len(self.members) == 0:
            return np.ones(len(numbers), dtype=np.bool_)
        members = np.sort(self.members)
        nearest = np.minimum(np.searchsorted(members, numbers), len(members) - 1)
        return np.asarray(members[nearest] != numbers)

    def add(self, numbers: Rows) -> int:
        """List the rows of these numbers that are not listed; returns how many those are."""
        new = np.sort(numbers[self.unlisted(numbers)])
        count, total = len(self.members), len(self.members) + len(new)
        if total > len(self._buffer):
            buffer = np.empty((max(total, 2 * count), self._buffer.shape[1]))
            buffer[:count] = self.rows
            self._buffer = buffer
        if len(new):
            self._buffer[count:total, :-1] = self._design.take(new)
            self._buffer[count:total, -1] = 1.0
        self.members = np.concatenate([self.members, new])
        self.multiplier = np.concatenate([self.multiplier, np.zeros(len(new))])
        return len(new)

    def bind(self, numbers: Rows, multiplier: Array) -> None:
        """List the heaviest of these negatives, with their multipliers.

        An earlier fit may leave thousands of multipliers, of which no more than d + 1 can bind.
        """
        heaviest = largest(multiplier, 2 * self._design.shape[1])
        heaviest = heaviest[multiplier[heaviest] > 0.0]
        self.add(numbers[heaviest])
        order = np.argsort(self.members)
        found = np.searchsorted(self.members, numbers[heaviest], sorter=order)
        self.multiplier[order[found]] = multiplier[heaviest]

    def shorten(self, heights: Array) -> None:
        """Of a long list, keep the binding negatives and the highest by their scores."""
        most = 2 * self._design.shape[1] + 100
        if len(self.members) > 2 * most:
            chosen = (self.multiplier > 0.0) | (heights >= np.partition(heights, -most)[-most])
            self._buffer = self.rows[chosen]
            self.members, self.multiplier = self.members[chosen], self.multiplier[chosen]


@dataclass(frozen=True)
class Model:
    """A quadratic model of the sum below the ceiling at a point.

    Attributes
    ----------
    factor : ndarray
        The lower Cholesky factor of the Hessian in (w, b).
    gradient : ndarray
        The gradient in (w, b).
    gap, least : float
        The gap at the point, and the smallest gain that matters.
    steepness : float
        The cost of a unit above the ceiling.
    tolerance : float
        The difference between scores that rounding cannot tell from zero.
    block : int
        The most negatives that are listed in a round.
    """

    factor: Array
    gradient: Array
    gap: float
    least: float
    steepness: float
    tolerance: float
    block: int

    def step(
        self,
        listed: Listed,
        heights: Callable[[slice], Array],
        look: Callable[[Array], tuple[Rows, Array]],
    ) -> Array:
        """Return the step to the minimum; multipliers are left with `listed`.

        Parameters
        ----------
        listed : Listed
            The negatives to begin with, and all that matter at the end.
        heights : callable
            Returns the scores of listed negatives at the point, threshold included, given a
            range of the list.
        look : callable
            Given a step, returns the numbers and the scores after it of negatives, the highest
            of all among them.
        """
        free = -dtrsv(self.factor, self.gradient, lower=1)
        active = ActiveSet(free)
        self._append(active, listed, slice(0, None), heights)
        guess = np.flatnonzero(listed.multiplier)
        guess = guess[np.argsort(-listed.multiplier[guess], kind="stable")]
        # More multipliers than can bind: half of the possible number are worth a try.
        active.warm(guess if len(guess) < len(free) else guess[: len(free) // 2])
        for _ in range(_ROUNDS):
            active.solve(self.tolerance, _MAX_STEPS)
            step = np.asarray(dtrsv(self.factor, active.y, lower=1, trans=1))
            numbers, after = look(step)
            enough = self._worth(step)
            above = np.flatnonzero(after > 0.1 * (enough + self.tolerance))
            above = above[listed.unlisted(numbers[above])]
            above = above[largest(after[above], self.block)]
            count = listed.add(numbers[above])
            if count == 0:
                break
            new = slice(len(listed.members) - count, None)
            self._append(active, listed, new, heights)
            if after.max(initial=0.0) <= enough:
                break
        listed.multiplier = active.multipliers
        return step

    def _worth(self, step: Array) -> float:
        """The violation that costs a share of what is at stake: the gap, or the step's gain."""
        gain = -float(self.gradient @ step)
        at_stake = max(min(self.gap, max(gain, 0.0)), self.least)
        return _VIOLATION_SHARE * at_stake / self.steepness

    def _append(
        self, active: ActiveSet, listed: Listed, new: slice, heights: Callable[[slice], Array]
    ) -> None:
        """Add listed negatives to the active-set method: L^-1 applied to every row."""
        rows = np.asarray(dtrsm(1.0, self.factor, listed.rows[new].T, lower=1)).T
        active.append(rows, heights(new))


def factored(hessian: Array, alpha: float, longest: float) -> Array | None:
    """Return the lower Cholesky factor of a Hessian in (w, b); None if it overflowed.

    The matrix, which includes alpha, is overwritten. `longest` is the length of the longest row
    that the model carries.
    """
    # Rows of almost no length are not distinguished by any number: its square would overflow.
    least = _LEAST_CURVATURE * alpha / max(longest**2, 1e-300)
    least = least if least <= 1e150 else 0.0
    hessian[-1, -1] = max(hessian[-1, -1] * (1.0 + 1e-10), least, 1e-16)
    return cholesky(hessian, hessian.diagonal().copy())


def block_of(n_features: int) -> int:
    """Return the number of negatives that may be listed in a round."""
    return min(max(50, n_features // 2), 150)


def tolerance_at(listed: Listed, gradient: Array, alpha: float, b: float) -> float:
    """Return the difference between scores that counts, small where features are small."""
    reach = float(listed.longest * np.linalg.norm(gradient[:-1])) / alpha
    return 1e-9 * max(min(1.0, reach), abs(b))


def largest(values: Array, count: int) -> Rows:
    """Return the positions of the `count` largest values, in increasing order."""
    if count >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, len(values) - count)[len(values) - count :])


__all__ = ["Listed", "Model", "block_of", "factored", "largest", "tolerance_at"]
