"""Columns scaled to their ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from ..designs import Design, MemoryDesign, ScaledDesign
from ..inputs.class_split import Split

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

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


__all__ = ["ColumnScaling"]
