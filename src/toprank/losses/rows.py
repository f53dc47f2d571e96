"""Losses that are a sum over rows."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from ..inputs.class_split import RowWeights
from ..surrogates import CompiledRows, Surrogate
from .base import Array, Loss
from .rounded import RoundedRows

Rows = NDArray[np.int64]


class RowSum(Loss):
    """F(s) = sum_r f_r(s_r + b), b the best one if it is free, else zero.

    The methods `..._at` take a threshold and the scores of the rows of `order`; they are all that
    Newton's method asks of a loss. A `part` of the rows has a sum of its own, so that the sums of
    all rows can be taken block by block, wherever the rows are.
    """

    sums_rows = True

    #: The rows it is a sum over, in the order in which it keeps them; None: all, as they come.
    order: Rows | None = None

    @property
    def compiled(self) -> CompiledRows | None:
        """The sum as compiled kernels know it; None where they do not know its scalar loss."""
        return None

    @property
    @abstractmethod
    def rows(self) -> RowWeights:
        """The weights of the rows, those of rows that are to score low below zero."""

    @property
    def zero_bias(self) -> float:
        """The b that F takes at s = 0."""
        return 0.0

    @abstractmethod
    def part(self, begin: int, end: int) -> RowSum:
        """The terms of the rows from `begin` up to `end`, which are its rows from 0 on."""

    @abstractmethod
    def value_at(self, s: Array, b: float = 0.0) -> float:
        """sum_r f_r(s_r + b)."""

    @abstractmethod
    def slope_at(self, s: Array, b: float = 0.0) -> Array:
        """f_r'(s_r + b) of every row."""

    @abstractmethod
    def curvature_at(self, s: Array, b: float = 0.0) -> Array:
        """f_r''(s_r + b) of every row."""

    @abstractmethod
    def rise_at(self, s: Array, b: float = 0.0) -> tuple[float, float]:
        """sum_r f_r(s_r + b) - f_r(0), and its rounding error.

        Whether a w is better than w = 0 is asked where both are almost equal.
        """

    def best_bias_at(self, s: Array, start: float = 0.0) -> float:
        """The b that F takes, from a guess of it."""
        return 0.0

    def dual_at(self, s: Array, b: float = 0.0) -> Array:
        """The slopes as a dual vector, one entry for every row of the matrix."""
        return self.slope_at(s, b)

    def guess_bias(self, b: float) -> None:
        """Where the next search for the best b is to begin, if it is free."""

    def dual_near(self, v: Array) -> Array:
        """A dual vector next to one that is so but for rounding, and for the sum of it."""
        return v


class RowLoss(RoundedRows, RowSum):
    """F(s) = sum_r c_r l(-t_r s_r), t_r = 1 for rows that are to score high, -1 for the others.

    Its dual vectors are v = -t a with a_r / c_r in the domain of l*, and there
    F*(v) = sum_r c_r l*(a_r / c_r). A subclass sets the weights, l and the signs; one that changes
    the terms in another way has a `part` of its own.

    Parameters
    ----------
    weight : ndarray
        c_r >= 0 of every row.
    surrogate : Surrogate
        l.
    sign : ndarray, optional
        t_r of every row. Without it all are to score high: rows may be differences of two, or
        negatives turned round.
    """

    def __init__(self, weight: Array, surrogate: Surrogate, sign: Array | None = None) -> None:
        if (weight < 0).any():
            raise ValueError("The weights of rows must not be negative.")
        if sign is not None and (sign.shape != weight.shape or (np.abs(sign) != 1.0).any()):
            raise ValueError("The signs of rows must be 1 or -1, one for every weight.")
        self.weight, self.sign = weight, sign
        self.surrogate: Surrogate = surrogate
        self.smooth = surrogate.smooth and surrogate.ceiling == np.inf
        self.hinge = surrogate.name == "hinge"

    def part(self, begin: int, end: int) -> RowLoss:
        """The terms of some rows."""
        sign = None if self.sign is None else self.sign[begin:end]
        return RowLoss(self.weight[begin:end], self.surrogate, sign)

    @cached_property
    def compiled(self) -> CompiledRows | None:
        """The rows that are to score high are the positives."""
        return CompiledRows.of(self.rows, self.surrogate, self.surrogate)

    @cached_property
    def rows(self) -> RowWeights:
        """The rows that are to score high are the positives."""
        return RowWeights(self.weight if self.sign is None else self.sign * self.weight)

    def _bad(self, s: Array) -> Array:
        """-t s."""
        return -s if self.sign is None else -self.sign * s

    @property
    def at_zero(self) -> float:
        """F(0) = l(0) sum c."""
        return self.surrogate.at_zero * float(self.weight.sum())

    def value_at(self, s: Array, b: float = 0.0) -> float:
        """sum_r c_r l(-t_r (s_r + b))."""
        return float(self.weight @ self.surrogate.value(self._bad(s + b if b else s)))

    def slope_at(self, s: Array, b: float = 0.0) -> Array:
        """-t c l'(-t (s + b))."""
        return self._bad(self.weight * self.surrogate.slope(self._bad(s + b if b else s)))

    def curvature_at(self, s: Array, b: float = 0.0) -> Array:
        """c l''(-t (s + b))."""
        return self.weight * self.surrogate.curvature(self._bad(s + b if b else s))

    def rise_at(self, s: Array, b: float = 0.0) -> tuple[float, float]:
        """sum_r c_r (l(-t_r (s_r + b)) - l(0)), and its rounding error."""
        terms = self.weight * self.surrogate.rise(self._bad(s + b if b else s))
        size = 1e-13 * float(np.abs(terms).sum()) + 1e-15 * float(self.weight @ np.abs(s))
        return float(terms.sum()), size + 1e-15 * abs(b) * float(self.weight.sum())

    def dual_near(self, v: Array) -> Array:
        """The duals no larger than slopes are."""
        steepest = self.surrogate.steepest
        return (
            v if np.isinf(steepest) else self._bad(np.minimum(self._bad(v), steepest * self.weight))
        )

    def value(self, s: Array) -> float:
        """F(s)."""
        return self.value_at(s)

    def slope(self, s: Array) -> Array:
        """-t c l'(-t s)."""
        return self.slope_at(s)

    def conjugate(self, v: Array) -> float:
        """F*(v) = sum_r c_r l*(a_r / c_r), infinite where a row without weight has a dual."""
        a, counts = self._bad(v), self.weight > 0
        if a[~counts].any():
            return float(np.inf)
        c = self.weight[counts]
        return float(c @ self.surrogate.conjugate(a[counts] / c))
