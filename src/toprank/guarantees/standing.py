"""Ranks of the rows of a new list among the calibration rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .envelope import Counts

Array = NDArray[np.float64]


def at_or_above(ascending: Array, cut: Array) -> Counts:
    """Return the number of scores at or above each cut."""
    return len(ascending) - np.searchsorted(ascending, cut, side="left")


def above(ascending: Array, cut: Array) -> Counts:
    """Return the number of scores above each cut."""
    return len(ascending) - np.searchsorted(ascending, cut, side="right")


@dataclass(frozen=True, eq=False)
class Standing:
    """The list from the top down, and the calibration rows at or above each of its rows."""

    #: Row numbers of the list, best first.
    order: NDArray[np.intp]
    #: The scores in that order; under several models the mean of their aligned scores.
    scores: Array
    n_negatives: int
    n_positives: int
    #: Calibration negatives at or above the k-th row, and above it.
    negatives_from: Counts
    negatives_above: Counts
    #: Calibration positives at or above the k-th row, and above it.
    positives_from: Counts
    positives_above: Counts
    #: Calibration negatives above the end of the list: all whose score is more than -inf.
    negatives_in_all: int
    #: Whether no two of the scores, calibration and list, are equal.
    distinct: bool

    @property
    def n_rows(self) -> int:
        """The length of the list."""
        return len(self.order)

    @classmethod
    def by_scores(cls, negatives: Array, positives: Array, new: Array) -> Standing:
        """By the scores of one model; both classes ascending."""
        order = np.argsort(-new, kind="stable")
        cut = new[order]
        together = np.concatenate([negatives, positives, new])
        return cls(
            order,
            cut,
            len(negatives),
            len(positives),
            at_or_above(negatives, cut),
            above(negatives, cut),
            at_or_above(positives, cut),
            above(positives, cut),
            int(above(negatives, np.array([-np.inf]))[0]),
            len(np.unique(together)) == len(together),
        )

    @classmethod
    def by_folds(cls, negatives: Sequence[Array], n_positives: int, new: Array) -> Standing:
        """By the models of several folds (CV+): a row is held against others by one model each.

        A calibration row is compared with the list under the model that has not seen it; `new` has
        a row for each fold. The list is ordered by how many calibration negatives are at or above,
        and by the mean score of the models, each brought to mean 0 and deviation 1 over the list,
        where that is the same. Positives are not counted: nothing is assumed of them.
        """
        counted = _over_folds(at_or_above, negatives, new)
        over = _over_folds(above, negatives, new)
        aligned = aligned_mean(new)
        order = np.lexsort((-aligned, counted))
        uncounted = np.zeros(len(order), dtype=np.int64)
        n_negatives = sum(map(len, negatives))
        return cls(
            order,
            aligned[order],
            n_negatives,
            n_positives,
            counted[order],
            over[order],
            uncounted,
            uncounted,
            n_negatives,
            distinct=True,
        )


def _over_folds(
    count: Callable[[Array, Array], Counts], negatives: Sequence[Array], new: Array
) -> Counts:
    """The counts of all folds together."""
    counts = [count(fold, scores) for fold, scores in zip(negatives, new, strict=True)]
    return np.asarray(np.sum(counts, axis=0, dtype=np.int64))


def aligned_mean(new: Array) -> Array:
    """The mean over models of their scores, each less its mean and over its deviation."""
    finite = np.nan_to_num(new, posinf=np.finfo(float).max / 4, neginf=-np.finfo(float).max / 4)
    largest = np.abs(finite).max(axis=1, keepdims=True)
    scaled = finite / np.where(largest > 0, largest, 1.0)
    spread = scaled.std(axis=1, keepdims=True)
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    return np.asarray((centred / np.where(spread > 0, spread, 1.0)).mean(axis=0))


def spread_lower(lower: Counts) -> Counts:
    """The best bound T_k >= L_k that follows from T_k <= T_(k+1) <= T_k + 1 and T_k >= 0."""
    k = np.arange(1, len(lower) + 1)
    risen = np.maximum.accumulate(np.maximum(lower, 0))
    return np.maximum(risen, k - np.minimum.accumulate((k - risen)[::-1])[::-1])


def spread_upper(upper: Counts) -> Counts:
    """The same for T_k <= U_k, with T_k <= k."""
    k = np.arange(1, len(upper) + 1)
    fallen = np.minimum.accumulate(np.minimum(upper, k)[::-1])[::-1]
    return np.minimum(fallen, k + np.minimum.accumulate(fallen - k))


__all__ = ["Standing", "above", "aligned_mean", "at_or_above", "spread_lower", "spread_upper"]
