"""The mean over the highest negatives of a loss of pairs: the soft top."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..inputs.class_split import Split
from ..rounding import STEPS, gamma
from ..surrogates import SURROGATES, Surrogate
from .base import Loss
from .pair import PairLoss
from .rounded import ROUNDS
from .tail import tail_mean

Array = NDArray[np.float64]

#: By how much weights may miss their sum or their caps, for rounding; what is beyond is no dual.
_ROUNDING = 1e-9


class TopFractionLoss(Loss):
    """F(s) = sum_i p_i (mean over the top fraction f of negatives of l(s_j - s_i)).

    l(z) = [1 + z]_+^2.

    The negatives with the highest scores count, up to a share f of their weight. So F is the worst
    case over weights of the negatives:

        F(s) = max { F_d(s) : 0 <= d_j <= q_j / f, sum d = 1 },
        F_d(s) = sum_ij p_i d_j l(s_j - s_i).

    Its dual vectors are such weights d, on the rows of the negatives. Each makes a loss of pairs
    that is nowhere above F, and the least alpha/2 |w|^2 + F_d is a bound of the minimum.
    """

    shift_invariant = True
    has_conjugate = False
    tied_at_zero = True

    def __init__(self, split: Split, fraction: float) -> None:
        self.split, self.fraction = split, fraction
        self.surrogate: Surrogate = SURROGATES["squared_hinge"]
        #: The most that a negative may weigh.
        self.caps = split.q / fraction

    @property
    def at_zero(self) -> float:
        """F(0) = l(0)."""
        return self.surrogate.at_zero

    def highest(self, s: Array) -> Array:
        """The weights d of the worst case at these scores; tied negatives share what is left."""
        return tail_mean(-s[self.split.neg], self.caps)[1]

    def weighing(self, d: Array) -> Weighed:
        """F_d."""
        return Weighed(self.split, d, self.caps)

    def minorant(self, v: Array) -> Loss | None:
        """F_d of the weights that a dual vector has on the negatives."""
        below = self.weighing(v[self.split.neg])
        return below if below.slack <= _ROUNDING else None

    def threshold(self, s: Array) -> float:
        """As large a share of the rows lies above it as are positive."""
        return self.split.share_threshold(s)

    def value(self, s: Array) -> float:
        """F(s)."""
        return self.weighing(self.highest(s)).value(s)

    def slope(self, s: Array) -> Array:
        """A subgradient: the slope of the worst F_d."""
        return self.weighing(self.highest(s)).slope(s)

    def conjugate(self, v: Array) -> float:
        """Not known: see `minorant`."""
        raise NotImplementedError("Dual vectors of a soft top are weights of the negatives.")

    def value_rounding(self, s: Array, value: float) -> float:
        """That of a loss of pairs, twice: the weights are rounded too."""
        return 2.0 * gamma(ROUNDS * (len(s) + STEPS)) * abs(value)


class Weighed(PairLoss):
    """F_d: all pairs, with these weights of the negatives; those that weigh nothing are absent."""

    def __init__(self, split: Split, d: Array, caps: Array) -> None:
        total = float(d.sum())
        used = np.flatnonzero(d > 0.0)
        own = d[used] / total if total > 0.0 else d[used]
        above = float((own / caps[used]).max(initial=0.0)) - 1.0
        #: What the weights must be scaled by, at the most, to be allowed.
        self.slack = abs(total - 1.0) + max(above, 0.0) + gamma(len(d) + STEPS)
        if not total > 0.0 or (d < 0.0).any() or self.slack > _ROUNDING:
            self.slack = np.inf
        share = split.positive_share
        kept = Split(split.n_rows, split.pos, split.neg[used], split.p, own, share)
        super().__init__(kept, SURROGATES["squared_hinge"])

    @property
    def zero_rounding(self) -> float:
        """That of weights which are not quite allowed."""
        return super().zero_rounding + self.slack * self.at_zero

    def value_rounding(self, s: Array, value: float) -> float:
        """The same."""
        return super().value_rounding(s, value) + self.slack * abs(value)

    def slope_rounding(self, s: Array, by: Array, v: Array) -> Array:
        """The same."""
        return super().slope_rounding(s, by, v) + self.slack * np.abs(v)
