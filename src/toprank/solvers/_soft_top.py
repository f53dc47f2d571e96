"""The soft top rounded off: how a small change of the scores changes its weights and its slope."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..losses import TopFractionLoss

Array = NDArray[np.float64]


def capped(values: Array, caps: Array, width: float) -> tuple[Array, float]:
    """The d with d_j = caps_j [(values_j - level) / width], cut to 0 and 1, that sums to one."""
    ends = np.concatenate([values, values - width])
    change = np.concatenate([caps, -caps]) / width
    order = np.argsort(-ends, kind="stable")
    at, slope = ends[order], np.cumsum(change[order])
    upto = np.concatenate([[0.0], np.cumsum(slope[:-1] * -np.diff(at))])
    place = min(int(np.searchsorted(upto, 1.0)), len(at) - 1)
    before = max(place - 1, 0)
    rate = slope[before]
    level = at[before] - (1.0 - upto[before]) / rate if rate > 0.0 else at[place]
    d = caps * np.clip((values - level) / width, 0.0, 1.0)
    return d / d.sum(), float(level)


class SoftTop:
    """F rounded off over a width at some scores.

    max over d of  sum_j d_j L_j - width/2 sum_j d_j^2 / caps_j,  L_j = sum_i p_i l(s_j - s_i):
    no more than half a width below F. Its slope is that of F_d at the best d.
    """

    def __init__(self, loss: TopFractionLoss, s: Array, width: float) -> None:
        split = loss.split
        self.loss, self.width, self.n_rows = loss, width, len(s)
        middle = float(split.p @ s[split.pos])
        self._low = np.argsort(s[split.pos], kind="stable")
        self.pos, self.p = split.pos[self._low], split.p[self._low]
        self.s_pos, s_neg = s[self.pos] - middle, s[split.neg] - middle
        # Negatives below the margin of every positive weigh nothing here; all are looked at.
        self._reach = 1.0 + s_neg
        self._below = np.searchsorted(self.s_pos, self._reach, side="left")
        zeroth, first, second = (
            _upto(self.p * power) for power in (1.0, self.s_pos, self.s_pos**2)
        )
        at, reach = self._below, self._reach
        height = np.maximum(reach * reach * zeroth[at] - 2.0 * reach * first[at] + second[at], 0.0)
        self.d, level = capped(height, loss.caps, width)
        self.value = float(self.d @ height)
        self.smooth = self.value - 0.5 * width * float(self.d @ (self.d / loss.caps))
        steep = 2.0 * np.maximum(reach * zeroth[at] - first[at], 0.0)
        # Only negatives that weigh something have a slope, and only those on the bend move.
        self._used = np.flatnonzero(self.d)
        self._bent = np.flatnonzero((height > level) & (height < level + width))
        self._steep, self._share = steep, zeroth
        order = self._used[np.argsort(reach[self._used], kind="stable")]
        self._order = order
        self._from = np.searchsorted(reach[order], self.s_pos, side="right")

    @property
    def slope(self) -> Array:
        """The gradient in the scores."""
        v, neg = np.zeros(self.n_rows), self.loss.split.neg
        v[neg] = self.d * self._steep
        d, reach = self.d[self._order], self._reach[self._order]
        zeroth, first = _beyond(d), _beyond(d * reach)
        v[self.pos] = -2.0 * self.p * (first[self._from] - self.s_pos * zeroth[self._from])
        return v

    def bend(self, t: Array) -> Array:
        """The second derivative times changes t of the scores: a vector, or columns of them."""
        t = t if t.ndim == 2 else t[:, np.newaxis]
        out = np.zeros_like(t)
        neg, p = self.loss.split.neg, self.p[:, np.newaxis]
        t_pos, order = t[self.pos], self._order
        # The pairs within the margin, at these weights.
        upto = _upto(p * t_pos)
        d, t_neg = self.d[order, np.newaxis], t[neg[order]]
        at = self._below[order]
        out[neg[order]] = 2.0 * d * (self._share[at, np.newaxis] * t_neg - upto[at])
        weight, moved = _beyond(self.d[order]), _beyond(d * t_neg)
        start = self._from
        out[self.pos] = 2.0 * p * (weight[start, np.newaxis] * t_pos - moved[start])
        # The weights of those on the bend, as their heights change.
        bent = self._bent
        if len(bent):
            reach, at = self._reach[bent, np.newaxis], self._below[bent]
            further = _upto(p * self.s_pos[:, np.newaxis] * t_pos)
            steep = self._steep[bent, np.newaxis]
            rise = steep * t[neg[bent]] - 2.0 * (reach * upto[at] - further[at])
            c = (self.loss.caps[bent] / self.width)[:, np.newaxis]
            change = c * (rise - (c * rise).sum(axis=0) / c.sum())
            out[neg[bent]] += steep * change
            rank = np.argsort(reach[:, 0], kind="stable")
            zeroth, first = _beyond(change[rank]), _beyond((change * reach)[rank])
            start = np.searchsorted(reach[rank, 0], self.s_pos, side="right")
            out[self.pos] -= 2.0 * p * (first[start] - self.s_pos[:, np.newaxis] * zeroth[start])
        return out


def _upto(x: Array) -> Array:
    """The sums of the first k, for every k from none on."""
    return np.concatenate([np.zeros((1, *x.shape[1:])), np.cumsum(x, axis=0)])


def _beyond(x: Array) -> Array:
    """The sums of all from the k-th on, for every k."""
    return _upto(x[::-1])[::-1]
