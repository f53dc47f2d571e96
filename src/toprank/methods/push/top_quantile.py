"""The objective of AATP at a score vector, and the convex problems it is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...designs import Design, PairDesign
from ...inputs.class_split import Split, between
from ...losses import RowLoss
from ...problems import Problem
from ...rounding import STEPS, gamma
from ...surrogates import SURROGATES

Array = NDArray[np.float64]

#: Sums of shares are good to this: a row that lacks less of tau is the last of the top.
_ROUNDING = 1e-12
#: In place of a sum of zero, whose terms are zero as well.
_TINY = np.finfo(np.float64).tiny


class TopQuantile:
    """F(w) = alpha/2 |w|^2 + sum_r c_r [1 - y_r (w.x_r - q)]_+,  q the score at the share tau.

    c_r are the rows' shares of the weight of all, y_r is 1 for positives and -1 for negatives, and
    q the score of the row with which the highest rows first weigh tau. With the score of a fixed
    row k in place of q it is a convex problem, P_k, which F equals wherever row k is that row.
    """

    def __init__(self, design: Design, split: Split, alpha: float, tau: float) -> None:
        self.design, self.split, self.alpha, self.tau = design, split, alpha, tau
        #: The rows that weigh something, the positives first, and y and c of each.
        self.rows = np.concatenate([split.pos, split.neg])
        self.sign = np.concatenate([np.ones(len(split.pos)), -np.ones(len(split.neg))])
        share = split.positive_share
        self.weight = np.concatenate([share * split.p, (1.0 - share) * split.q])

    def order(self, s: Array) -> tuple[NDArray[np.intp], int]:
        """The places of the rows from the highest score down, and which of them is at tau."""
        order = np.argsort(-s[self.rows], kind="stable")
        above = np.cumsum(self.weight[order])
        return order, int(np.searchsorted(above, (self.tau - _ROUNDING) * above[-1]))

    def value(self, w: Array, s: Array) -> float:
        """F(w), of the scores of w."""
        order, at = self.order(s)
        own = s[self.rows]
        margin = self.sign * (own - own[order[at]])
        return 0.5 * self.alpha * float(w @ w) + float(self.weight @ np.maximum(1.0 - margin, 0.0))

    def stretch(self, w: Array, s: Array) -> float:
        """The t >= 0 with the least F(t w), which is convex in t, for q is t times that of w.

        Its slope, alpha t |w|^2 - sum of c y (s - q) over the rows with t y (s - q) < 1, jumps up
        where a row leaves the sum.
        """
        order, at = self.order(s)
        own = s[self.rows]
        margin = self.sign * (own - own[order[at]])
        with np.errstate(divide="ignore", over="ignore"):
            leaves = np.where(margin > 0.0, 1.0 / margin, np.inf)
        by = np.argsort(leaves, kind="stable")
        # What is left of the sum from each breakpoint on, and up to the first.
        gain = self.weight * margin
        left = np.concatenate([[gain.sum()], gain.sum() - np.cumsum(gain[by])])
        ends = np.concatenate([leaves[by], [np.inf]])
        size = self.alpha * float(w @ w)
        if not size > 0.0 or left[0] <= 0.0:
            return 0.0
        place = int(np.argmax(size * ends >= left))
        begin = ends[place - 1] if place > 0 else 0.0
        return float(max(left[place] / size, begin))

    def threshold(self, s: Array) -> float:
        """A score that the rows up to q lie above, and the next ones do not."""
        order, at = self.order(s)
        own = s[self.rows][order]
        lower = own[own < own[at]]
        return between(lower[0], own[at]) if len(lower) else float(np.nextafter(own[at], -np.inf))

    def problem(self, place: int) -> Problem:
        """P_k, k the row at this place: a hinge on the differences y_r (x_r - x_k)."""
        k, m = self.rows[place], len(self.split.pos)
        first, second = self.rows.copy(), np.full(len(self.rows), k)
        first[m:], second[m:] = k, self.rows[m:]
        loss = RowLoss(self.weight, SURROGATES["hinge"])
        return Problem(PairDesign(self.design, first, second), loss, self.alpha)

    def bounds(self, v: Array) -> Array:
        """What v, a dual vector of one P_k, proves of each of them.

        Scaled so that both classes have the same sum, which makes e zero below, it proves the same
        of all, however far away their row is.
        """
        a = np.clip(-v, 0.0, self.weight)
        high, low = (float(a[self.sign == side].sum()) for side in (1.0, -1.0))
        least = min(high, low)
        balanced = a * np.where(self.sign > 0.0, least / max(high, _TINY), least / max(low, _TINY))
        return np.maximum(self._bounds(a), self._bounds(np.minimum(balanced, a)))

    def _bounds(self, a: Array) -> Array:
        """The dual value of 0 <= a <= c in every P_k, or less.

        It is sum a - |u - e x_k|^2 / (2 alpha), u = sum_r a_r y_r x_r and e = sum_r a_r y_r: one
        product with the matrix tells it of all k. What rounding can do is taken off.
        """
        signed = a * self.sign
        used = np.flatnonzero(signed)
        u, e = self.design.pull_back(signed[used], self.rows[used]), float(signed.sum())
        norms = self.design.norms[self.rows]
        square = float(u @ u) - 2.0 * e * self.design.scores(u, self.rows) + e * e * norms**2
        off, total = gamma(len(a) + self.design.shape[1] + 4 * STEPS), float(a.sum())
        own = float(a @ norms)
        # The square loses digits where its terms cancel, and u and e are sums of rounded terms.
        length = np.sqrt(np.maximum(square, 0.0) + 4.0 * off * (own + abs(e) * norms) ** 2)
        length += 2.0 * off * (own + total * norms)
        return np.asarray(total * (1.0 - off) - length**2 / (2.0 * self.alpha))
