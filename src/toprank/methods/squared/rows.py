"""The rows of BBR: their checks, and their moments as a whole, in folds, and on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...designs import Design
from ...estimators.ranker import Ranker
from ...estimators.validation import (
    LabelledRows,
    check_entries,
    check_labels,
    check_matrix,
    check_weights,
)
from ...inputs.cells import LARGEST_ENTRY
from ...inputs.class_split import Split
from ...inputs.folds import Folds, check_classes
from .krylov import PairOperator
from .moments import MOST_FEATURES, ClassMoments, Moments, moments_by_group
from .quadratic import Target
from .risks import MomentRisk, Risk, RowRisk

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Up to this many features moments are formed whatever the number of rows.
FEW_FEATURES = 500
#: Beyond so many they never are: Lanczos' method costs less, whatever a row stores.
MANY_FEATURES = 4000
#: Products with the matrix that Lanczos' method is reckoned to need.
PRODUCTS = 100


def check_rows(ranker: Ranker, X: Any, y: Any, sample_weight: Any) -> LabelledRows:
    """Check what `fit` is given, but for the entries of a dense matrix without weights.

    The moments of all rows show those. A row of weight zero takes no part in them.
    """
    n_threads, entries = ranker.n_threads, sample_weight is not None
    design = check_matrix(ranker, X, reset=True, n_threads=n_threads, entries=entries)
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, design.shape[0], summed=True)
    ranker.classes_, split = check_labels(y, weight, design, ranker.pos_label)
    return LabelledRows(design, split, weight, X, y)


def operator_of(ranker: Ranker, rows: LabelledRows) -> PairOperator:
    """Products with the rows."""
    check_entries(ranker, rows.design)
    return PairOperator(rows.design, rows.split)


def moments_of(ranker: Ranker, rows: LabelledRows) -> ClassMoments:
    """The moments of all rows, in one pass."""
    check_size(rows.design.shape[1])
    if not rows.design.reads_rows:
        return class_moments_of_parts(rows.design)[0]
    return usable(ranker, rows, ClassMoments.of(rows.design, rows.positive, rows.weight))


def usable(ranker: Ranker, rows: LabelledRows, moments: ClassMoments) -> ClassMoments:
    """Refuse entries that are not numbers: the moments of all rows show them."""
    if not (_clearly_usable(moments.positive) and _clearly_usable(moments.negative)):
        check_entries(ranker, rows.design)
    return moments


def _clearly_usable(moments: Moments) -> bool:
    """Whether no entry can be NaN, infinite or too large."""
    most = np.abs(moments.mean) + np.sqrt(np.abs(np.diag(moments.scatter)))
    return bool((most < LARGEST_ENTRY).all())


def check_size(d: int) -> None:
    """Refuse moments that fit no memory."""
    if d > MOST_FEATURES:
        raise ValueError(
            f"The moments of {d} features would take {16e-9 * d * d:.0f} GB: fit with "
            "solver='lanczos', which needs none, or learn from blocks by SPAM."
        )


def choose_solver(asked: str, design: Design, targets: list[Target]) -> str:
    """The solver that costs less, where it is left open."""
    n, d = design.shape
    if asked == "lanczos":
        design.require_rows("solver='lanczos'", "solver='moments', which sums over them once")
    if not design.reads_rows:
        return "moments"
    if asked == "auto":
        few = d <= FEW_FEATURES or (d <= min(n, MANY_FEATURES) and design.gram_passes <= PRODUCTS)
        asked = "moments" if few else "lanczos"
    unbounded = any(one.alpha == 0.0 and not np.isfinite(one.radius) for one in targets)
    if asked == "lanczos" and unbounded:
        raise ValueError(
            f"alpha=0 without a radius leaves nothing to certify a fit of {d} features by: set "
            "alpha above 0 (1e-9, say), or a radius, or solver='moments'."
        )
    return asked


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
