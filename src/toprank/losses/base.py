"""The interface of a loss of the score vector, and a loss with the classes exchanged."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from ..surrogates import Surrogate
from .rounded import DualRounding, RoundedLoss

Array = NDArray[np.float64]


class Loss(RoundedLoss):
    """A convex function F of the scores s = X w; it never sees X.

    The attributes say what it can do. Solvers go by them, not by its class.
    """

    #: Whether F is finite and has a gradient everywhere.
    smooth: bool = False

    #: Whether F is a sum over rows, once a threshold is known or without one: a `RowSum`.
    sums_rows: bool = False

    #: Whether F is a sum over all pairs of rows of the two classes, as `PairLoss` is.
    sums_pairs: bool = False

    #: Whether F is the worst case over rankings, as a `RankingLoss` is.
    over_rankings: bool = False

    #: Whether F chooses a threshold b that is added to every score.
    free_bias: bool = False

    #: The highest score, b added, that a negative may have; below it F has two classes, as a
    #: `ThresholdLoss` has, if it is finite.
    ceiling: float = np.inf

    #: Whether of the negatives only the highest counts.
    only_top: bool = False

    #: Whether the slope at zero depends on which of the tied negatives are taken for the highest.
    tied_at_zero: bool = False

    #: Whether every term of F is the hinge.
    hinge: bool = False

    #: The scalar loss that F is made of, where there is one.
    surrogate: Surrogate | None = None

    #: What a gap is measured against where the objective is less: of a loss that falls below zero.
    unit: float = 0.0

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

    def threshold(self, s: Array) -> float:
        """The score above which a row is called positive: 0, where rows are held against that."""
        return 0.0

    def __str__(self) -> str:
        """The name for messages."""
        made_of = "" if self.surrogate is None else f" of the {self.surrogate.name} loss"
        return f"{type(self).__name__}{made_of}"

    def minorant(self, v: Array) -> Loss | None:
        """A loss that is nowhere above F, by a dual vector; None where there is none by this one.

        Only a loss whose conjugate is not known is asked; F itself is one.
        """
        return self


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
