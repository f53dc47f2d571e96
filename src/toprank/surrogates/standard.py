"""Scalar losses: their interface, and squared hinge, logistic, exponential and hinge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlog1py, xlogy

Array = NDArray[np.float64]


class Pieces(NamedTuple):
    """l(k z) / k + offset, l a loss with a name; k and the offset change where z passes zero."""

    kind: str
    low: float = 1.0
    high: float = 1.0
    low_offset: float = 0.0
    high_offset: float = 0.0


class Surrogate(ABC):
    """A convex, non-decreasing upper bound of the step z > 0, up to a factor."""

    name: str
    #: The end of the conjugate's domain: the largest slope the loss can have.
    steepest: float = np.inf
    #: Whether the loss has a curvature, as Newton's method needs it.
    smooth: bool = True
    #: Whether the conjugate is a quadratic: then duals scale, and many of them are zero.
    quadratic: bool = False
    #: The largest z at which the loss is finite.
    ceiling: float = np.inf
    #: The largest z at which the loss is zero.
    zero_up_to: float = -np.inf

    @abstractmethod
    def value(self, z: Array) -> Array:
        """l(z)."""

    @abstractmethod
    def rise(self, z: Array) -> Array:
        """l(z) - l(0), exact to rounding of itself however small z is."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """l'(z)."""

    @abstractmethod
    def curvature(self, z: Array) -> Array:
        """l''(z)."""

    @abstractmethod
    def _conjugate(self, a: Array) -> Array:
        """l*(a) inside its domain."""

    def conjugate(self, a: Array) -> Array:
        """l*(a), infinite outside its domain."""
        inside = (a >= 0) & (a <= self.steepest)
        value = self._conjugate(np.clip(a, 0.0, self.steepest))
        return np.where(inside, value, np.inf)

    def pieces(self) -> Pieces | None:
        """The loss as compiled kernels know it; None where they do not."""
        return None

    @property
    def at_zero(self) -> float:
        """l(0): the loss of a score that is the same for every row."""
        return float(self.value(np.zeros(1))[0])

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


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

    def pieces(self) -> Pieces:
        """The loss itself."""
        return Pieces(self.name)

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

    def pieces(self) -> Pieces:
        """The loss itself."""
        return Pieces(self.name)

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

    def pieces(self) -> Pieces:
        """The loss itself."""
        return Pieces(self.name)

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
