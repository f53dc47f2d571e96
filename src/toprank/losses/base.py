"""What a loss of the score vector can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..rounding import STEPS, UNIT, gamma
from ..surrogates import Surrogate

Array = NDArray[np.float64]

#: Operations of a term of F beside its sum: shares of weights, exponentials, logarithms.
_OWN_STEPS = 4 * STEPS


@dataclass(frozen=True)
class DualRounding:
    """How far a dual vector is from one that is surely allowed, and its F* from that one's.

    The allowed one differs from it by `share` of each entry at the most and, beyond that, by
    `mass` in all. Its F* is no more than the computed one and `value`.
    """

    value: float
    share: float
    mass: float = 0.0


class Bracket(NamedTuple):
    """Two values that F is between near a point, and its slope there."""

    low: float
    high: float
    v: Array


class Loss(ABC):
    """A convex function F of the scores s = X w; it never sees X.

    The attributes say what it can do. Solvers go by them, not by its class.
    """

    #: Whether F is finite and has a gradient everywhere.
    smooth: bool = False

    #: Whether F is a sum over rows, once a threshold is known or without one: a `RowSum`.
    sums_rows: bool = False

    #: Whether F is a sum over all pairs of rows of the two classes, as `PairLoss` is.
    sums_pairs: bool = False

    #: Whether F is the mean of the worst pairs, as `PairTailLoss` is.
    worst_pairs: bool = False

    #: Whether F is the worst case over rankings, as a `RankingLoss` is.
    over_rankings: bool = False

    #: Whether F chooses a threshold b that is added to every score.
    free_bias: bool = False

    #: The highest score, b added, that a negative may have; below it F has two classes, as a
    #: `ThresholdLoss` has, if it is finite.
    ceiling: float = np.inf

    #: Whether of the negatives only the highest counts.
    only_top: bool = False

    #: Whether the highest negatives count, up to a share of them, as in a `TopFractionLoss`.
    soft_top: bool = False

    #: Whether the slope at zero depends on which of the tied negatives are taken for the highest.
    tied_at_zero: bool = False

    #: Whether every term of F is the hinge.
    hinge: bool = False

    #: The scalar loss that F is made of, where there is one.
    surrogate: Surrogate | None = None

    @property
    @abstractmethod
    def at_zero(self) -> float:
        """F(0): what a score that ties every row costs."""

    @property
    def zero_rounding(self) -> float:
        """How far the computed F(0) can be off: it is l(0), for shares of rows sum to one."""
        return 2.0 * UNIT * abs(self.at_zero)

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

    @abstractmethod
    def conjugate(self, v: Array) -> float:
        """F*(v) = sup_s v.s - F(s)."""

    def threshold(self, s: Array) -> float:
        """The score above which a row is called positive: 0, where rows are held against that."""
        return 0.0

    @abstractmethod
    def worse(self, s: Array, by: Array) -> Array:
        """The scores, each moved by so much in the direction in which F does not fall."""

    def value_rounding(self, s: Array, value: float) -> float:
        """How far the computed `value` of F can be from F at these very scores.

        For a sum of losses >= 0.
        """
        return gamma(len(s) + _OWN_STEPS) * abs(value)

    def dual_rounding(self, v: Array) -> DualRounding:
        """What rounding can have done to a dual vector and its conjugate, a sum over rows."""
        share = gamma(len(v) + _OWN_STEPS)
        size = abs(self.conjugate(v)) + float(np.abs(v).sum()) + abs(self.at_zero)
        return DualRounding(share * size, share)

    def __str__(self) -> str:
        """The name for messages."""
        made_of = "" if self.surrogate is None else f" of the {self.surrogate.name} loss"
        return f"{type(self).__name__}{made_of}"

    def bracket(self, s: Array, by: Array) -> Bracket | None:
        """What F is between, wherever scores are within `by` of s, and its slope at s.

        None where that is not known without F at the ends.
        """
        return None

    def minorant(self, v: Array) -> Loss | None:
        """A loss that is nowhere above F, by a dual vector; None where there is none by this one.

        Only a loss whose conjugate is not known is asked; F itself is one.
        """
        return self

    def slope_rounding(self, s: Array, by: Array, v: Array) -> Array:
        """How far the slope v at s can be from that at scores within `by` of s.

        Only a loss whose conjugate is not known is asked.
        """
        raise NotImplementedError(f"{type(self).__name__} has a conjugate.")
