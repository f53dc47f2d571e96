"""The folds of BBRCV: what each trains on, and what it holds out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from ...base import Ranker
from ...solvers.krylov import PairOperator
from ...split import Split
from ...validation import LabelledRows
from .moments import ClassMoments, moments_by_group
from .risks import MomentRisk, Risk, RowRisk
from .rows import check_size, moments_of, operator_of, usable

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: A feature counts in the unit of alpha with so many times the square of a usual one at the most.
MOST_UNUSUAL = 1e4


@dataclass(frozen=True)
class Folds:
    """What each fold trains on and holds out: as one number per row, or as lists of rows."""

    count: int
    #: The fold that holds each row out, where every row is held out once and trained on else.
    fold_of: NDArray[np.int32] | None
    listed: list[tuple[Rows, Rows]] | None = None

    def training(self, k: int) -> Rows:
        """The rows that fold k trains on."""
        return np.flatnonzero(self.fold_of != k) if self.listed is None else self.listed[k][0]

    def held_out(self, k: int) -> Rows:
        """The rows that fold k holds out."""
        return np.flatnonzero(self.fold_of == k) if self.listed is None else self.listed[k][1]


@dataclass(frozen=True)
class Parts:
    """The training and the held-out part of every fold, and the whole."""

    whole: Risk
    training: list[Risk]
    held_out: list[Risk]
    #: The mean square of a feature of a pair.
    unit: float
    moments: ClassMoments | None


def parts_by_moments(ranker: Ranker, rows: LabelledRows, folds: Folds) -> Parts:
    """From the moments of the folds: one pass, where they part the rows."""
    check_size(rows.design.shape[1])
    positive, every = rows.positive, range(folds.count)
    if folds.fold_of is None:
        training, held_out = (
            [ClassMoments.of(rows.design, positive, rows.weight, side(k)) for k in every]
            for side in (folds.training, folds.held_out)
        )
        whole = moments_of(ranker, rows)
    else:
        group = 2 * folds.fold_of + positive
        found = moments_by_group(rows.design, group, 2 * folds.count, rows.weight)
        held_out = [ClassMoments(found[2 * k + 1], found[2 * k]) for k in every]
        training = [reduce(ClassMoments.merge, [*held_out[:k], *held_out[k + 1 :]]) for k in every]
        whole = usable(ranker, rows, held_out[0].merge(training[0]))
    for moments in (*training, *held_out):
        _check_classes(moments.positive.weight, moments.negative.weight)
    pairs = whole.of_pairs()
    unit = _unit(np.diag(pairs.scatter) + np.square(pairs.mean))
    return Parts(
        MomentRisk.of(whole, lambda: operator_of(ranker, rows)),
        [MomentRisk.of(moments) for moments in training],
        [MomentRisk.of(moments) for moments in held_out],
        unit or 1.0,
        whole,
    )


def _unit(squares: Array) -> float:
    """The mean square of a feature; one that dwarfs most others must not set the grid alone."""
    usual = float(np.median(squares[squares > 0.0])) if squares.any() else 0.0
    return float(np.minimum(squares, MOST_UNUSUAL * usual).mean())


def parts_by_products(ranker: Ranker, rows: LabelledRows, folds: Folds) -> Parts:
    """From products with the rows: those that take no part have no weight."""
    whole, split = operator_of(ranker, rows), rows.split
    training, held_out = (
        [RowRisk(PairOperator(rows.design, _part(split, side(k)))) for k in range(folds.count)]
        for side in (folds.training, folds.held_out)
    )
    squares = rows.design.squared_norms()
    above, below = (
        rows.design.pull_back(weight, side)
        for weight, side in ((split.p, split.pos), (split.q, split.neg))
    )
    # E |psi|^2 = E1 |x|^2 + E0 |x|^2 - 2 m1.m0.
    square = split.p @ squares[split.pos] + split.q @ squares[split.neg] - 2.0 * (above @ below)
    unit = float(square) / rows.design.shape[1]
    return Parts(RowRisk(whole), [*training], [*held_out], unit if unit > 0.0 else 1.0, None)


def _part(split: Split, rows: Rows) -> Split:
    """The split of some of the rows, the others being of weight zero."""
    kept = np.zeros(split.n_rows, dtype=bool)
    kept[rows] = True
    above, below = kept[split.pos], kept[split.neg]
    p, q = split.p[above], split.q[below]
    _check_classes(float(p.sum()), float(q.sum()))
    return Split(split.n_rows, split.pos[above], split.neg[below], p / p.sum(), q / q.sum())


def _check_classes(positive: float, negative: float) -> None:
    for name, weight in (("positive", positive), ("negative", negative)):
        if not weight > 0.0:
            raise ValueError(
                f"A fold of cv, or what it leaves, holds no {name} row of weight above zero: take "
                "fewer folds, or stratified ones."
            )


def make_folds(cv: Any, split: Split, X: Any, y: Any) -> Folds:
    """The folds that `cv` asks for."""
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
    made: Iterable[tuple[Any, Any]] = check_cv(cv, y, classifier=True).split(X, y)
    listed = [(_indices(training, split), _indices(test, split)) for training, test in made]
    if not listed:
        raise ValueError("cv has no folds: an iterator can be used once only, so pass a list.")
    return Folds(len(listed), _partition(split.n_rows, listed), listed)


def _indices(rows: Any, split: Split) -> Rows:
    rows = np.asarray(rows)
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
    if len(rows) and not -split.n_rows <= rows.min() <= rows.max() < split.n_rows:
        wrong = rows.max() if rows.max() >= split.n_rows else rows.min()
        raise ValueError(f"cv names row {wrong}, but X has {split.n_rows} rows.")
    return np.asarray(rows % split.n_rows)


def _partition(n: int, folds: list[tuple[Rows, Rows]]) -> NDArray[np.int32] | None:
    """The fold that holds each row out, if every row is held out once and trained on else."""
    sizes = [len(test) for _, test in folds]
    if sum(sizes) != n or any(len(training) + len(test) != n for training, test in folds):
        return None
    fold_of = np.full(n, -1, dtype=np.int32)
    for k, (training, test) in enumerate(folds):
        fold_of[test] = k
        if (fold_of[training] == k).any():
            return None
    return None if (fold_of < 0).any() else fold_of
