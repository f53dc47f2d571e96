"""Sums over groups of rows, about a place near their middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .base import Design

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

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
