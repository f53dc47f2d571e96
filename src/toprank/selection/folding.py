"""The folds of a race or a path: what `cv` asks for, each fit to be trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.validation import LabelledRows
from ..inputs.folds import Folds, check_classes, make_folds


def folds_of(cv: Any, rows: LabelledRows, groups: Any) -> Folds:
    """The folds, refused before any work is done if one of them cannot be trained on."""
    return checked_folds(make_folds(cv, rows.split, rows.X, np.asarray(rows.y), groups), rows)


def checked_folds(folds: Folds, rows: LabelledRows) -> Folds:
    """Return the folds, or raise an error if one of them trains on rows of one class only."""
    tilt = rows.split.tilt
    for k in range(folds.count):
        own = tilt[folds.training(k)]
        check_classes(float(own.max(initial=0.0)), -float(own.min(initial=0.0)))
    return folds
