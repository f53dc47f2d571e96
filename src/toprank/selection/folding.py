"""The folds of a race or a path: what `cv` asks for, each fit to be trained on."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection._split import GroupsConsumerMixin

from ..folds import Folds, check_classes, make_folds
from ..validation import LabelledRows


def folds_of(cv: Any, rows: LabelledRows, groups: Any) -> Folds:
    """The folds, refused before any work is done if one of them cannot be trained on."""
    check_groups(cv, groups, rows.split.n_rows)
    folds = make_folds(cv, rows.split, rows.X, np.asarray(rows.y), groups)
    for training, _ in folds.pairs:
        part = rows.split.only(training)
        check_classes(float(part.p.sum()), float(part.q.sum()))
    return folds


def check_groups(cv: Any, groups: Any, n_rows: int) -> None:
    """Refuse groups that no splitter would keep together, and splitters that lack them."""
    if groups is None:
        if isinstance(cv, GroupsConsumerMixin):
            raise ValueError(
                f"cv={type(cv).__name__}() keeps groups together: pass their labels, "
                "fit(X, y, groups=...)."
            )
        return
    if cv is None or isinstance(cv, Integral):
        raise ValueError(
            f"cv={cv} makes folds that do not keep groups together. Pass a splitter that does: "
            f"cv=sklearn.model_selection.StratifiedGroupKFold({'' if cv is None else cv})."
        )
    if len(groups) != n_rows:
        raise ValueError(f"groups has {len(groups)} labels, but X has {n_rows} rows.")
