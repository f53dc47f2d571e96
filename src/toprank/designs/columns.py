"""Read columns of a matrix one at a time, and compute moments of groups of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from .base import Design

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


class ColumnReader(ABC):
    """The columns of some rows of a matrix."""

    n_rows: int

    @abstractmethod
    def stored(self, k: int) -> tuple[Rows | slice, NDArray[np.floating[Any]]]:
        """The places where column k is stored, and its entries there; elsewhere it is zero."""

    def dense(self, k: int) -> Array:
        """Column k, zeros and all."""
        column = np.zeros(self.n_rows)
        places, entries = self.stored(k)
        column[places] = entries
        return column


class ProductColumns(ColumnReader):
    """X e_k, e_k the k-th unit vector: the column of any design, by a product."""

    def __init__(self, design: Design, rows: Rows | None) -> None:
        self.n_rows = design.shape[0] if rows is None else len(rows)
        self._design, self._rows = design, rows

    def stored(self, k: int) -> tuple[Rows | slice, Array]:
        """All of the column."""
        unit = np.zeros(self._design.shape[1])
        unit[k] = 1.0
        return slice(None), self._design.scores(unit, self._rows)


class DenseColumns(ColumnReader):
    """The columns of an array, which are not copied before they are asked for."""

    def __init__(self, X: NDArray[np.floating[Any]], rows: Rows | None) -> None:
        self.n_rows = X.shape[0] if rows is None else len(rows)
        self._X, self._rows = X, rows

    def stored(self, k: int) -> tuple[Rows | slice, NDArray[np.floating[Any]]]:
        """All of the column."""
        return slice(None), self._X[:, k] if self._rows is None else self._X[self._rows, k]


class SparseColumns(ColumnReader):
    """The columns of a CSR matrix, by a copy in columns."""

    def __init__(self, X: sparse.csr_array | sparse.csr_matrix, rows: Rows | None) -> None:
        self._X = (X if rows is None else X[rows]).tocsc()
        self.n_rows = self._X.shape[0]

    def stored(self, k: int) -> tuple[Rows | slice, NDArray[np.floating[Any]]]:
        """What the matrix stores."""
        part = slice(*self._X.indptr[k : k + 2])
        return self._X.indices[part], self._X.data[part]


if TYPE_CHECKING:
    from .base import Design


#: From here on the square of an offset, relative to what lies about it, costs too many digits.
FAR = 1e6


class RowMoments(NamedTuple):
    """The weight of some rows x, and the moments of x - shift; no shift is none."""

    weight: float
    #: The weighted mean.
    mean: Array
    #: The sum of v (x - mean)(x - mean)', v the weights.
    scatter: Array
    #: For each column the sum of v x^2, about the place where its sums were taken.
    square: Array
    #: How many roundings the sums went through.
    depth: float
    shift: Array | None = None


def moments_by_products(
    design: Design, group: NDArray[np.int32], n_groups: int, weight: Array | None
) -> list[RowMoments]:
    """The moments of every group of rows of any design, by X'v and X' diag(v) X."""
    rows = [np.flatnonzero(group == g) for g in range(n_groups)]
    found = [_of_rows(design, one, weight) for one in rows]
    shift = _needed_shift(design, found)
    if shift is None:
        return found
    # In a copy those columns begin near zero: their offset would cost the digits of the rest.
    moved = design.shifted(shift)
    return [_of_rows(moved, one, weight)._replace(shift=shift) for one in rows]


def _of_rows(design: Design, rows: Rows, weight: Array | None) -> RowMoments:
    """scatter = sum v x x' - n m m'."""
    v = np.ones(len(rows)) if weight is None else weight[rows]
    total = float(v.sum())
    d = design.shape[1]
    if total == 0.0:
        return RowMoments(0.0, np.zeros(d), np.zeros((d, d)), np.zeros(d), 0.0)
    mean = design.pull_back(v, rows) / total
    scatter = design.gram(v, rows)
    square = np.diag(scatter).copy()
    scatter -= np.outer(total * mean, mean)
    return RowMoments(total, mean, scatter, square, len(rows))


def _needed_shift(design: Design, found: list[RowMoments]) -> Array | None:
    """What to take off columns that lie far from zero and can be moved, if there are any."""
    seen = [one for one in found if one.weight > 0.0]
    far = np.zeros(design.shape[1], dtype=bool)
    for one in seen:
        far |= one.weight * np.square(one.mean) > FAR * np.abs(np.diag(one.scatter))
    if not far.any():
        return None
    far &= design.movable_columns()
    return np.where(far, seen[0].mean, 0.0) if far.any() else None
