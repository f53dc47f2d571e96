"""Columns of given data as base rankers, and rows that are the same to all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..designs import (
    DenseDesign,
    Design,
    MemoryDesign,
    ScaledDesign,
    SparseDesign,
    as_design,
    full_columns,
    shifted,
)
from ..rankers import column_ranges
from ..split import Split

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: A column is centred, in a copy, where it lies this many times its range away from zero, a sparse
#: one if every row stores it, and where the square of its range, or of one over it, would be no
#: number.
_FAR, _HUGE = 1e3, 1e60
#: Equal rows are made one where that leaves at most this share of them; so many entries are
#: compared at a time.
_WORTH_MERGING, _BLOCK_ENTRIES = 0.5, 1 << 20


@dataclass
class Rankers:
    """Columns of the data as rankers with values in an interval of length two.

    `design` gives half of their scores, so that margins of pairs are differences of those.
    """

    design: Design
    columns: NDArray[np.int64]
    scale: Array
    n_features: int
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, design: DenseDesign | SparseDesign, split: Split, kind: str) -> Rankers:
        """The columns over their ranges ("linear"), or as they are ("precomputed")."""
        low, high = column_ranges(design, split)
        n_features = design.shape[1]
        if kind == "precomputed":
            _refuse_large(low, high)
            columns, scale = np.arange(n_features), np.full(n_features, 0.5)
            return cls(
                ScaledDesign(design, columns, scale), columns, scale, n_features, low == high
            )
        with np.errstate(over="ignore", divide="ignore"):
            reach = high - low
            usable = (reach > 0) & np.isfinite(1.0 / reach) & np.isfinite(reach)
        columns = np.flatnonzero(usable)
        low, reach, scale = low[columns], reach[columns], 1.0 / reach[columns]
        far = np.maximum(np.abs(low), np.abs(high[columns])) > _FAR * reach
        odd = len(columns) > 0 and (reach.max() > _HUGE or reach.min() < 1.0 / _HUGE)
        base: MemoryDesign = design
        if far.any() and isinstance(design, SparseDesign):
            offset = np.zeros(n_features)
            offset[columns[far]] = low[far]
            base = shifted(design, np.where(full_columns(design), offset, 0.0))
        own: Design = ScaledDesign(base, columns, scale)
        if odd or (far.any() and isinstance(design, DenseDesign)):
            own = as_design(_copy(base, columns, low, scale), design.n_threads)
        return cls(own, columns, scale, n_features, np.zeros(len(columns), dtype=bool))

    def coef(self, w: Array) -> Array:
        """The weights of the features that give the rankers' scores, but for a constant."""
        coef = np.zeros(self.n_features)
        coef[self.columns] = 2.0 * self.scale * w
        return coef


def _refuse_large(low: Array, high: Array) -> None:
    largest = np.maximum(np.abs(low), np.abs(high))
    if largest.max(initial=0.0) > 1.0:
        column = int(np.argmax(largest > 1.0))
        raise ValueError(
            f"Column {column} of X goes from {low[column]:g} to {high[column]:g}: with "
            'rankers="precomputed" columns are rankers, with values from -1 to 1. Scale them, or '
            'use rankers="linear".'
        )


def _copy(design: MemoryDesign, columns: NDArray[np.int64], low: Array, scale: Array) -> Any:
    """The scaled columns; centred too if they are dense."""
    if isinstance(design, DenseDesign):
        return (design.X[:, columns].astype(np.float64) - low) * scale
    assert isinstance(design, SparseDesign)
    X = sparse.csr_array(design.X)[:, columns].astype(np.float64)
    return sparse.csr_array(X.multiply(scale[np.newaxis]))


def merged(design: Design, split: Split) -> Split:
    """The classes with equal rows made one, of their weights together, where many are equal.

    They have equal scores, whatever the weights of the rankers, and the pairs of equal rows, which
    would tie, are one pair.
    """
    if not design.shape[1]:
        return split
    # A direction that no two rows have in common by chance; what it finds is compared.
    s = design.scores(np.random.default_rng(0).uniform(1.0, 2.0, design.shape[1]))
    found = [np.unique(s[rows], return_index=True, return_inverse=True) for rows in _sides(split)]
    n_rows = len(split.pos) + len(split.neg)
    if sum(len(values) for values, _, _ in found) > _WORTH_MERGING * n_rows:
        return split
    sides, weights = [], []
    for rows, share, (_, first, place) in zip(
        _sides(split), (split.p, split.q), found, strict=True
    ):
        if not _equal(design, rows, rows[first[place]]):
            return split
        sides.append(rows[first])
        weights.append(np.asarray(np.bincount(place, share), dtype=np.float64))
    order = [np.argsort(rows) for rows in sides]
    return replace(
        split,
        pos=sides[0][order[0]],
        neg=sides[1][order[1]],
        p=weights[0][order[0]],
        q=weights[1][order[1]],
    )


def _sides(split: Split) -> tuple[Rows, Rows]:
    return split.pos, split.neg


def _equal(design: Design, rows: Rows, others: Rows) -> bool:
    """Whether rows are equal to others, one by one."""
    step = max(1, _BLOCK_ENTRIES // design.shape[1])
    return all(
        np.array_equal(design.take(rows[k : k + step]), design.take(others[k : k + step]))
        for k in range(0, len(rows), step)
    )
