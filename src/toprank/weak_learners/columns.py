"""The columns of X as weak learners, scaled or unchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from ..designs import Design, MemoryDesign, ScaledDesign
from ..inputs.class_split import Split
from .base import Array, Pick, WeakLearners

#: A column is centred, in a copy, where it lies this many times its range away from zero.
_FAR = 1e3
#: And scaled in a copy where the square of its range, or of one over it, would be no number.
_HUGE = 1e60
#: The smallest range whose slope, two over it, is a float64: just above 1.1e-308.
_NARROWEST = np.nextafter(2.0 / np.finfo(np.float64).max, np.inf)


@dataclass(frozen=True)
class ColumnScaling:
    """h_k(x) = 2 (x_k - low_k) / (high_k - low_k) - 1, low and high over the rows that count.

    Constant columns are left out: they distinguish no rows.
    """

    low: Array
    high: Array

    @classmethod
    def of(cls, design: Design, split: Split) -> ColumnScaling:
        """By the rows of both classes."""
        return cls(*design.column_ranges(split.rows))

    @cached_property
    def slope(self) -> Array:
        """dh/dx, zero for constant columns; ValueError where no float64 holds it."""
        width = self.high - self.low
        narrow = self.varies & (width < _NARROWEST)
        if narrow.any():
            raise ValueError(_too_narrow(int(narrow.argmax()), self.low, self.high))
        return np.divide(2.0, width, out=np.zeros_like(width), where=self.varies)

    @cached_property
    def varies(self) -> NDArray[np.bool_]:
        """Which columns are not constant."""
        return np.asarray(self.high > self.low)

    @property
    def at_zero(self) -> Array:
        """h at x = 0, zero where a column is left out."""
        # The two ends each over their distance: their sum may overflow.
        return np.asarray(0.0 - (self.low * self.slope + self.varies))

    @property
    def largest(self) -> float:
        """The most that an entry of a column that varies is away from zero."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high))
        return float(ends[self.varies].max(initial=0.0))

    def apply(self, x: Array, k: int) -> Array:
        """h of entries of column k."""
        return np.asarray(2.0 * ((x - self.low[k]) / (self.high[k] - self.low[k])) - 1.0)

    def half_of(self, design: MemoryDesign) -> Design:
        """h / 2 of the columns that vary, but for a constant: a view, or a copy where digits ask.

        In a copy every column that can be moved begins at zero.
        """
        columns = np.flatnonzero(self.varies)
        low, high, scale = self.low[columns], self.high[columns], 0.5 * self.slope[columns]
        reach = high - low
        far = np.maximum(np.abs(low), np.abs(high)) > _FAR * reach
        if far.any() or reach.max(initial=1.0) > _HUGE or reach.min(initial=1.0) < 1.0 / _HUGE:
            return design.rescaled(columns, low, scale)
        return ScaledDesign(design, columns, scale)


def _too_narrow(column: int, low: Array, high: Array) -> str:
    return (
        f"Column {column} of X goes from {low[column]:g} to {high[column]:g}. No float64 holds the "
        f"weight of a column narrower than {_NARROWEST:.3g} once it is scaled to its range. "
        f"Multiply the column by a power of two, 2.0**1000 for example, or remove it."
    )


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


__all__ = ["ColumnScaling", "Columns"]
