"""CSR matrices in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core import Matrix
from ..inputs.mapped_arrays import mapped_files
from .base import Array, Rows, Windows
from .columns import RowMoments, SparseColumns
from .memory import MemoryDesign, far_medians

#: Rows that are squared at a time, at the least.
_BLOCK = 4096
#: Pairs whose differences are made at a time.
_BLOCK_PAIRS = 1 << 16

#: With more entries a column than this, hardly a column is empty.
_FILLED = 4
#: The share of stored columns up to which leaving out the others is worth a copy.
_MOSTLY_EMPTY = 0.5
#: Rows that are looked at one by one: in most sparse data no column is in all of these.
_FIRST = 6
#: Rows that are asked whether a column is stored in all, before all are.
_WIDER = 1000


class SparseDesign(MemoryDesign):
    """A CSR matrix whose indices increase in every row.

    The core reads int32 column indices. Of int64 indices it makes an int32 copy, 4 bytes per stored
    entry, when a kernel first reads the matrix. A matrix read in blocks from a file is converted
    block by block.
    """

    def __init__(self, X: sparse.csr_array | sparse.csr_matrix, n_threads: int | None = None):
        self._indptr = np.ascontiguousarray(X.indptr, dtype=np.int64)
        data, indices = np.ascontiguousarray(X.data), np.ascontiguousarray(X.indices)
        matrix = Matrix.csr(data, indices, self._indptr, X.shape[1])
        super().__init__(X, matrix, n_threads, mapped_files(data, indices, self._indptr))
        self.n_entries = int(self._indptr[-1])
        self._counted: list[tuple[Rows, int]] = []

    def _entries(self, rows: Rows | None) -> int:
        if rows is None:
            return self.n_entries
        for known, entries in self._counted:  # the rows of a class are asked for again and again
            if known is rows:
                return entries
        entries = int((self._indptr[rows + 1] - self._indptr[rows]).sum())
        self._counted = [*self._counted[-3:], (rows, entries)]
        return entries

    @property
    def gram_passes(self) -> float:
        """Half the squares of the rows' numbers of entries, over those of a product."""
        entries = np.diff(self._indptr).astype(np.float64)
        return float(entries @ entries) / (2.0 * max(self.n_entries, 1))

    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of X' diag(c) X, by blocks of rows."""
        self.entries_read += self._entries(rows)
        n, d = self.shape
        # Of no rows NumPy counts in whole numbers.
        weight = c if rows is None else np.bincount(rows, c, n).astype(np.float64, copy=False)
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

    def pair_moments(self, first: Rows, second: Rows) -> list[RowMoments]:
        """The moments of x_first - x_second, block by block: differences stay sparse."""
        found = []
        for begin in range(0, len(first), _BLOCK_PAIRS):
            block = slice(begin, begin + _BLOCK_PAIRS)
            # Differences of float32 rows need the digits of float64, as in the dense kernel.
            above = self.X[first[block]].astype(np.float64, copy=False)
            apart = SparseDesign(above - self.X[second[block]], self.n_threads)
            found += apart.group_moments(np.zeros(apart.shape[0], dtype=np.int32), 1)
        return found

    def column_ranges(self, rows: Rows | None = None) -> tuple[Array, Array]:
        """The least and the largest entry of every column, zeros that are not stored among them."""
        X: Any = self.X if rows is None else self.X[rows]
        low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
        return low.astype(np.float64), high.astype(np.float64)

    def by_columns(self, rows: Rows | None = None) -> SparseColumns:
        """The columns of some rows, one at a time, by a copy in columns."""
        return SparseColumns(self.X, rows)

    def movable_columns(self) -> NDArray[np.bool_]:
        """Those stored in every row: an offset would make the zeros of others entries."""
        return _stored_in_all(self.X)

    def _offsets(self, sample: Rows) -> Array:
        offset = np.zeros(self.shape[1])
        if not self._have_common(sample[:_FIRST]):
            return offset
        some = self.X[sample]
        common = np.flatnonzero(_stored_in_all(some))
        if len(common):
            offset[common] = far_medians(some[:, common].toarray())
        for rows in (self.X[:: max(self.shape[0] // _WIDER, 1)], self.X):
            if not offset.any():
                break
            offset = np.where(_stored_in_all(rows), offset, 0.0)
        return offset

    def _have_common(self, rows: Rows) -> bool:
        """Whether any column is stored in all of these rows, found from one to the next."""
        common: Array | None = None
        for begin, end in zip(self._indptr[rows], self._indptr[rows + 1], strict=True):
            stored = self.X.indices[begin:end]
            if common is not None and len(stored):
                places = stored.searchsorted(common)  # they increase
                stored = common[stored.take(places, mode="clip") == common]
            common = stored
            if not len(common):
                return False
        return True

    def shifted(self, offset: Array) -> SparseDesign:
        """A copy in float64 with `offset` taken off the entries that are stored."""
        X = self.X.astype(np.float64, copy=True)
        X.data -= offset[X.indices]
        moved = SparseDesign(X, self.n_threads)
        moved.offset = offset if self.offset is None else self.offset + offset
        return moved

    def rescaled(self, columns: Rows, offset: Array, scale: Array) -> SparseDesign:
        """A copy in float64 of some columns: (x - offset) scale, or x scale where zeros are."""
        X = sparse.csr_array(self.X)[:, columns].astype(np.float64)
        X.data -= np.where(_stored_in_all(X), offset, 0.0)[X.indices]
        X.data *= scale[X.indices]
        return SparseDesign(X, self.n_threads)

    def by_rows(self) -> Matrix:
        """The matrix with contiguous rows."""
        return self.matrix

    def stored_columns(self) -> tuple[Matrix, Rows | None]:
        """A copy with the stored columns only, numbered anew, where most may be empty."""
        d = self.shape[1]
        if self.n_entries > _FILLED * d:
            return self.matrix, None
        indices = self.X.indices[: self.n_entries]
        columns = np.flatnonzero(np.bincount(indices, minlength=d))
        if len(columns) > _MOSTLY_EMPTY * d:
            return self.matrix, None
        place = np.empty(d, dtype=np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        data = np.ascontiguousarray(self.X.data[: self.n_entries])
        # They are all within bounds, which need not be looked at one by one.
        numbers = place.take(indices, mode="clip")
        matrix = Matrix.csr(data, numbers, self._indptr, max(len(columns), 1))
        return matrix, columns

    def first_unusable(self, limit: float, *, missing: bool = False) -> tuple[int, int] | None:
        """The first such entry among those stored."""
        most = min(limit, float(np.finfo(self.X.dtype).max))  # X may have no number as large
        fits = np.abs(self.X.data) <= most
        if missing:
            fits |= np.isnan(self.X.data)
        if fits.all():
            return None
        at = int(np.argmin(fits))
        return int(np.searchsorted(self._indptr, at, side="right")) - 1, int(self.X.indices[at])


def _stored_in_all(X: Any) -> NDArray[np.bool_]:
    """Which columns every row stores."""
    return np.asarray(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])
