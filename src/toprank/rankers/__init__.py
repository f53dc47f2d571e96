"""Base rankers: functions of a row of which a booster makes a weighted sum."""

from __future__ import annotations

from ..designs import DenseDesign, SparseDesign
from ..split import Split
from .base import BaseRankers, Pick
from .columns import Columns, column_ranges
from .stumps import Stumps
from .sums import ColumnSum, RankerSum, StumpSum

#: What the parameter `rankers` may be, and the value of such a ranker below its threshold.
KINDS = {"stumps": -1.0, "thresholds": 0.0, "linear": None, "precomputed": None}


def make_rankers(kind: str, design: DenseDesign | SparseDesign, split: Split) -> BaseRankers:
    """The base rankers of this name on the rows of a split."""
    if KINDS[kind] is not None:
        return Stumps(design, split)
    return Columns(design, split, scaled=kind == "linear")


__all__ = [
    "KINDS",
    "BaseRankers",
    "ColumnSum",
    "Columns",
    "Pick",
    "RankerSum",
    "StumpSum",
    "Stumps",
    "column_ranges",
    "make_rankers",
]
