"""Dense matrices in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Matrix, group_moments, moment_depth, pair_moments
from ..inputs.mapped_arrays import mapped_files
from .base import Array, Rows
from .columns import DenseColumns, RowMoments
from .memory import MemoryDesign, far_medians

#: Rows that are squared at a time.
_BLOCK = 4096
#: Columns from which on the squared lengths of rows take no longer than a look at the entries.
_NOT_NARROW = 20
#: A gram multiplies so many times faster than a product, which waits for memory.
_GRAM_SPEED = 10.0


class DenseDesign(MemoryDesign):
    """A dense matrix with contiguous rows or contiguous columns."""

    def __init__(self, X: NDArray[np.floating[Any]], n_threads: int | None = None) -> None:
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if not X.size:  # NumPy gives it strides of zero
            X = np.zeros(np.maximum(X.shape, 1), dtype=X.dtype)[: X.shape[0], : X.shape[1]]
        item = X.dtype.itemsize
        # A field of a record array may begin anywhere, and step by no whole number of entries.
        whole = X.flags.aligned and not any(stride % item for stride in X.strides)
        if not whole or item not in X.strides:
            X = X.copy(order="C")
        rows = np.asarray(X)
        super().__init__(rows, Matrix.dense(rows), n_threads, mapped_files(X))
        self.n_entries = X.size

    def _entries(self, rows: Rows | None) -> int:
        return self.n_entries if rows is None else len(rows) * self.shape[1]

    @property
    def gram_passes(self) -> float:
        """N d^2 / 2 multiplications, ten times as fast as the N d of a product."""
        return self.shape[1] / (2.0 * _GRAM_SPEED)

    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of X' diag(c) X, by blocks of rows."""
        self.entries_read += self._entries(rows)
        places = np.arange(self.shape[0]) if rows is None else rows
        diagonal = np.zeros(self.shape[1])
        for begin in range(0, len(places), _BLOCK):
            block = self.X[places[begin : begin + _BLOCK]].astype(np.float64)
            diagonal += c[begin : begin + _BLOCK] @ np.square(block, out=block)
        return diagonal

    def group_moments(
        self, group: NDArray[np.int32], n_groups: int, weight: Array | None = None
    ) -> list[RowMoments]:
        """The moments of every group of rows, in one pass."""
        self.entries_read += self.n_entries
        found = group_moments(self.matrix, group, n_groups, weight, self.n_threads)
        depth = moment_depth(*self.shape, n_groups)
        return [
            RowMoments(float(total), mean, scatter, square, depth)
            for total, mean, scatter, square in zip(*found, strict=True)
        ]

    def pair_moments(self, first: Rows, second: Rows) -> list[RowMoments]:
        """The moments of x_first - x_second, all pairs in one block."""
        self.entries_read += 2 * len(first) * self.shape[1]
        found = pair_moments(self.matrix, first, second, None, self.n_threads)
        weight, mean, scatter, square = (one[0] for one in found)
        depth = moment_depth(len(first), self.shape[1], 1)
        return [RowMoments(float(weight), mean, scatter, square, depth)]

    def column_ranges(self, rows: Rows | None = None) -> tuple[Array, Array]:
        """The least and the largest entry of every column."""
        X = self.X if rows is None else self.X[rows]
        return X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)

    def by_columns(self, rows: Rows | None = None) -> DenseColumns:
        """The columns of some rows, one at a time."""
        return DenseColumns(self.X, rows)

    def movable_columns(self) -> NDArray[np.bool_]:
        """All of them."""
        return np.ones(self.shape[1], dtype=np.bool_)

    def _offsets(self, sample: Rows) -> Array:
        return far_medians(self.X[sample])

    def shifted(self, offset: Array) -> DenseDesign:
        """A copy in float64 with `offset` taken off the columns."""
        moved = DenseDesign(np.subtract(self.X, offset, dtype=np.float64), self.n_threads)
        moved.offset = offset if self.offset is None else self.offset + offset
        return moved

    def rescaled(self, columns: Rows, offset: Array, scale: Array) -> DenseDesign:
        """A copy in float64 of some columns, (x - offset) scale."""
        X = self.X[:, columns].astype(np.float64)
        X -= offset
        X *= scale
        return DenseDesign(X, self.n_threads)

    def by_rows(self) -> Matrix:
        """The matrix, or a copy of it, with contiguous rows."""
        if self.X.strides[1] == self.X.dtype.itemsize or self.shape[1] == 1:
            return self.matrix
        return Matrix.dense(np.ascontiguousarray(self.X))

    def squares_are_usable(self, limit: float) -> bool:
        """Take the squared lengths of contiguous rows that are not narrow."""
        if not (self.stores_scores and self.X.flags.c_contiguous and self.shape[1] >= _NOT_NARROW):
            return False
        squares = self.matrix.squared_norms(None, self.n_threads)
        if not float(squares.max(initial=0.0)) <= 0.25 * limit * limit:  # NaN too
            return False
        self._squares = squares
        return True

    def first_unusable(self, limit: float, *, missing: bool = False) -> tuple[int, int] | None:
        """The first such entry, by rows; by columns where those are contiguous."""
        row, column = self.matrix.first_unusable(limit, self.n_threads)
        if row >= 0 and missing:
            # In the type of X, which may have no number as large; NaN is not above it.
            most = min(limit, float(np.finfo(self.X.dtype).max))
            wrong = np.abs(self.X) > most
            row, column = np.argwhere(wrong)[0] if wrong.any() else (-1, -1)
        return (int(row), int(column)) if row >= 0 else None
