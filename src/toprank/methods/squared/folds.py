"""The moments of folds: of what each trains on, and of what it holds out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ...estimators.ranker import Ranker
from ...estimators.validation import LabelledRows
from ...inputs.class_split import Split
from ...inputs.folds import Folds, check_classes
from .cluster import class_moments_of_parts
from .krylov import PairOperator
from .moments import ClassMoments, moments_by_group
from .risks import MomentRisk, Risk, RowRisk
from .rows import check_size, moments_of, operator_of, usable

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: A feature counts in the unit of alpha with so many times the square of a usual one at the most.
MOST_UNUSUAL = 1e4


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
        with np.errstate(over="ignore", invalid="ignore"):  # `usable` names the entry
            training = [
                reduce(ClassMoments.merge, [*held_out[:k], *held_out[k + 1 :]]) for k in every
            ]
            whole = held_out[0].merge(training[0])
        whole = usable(ranker, rows, whole)
    return _of_moments(whole, training, held_out, lambda: operator_of(ranker, rows))


def parts_on_cluster(rows: LabelledRows, n_folds: int) -> Parts:
    """From the moments of folds of rows on a cluster, in one round."""
    check_size(rows.design.shape[1])
    held_out = class_moments_of_parts(rows.design, n_folds)
    every = range(n_folds)
    training = [reduce(ClassMoments.merge, [*held_out[:k], *held_out[k + 1 :]]) for k in every]
    return _of_moments(held_out[0].merge(training[0]), training, held_out, None)


def _of_moments(
    whole: ClassMoments,
    training: list[ClassMoments],
    held_out: list[ClassMoments],
    rows: Callable[[], PairOperator] | None,
) -> Parts:
    for moments in (*training, *held_out):
        check_classes(moments.positive.weight, moments.negative.weight)
    pairs = whole.of_pairs()
    unit = _unit(np.diag(pairs.scatter) + np.square(pairs.mean))
    return Parts(
        MomentRisk.of(whole, rows),
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
    """The split of some of the rows, which must hold both classes."""
    part = split.only(rows)
    check_classes(float(part.p.sum()), float(part.q.sum()))
    return part
