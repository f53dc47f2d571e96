"""The hinge on every row for itself: what is left of a loss once its pairs are rows."""

from __future__ import annotations

import numpy as np

from ..rounding import STEPS, gamma
from .base import Array, DualRounding, Loss


class PointLoss(Loss):
    """F(s) = sum_q c_q [1 - s_q]_+ over all rows, which are all to score above one.

    The rows may be differences of two, or negatives turned round. Its dual vectors lie between
    -c and 0, and there F*(v) = sum v.
    """

    def __init__(self, weight: Array) -> None:
        if (weight < 0).any():
            raise ValueError("The weights of a hinge must not be negative.")
        self.weight = weight

    @property
    def at_zero(self) -> float:
        """F(0) = sum c."""
        return float(self.weight.sum())

    @property
    def zero_rounding(self) -> float:
        """The rounding of a sum over all rows."""
        return self.value_rounding(self.weight, self.at_zero)

    def value(self, s: Array) -> float:
        """F(s)."""
        return float(self.weight @ np.maximum(1.0 - s, 0.0))

    def slope(self, s: Array) -> Array:
        """-c where a row scores below one, else 0."""
        return np.where(s < 1.0, -self.weight, 0.0)

    def conjugate(self, v: Array) -> float:
        """F*(v) = sum v for -c <= v <= 0, else infinite."""
        inside = (v <= 0).all() and (v >= -self.weight).all()
        return float(v.sum()) if inside else float(np.inf)

    def worse(self, s: Array, by: Array) -> Array:
        """Every row lower."""
        return s - by

    def dual_rounding(self, v: Array) -> DualRounding:
        """The weights are good to some units in the last place; F* is a sum."""
        rounding = gamma(len(v) + STEPS)
        return DualRounding(rounding * float(np.abs(v).sum()), gamma(2 * STEPS))
