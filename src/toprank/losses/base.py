"""What a loss of the score vector can do."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Loss(ABC):
    """A convex function F of the scores s = X w; it never sees X."""

    @property
    @abstractmethod
    def at_zero(self) -> float:
        """F(0): what a score that ties every row costs."""

    #: inf F = -F*(0), the dual value of v = 0.
    infimum: float = 0.0

    #: Whether F(s + c) = F(s) for every number c: offsets of columns then change nothing.
    shift_invariant: bool = False

    #: Whether F* is known of any vector, not only of slopes.
    has_conjugate: bool = True

    @abstractmethod
    def value(self, s: Array) -> float:
        """F(s)."""

    @abstractmethod
    def slope(self, s: Array) -> Array:
        """A subgradient of F at s, an N-vector."""

    @abstractmethod
    def conjugate(self, v: Array) -> float:
        """F*(v) = sup_s v.s - F(s)."""
