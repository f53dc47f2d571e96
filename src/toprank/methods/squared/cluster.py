"""Moments of rows on a cluster: of every part where it is, merged in the order of the parts."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .moments import ClassMoments, Moments, moments_by_group

#: Odd numbers that mix the bits of a part and a row well.
_OF_PART, _OF_ROW = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9


def class_moments_of_parts(design: Any, n_folds: int = 1) -> list[ClassMoments]:
    """The moments of the two classes, of every fold of rows, in one round."""
    size = 2 * n_folds * 8 * design.shape[1] ** 2
    found = design.over_parts(_moments_of_part, (n_folds,), _merged, size)
    return [ClassMoments(found[2 * k + 1], found[2 * k]) for k in range(n_folds)]


def fold_of_rows(place: int, n_rows: int, n_folds: int) -> NDArray[np.int32]:
    """The fold that holds each row of a part out: by chance, the same in every run.

    Rows need not be moved, or counted before, for that.
    """
    with np.errstate(over="ignore"):
        bits = np.arange(1, n_rows + 1, dtype=np.uint64) * np.uint64(_OF_ROW)
        bits += np.uint64(place + 1) * np.uint64(_OF_PART)
        bits ^= bits >> np.uint64(30)
        bits *= np.uint64(_OF_ROW)
        bits ^= bits >> np.uint64(31)
    return (bits % np.uint64(n_folds)).astype(np.int32)


def _moments_of_part(rows: Any, labels: Any, n_folds: int) -> list[Moments]:
    """Those of the groups 2 fold + class."""
    group = labels.positive.astype(np.int32)
    if n_folds > 1:
        group += 2 * fold_of_rows(labels.where.place, len(group), n_folds)
    n_groups = 2 * n_folds
    if not len(group):
        return [Moments.none(rows.design.shape[1])] * n_groups
    return moments_by_group(rows.design, group, n_groups, labels.weight)


def _merged(parts: list[list[Moments]]) -> list[Moments]:
    return [reduce(Moments.merge, group) for group in zip(*parts, strict=True)]


__all__ = ["class_moments_of_parts", "fold_of_rows"]
