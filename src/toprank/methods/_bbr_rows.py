"""The rows that BBR is given: their checks, their moments, and how they are best used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import Ranker
from ..designs import DenseDesign, MemoryDesign, SparseDesign
from ..moments import MOST_FEATURES, ClassMoments, Moments
from ..solvers.krylov import PairOperator
from ..solvers.quadratic import Target
from ..split import Split
from ..validation import LARGEST_ENTRY, check_entries, check_labels, check_matrix, check_weights

Array = NDArray[np.float64]

#: Up to this many features moments are formed whatever the number of rows.
FEW_FEATURES = 500
#: Beyond so many the moments of dense rows cost more than the products of Lanczos' method.
MOST_DENSE_FEATURES = 2000
#: And beyond so many, those of sparse rows.
MOST_SPARSE_FEATURES = 4000
#: Products with the matrix that Lanczos' method is reckoned to need.
PRODUCTS = 100


@dataclass(frozen=True)
class LabelledRows:
    """Rows that have been checked, but for the entries of a dense matrix without weights."""

    design: DenseDesign | SparseDesign
    split: Split
    weight: Array | None

    @classmethod
    def of(cls, ranker: Ranker, X: Any, y: Any, sample_weight: Any) -> LabelledRows:
        """Check what `fit` is given; sets `classes_`."""
        # A row of weight zero takes no part in the moments, and so would not be checked by them.
        design = check_matrix(
            ranker,
            X,
            reset=True,
            n_threads=ranker.n_threads,
            entries=sample_weight is not None,
        )
        ranker.classes_, split = check_labels(y, sample_weight, design, ranker.pos_label)
        weight = (
            None
            if sample_weight is None
            else check_weights(sample_weight, design.shape[0], summed=True)
        )
        return cls(design, split, weight)

    def operator(self, ranker: Ranker) -> PairOperator:
        """Products with the rows."""
        if self.weight is None and isinstance(self.design, DenseDesign):
            check_entries(ranker, self.design)
        return PairOperator(self.design, self.split)

    def moments(self, ranker: Ranker) -> ClassMoments:
        """The moments of all rows, in one pass."""
        check_size(self.design.shape[1])
        return self.checked(ranker, ClassMoments.of(self.design, self.positive, self.weight))

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive."""
        positive = np.zeros(self.split.n_rows, dtype=bool)
        positive[self.split.pos] = True
        return positive

    def checked(self, ranker: Ranker, moments: ClassMoments) -> ClassMoments:
        """Refuse entries that are not numbers: the moments of all rows show them."""
        if self.weight is None and isinstance(self.design, DenseDesign):
            for side in (moments.positive, moments.negative):
                if not _clearly_usable(side):
                    check_entries(ranker, self.design)
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


def choose_solver(asked: str, design: MemoryDesign, targets: list[Target]) -> str:
    """The solver that costs less, where it is left open."""
    n, d = design.shape
    if asked == "auto":
        few = d <= FEW_FEATURES
        if isinstance(design, SparseDesign):
            entries = np.diff(design.X.indptr).astype(np.float64)
            cheap = float(entries @ entries) / 2.0 <= PRODUCTS * max(design.n_entries, 1)
            few = few or (d <= MOST_SPARSE_FEATURES and cheap and n >= d)
        else:
            few = few or (d <= MOST_DENSE_FEATURES and n >= d)
        asked = "moments" if few else "lanczos"
    unbounded = any(one.alpha == 0.0 and not np.isfinite(one.radius) for one in targets)
    if asked == "lanczos" and unbounded:
        raise ValueError(
            f"alpha=0 without a radius leaves nothing to certify a fit of {d} features by: set "
            "alpha above 0 (1e-9, say), or a radius, or solver='moments'."
        )
    return asked
