"""The losses that have names: squared hinge, logistic, exponential, hinge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlog1py, xlogy

from .base import Surrogate

Array = NDArray[np.float64]


class SquaredHinge(Surrogate):
    """l(z) = [1 + z]_+^2."""

    name = "squared_hinge"
    quadratic = True
    zero_up_to = -1.0

    def value(self, z: Array) -> Array:
        """[1 + z]_+^2."""
        return np.maximum(1.0 + z, 0.0) ** 2

    def rise(self, z: Array) -> Array:
        """z (2 + z), from z = -1 on."""
        kept = np.maximum(z, -1.0)
        return kept * (2.0 + kept)

    def slope(self, z: Array) -> Array:
        """2 [1 + z]_+."""
        return 2.0 * np.maximum(1.0 + z, 0.0)

    def curvature(self, z: Array) -> Array:
        """2 where z > -1, else 0."""
        return np.where(z > -1.0, 2.0, 0.0)

    def _conjugate(self, a: Array) -> Array:
        return a * (a / 4.0 - 1.0)


class Logistic(Surrogate):
    """l(z) = log(1 + e^z)."""

    name = "logistic"
    steepest = 1.0

    def value(self, z: Array) -> Array:
        """log(1 + e^z), without overflow."""
        return np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z)))

    def rise(self, z: Array) -> Array:
        """log((1 + e^z) / 2) = max(z, 0) + log((1 + e^-|z|) / 2)."""
        return np.maximum(z, 0.0) + np.log1p(0.5 * np.expm1(-np.abs(z)))

    def slope(self, z: Array) -> Array:
        """1 / (1 + e^-z)."""
        return np.asarray(expit(z))

    def curvature(self, z: Array) -> Array:
        """l'(z) (1 - l'(z))."""
        e = np.exp(-np.abs(z))
        return np.asarray(e / np.square(1.0 + e))

    def _conjugate(self, a: Array) -> Array:
        return np.asarray(xlogy(a, a) + xlog1py(1.0 - a, -a))


class Exponential(Surrogate):
    """l(z) = e^z; infinite once e^z overflows, which a line search then backs away from."""

    name = "exponential"

    def value(self, z: Array) -> Array:
        """e^z."""
        with np.errstate(over="ignore"):
            return np.exp(z)

    def rise(self, z: Array) -> Array:
        """e^z - 1."""
        with np.errstate(over="ignore"):
            return np.expm1(z)

    slope = value
    curvature = value

    def _conjugate(self, a: Array) -> Array:
        return np.asarray(xlogy(a, a) - a)


class Hinge(Surrogate):
    """l(z) = [1 + z]_+; not smooth: its slope at the kink is taken from the right."""

    name = "hinge"
    steepest = 1.0
    smooth = False
    zero_up_to = -1.0

    def value(self, z: Array) -> Array:
        """[1 + z]_+."""
        return np.maximum(1.0 + z, 0.0)

    def rise(self, z: Array) -> Array:
        """max(z, -1)."""
        return np.maximum(z, -1.0)

    def slope(self, z: Array) -> Array:
        """1 where z >= -1, else 0."""
        return np.where(z >= -1.0, 1.0, 0.0)

    def curvature(self, z: Array) -> Array:
        """0: the hinge is flat but for its kink."""
        return np.zeros_like(z)

    def _conjugate(self, a: Array) -> Array:
        return -a


SURROGATES: dict[str, Surrogate] = {
    loss.name: loss for loss in (SquaredHinge(), Logistic(), Exponential(), Hinge())
}
