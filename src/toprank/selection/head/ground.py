"""What a race is run on: rows, folds, a measure, and what follows from a capacity."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ...estimators.validation import LabelledRows
from ...inputs.folds import Folds
from ...metrics._scorers import find_scorer
from ..cluster_folds import check_folds
from ..fold_path import Judge
from ..folding import folds_of
from .capacity import Capacity, capacity_of, scoring_for
from .cluster import cluster_data
from .contenders import Data
from .time_order import folds_in_time, growth_of


@dataclass(frozen=True)
class Ground:
    """Where a race is run."""

    data: Data
    capacity: Capacity | None
    scoring: Any
    seed: int
    #: What there is to say of the rows, for `why_`.
    told: str = ""


def ground_of(ranker: Any, rows: LabelledRows, groups: Any, times: Any, n_folds: int) -> Ground:
    """Rows in memory. `n_folds` is taken if the ranker has no `cv`."""
    if times is None:
        folds = folds_of(n_folds if ranker.cv is None else ranker.cv, rows, groups)
    else:
        folds = _folds_in_time(ranker.cv, n_folds, times, rows)
    growth = 1.0 if times is None else growth_of(folds, len(times))
    capacity, scoring = _measure(ranker, rows, folds.count)
    judge = Judge(find_scorer(scoring, ranker))
    labels = rows.positive.astype(np.int64)
    exchangeable = folds.fold_of is not None and groups is None and times is None
    levels = None if ranker._coder is None else ranker._coder.levels
    data = Data(
        rows.design.X,
        labels,
        rows.weight,
        folds,
        judge,
        exchangeable,
        levels=levels,
        growth=growth,
    )
    return Ground(data, capacity, scoring, ranker._seed())


def _folds_in_time(cv: Any, n_folds: int, times: Any, rows: LabelledRows) -> Folds:
    """Return folds in time, as many as `cv` says."""
    if cv is None or isinstance(cv, Integral):
        return folds_in_time(n_folds if cv is None else int(cv), times, rows)
    raise ValueError(
        "time makes folds of its own: pass a number of folds as cv, or leave time out and pass a "
        "splitter as cv."
    )


def far_ground(ranker: Any, rows: LabelledRows, groups: Any, times: Any, n_folds: int) -> Ground:
    """Rows on a cluster."""
    if times is not None:
        raise TypeError(
            "time orders the rows of folds, and these are on a cluster: leave it out, or fit a "
            "sample of the rows in memory."
        )
    cv = n_folds if ranker.cv is None else ranker.cv
    if ranker.refine:
        raise TypeError(
            "refine=True moves rows one by one, and these are on a cluster: leave it out, or fit "
            "a sample of the rows in memory."
        )
    number = int(cv) if isinstance(cv, Integral) else 1
    capacity, scoring = _measure(ranker, rows, max(number, 1))
    judge = Judge(find_scorer(scoring, ranker))
    count, seed = check_folds(cv, groups, judge), ranker._seed()
    data, told = cluster_data(rows, count, judge, seed)
    return Ground(data, capacity, scoring, seed, told)


def _measure(ranker: Any, rows: LabelledRows, n_folds: int) -> tuple[Capacity | None, Any]:
    capacity = capacity_of(ranker.capacity, ranker.list_size, rows.design.shape[0])
    return capacity, ranker.scoring or scoring_for(capacity, rows.split, n_folds)


__all__ = ["Ground", "far_ground", "ground_of"]
