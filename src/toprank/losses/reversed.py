"""A loss read from the other end of the list."""

from __future__ import annotations

from .base import Array, DualRounding, Loss


class ReversedLoss(Loss):
    """F(s) = G(-s), G a loss of the same rows with the classes exchanged.

    A minimum of G turned round, w for -w and v for -v, is one of F.
    """

    def __init__(self, inner: Loss) -> None:
        self.inner = inner
        self.infimum = inner.infimum
        self.shift_invariant = inner.shift_invariant
        self.smooth, self.has_conjugate = inner.smooth, inner.has_conjugate

    @property
    def at_zero(self) -> float:
        """F(0) = G(0)."""
        return self.inner.at_zero

    def value(self, s: Array) -> float:
        """G(-s)."""
        return self.inner.value(-s)

    def slope(self, s: Array) -> Array:
        """Minus the slope of G at -s."""
        return -self.inner.slope(-s)

    def conjugate(self, v: Array) -> float:
        """G*(-v)."""
        return self.inner.conjugate(-v)

    def threshold(self, s: Array) -> float:
        """As for G, turned round."""
        return -self.inner.threshold(-s)

    def worse(self, s: Array, by: Array) -> Array:
        """As for G, whose scores are the others' turned round."""
        return -self.inner.worse(-s, by)

    def value_rounding(self, s: Array, value: float) -> float:
        """As for G."""
        return self.inner.value_rounding(-s, value)

    def slope_rounding(self, s: Array, by: Array, v: Array) -> Array:
        """As for G."""
        return self.inner.slope_rounding(-s, by, -v)

    def dual_rounding(self, v: Array) -> DualRounding:
        """As for G."""
        return self.inner.dual_rounding(-v)
