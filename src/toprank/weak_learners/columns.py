"""The columns of X as weak learners, scaled or as they are."""

from __future__ import annotations

import numpy as np

from ..designs import Design
from ..inputs.class_split import Split
from .base import Array, Pick, WeakLearners
from .scaling import ColumnScaling

#: Odds are held within e^24.
_HALF_LOG_ODDS = 12.0


class Columns(WeakLearners):
    """h_k(x), the columns scaled to their ranges over the training rows; or x_k as it is.

    A difference of scores does not see what is added to all of them, so that sparse columns stay
    sparse.
    """

    def __init__(self, design: Design, split: Split, *, scaled: bool) -> None:
        super().__init__(split)
        self._design, self._columns = design, design.by_columns(self.rows)
        scaling = ColumnScaling.of(design, split)
        self._scaling = scaling if scaled else None
        self.varies = scaling.varies
        #: dh/dx, zero where a column is left out.
        self.slope = scaling.slope if scaled else self.varies.astype(np.float64)
        #: h at x = 0.
        self.at_zero = scaling.at_zero if scaled else np.zeros_like(self.slope)
        self.largest = 1.0 if scaled else scaling.largest
        self._last = (-1, np.empty(0))

    @property
    def n_learners(self) -> int:
        """The columns that are not constant."""
        return int(self.varies.sum())

    def edges(self, s: Array) -> Array:
        """X's, but for the scale."""
        return np.abs(self._sums(s) * self.slope)

    def decreases(self, w: Array, p: float) -> Array:
        """Of the two-valued function that bounds J from above: exact where h is +-1.

        e^(-t h) <= (1 + h)/2 e^-t + (1 - h)/2 e^t for |h| <= 1.
        """
        first = np.arange(len(w)) < self.n_positive
        means = (
            self._sums(np.where(side, w, 0.0)) * self.slope + self.at_zero
            for side in (first, ~first)
        )
        x, y = (_half_log_odds((1.0 + mean) / 2.0, (1.0 - mean) / 2.0) for mean in means)
        u = (p * x + y) / (1.0 + p)
        fall = _log_cosh(x) + _log_cosh(y) / p - (1.0 + 1.0 / p) * _log_cosh(u)
        return np.where(self.varies, np.maximum(fall, 0.0), 0.0)

    def _sums(self, v: Array) -> Array:
        """X'v, the rows in the order in which they lie: that of the classes would jump about."""
        full = np.zeros(self._design.shape[0])
        full[self.rows] = v
        return self._design.pull_back(full)

    def pick_edge(self, s: Array, feature: int) -> Pick:
        """The one learner there is."""
        merit = float(s @ self._values(feature)) if self.varies[feature] else 0.0
        return Pick(feature, 0, False, merit)

    def pick_decrease(self, w: Array, p: float, feature: int) -> Pick:
        """The one learner there is."""
        return Pick(feature, 0, False, float(self.decreases(w, p)[feature]))

    def column(self, pick: Pick) -> Array:
        """A column, scaled."""
        return self._values(pick.feature)

    def _values(self, k: int) -> Array:
        if self._last[0] != k:  # a learner that was picked is asked for next
            self._last = (k, self._read(k))
        return self._last[1]

    def _read(self, k: int) -> Array:
        x = self._columns.dense(k)
        return x if self._scaling is None else self._scaling.apply(x, k)


def _half_log_odds(above: Array, below: Array) -> Array:
    """log(above / below) / 2, held within +-12."""
    tiny = np.finfo(np.float64).tiny
    odds = np.log(np.maximum(above, tiny) / np.maximum(below, tiny))
    return np.asarray(np.clip(0.5 * odds, -_HALF_LOG_ODDS, _HALF_LOG_ODDS))


def _log_cosh(x: Array) -> Array:
    """log(e^x + e^-x)."""
    size = np.abs(x)
    return np.asarray(size + np.log1p(np.exp(-2.0 * size)))


__all__ = ["Columns"]
