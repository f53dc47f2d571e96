"""Some columns of a matrix, each times a number, which are never stored."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .base import Array, Design, Rows, Windows


class ScaledDesign(Design):
    """The columns x_c scale_c of a base matrix. What is read counts as read from the base."""

    def __init__(self, base: Design, columns: NDArray[np.int64], scale: Array) -> None:
        self.base, self.columns, self.scale = base, columns, scale
        self.shape = (base.shape[0], len(columns))
        self.n_entries, self.n_threads = base.n_entries, base.n_threads
        self._all = len(columns) == base.shape[1]

    @property
    def entries_read(self) -> int:
        """What has been read of the base."""
        return self.base.entries_read

    @entries_read.setter
    def entries_read(self, entries: int) -> None:
        self.base.entries_read = entries

    def weights_of_base(self, w: Array) -> Array:
        """The weights of the base's own columns that give the same scores."""
        full = np.zeros(self.base.shape[1])
        full[self.columns] = self.scale * w
        return full

    def _own(self, of_base: Array) -> Array:
        """A vector or a square matrix over the base's columns, over these."""
        if not self._all:
            of_base = of_base[self.columns]
        if of_base.ndim == 1:
            return np.asarray(of_base * self.scale)
        if not self._all:
            of_base = of_base[:, self.columns]
        return np.asarray(of_base * self.scale * self.scale[:, np.newaxis])

    def scores(self, w: Array, rows: Rows | None = None) -> Array:
        """s = X w."""
        return self.base.scores(self.weights_of_base(w), rows)

    def pull_back(self, v: Array, rows: Rows | None = None) -> Array:
        """g = X'v."""
        return self._own(self.base.pull_back(v, rows))

    def gram(self, c: Array, rows: Rows | None = None) -> Array:
        """H = X' diag(c) X."""
        return self._own(self.base.gram(c, rows))

    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of X' diag(c) X."""
        return self.base.gram_diagonal(c, rows)[self.columns] * self.scale**2

    def window_gram(self, windows: Windows) -> Array:
        """The sum over the pairs of the windows."""
        return self._own(self.base.window_gram(windows))

    def subset(self, rows: Rows) -> ScaledDesign:
        """Some of the rows."""
        return ScaledDesign(self.base.subset(rows), self.columns, self.scale)

    def squared_norms(self, rows: Rows | None = None) -> Array:
        """|x|^2 of every row."""
        weight = np.zeros(self.base.shape[1])
        weight[self.columns] = self.scale**2
        return self.base.weighted_norms(weight, rows)

    def weighted_norms(self, weight: Array, rows: Rows | None = None) -> Array:
        """The sums over columns of weight x^2."""
        full = np.zeros(self.base.shape[1])
        full[self.columns] = weight * self.scale**2
        return self.base.weighted_norms(full, rows)

    def take(self, rows: Rows) -> Array:
        """The rows themselves, dense."""
        taken = self.base.take(rows)
        return np.asarray((taken if self._all else taken[:, self.columns]) * self.scale)
