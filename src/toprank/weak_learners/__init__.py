"""Weak learners: functions of a row of which a booster makes a weighted sum.

The parameter of estimators that chooses them is `weak_learners`, the word of the papers.
"""

from __future__ import annotations

from ..designs import MemoryDesign
from ..inputs.class_split import Split
from .base import Pick, WeakLearners
from .columns import Columns, ColumnScaling
from .stumps import Stumps
from .sums import ColumnSum, LearnerSum, StumpSum, importances

#: What the parameter `weak_learners` may be, and the value of such a learner below its threshold.
KINDS = {"stumps": -1.0, "thresholds": 0.0, "linear": None, "precomputed": None}


def make_learners(kind: str, design: MemoryDesign, split: Split) -> WeakLearners:
    """The weak learners of this name on the rows of a split."""
    if KINDS[kind] is not None:
        return Stumps(design, split)
    return Columns(design, split, scaled=kind == "linear")


__all__ = [
    "KINDS",
    "ColumnScaling",
    "ColumnSum",
    "Columns",
    "LearnerSum",
    "Pick",
    "StumpSum",
    "Stumps",
    "WeakLearners",
    "importances",
    "make_learners",
]
