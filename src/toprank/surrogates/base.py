"""What a scalar convex loss l(z) can do."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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

    @property
    def at_zero(self) -> float:
        """l(0): the loss of a score that is the same for every row."""
        return float(self.value(np.zeros(1))[0])

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
