"""Columns of given data as weak learners, and rows that are the same to all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...designs import Design, MemoryDesign, ScaledDesign
from ...inputs.class_split import Split
from ...weak_learners import ColumnScaling

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Equal rows are made one where that leaves at most this share of them.
_WORTH_MERGING = 0.5
#: Entries that are compared at a time.
_BLOCK_ENTRIES = 1 << 20


@dataclass
class ScaledColumns:
    """Columns of the data with values in an interval of length two.

    `design` gives half of their scores, so that margins of pairs are differences of those.
    """

    design: Design
    columns: NDArray[np.int64]
    scale: Array
    n_features: int
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, design: MemoryDesign, split: Split, kind: str) -> ScaledColumns:
        """The columns over their ranges ("linear"), or as they are ("precomputed")."""
        scaling, d = ColumnScaling.of(design, split), design.shape[1]
        if kind == "precomputed":
            _refuse_large(scaling.low, scaling.high)
            columns, scale = np.arange(d), np.full(d, 0.5)
            half: Design = ScaledDesign(design, columns, scale)
            return cls(half, columns, scale, d, scaling.low == scaling.high)
        columns = np.flatnonzero(scaling.varies)
        constant = np.zeros(len(columns), dtype=np.bool_)
        return cls(scaling.half_of(design), columns, 0.5 * scaling.slope[columns], d, constant)

    def coef(self, w: Array) -> Array:
        """The weights of the features that give the learners' scores, but for a constant."""
        coef = np.zeros(self.n_features)
        coef[self.columns] = 2.0 * self.scale * w
        return coef


def _refuse_large(low: Array, high: Array) -> None:
    largest = np.maximum(np.abs(low), np.abs(high))
    if largest.max(initial=0.0) > 1.0:
        column = int(np.argmax(largest > 1.0))
        raise ValueError(
            f"Column {column} of X goes from {low[column]:g} to {high[column]:g}: with "
            'weak_learners="precomputed" columns are weak learners, with values from -1 to 1. '
            'Scale them, or use weak_learners="linear".'
        )


def merged(design: Design, split: Split) -> Split:
    """The classes with equal rows made one, of their weights together, where many are equal.

    They have equal scores, whatever the weights of the columns, and the pairs of equal rows, which
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
    return Split(
        split.n_rows,
        pos=sides[0][order[0]],
        neg=sides[1][order[1]],
        p=weights[0][order[0]],
        q=weights[1][order[1]],
        positive_share=split.positive_share,
        negative_share=split.negative_share,
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
