"""The partial area under the ROC curve, as the worst case over rankings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..inputs.class_split import Split
from ..rounding import STEPS, gamma
from .rankings import Plane, Ranking, RankingLoss, falling
from .rounded import DualRounding

Array = NDArray[np.float64]


class PartialAUCLoss(RankingLoss):
    """F(s) = 1/(b - a) sum_i p_i max over r of  L(V_r) + sum_{j <= r} v_j (t_j - s_i).

    The negatives come in falling order of their scores t; those before the end of place r weigh
    U_r = q_1 + ... + q_r, and L(V) = [min(V, b) - a]_+ of it lies at false positive rates between a
    and b. Loose: v_j = q_j, V_r = U_r. Tight: the negatives count up to the rate b only, V_r =
    min(U_r, b) and v_j = V_j - V_{j-1}. For a = 0 the tight one is the mean over the positives and
    the highest negatives, a share b of them, of the hinge [1 + t_j - s_i]_+.

    L is convex up to b. So the tight loss is the same if a row is cut in pieces: weights are
    repeated rows. The loose one counts whole negatives, which must weigh the same.
    """

    def __init__(self, split: Split, a: float, b: float, *, tight: bool = True) -> None:
        super().__init__(split)
        if not tight and np.ptp(split.q) > 0.0:
            raise ValueError(
                "The negatives have different weights, and the loose form of the loss counts whole "
                "negatives: set tight=True, or leave sample_weight out."
            )
        self.a, self.b, self.tight = a, b, tight
        self.tied_at_zero = b < 1.0
        self._width = b - a

    @property
    def at_zero(self) -> float:
        """F(0) = 1: the range of rates is lost as a whole."""
        return 1.0

    def worst_ranking(self, s: Array) -> Ranking:
        """The negatives by their scores, and each positive where it loses most, by itself.

        Between the rates 0 and a, a and b, b and 1 the sums up to place r are concave in V_r: there
        the place is found by bisection, and the best of the three is taken.
        """
        s_pos, s_neg = s[self.split.pos], s[self.split.neg]
        order = self._order(s_neg)
        t, upto, v = s_neg[order], *self._masses(order)
        sums = self._lost(upto) + np.concatenate([[0.0], np.cumsum(v * t)])
        low = int(np.searchsorted(upto, self.a, side="left"))
        high = int(np.searchsorted(upto, self.b, side="left" if self.tight else "right"))
        last = len(upto)
        if self.tight:  # where V has come to b it stays there
            last = min(high + 1, last)
        best, above = np.full(self.m, -np.inf), np.zeros(self.m, dtype=np.int64)
        for first, end, gain in ((0, low, 0.0), (low, high, 1.0), (high, last, 0.0)):
            if first == end:
                continue
            # From place r on to r + 1 a positive gains  v (gain + t - s).
            place = first + np.searchsorted(-(gain + t[first : end - 1]), -s_pos)
            value = sums[place] - upto[place] * s_pos
            better = value > best
            best[better], above[better] = value[better], place[better]
        return self.ranking(above, order)

    def plane(self, ranking: Ranking) -> Plane:
        """The level sum_i p_i L(V_i) / (b - a), V_i the negatives above i, and the slope."""
        above, order = self.parts(ranking)
        p = self.split.p
        upto, of_neg = self._masses(order)
        of_pos = upto[above]
        v = np.zeros(self.split.n_rows)
        v[self.split.pos] = -p * of_pos / self._width
        v[self.split.neg[order]] = of_neg * self.beneath(above, p) / self._width
        return Plane(float(p @ self._lost(of_pos)) / self._width, v)

    def _order(self, s_neg: Array) -> NDArray[np.int64]:
        """The negatives from the highest down, as far as they count."""
        count = self.n
        if self.tight and np.ptp(self.split.q) == 0.0:
            count = int(np.ceil(self.b * self.n)) + 1  # one more, for rounding
        if count >= self.n // 2:
            return falling(s_neg)
        least = np.partition(s_neg, self.n - count)[self.n - count]
        high = s_neg >= least
        counts = np.flatnonzero(high)
        return np.concatenate([counts[falling(s_neg[counts])], np.flatnonzero(~high)])

    def _masses(self, order: NDArray[np.integer]) -> tuple[Array, Array]:
        """V_0, ..., V_n and v_1, ..., v_n of negatives in this order."""
        q = self.split.q[order]
        upto = np.concatenate([[0.0], np.cumsum(q)])
        if self.tight:
            # A row within the range counts for what it weighs, to the last digit.
            q = np.where(upto[1:] <= self.b, q, np.maximum(self.b - upto[:-1], 0.0))
            upto = np.minimum(upto, self.b)
        return upto, q

    def _lost(self, upto: Array) -> Array:
        """L(V)."""
        return np.maximum(np.minimum(upto, self.b) - self.a, 0.0)

    @property
    def _digits(self) -> float:
        """What rounding does to running sums of shares."""
        return gamma(2 * (self.m + self.n + STEPS))

    def value_rounding(self, s: Array, value: float) -> float:
        """Levels and slopes are rounded, and so are the sums by which a place is chosen."""
        most = self.b if self.tight else 1.0
        return self._digits * (1.0 + 6.0 * most * (1.0 + self.largest(s)) / self._width)

    def plane_rounding(self) -> DualRounding:
        """A share off every entry leaves weights of pairs that are surely allowed.

        Any V between 0 and b is, as L is convex there. In the loose form V is a whole number of
        equal negatives.
        """
        most = self.b if self.tight else 1.0
        return DualRounding(2.0 * self._digits * (1.0 + most / self._width), 2.0 * self._digits)
