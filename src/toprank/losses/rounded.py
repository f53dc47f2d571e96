"""Bounds of what rounding does to a loss, its slopes and its conjugate: for certificates.

`RoundedLoss` holds the bounds of a sum of terms >= 0. Sums over rows, losses with a threshold and
losses of pairs have bounds of their own here, and the others beside their formulas.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import PairRanks
from ..inputs.class_split import Split
from ..rounding import STEPS, UNIT, gamma
from ..surrogates import Surrogate

Array = NDArray[np.float64]

#: Operations of a term of F beside its sum: shares of weights, exponentials, logarithms.
_TERM_STEPS = 4 * STEPS
#: Operations that a running sum over pairs goes through for every row.
ROUNDS = 8


@dataclass(frozen=True)
class DualRounding:
    """Distance of a dual vector from a feasible one, and of its F* from that one's.

    Some feasible vector differs from it by at most `share` of each entry and, beyond that, by
    `mass` in all. Its F* is at most the computed one plus `value`.
    """

    value: float
    share: float
    mass: float = 0.0


class Bracket(NamedTuple):
    """Lower and upper bound of F near a point, and its slope there."""

    low: float
    high: float
    v: Array


class RoundedLoss(ABC):
    """Rounding bounds of a loss F; the defaults are for a sum of losses >= 0 over rows."""

    #: The rows of the two classes, unless a loss overrides `worse`.
    split: Split

    @property
    @abstractmethod
    def at_zero(self) -> float:
        """F(0): the cost of a score that ties every row."""

    @abstractmethod
    def conjugate(self, v: Array) -> float:
        """F*(v) = sup_s v.s - F(s)."""

    @property
    def zero_rounding(self) -> float:
        """Error of the computed F(0), which is l(0) because shares of rows sum to one."""
        return 2.0 * UNIT * abs(self.at_zero)

    def worse(self, s: Array, by: Array) -> Array:
        """Return the scores, each moved by `by` in the direction in which F does not fall."""
        return self.split.worse(s, by)

    def value_rounding(self, s: Array, value: float) -> float:
        """Error of the computed `value` of F at exactly these scores."""
        return gamma(len(s) + _TERM_STEPS) * abs(value)

    def dual_rounding(self, v: Array) -> DualRounding:
        """Error of a dual vector and of its conjugate, a sum over rows."""
        share = gamma(len(v) + _TERM_STEPS)
        size = abs(self.conjugate(v)) + float(np.abs(v).sum()) + abs(self.at_zero)
        return DualRounding(share * size, share)

    def bracket(self, s: Array, by: Array) -> Bracket | None:
        """Bounds of F wherever scores are within `by` of s, and its slope at s.

        None if they take F at the ends.
        """
        return None

    def slope_rounding(self, s: Array, by: Array, v: Array) -> Array:
        """Distance of the slope v at s from slopes at scores within `by` of s.

        Needed only of losses without a known conjugate.
        """
        raise NotImplementedError(f"{type(self).__name__} has a conjugate.")


class RoundedRows(RoundedLoss):
    """Rounding bounds of sum_r c_r l(-t_r s_r)."""

    weight: Array
    surrogate: Surrogate | None
    sign: Array | None

    @property
    def zero_rounding(self) -> float:
        """Error of a sum over all rows."""
        return self.value_rounding(self.weight, self.at_zero)

    def worse(self, s: Array, by: Array) -> Array:
        """Return the scores with every row moved to its wrong side."""
        return s - by if self.sign is None else s - self.sign * by

    def dual_rounding(self, v: Array) -> DualRounding:
        """The weights have an error of some units in the last place; F* is a sum."""
        assert self.surrogate is not None
        a, counts = -v if self.sign is None else -self.sign * v, self.weight > 0
        of_terms = conjugate_size(
            self.surrogate, a[counts], self.weight[counts], self.surrogate.at_zero
        )
        size = of_terms + float(np.abs(v).sum())
        return DualRounding(gamma(len(v) + _TERM_STEPS) * size, gamma(2 * STEPS))


class RoundedThreshold(RoundedLoss):
    """Rounding bounds of a sum over two classes with a free threshold."""

    surrogate: Surrogate | None
    negatives: Surrogate
    only_top: bool

    @property
    @abstractmethod
    def zero_bias(self) -> float:
        """The b that F takes at s = 0."""

    @property
    def zero_rounding(self) -> float:
        """Where b is not 0, F(0) is the sum of two losses, weighted by shares with an error."""
        if self.zero_bias == 0.0:
            return super().zero_rounding
        return gamma(_TERM_STEPS) * self.at_zero

    def dual_rounding(self, v: Array) -> DualRounding:
        """The larger of the two sums is scaled down to the smaller, and F* is rounded.

        F* is convex and F*(0) = 0, so that a scaled vector has no larger one, except for a share.
        """
        assert self.surrogate is not None
        a, delta = -v[self.split.pos], v[self.split.neg]
        of_pos, of_neg = float(a.sum()), float(delta.sum())
        total = of_pos + of_neg
        if total <= 0.0:
            return DualRounding(0.0, 0.0)
        share = abs(of_pos - of_neg) / max(of_pos, of_neg) + gamma(len(v) + _TERM_STEPS)
        size = total + conjugate_size(self.surrogate, a, self.split.p, self.at_zero)
        if not self.only_top:
            size += conjugate_size(self.negatives, delta, self.split.q, self.at_zero)
        return DualRounding(share * size, share)


class RoundedPairs(RoundedLoss):
    """Rounding bounds of a sum over all pairs of the hinge or its square."""

    surrogate: Surrogate | None

    @abstractmethod
    def ranks(self) -> PairRanks:
        """Return the object that sums the squared hinge over the pairs, with one class sorted."""

    @abstractmethod
    def excess(self, v: Array) -> float:
        """Amount of the duals that cannot be shared out among the pairs."""

    @staticmethod
    def rounds(n_rows: int) -> int:
        """Number of operations that a sum over the pairs of `n_rows` rows goes through."""
        return ROUNDS * (n_rows + STEPS)

    def value_rounding(self, s: Array, value: float) -> float:
        """Running sums of losses, one for each row."""
        return gamma(self.rounds(len(s))) * abs(value)

    def bracket(self, s: Array, by: Array) -> Bracket | None:
        """Bounds from F and its slope v at s, for the squared hinge.

        F is convex, so that it falls by at most |v|.by, and a pair's square rises by the square of
        what is added to its margin more than that.
        """
        assert self.surrogate is not None
        if not self.surrogate.quadratic:
            return None
        v, value, _ = self.ranks().slope(s)
        return self.bracket_by(s, by, value, v)

    def bracket_by(self, s: Array, by: Array, value: float, v: Array) -> Bracket:
        """The same from F and its slope at s, of the squared hinge."""
        split = self.split
        spread, share = float(np.abs(v) @ by), gamma(self.rounds(len(s)))
        squares = float(split.p @ by[split.pos] ** 2) + float(split.q @ by[split.neg] ** 2)
        error = self.value_rounding(s, value) + share * (spread + squares)
        return Bracket(value - spread - error, value + spread + 2.0 * squares + error, v)

    def bracket_within(self, by: float, value: float, v: Array) -> tuple[Bracket, float]:
        """The same where all scores are off by at most `by`, and the sum of |v|."""
        mass, share = float(np.abs(v).sum()), gamma(self.rounds(len(v)))
        spread, squares = by * mass * (1.0 + share), 2.0 * by * by
        error = share * (abs(value) + spread + squares)
        low, high = value - spread - error, value + spread + 2.0 * squares + error
        return Bracket(low, high, v), mass * (1.0 + share)

    def slope_rounding(self, s: Array, by: Array, v: Array) -> Array:
        """Distance of the slope v at s from slopes within `by` of s, of the squared hinge."""
        split, share = self.split, gamma(self.rounds(len(s)))
        off = np.zeros_like(s)
        off[split.pos] = split.p * (by[split.pos] + float(split.q @ by[split.neg]))
        off[split.neg] = split.q * (by[split.neg] + float(split.p @ by[split.pos]))
        return np.asarray(2.0 * off + share * np.abs(v))

    def dual_rounding(self, v: Array) -> DualRounding:
        """Duals that cannot be shared out are taken off, wherever they are."""
        total = float(np.abs(v).sum())
        mass = self.excess(v) + gamma(self.rounds(len(v))) * total
        return DualRounding(mass, 0.0, 2.0 * mass)


def conjugate_size(surrogate: Surrogate, duals: Array, weight: Array, at_zero: float) -> float:
    """Size of the terms of F* and of the parts that cancel in them.

    Those parts are as large as the loss at zero, where a dual is half of its weight or more.
    """
    x = duals / weight
    large = float(weight[x >= 0.5].sum())
    return float(weight @ np.abs(surrogate.conjugate(x))) + large * (1.0 + at_zero)


__all__ = [
    "ROUNDS",
    "Bracket",
    "DualRounding",
    "RoundedLoss",
    "RoundedPairs",
    "RoundedRows",
    "RoundedThreshold",
    "conjugate_size",
]
