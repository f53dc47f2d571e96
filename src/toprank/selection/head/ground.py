"""What a race is run on: rows, folds, a measure, and what follows from a capacity."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ...metrics._scorers import find_scorer
from ...validation import LabelledRows
from ..cluster_folds import check_folds
from ..fold_path import Judge
from ..folding import folds_of
from .capacity import Capacity, capacity_of, scoring_for
from .cluster import cluster_data
from .contenders import Data


@dataclass(frozen=True)
class Ground:
    """Where a race is run."""

    data: Data
    capacity: Capacity | None
    scoring: Any
    seed: int
    #: What there is to say of the rows, for `why_`.
    told: str = ""


def ground_of(ranker: Any, rows: LabelledRows, groups: Any) -> Ground:
    """Rows in memory."""
    folds = folds_of(ranker.cv, rows, groups)
    capacity, scoring = _measure(ranker, rows, folds.count)
    judge = Judge(find_scorer(scoring, ranker))
    labels = rows.positive.astype(np.int64)
    exchangeable = folds.fold_of is not None and groups is None
    levels = None if ranker._coder is None else ranker._coder.levels
    data = Data(rows.design.X, labels, rows.weight, folds, judge, exchangeable, levels=levels)
    return Ground(data, capacity, scoring, ranker._seed())


def far_ground(ranker: Any, rows: LabelledRows, groups: Any) -> Ground:
    """Rows on a cluster."""
    if ranker.refine:
        raise TypeError(
            "refine=True moves rows one by one, and these are on a cluster: leave it out, or fit "
            "a sample of the rows in memory."
        )
    n_folds = int(ranker.cv) if isinstance(ranker.cv, Integral) else 1
    capacity, scoring = _measure(ranker, rows, max(n_folds, 1))
    judge = Judge(find_scorer(scoring, ranker))
    count, seed = check_folds(ranker.cv, groups, judge), ranker._seed()
    data, told = cluster_data(rows, count, judge, seed)
    return Ground(data, capacity, scoring, seed, told)


def _measure(ranker: Any, rows: LabelledRows, n_folds: int) -> tuple[Capacity | None, Any]:
    capacity = capacity_of(ranker.capacity, ranker.list_size, rows.design.shape[0])
    return capacity, ranker.scoring or scoring_for(capacity, rows.split, n_folds)


__all__ = ["Ground", "far_ground", "ground_of"]
