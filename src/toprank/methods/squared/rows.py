"""The rows that BBR is given: their checks, their moments, and how they are best used."""

from __future__ import annotations

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
from .cluster import class_moments_of_parts
from .krylov import PairOperator
from .moments import MOST_FEATURES, ClassMoments, Moments
from .quadratic import Target

Array = NDArray[np.float64]

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
    if rows.design.elsewhere:
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
    if design.elsewhere:
        if asked == "lanczos":
            raise ValueError(
                "solver='lanczos' takes products with rows, and these are on a cluster: take "
                "solver='moments', which sums over them once."
            )
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
