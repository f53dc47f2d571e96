"""Folds: what each trains on, and what it holds out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import TimeSeriesSplit, check_cv
from sklearn.model_selection._split import GroupsConsumerMixin

from .class_split import Split

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Folds:
    """Training and held-out rows of each fold, as one number a row or as lists of rows."""

    count: int
    #: The fold that holds each row out, where every row is held out once and trained on else.
    fold_of: NDArray[Any] | None
    listed: list[tuple[Rows, Rows]] | None = None

    def training(self, k: int) -> Rows:
        """Return the training rows of fold k."""
        return np.flatnonzero(self.fold_of != k) if self.listed is None else self.listed[k][0]

    def held_out(self, k: int) -> Rows:
        """Return the held-out rows of fold k."""
        return np.flatnonzero(self.fold_of == k) if self.listed is None else self.listed[k][1]

    @property
    def pairs(self) -> list[tuple[Rows, Rows]]:
        """Return the training rows and the held-out rows of each fold."""
        return list(self)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, k: int) -> tuple[Rows, Rows]:
        k = range(self.count)[k]
        return self.training(k), self.held_out(k)

    def __iter__(self) -> Iterator[tuple[Rows, Rows]]:
        return (self[k] for k in range(self.count))

    def compact(self) -> Folds:
        """Return the same folds in little memory: a small number for each row, if that is all."""
        if self.fold_of is not None:
            same = Folds(self.count, self.fold_of.astype(np.min_scalar_type(self.count)))
            if self.listed is None or all(map(_same_rows, self, same)):
                return same
        return Folds(self.count, None, [(_small(one), _small(other)) for one, other in self])

    def joined(self, parts: Iterable[Array], n_rows: int) -> Array:
        """Return a number for every row from those of the folds, NaN for rows not held out."""
        found = np.full(n_rows, np.nan)
        for k, part in enumerate(parts):
            found[self.held_out(k)] = part
        return found


class WholeTimeSplit(GroupsConsumerMixin, TimeSeriesSplit):
    """Folds judged on later rows than they train on; rows of one time are on one side of a cut.

    `groups` are the times, of rows in that order. A cut within a time moves to its nearer end, and
    a fold that has lost all rows by that is left out.
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the training rows and the held-out rows of each fold."""
        times = np.asarray(groups)
        if (times[1:] < times[:-1]).any():
            raise ValueError("The rows are not in the order of their times: sort them first.")
        rows, found = np.arange(len(times)), 0
        for training, test in super().split(rows):
            start, cut = training[0], between_times(times, test[0])
            end = between_times(times, test[-1] + 1)
            if start < cut < end:
                found += 1
                yield rows[start:cut], rows[cut:end]
        if not found:
            raise ValueError(
                f"Folds in time need rows of several times, and {len(times):,} rows have "
                f"{len(np.unique(times))}: take finer times."
            )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return int(self.n_splits) if groups is None else sum(1 for _ in self.split(X, y, groups))


def between_times(times: NDArray[Any], cut: int) -> int:
    """Return the cut between two times that is nearest to row `cut`; times are in order."""
    if cut >= len(times):
        return len(times)
    first, end = (int(np.searchsorted(times, times[cut], side)) for side in ("left", "right"))
    return first if cut - first <= end - cut else end


def make_folds(cv: Any, split: Split, X: Any, y: Any, groups: Any = None) -> Folds:
    """Return the folds of `cv`; groups are passed to splitters that keep them together."""
    _check_groups(cv, groups, split.n_rows)
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        # Every fold needs a row of each class.
        count = min(int(cv), len(split.pos), len(split.neg))
        if count < 2:
            raise ValueError(
                f"There are {len(split.pos)} positive and {len(split.neg)} negative rows of weight "
                f"above zero (n_samples = {split.n_rows}), and cv={cv}: two folds need two rows "
                "of each class."
            )
        fold_of = np.zeros(split.n_rows, dtype=np.int32)
        for rows in (split.pos, split.neg):
            fold_of[rows] = np.arange(len(rows)) * count // len(rows)
        return Folds(count, fold_of)
    made: Iterable[tuple[Any, Any]] = check_cv(cv, y, classifier=True).split(X, y, groups)
    listed = [
        (_indices(training, split, number), _indices(test, split, number))
        for number, (training, test) in enumerate(made)
    ]
    for number, (training, test) in enumerate(listed):
        if len(both := np.intersect1d(training, test)):
            raise ValueError(
                f"Fold {number} of cv trains on row {both[0]} and is tested on it. Leave the "
                "rows that a fold tests out of those that it trains on."
            )
    if not listed:
        raise ValueError("cv has no folds: an iterator can be used once only, so pass a list.")
    return Folds(len(listed), _partition(split.n_rows, listed), listed)


def _check_groups(cv: Any, groups: Any, n_rows: int) -> None:
    """Refuse groups that no splitter would keep together, and splitters that lack them."""
    if groups is None:
        if isinstance(cv, GroupsConsumerMixin):
            raise ValueError(
                f"cv={type(cv).__name__}() keeps groups together: pass their labels, "
                "fit(X, y, groups=...)."
            )
        return
    if cv is None or isinstance(cv, Integral):
        raise ValueError(
            f"cv={cv} makes folds that do not keep groups together. Pass a splitter that does: "
            f"cv=sklearn.model_selection.StratifiedGroupKFold({'' if cv is None else cv})."
        )
    if len(groups) != n_rows:
        raise ValueError(f"groups has {len(groups)} labels, but X has {n_rows} rows.")


def _indices(given: Any, split: Split, number: int) -> Rows:
    """Return the row numbers of one side of a fold, of which `number` is that in cv, from 0."""
    rows = np.asarray(given)
    if rows.dtype == bool and rows.shape == (split.n_rows,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
        raise ValueError(
            f"Fold {number} of cv must name rows by their numbers, or by a mask of "
            f"{split.n_rows} booleans; got an array of shape {rows.shape} and type {rows.dtype}."
        )
    wrong = rows[(rows < 0) | (rows >= split.n_rows)]
    if len(wrong):
        raise ValueError(
            f"Fold {number} of cv names row {wrong[0]}, but the rows of X are numbered from 0 to "
            f"{split.n_rows - 1}."
        )
    return rows.astype(np.int64)


def _same_rows(one: tuple[Rows, Rows], other: tuple[Rows, Rows]) -> bool:
    return all(map(np.array_equal, one, other))


def _small(rows: Rows) -> NDArray[Any]:
    return rows.astype(np.min_scalar_type(rows.max(initial=0)))


def _partition(n: int, folds: list[tuple[Rows, Rows]]) -> NDArray[np.int32] | None:
    """Return the fold of each row if every row is held out once, else None."""
    sizes = [len(test) for _, test in folds]
    if sum(sizes) != n or any(len(training) + len(test) != n for training, test in folds):
        return None
    fold_of = np.full(n, -1, dtype=np.int32)
    for k, (training, test) in enumerate(folds):
        fold_of[test] = k
        if (fold_of[training] == k).any():
            return None
    return None if (fold_of < 0).any() else fold_of


def check_classes(positive: float, negative: float) -> None:
    """Refuse a part of the rows that lacks a class, by the weight of each."""
    for name, weight in (("positive", positive), ("negative", negative)):
        if not weight > 0.0:
            raise ValueError(
                f"A fold of cv, or what it leaves, holds no {name} row of weight above zero: take "
                "fewer folds, or stratified ones."
            )
