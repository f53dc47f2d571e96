"""Losses made of other losses, for the negatives of a push to the top, or to smooth a kink."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from .standard import Pieces, Surrogate

Array = NDArray[np.float64]


class Flat(Surrogate):
    """l(z) = 0: no loss at all."""

    name = "flat"
    steepest = 0.0
    quadratic = True
    zero_up_to = np.inf

    def value(self, z: Array) -> Array:
        """0."""
        return np.zeros_like(z)

    rise = value
    slope = value
    curvature = value

    def _conjugate(self, a: Array) -> Array:
        return np.zeros_like(a)


class Rectified(Surrogate):
    """h(v) = l(v) for v <= 0, infinite above: equation (13) of the RectPush paper.

    Beyond the slope c = l'(0) the constraint takes over: h*(a) = l*(min(a, c)).
    """

    smooth = False
    ceiling = 0.0

    def __init__(self, below: Surrogate) -> None:
        self.below = below
        self.name = f"rectified {below.name}"
        self.zero_up_to = below.zero_up_to
        self.quadratic = below.quadratic
        self.slope_at_ceiling = float(below.slope(np.zeros(1))[0])

    def _walled(self, inside: Array, v: Array) -> Array:
        return np.where(v <= 0, inside, np.inf)

    def value(self, z: Array) -> Array:
        """l(z) up to zero."""
        return self._walled(self.below.value(np.minimum(z, 0.0)), z)

    def rise(self, z: Array) -> Array:
        """l(z) - l(0) up to zero."""
        return self._walled(self.below.rise(np.minimum(z, 0.0)), z)

    def slope(self, z: Array) -> Array:
        """l'(z) up to zero."""
        return self._walled(self.below.slope(np.minimum(z, 0.0)), z)

    def curvature(self, z: Array) -> Array:
        """l''(z) up to zero."""
        return self._walled(self.below.curvature(np.minimum(z, 0.0)), z)

    def _conjugate(self, a: Array) -> Array:
        return np.asarray(self.below.conjugate(np.minimum(a, self.slope_at_ceiling)))


class Steepened(Surrogate):
    """h_p(v) = l(v) for v <= 0, (l(p v) - l(0)) / p + l(0) above: equation (17) of that paper.

    Its slope at v > 0 is l'(p v), so that it has no kink at zero, only its curvature jumps there.
    """

    def __init__(self, loss: Surrogate, p: float) -> None:
        self.loss, self.p = loss, p
        self.name = f"steepened {loss.name}"
        self.zero_up_to = loss.zero_up_to
        self.steepest = loss.steepest
        self._bend = float(loss.slope(np.zeros(1))[0])

    def _stretched(self, z: Array) -> Array:
        bend = np.maximum if self.p >= 1 else np.minimum
        with np.errstate(over="ignore"):
            return np.asarray(bend(z, self.p * z))

    def value(self, z: Array) -> Array:
        """l(z) or (l(p z) - l(0)) / p + l(0)."""
        value, at_zero = self.loss.value(self._stretched(z)), self.loss.at_zero
        return np.where(z > 0, (value - at_zero) / self.p + at_zero, value)

    def rise(self, z: Array) -> Array:
        """l(z) - l(0) or (l(p z) - l(0)) / p."""
        rise = self.loss.rise(self._stretched(z))
        return np.where(z > 0, rise / self.p, rise)

    def slope(self, z: Array) -> Array:
        """l'(z) or l'(p z)."""
        return self.loss.slope(self._stretched(z))

    def curvature(self, z: Array) -> Array:
        """l''(z) or p l''(p z)."""
        curvature = self.loss.curvature(self._stretched(z))
        with np.errstate(over="ignore"):
            return np.where(z > 0, self.p * curvature, curvature)

    def pieces(self) -> Pieces | None:
        """Steeper above zero, where the loss inside is known."""
        inner = self.loss.pieces()
        if inner != Pieces(self.loss.name):
            return None
        offset = self.loss.at_zero * (1.0 - 1.0 / self.p)
        return Pieces(self.loss.name, high=self.p, high_offset=offset)

    def _conjugate(self, a: Array) -> Array:
        inner, at_zero = self.loss.conjugate(a), self.loss.at_zero
        return np.where(a > self._bend, (inner + at_zero) / self.p - at_zero, inner)


