"""Efforts: the candidates, folds and rows of a race."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BoostingSetting:
    """A setting of boosted trees."""

    name: str
    leaves: int
    rate: float
    #: Whether each tree learns from a random half of the rows and columns.
    halves: bool = False
    #: Added to the seed, for another draw of negatives.
    draw: int = 0


@dataclass(frozen=True)
class ForestSetting:
    """A setting of a forest."""

    name: str
    extra: bool
    leaf_rows: int = 1


@dataclass(frozen=True)
class Effort:
    """The candidates that run by default, and limits on their cost."""

    #: Folds if `cv` is not given.
    folds: int
    #: Feature sets of dense rows for linear scores, None for all.
    feature_sets: int | None
    #: Whether the best features are tried with other losses.
    losses: bool
    trees: tuple[BoostingSetting, ...]
    forests: tuple[ForestSetting, ...]
    #: Rows that boosted trees learn from at most: in a fold, and in the end.
    fold_rows: int
    final_rows: int | None
    #: Trees that boosting grows at most.
    most_trees: int
    #: Rows that a forest learns from at most: exact splits take long.
    forest_rows: int
    #: Rows above which no kernel columns are made by default; None for no limit.
    kernel_rows: int | None
    #: Candidates that are behind the best by more than this share of its score in the first fold
    #: are dropped; None keeps all.
    tolerance: float | None


#: Case-control bins, few leaves: the best single setting where positives are rare.
_SMALL = BoostingSetting("trees", 15, 0.05)
#: More leaves, for tables with many rows and interactions.
_LARGE = BoostingSetting("trees, 31 leaves", 31, 0.1)
#: Half of the rows and columns for each tree: best with some dozen positives.
_HALVES = BoostingSetting("trees, halves", 15, 0.05, halves=True, draw=1)
_EXTRA = ForestSetting("extra trees", extra=True)

#: A cost of about 0.1, 1 and 5 times that of tuning LightGBM by 8 settings in 3 folds.
EFFORTS = {
    "fast": Effort(
        folds=3,
        feature_sets=1,
        losses=False,
        trees=(_SMALL,),
        forests=(),
        fold_rows=50_000,
        final_rows=100_000,
        most_trees=200,
        forest_rows=20_000,
        kernel_rows=0,
        tolerance=0.05,
    ),
    "default": Effort(
        folds=3,
        feature_sets=None,
        losses=True,
        trees=(_SMALL, _LARGE, _HALVES),
        forests=(_EXTRA,),
        fold_rows=100_000,
        final_rows=400_000,
        most_trees=400,
        forest_rows=20_000,
        kernel_rows=30_000,
        tolerance=0.05,
    ),
    "best": Effort(
        folds=5,
        feature_sets=None,
        losses=True,
        trees=(
            _SMALL,
            _LARGE,
            _HALVES,
            BoostingSetting("trees, 63 leaves, halves", 63, 0.05, halves=True, draw=2),
            BoostingSetting("trees, 7 leaves", 7, 0.05, draw=3),
        ),
        forests=(_EXTRA, ForestSetting("forest", extra=False, leaf_rows=2)),
        fold_rows=400_000,
        final_rows=None,
        most_trees=800,
        forest_rows=100_000,
        kernel_rows=None,
        tolerance=None,
    ),
}

__all__ = ["EFFORTS", "BoostingSetting", "Effort", "ForestSetting"]
