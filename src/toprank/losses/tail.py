"""Lower tails: the mean of the lowest margins of pairs, or of the lowest scores of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import PairScan
from ..inputs.class_split import Split
from ..rounding import STEPS, gamma
from ..surrogates import SURROGATES
from .base import Loss
from .pair import PairLoss
from .rounded import ROUNDS, DualRounding

Array = NDArray[np.float64]

#: What rounding may add to the sums a dual vector is held against.
_ROUNDING = 1e-9
#: Shares that differ by less are the same number of pairs.
_SAME_SHARE = 1e-12
#: Margins, which are at most one, that differ by less are equal.
_SAME_MARGIN = 1e-9


def tail_mean(values: Array, caps: Array, total: float = 1.0) -> tuple[float, Array]:
    """min { d.values : 0 <= d <= caps, sum d = total }, and the d that reaches it.

    With caps 1/nu and total 1 that is low(values; nu), the mean of the nu smallest. Equal values
    share what is left for them, each in proportion to its cap.
    """
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(caps[order])
    place = min(int(np.searchsorted(upto, total)), len(values) - 1)
    level = values[order[place]]
    d, tied = np.where(values < level, caps, 0.0), values == level
    left = total - float(d.sum())
    d[tied] = caps[tied] * min(max(left / float(caps[tied].sum()), 0.0), 1.0)
    return float(d @ values), d


def _tail_rounding(s: Array) -> float:
    """The rounding of a mean of the lowest: of its weights, which sum to one on either side."""
    return gamma(ROUNDS * (len(s) + STEPS)) * 4.0 * float(np.abs(s).max(initial=0.0))


def level_above(values: Array, weights: Array, share: float) -> float:
    """The largest t such that the values below t weigh no more than `share`; weights sum to one."""
    order = np.argsort(values, kind="stable")
    beyond = np.cumsum(weights[order]) > share * (1.0 + _SAME_SHARE)
    return float(values[order[int(np.argmax(beyond))]] if beyond[-1] else values[order[-1]])


@dataclass(frozen=True)
class SmoothTail:
    """The tail mean rounded off over a width, at some scores.

    value   max over r of  r - sum_ij p_i q_j h(r - s_i + s_j) / epsilon, h the rounded-off hinge,
            less half a width: a lower bound of the tail mean
    v       minus its gradient: a dual vector of the tail mean itself
    level   the best r, less half a width
    bent    what the pairs weigh that lie on the bend
    """

    value: float
    v: Array
    level: float
    bent: float
    width: float
    scan: PairScan


class PairTailLoss(Loss):
    """F(s) = -mean of the share epsilon of pairs with the lowest margins s_i - s_j.

    F(s) = max { v.s : v = (-sum_j d_ij, +sum_i d_ij), 0 <= d_ij <= p_i q_j / epsilon, sum d = 1 },
    so that F* is zero at such v and infinite elsewhere. Time N log N, memory N.
    """

    infimum = -np.inf
    shift_invariant = True

    def __init__(self, split: Split, epsilon: float) -> None:
        self.split, self.epsilon = split, epsilon
        self._pairs = PairLoss(split, SURROGATES["hinge"])

    @property
    def at_zero(self) -> float:
        """F(0) = 0."""
        return 0.0

    def scan(self, s: Array) -> PairScan:
        """What sorts the classes by the scores and sums over the pairs."""
        return self._pairs.scan(s)

    def value(self, s: Array) -> float:
        """F(s)."""
        return float(self.slope(s) @ s)

    def slope(self, s: Array, scan: PairScan | None = None) -> Array:
        """The v with F(s) = v.s: pairs below the quantile in full, those at it in equal parts."""
        scan = self.scan(s) if scan is None else scan
        below, at = scan.marginals(scan.quantile(self.epsilon))
        pos, neg = self.split.pos, self.split.neg
        full, tied = float(below[pos].sum()), float(at[pos].sum())
        # Pairs at the quantile that vanish beside those below it have no part in the mean.
        part = min(max((self.epsilon - full) / tied, 0.0), 1.0) if tied > 0.0 else 0.0
        v = (below + part * at) / self.epsilon
        v[neg] *= v[pos].sum() / v[neg].sum()  # but for rounding they are the same
        v[pos] *= -1.0
        return np.asarray(v)

    def conjugate(self, v: Array) -> float:
        """0 where there is a d with these sums over rows and columns, else infinite."""
        total = -float(v[self.split.pos].sum())
        if abs(total - 1.0) > _ROUNDING:
            return float(np.inf)
        return 0.0 if np.isfinite(self._pairs.conjugate(self.epsilon * v)) else float(np.inf)

    def value_rounding(self, s: Array, value: float) -> float:
        """Duals that sum to one, and their share in the margins at the quantile, are rounded."""
        return _tail_rounding(s)

    def dual_rounding(self, v: Array) -> DualRounding:
        """What cannot be shared out among the pairs goes elsewhere, and so does what lacks."""
        lack = abs(float(v[self.split.pos].sum()) + 1.0)
        excess = self._pairs.dual_rounding(self.epsilon * v).mass / self.epsilon
        return DualRounding(0.0, 0.0, 2.0 * (excess + lack))

    def smoothed(self, s: Array, width: float, level: float = 0.0) -> SmoothTail:
        """F rounded off over a width, from a guess of its level."""
        scan, half = self.scan(s), 0.5 * width
        scan.reach = level + half
        reach, value, total, bent = scan.balance(width, self.epsilon)
        v, _ = scan.slope(width)
        smooth = reach - half - value / self.epsilon
        return SmoothTail(smooth, v / total, reach - half, bent, width, scan)

    def rho(self, s: Array) -> tuple[float, float]:
        """The largest rho such that pairs below it weigh epsilon at most; what the others weigh."""
        scan = self.scan(s)
        rho = scan.quantile(self.epsilon * (1.0 + _SAME_SHARE), True)
        return rho, self.share_above(scan, rho)

    def share_above(self, scan: PairScan, rho: float) -> float:
        """What pairs with a margin of rho or more weigh, those of rho but for rounding too."""
        return 1.0 - float(scan.marginals(rho - _SAME_MARGIN)[0][self.split.pos].sum())


class ClassTailLoss(Loss):
    """F(s) = -(mean of the lowest positives - mean of the highest negatives).

    The lowest share epsilon_pos of the positives and the highest share epsilon_neg of the
    negatives. F(s) = max { v.s : v = (-d, +e), 0 <= d_i <= p_i / epsilon_pos, 0 <= e_j <=
    q_j / epsilon_neg, both summing to one }, and F* is zero at such v.
    """

    infimum = -np.inf
    shift_invariant = True

    def __init__(self, split: Split, epsilon_pos: float, epsilon_neg: float) -> None:
        self.split = split
        self.caps_pos, self.caps_neg = split.p / epsilon_pos, split.q / epsilon_neg
        self.epsilon_pos, self.epsilon_neg = epsilon_pos, epsilon_neg

    @property
    def at_zero(self) -> float:
        """F(0) = 0."""
        return 0.0

    def value(self, s: Array) -> float:
        """F(s)."""
        low = tail_mean(s[self.split.pos], self.caps_pos)[0]
        return -low - tail_mean(-s[self.split.neg], self.caps_neg)[0]

    def slope(self, s: Array) -> Array:
        """The v with F(s) = v.s."""
        v = np.zeros(self.split.n_rows)
        v[self.split.pos] = -tail_mean(s[self.split.pos], self.caps_pos)[1]
        v[self.split.neg] = tail_mean(-s[self.split.neg], self.caps_neg)[1]
        return v

    def conjugate(self, v: Array) -> float:
        """0 at a vector of two distributions within their caps, else infinite."""
        d, e = -v[self.split.pos], v[self.split.neg]
        outside = v.copy()
        outside[self.split.pos] = outside[self.split.neg] = 0.0
        fine = not outside.any() and min(d.min(), e.min()) >= 0.0
        for part, caps in ((d, self.caps_pos), (e, self.caps_neg)):
            fine = fine and abs(float(part.sum()) - 1.0) <= _ROUNDING
            fine = fine and bool((part <= caps * (1.0 + _ROUNDING)).all())
        return 0.0 if fine else float(np.inf)

    def value_rounding(self, s: Array, value: float) -> float:
        """The distributions, and their share in the scores at the quantiles, are rounded."""
        return _tail_rounding(s)

    def dual_rounding(self, v: Array) -> DualRounding:
        """What is above the caps goes elsewhere, and so does what lacks."""
        mass = 4.0 * gamma(len(v) + STEPS)
        for part, caps in ((-v[self.split.pos], self.caps_pos), (v[self.split.neg], self.caps_neg)):
            mass += abs(float(part.sum()) - 1.0) + float(np.maximum(part - caps, 0.0).sum())
        return DualRounding(0.0, 0.0, 2.0 * mass)

    def levels(self, s: Array) -> tuple[float, float]:
        """theta+ and theta-: positives below theta+ weigh epsilon_pos at most, and so on."""
        return (
            level_above(s[self.split.pos], self.split.p, self.epsilon_pos),
            level_above(-s[self.split.neg], self.split.q, self.epsilon_neg),
        )

    def shortfalls(self, s: Array) -> tuple[float, float]:
        """The mean shortfalls: sum_i p_i (theta+ - s_i)_+ / epsilon_pos, and of the negatives.

        Their difference is the derivative of the optimum in log epsilon_pos, where the product
        epsilon_pos epsilon_neg is kept.
        """
        low, high = self.levels(s)
        return (
            float(self.caps_pos @ np.maximum(low - s[self.split.pos], 0.0)),
            float(self.caps_neg @ np.maximum(high + s[self.split.neg], 0.0)),
        )