class PowerExponential(Surrogate):
    """h(v) = e^(p v) / p: equation (16) of that paper, the negatives of p-classification."""

    name = "power exponential"

    def __init__(self, p: float) -> None:
        self.p = p

    def value(self, z: Array) -> Array:
        """e^(p z) / p."""
        return self.slope(z) / self.p

    def rise(self, z: Array) -> Array:
        """(e^(p z) - 1) / p."""
        with np.errstate(over="ignore"):
            return np.expm1(self.p * z) / self.p

    def slope(self, z: Array) -> Array:
        """e^(p z)."""
        with np.errstate(over="ignore"):
            return np.exp(self.p * z)

    def curvature(self, z: Array) -> Array:
        """The slope times p."""
        with np.errstate(over="ignore"):
            return self.p * np.exp(self.p * z)

    def pieces(self) -> Pieces:
        """The exponential, stretched on both sides."""
        return Pieces("exponential", self.p, self.p)

    def _conjugate(self, a: Array) -> Array:
        return np.asarray((xlogy(a, a) - a) / self.p)


class ExponentialRise(Surrogate):
    """h(v) = e^v - 1, the exponential less what it is at zero: exact near zero."""

    name = "exponential rise"

    def value(self, z: Array) -> Array:
        """e^z - 1."""
        with np.errstate(over="ignore"):
            return np.expm1(z)

    rise = value

    def slope(self, z: Array) -> Array:
        """e^z."""
        with np.errstate(over="ignore"):
            return np.exp(z)

    curvature = slope

    def pieces(self) -> Pieces:
        """The exponential, moved down."""
        return Pieces("exponential", low_offset=-1.0, high_offset=-1.0)

    def _conjugate(self, a: Array) -> Array:
        return np.asarray(xlogy(a, a) - a + 1.0)


class Linear(Surrogate):
    """l(z) = z, for positives that gain by their height; below zero where a row is right."""

    name = "linear"
    steepest = 1.0

    def value(self, z: Array) -> Array:
        """z."""
        return np.array(z)

    rise = value

    def slope(self, z: Array) -> Array:
        """1."""
        return np.ones_like(z)

    def curvature(self, z: Array) -> Array:
        """0."""
        return np.zeros_like(z)

    def pieces(self) -> Pieces:
        """The loss itself, which the kernels know beside exponential negatives."""
        return Pieces(self.name)

    def _conjugate(self, a: Array) -> Array:
        return np.where(a == 1.0, 0.0, np.inf)


class SmoothedHinge(Surrogate):
    """The hinge [1 + z]_+, its kink rounded off over a width d: never above the hinge.

    l(z) = x^2 / (2 d) for 0 <= x = 1 + z <= d, and x - d/2 beyond. Its conjugate is the hinge's
    plus d a^2 / 2, on the same domain, so that a dual point of the one is one of the other.
    """

    name = "smoothed hinge"
    steepest = 1.0
    zero_up_to = -1.0

    def __init__(self, width: float) -> None:
        self.width = width

    def value(self, z: Array) -> Array:
        """x^2 / (2 d), then x - d/2."""
        inner = np.clip(1.0 + z, 0.0, self.width)
        return inner * (np.maximum(1.0 + z, 0.0) - 0.5 * inner) / self.width

    def rise(self, z: Array) -> Array:
        """l(z) - l(0); exact while 1 + z stays on the straight part, as it does near zero."""
        return np.where(1.0 + z >= self.width, z, self.value(z) - self.at_zero)

    def slope(self, z: Array) -> Array:
        """Rises by x / d, then stays at 1."""
        return np.clip((1.0 + z) / self.width, 0.0, 1.0)

    def curvature(self, z: Array) -> Array:
        """1 / d on the bend."""
        bent = (z > -1.0) & (1.0 + z < self.width)
        return np.where(bent, 1.0 / self.width, 0.0)

    def _conjugate(self, a: Array) -> Array:
        return a * (0.5 * self.width * a - 1.0)
