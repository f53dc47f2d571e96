"""Columns of a matrix, read one at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

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
