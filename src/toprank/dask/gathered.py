"""A matrix on a cluster whose scores come to the driver, for losses that look at pairs of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.class_split import Split
from .matrix import ClusterDesign, added
from .parts import Labels, Rows, joined

Array = NDArray[np.float64]
Places = NDArray[np.int64]

#: Rows whose scores come to the driver in every step, at the most: 8 bytes each, and more there.
MOST_GATHERED = 20_000_000


class GatheredDesign(ClusterDesign):
    """Products with rows that are parts on workers: N numbers come here, or go there."""

    compiled_sums = False
    stores_scores = True

    def __init__(self, base: ClusterDesign, lengths: list[int]) -> None:
        super().__init__(base.reducer, base.shape, base.n_entries, base.each)
        self._ends = np.cumsum([0, *lengths])

    def scores(self, w: Array, rows: Places | None = None) -> Array:
        """s = X w."""
        return self._by_row(_scores, (w,), rows)

    def squared_norms(self, rows: Places | None = None) -> Array:
        """|x|^2 of every row."""
        return self._by_row(_squared_norms, (), rows)

    def pull_back(self, v: Array, rows: Places | None = None) -> Array:
        """g = X'v."""
        return self._summed(_pull_back, v, rows, 0)

    def gram(self, c: Array, rows: Places | None = None) -> Array:
        """H = X' diag(c) X."""
        return self._summed(_gram, c, rows, 8 * self.shape[1] ** 2)

    def gram_diagonal(self, c: Array, rows: Places | None = None) -> Array:
        """The diagonal of X' diag(c) X."""
        return self._summed(_gram_diagonal, c, rows, 0)

    def _by_row(self, kernel: Any, args: tuple[Any, ...], rows: Places | None) -> Array:
        """A number for every row, in the order in which they are asked for."""
        self.entries_read += self._entries(rows)
        if rows is None:
            return np.concatenate(self.reducer(kernel, args, joined, own=[(None,)] * self._n_parts))
        order = np.argsort(rows, kind="stable")
        own = [(part,) for part in self._cut(rows[order])]
        found = np.empty(len(rows))
        found[order] = np.concatenate(self.reducer(kernel, args, joined, own=own))
        return found

    def _summed(self, kernel: Any, v: Array, rows: Places | None, size: int) -> Array:
        self.entries_read += self._entries(rows)
        if rows is None:
            own: list[tuple[Any, ...]] = [(part, None) for part in np.split(v, self._ends[1:-1])]
        else:
            order = np.argsort(rows, kind="stable")
            places = self._cut(rows[order])
            ends = np.cumsum([len(one) for one in places])[:-1]
            own = list(zip(np.split(v[order], ends), places, strict=True))
        return np.asarray(self.reducer(kernel, (), added, size, own))

    @property
    def _n_parts(self) -> int:
        return len(self._ends) - 1

    def _entries(self, rows: Places | None) -> int:
        if rows is None:
            return self.n_entries
        return int(len(rows) * self.n_entries / max(self.shape[0], 1))

    def _cut(self, rows: Places) -> list[Places]:
        """Sorted row numbers by their parts, counted within each."""
        cuts = np.searchsorted(rows, self._ends)
        pairs = zip(cuts[:-1], cuts[1:], self._ends[:-1], strict=True)
        return [rows[a:b] - first for a, b, first in pairs]


def gathered_split(design: ClusterDesign, weighted: bool) -> Split:
    """The classes of all rows, and their weights, here."""
    found = design.reducer(_labels, (), joined)
    positive = np.concatenate([one for one, _ in found])
    weight = np.concatenate([two for _, two in found]) if weighted else None
    return Split.of(positive, weight)


def _labels(rows: Rows, labels: Labels) -> list[Any]:
    return [(labels.positive, labels.weight)]


def _scores(rows: Rows, labels: Labels, w: Array, own: Places | None) -> list[Array]:
    return [rows.design.scores(w, own)] if rows.X.shape[0] else [np.empty(0)]


def _squared_norms(rows: Rows, labels: Labels, own: Places | None) -> list[Array]:
    return [rows.design.squared_norms(own)] if rows.X.shape[0] else [np.empty(0)]


def _pull_back(rows: Rows, labels: Labels, v: Array, own: Places | None) -> Array:
    return rows.design.pull_back(v, own) if len(v) else np.zeros(rows.X.shape[1])


def _gram(rows: Rows, labels: Labels, c: Array, own: Places | None) -> Array:
    return rows.design.gram(c, own) if len(c) else np.zeros((rows.X.shape[1],) * 2)


def _gram_diagonal(rows: Rows, labels: Labels, c: Array, own: Places | None) -> Array:
    return rows.design.gram_diagonal(c, own) if len(c) else np.zeros(rows.X.shape[1])


__all__ = ["MOST_GATHERED", "GatheredDesign", "gathered_split"]
