"""The columns of X as base rankers, scaled or as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..designs import DenseDesign, SparseDesign
from ..split import Split
from .base import Array, BaseRankers, Pick

#: Odds are held within e^24.
_HALF_LOG_ODDS = 12.0


class Columns(BaseRankers):
    """h_k(x) = 2 (x_k - lo_k) / (hi_k - lo_k) - 1, lo and hi over the training rows; or x_k.

    Constant columns tell no rows apart and are left out. A difference of scores does not see what
    is added to all of them, so that sparse columns stay sparse.
    """

    def __init__(self, design: DenseDesign | SparseDesign, split: Split, *, scaled: bool) -> None:
        super().__init__(split)
        self._design = design
        self.low, self.high = column_ranges(design, split)
        if isinstance(design, SparseDesign):
            X: Any = design.X
            self._by_column = X[self.rows].tocsc()
        with np.errstate(divide="ignore", over="ignore"):
            slope = 2.0 / (self.high - self.low)
        self.varies = np.isfinite(slope) & (slope > 0.0)
        #: dh/dx, zero where a column is left out.
        self.slope = np.where(self.varies, slope if scaled else 1.0, 0.0)
        #: h at x = 0.
        self.at_zero = np.zeros_like(self.slope)
        if scaled:
            # The two ends each over their distance: their sum may overflow.
            self.at_zero -= self.low * self.slope + self.varies
        else:
            ends = np.maximum(np.abs(self.low), np.abs(self.high))[self.varies]
            self.largest = float(ends.max(initial=0.0))
        self._scaled = scaled
        self._last = (-1, np.empty(0))

    @property
    def n_rankers(self) -> int:
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
        """The one ranker there is."""
        merit = float(s @ self._values(feature)) if self.varies[feature] else 0.0
        return Pick(feature, 0, False, merit)

    def pick_decrease(self, w: Array, p: float, feature: int) -> Pick:
        """The one ranker there is."""
        return Pick(feature, 0, False, float(self.decreases(w, p)[feature]))

    def column(self, pick: Pick) -> Array:
        """A column, scaled."""
        return self._values(pick.feature)

    def _values(self, k: int) -> Array:
        if self._last[0] != k:  # a ranker that was picked is asked for next
            self._last = (k, self._read(k))
        return self._last[1]

    def _read(self, k: int) -> Array:
        if isinstance(self._design, SparseDesign):
            x = np.zeros(len(self.rows))
            part = slice(*self._by_column.indptr[k : k + 2])
            x[self._by_column.indices[part]] = self._by_column.data[part]
        else:
            x = self._design.X[self.rows, k].astype(np.float64)
        if not self._scaled:
            return x
        return np.asarray(2.0 * ((x - self.low[k]) / (self.high[k] - self.low[k])) - 1.0)


def column_ranges(design: DenseDesign | SparseDesign, split: Split) -> tuple[Array, Array]:
    """The least and the largest entry of every column, of rows that weigh something."""
    X: Any = design.X
    if len(split.pos) + len(split.neg) < split.n_rows:
        X = X[np.sort(np.concatenate([split.pos, split.neg]))]
    ends = [X.min(axis=0), X.max(axis=0)]
    if isinstance(design, SparseDesign):
        ends = [end.toarray().ravel() for end in ends]
    return ends[0].astype(np.float64), ends[1].astype(np.float64)


def _half_log_odds(above: Array, below: Array) -> Array:
    """log(above / below) / 2, held within +-12."""
    tiny = np.finfo(np.float64).tiny
    odds = np.log(np.maximum(above, tiny) / np.maximum(below, tiny))
    return np.asarray(np.clip(0.5 * odds, -_HALF_LOG_ODDS, _HALF_LOG_ODDS))


def _log_cosh(x: Array) -> Array:
    """log(e^x + e^-x)."""
    size = np.abs(x)
    return np.asarray(size + np.log1p(np.exp(-2.0 * size)))


__all__ = ["Columns", "column_ranges"]
