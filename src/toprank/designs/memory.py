"""Matrices in memory (or memory-mapped): dense and CSR, float32 or float64, never copied."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core import Matrix
from .base import Array, Design, Rows, Windows, resolve_threads

#: Rows that are squared at a time, at the least.
_BLOCK = 4096


class MemoryDesign(Design):
    """Products by the compiled core; entries in the caller's dtype, sums in float64."""

    def __init__(self, matrix: Matrix, shape: tuple[int, int], n_threads: int | None) -> None:
        self.matrix = matrix
        self.shape = shape
        self.n_threads = resolve_threads(n_threads)

    @abstractmethod
    def _entries(self, rows: Rows | None) -> int:
        """How many entries a product with these rows reads."""

    @abstractmethod
    def by_rows(self) -> Matrix:
        """The matrix with contiguous rows, as sequential kernels read it; a copy if need be."""

    def scores(self, w: Array, rows: Rows | None = None) -> Array:
        """s = X w."""
        self.entries_read += self._entries(rows)
        return self.matrix.scores(w, rows, self.n_threads)

    def pull_back(self, v: Array, rows: Rows | None = None) -> Array:
        """g = X'v."""
        self.entries_read += self._entries(rows)
        return self.matrix.pull_back(v, rows, self.n_threads)

    def squared_norms(self, rows: Rows | None = None) -> Array:
        """|x|^2 of every row."""
        self.entries_read += self._entries(rows)
        return self.matrix.squared_norms(rows, self.n_threads)

    def take(self, rows: Rows) -> Array:
        """The rows themselves, dense."""
        self.entries_read += self._entries(rows)
        return self.matrix.take(rows)

    def gram(self, c: Array, rows: Rows | None = None) -> Array:
        """H = X' diag(c) X; counted as two products."""
        self.entries_read += 2 * self._entries(rows)
        return self.matrix.gram(c, rows, self.n_threads)


class DenseDesign(MemoryDesign):
    """A dense matrix with contiguous rows or contiguous columns."""

    def __init__(self, X: NDArray[np.floating[Any]], n_threads: int | None = None) -> None:
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        item = X.dtype.itemsize
        # A field of a record array may begin anywhere, and step by no whole number of entries.
        whole = X.flags.aligned and not any(stride % item for stride in X.strides)
        if not whole or (item not in X.strides and X.size > 0):
            X = X.copy(order="C")
        self.X = np.asarray(X)
        super().__init__(Matrix.dense(self.X), (X.shape[0], X.shape[1]), n_threads)
        self.n_entries = X.size

    def _entries(self, rows: Rows | None) -> int:
        return self.n_entries if rows is None else len(rows) * self.shape[1]

    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of X' diag(c) X, by blocks of rows."""
        self.entries_read += self._entries(rows)
        places = np.arange(self.shape[0]) if rows is None else rows
        diagonal = np.zeros(self.shape[1])
        for begin in range(0, len(places), _BLOCK):
            block = self.X[places[begin : begin + _BLOCK]].astype(np.float64)
            diagonal += c[begin : begin + _BLOCK] @ np.square(block, out=block)
        return diagonal

    def subset(self, rows: Rows) -> DenseDesign:
        """A copy of some of the rows."""
        self.entries_read += self._entries(rows)
        return DenseDesign(self.X[rows], self.n_threads)

    def by_rows(self) -> Matrix:
        """The matrix, or a copy of it, with contiguous rows."""
        if self.X.strides[1] == self.X.dtype.itemsize or self.shape[1] == 1:
            return self.matrix
        return Matrix.dense(np.ascontiguousarray(self.X))


class SparseDesign(MemoryDesign):
    """A CSR matrix whose indices increase in every row."""

    def __init__(self, X: sparse.csr_array | sparse.csr_matrix, n_threads: int | None = None):
        self.X = X
        self._indptr = np.ascontiguousarray(X.indptr, dtype=np.int64)
        data, indices = np.ascontiguousarray(X.data), np.ascontiguousarray(X.indices)
        matrix = Matrix.csr(data, indices, self._indptr, X.shape[1])
        super().__init__(matrix, X.shape, n_threads)
        self.n_entries = int(self._indptr[-1])
        self._counted: list[tuple[Rows, int]] = []

    def _entries(self, rows: Rows | None) -> int:
        if rows is None:
            return self.n_entries
        for known, entries in self._counted:  # the rows of a class are asked for again and again
            if known is rows:
                return entries
        entries = int(self.row_entries(rows).sum())
        self._counted = [*self._counted[-3:], (rows, entries)]
        return entries

    def row_entries(self, rows: Rows) -> NDArray[np.int64]:
        """How many entries each of the rows stores."""
        return np.asarray(self._indptr[rows + 1] - self._indptr[rows])

    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of X' diag(c) X, by blocks of rows."""
        self.entries_read += self._entries(rows)
        n, d = self.shape
        weight = c if rows is None else np.bincount(rows, c, n)
        diagonal = np.zeros(d)
        block = n if self.n_entries <= 4 * d else max(_BLOCK, 4 * d * n // self.n_entries)
        for begin in range(0, n, block):
            pointers = self._indptr[begin : begin + block + 1]
            entries = slice(pointers[0], pointers[-1])
            terms = np.repeat(weight[begin : begin + block], np.diff(pointers))
            terms *= np.square(self.X.data[entries], dtype=np.float64)
            diagonal += np.bincount(self.X.indices[entries], terms, d)
        return diagonal

    def absolute_scores(self, w: Array) -> Array:
        """The sums over columns of |x| |w| of every row, from the stored entries."""
        self.entries_read += self.n_entries
        return np.asarray(abs(self.X) @ np.abs(w))

    def absolute_pull_back(self, v: Array) -> Array:
        """The sums over rows of |x| |v| of every column, from the stored entries."""
        self.entries_read += self.n_entries
        return np.asarray(abs(self.X).T @ np.abs(v))

    def weighted_norms(self, weight: Array, rows: Rows | None = None) -> Array:
        """The sums over columns of weight x^2 of every row, from the stored entries."""
        self.entries_read += self._entries(rows)
        X = self.X if rows is None else self.X[rows]
        terms = np.square(X.data, dtype=np.float64) * weight[X.indices]
        row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return np.asarray(np.bincount(row_of, terms, X.shape[0]))

    def window_gram(self, windows: Windows) -> Array:
        """The sum over the pairs; `rows` should be the side with fewer entries."""
        self.entries_read += 2 * (self._entries(windows.rows) + self._entries(windows.others))
        w = windows
        cross = self.matrix.window_cross(
            w.rows, w.first, w.last, w.weights, w.others, w.other_weights
        )
        degrees = np.concatenate(windows.degrees())
        rows = np.concatenate([windows.rows, windows.others])
        return self.matrix.gram(degrees, rows, self.n_threads) - cross - cross.T

    def subset(self, rows: Rows) -> SparseDesign:
        """A copy of some of the rows."""
        self.entries_read += self._entries(rows)
        return SparseDesign(self.X[rows], self.n_threads)

    def by_rows(self) -> Matrix:
        """The matrix with contiguous rows."""
        return self.matrix


def as_design(X: Any, n_threads: int | None = None) -> DenseDesign | SparseDesign:
    """The design of an array or a CSR matrix that has been checked."""
    return SparseDesign(X, n_threads) if sparse.issparse(X) else DenseDesign(X, n_threads)
