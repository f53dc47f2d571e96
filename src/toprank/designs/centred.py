"""Designs without the offset of columns that lie far from zero.

A loss that only looks at differences of scores does not change if a number is taken off a column.
Solvers do: their products, and above all their squares, are sums of terms as large as the offset,
and lose the digits that tell the rows apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Array, Rows
from .memory import DenseDesign, MemoryDesign, SparseDesign

#: A column is far from zero if its median is this many times its spread: coordinate descent begins
#: to crawl there. Newton's method would do without up to some thousand times.
FAR = 30.0
#: Rows that are looked at to find such columns.
_SAMPLE = 100


def centred(design: MemoryDesign, rows: Rows | None = None) -> MemoryDesign:
    """The design itself or, where columns lie far from zero, a copy of it without their offset.

    Some of the rows, or of those given, are looked at. The copy is in float64 and knows its
    `offset`. Of a sparse matrix only columns that are stored in every row are moved.
    """
    assert isinstance(design, DenseDesign | SparseDesign)
    rows = np.arange(design.shape[0]) if rows is None else rows
    sample = rows[np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)).astype(np.int64)]
    offset = np.zeros(design.shape[1])
    if isinstance(design, DenseDesign):
        offset = _offsets(design.X[sample])
    else:
        some = design.X[sample]
        common = np.flatnonzero(_stored_in_all(some))
        if len(common):
            offset[common] = _offsets(some[:, common].toarray())
            offset = np.where(full_columns(design), offset, 0.0) if offset.any() else offset
    return shifted(design, offset) if offset.any() else design


def shifted(design: MemoryDesign, offset: Array) -> MemoryDesign:
    """A copy in float64 with `offset` taken off the columns; off what a sparse one stores."""
    moved: DenseDesign | SparseDesign
    if isinstance(design, DenseDesign):
        moved = DenseDesign(np.subtract(design.X, offset, dtype=np.float64), design.n_threads)
    else:
        assert isinstance(design, SparseDesign)
        X = design.X.astype(np.float64, copy=True)
        X.data -= offset[X.indices]
        moved = SparseDesign(X, design.n_threads)
    moved.offset = offset
    return moved


def full_columns(design: SparseDesign) -> NDArray[np.bool_]:
    """Which columns are stored in every row."""
    return _stored_in_all(design.X)


def _stored_in_all(X: Any) -> NDArray[np.bool_]:
    return np.asarray(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])


def _offsets(X: NDArray[np.floating[Any]]) -> Array:
    """The medians of columns that lie far from zero, and zero for the others.

    Medians and quartiles, for a single huge row says nothing of where the others are.
    """
    n = len(X)
    quartiles = np.partition(X, (n // 4, n // 2, 3 * n // 4), axis=0).astype(np.float64)
    middle, spread = quartiles[n // 2], quartiles[3 * n // 4] - quartiles[n // 4]
    spread = np.where(spread > 0, spread, np.ptp(X, axis=0))  # most rows may have one value
    # A constant column is held against the others: ones beside features of their size do no
    # harm, and are not worth a copy.
    varies = spread > 0
    spread = np.where(varies, spread, np.median(spread[varies]) if varies.any() else 0.0)
    return np.where(np.abs(middle) > FAR * spread, middle, 0.0)
