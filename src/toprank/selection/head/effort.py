"""What a race runs at each effort: candidates, folds, and rows."""

from __future__ import annotations

from dataclasses import dataclass

from .case_control import ENOUGH


@dataclass(frozen=True)
class Boosting:
    """A setting of boosted trees."""

    name: str
    leaves: int
    rate: float
    #: Whether each tree learns from a random half of the rows and columns.
    halves: bool = False
    #: Added to the seed, for another draw of negatives.
    draw: int = 0


@dataclass(frozen=True)
class Forests:
    """A setting of a forest."""

    name: str
    extra: bool
    leaf_rows: int = 1


@dataclass(frozen=True)
class Effort:
    """What runs by default."""

    #: Folds if `cv` is not given.
    folds: int
    #: Feature sets of dense rows for linear scores, None for all.
    feature_sets: int | None
    #: Whether the best features are tried with other losses.
    losses: bool
    trees: tuple[Boosting, ...]
    forests: tuple[Forests, ...]
    #: Rows that boosted trees learn from at most: in a fold, and in the end.
    fold_rows: int
    final_rows: int | None
    #: Rows that a forest learns from at most: exact splits take long.
    forest_rows: int
    #: Candidates that are behind the best by more than this share of its score in the first fold
    #: are dropped; None keeps all.
    tolerance: float | None


#: Case-control bins, few leaves: the best single setting where positives are rare.
_SMALL = Boosting("trees", 15, 0.05)
#: More leaves, for tables with many rows and interactions.
_LARGE = Boosting("trees, 31 leaves", 31, 0.1)
#: Half of the rows and columns for each tree: best with some dozen positives.
_HALVES = Boosting("trees, halves", 15, 0.05, halves=True, draw=1)
_EXTRA = Forests("extra trees", extra=True)

#: A cost of about 0.1, 1 and 5 times that of tuning LightGBM by 8 settings in 3 folds.
EFFORTS = {
    "fast": Effort(3, 1, False, (_SMALL,), (), 50_000, 100_000, ENOUGH, 0.1),
    "default": Effort(
        3, None, True, (_SMALL, _LARGE, _HALVES), (_EXTRA,), 100_000, 400_000, ENOUGH, 0.1
    ),
    "best": Effort(
        5,
        None,
        True,
        (
            _SMALL,
            _LARGE,
            _HALVES,
            Boosting("trees, 63 leaves, halves", 63, 0.05, halves=True, draw=2),
            Boosting("trees, 7 leaves", 7, 0.05, draw=3),
        ),
        (_EXTRA, Forests("forest", extra=False, leaf_rows=2)),
        400_000,
        None,
        100_000,
        None,
    ),
}

__all__ = ["EFFORTS", "Boosting", "Effort", "Forests"]
