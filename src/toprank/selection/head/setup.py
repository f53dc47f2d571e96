"""Set-up of a race: folds, the measure that follows from a capacity, and rows in order of time."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...estimators.validation import LabelledRows
from ...features.frames import column_of
from ...inputs.arguments import check_count, check_number
from ...inputs.class_split import Split
from ...inputs.folds import Folds, WholeTimeSplit
from ...metrics._checks import check_k
from ...metrics._scorers import find_scorer
from ..fold_path import Judge, checked_folds, folds_of
from .race_data import RaceData

#: The most that settings are scaled by. Folds that train on half of the rows or more, as those of
#: `folds_in_time` do with many different times, are below it.
_GROWTH = 2.0


@dataclass(frozen=True)
class Setup:
    """Rows, folds and measure of a race."""

    data: RaceData
    capacity: Capacity | None
    scoring: Any
    seed: int
    #: Number of folds fitted at the same time, as the ranker's `n_jobs`.
    n_jobs: int | None = None
    #: A note on the rows, for `why_`.
    note: str = ""


def set_up(ranker: Any, rows: LabelledRows, groups: Any, time: Any, n_folds: int) -> Setup:
    """Return the set-up of a race in memory, with `n_folds` folds if the ranker has no `cv`."""
    times = None if time is None else times_of(time, rows.design.shape[0])
    if times is None:
        folds = folds_of(n_folds if ranker.cv is None else ranker.cv, rows, groups)
    else:
        folds = _folds_in_time(ranker.cv, n_folds, times, rows)
    growth = 1.0 if times is None else growth_of(folds, len(times))
    capacity, scoring = measure_of(ranker, rows, folds.count)
    judge = Judge(find_scorer(scoring, ranker))
    labels = rows.positive.astype(np.int64)
    exchangeable = folds.fold_of is not None and groups is None and times is None
    levels = None if ranker._coder is None else ranker._coder.levels
    data = RaceData(
        rows.design.X,
        labels,
        rows.weight,
        folds,
        judge,
        exchangeable,
        levels=levels,
        growth=growth,
    )
    return Setup(data, capacity, scoring, ranker._seed(), ranker.n_jobs)


def _folds_in_time(cv: Any, n_folds: int, times: Any, rows: LabelledRows) -> Folds:
    """Return folds in time, as many as `cv` says."""
    if cv is None or isinstance(cv, Integral):
        return folds_in_time(n_folds if cv is None else int(cv), times, rows)
    raise ValueError(
        "time makes folds of its own: pass a number of folds as cv, or leave time out and pass a "
        "splitter as cv."
    )


def measure_of(ranker: Any, rows: LabelledRows, n_folds: int) -> tuple[Capacity | None, Any]:
    """Return the capacity of a ranker, and the measure that chooses."""
    capacity = capacity_of(ranker.capacity, ranker.list_size, rows.design.shape[0])
    return capacity, ranker.scoring or scoring_for(capacity, rows.split, n_folds)


@dataclass(frozen=True)
class Capacity:
    """A number of rows of a list, or a share of it."""

    share: float
    #: None where a share was given.
    count: int | None = None
    list_size: int | None = None

    def rows_of(self, n: int) -> int:
        """Return the number of rows out of n."""
        if self.count is None:
            return min(n, ceil(self.share * n - 1e-9))
        return min(n, self.count)

    def __str__(self) -> str:
        """Return the capacity in words, for `why_`."""
        percent = f"{100 * self.share:.3g} %"
        if self.count is None:
            return f"{percent} of a list"
        return f"{self.count} of a list of {self.list_size}, {percent}"


def capacity_of(capacity: Any, list_size: Any, n_rows: int) -> Capacity | None:
    """Return the capacity for a training set of `n_rows`, None without one."""
    if capacity is None:
        if list_size is not None:
            raise ValueError("list_size says how long the list of a capacity is: set capacity too.")
        return None
    if not isinstance(capacity, Integral):
        share = check_number("capacity", capacity, 0.0, 1.0, ends="()")
        if list_size is not None:
            raise ValueError(f"capacity={capacity!r} is a share, which needs no list_size.")
        return Capacity(share)
    count = check_count("capacity", capacity)
    size = n_rows if list_size is None else check_count("list_size", list_size)
    if count >= size:
        where = "list_size" if list_size is not None else "the number of training rows"
        raise ValueError(
            f"capacity={count} is not below {where}, {size}: then all rows can be taken, and no "
            "order is needed. Set list_size to the length of the lists that you will rank."
        )
    return Capacity(count / size, count, size)


def rows_asked_for(k: Any, n: int) -> int:
    """Return the number of rows out of n that `k` stands for, a number or a share."""
    check_k(k)
    if not isinstance(k, Integral):
        return Capacity(float(k)).rows_of(n)
    if int(k) > n:
        raise ValueError(f"k={k} exceeds the {n} rows of X: pass a smaller k, or a share.")
    return int(k)


def refined_share(capacity: Capacity | None, refine: bool) -> float | None:
    """Return the share of the list for the second stage, None without one."""
    if refine and capacity is None:
        raise ValueError("refine=True moves positives within a capacity: set capacity too.")
    return None if capacity is None or not refine else capacity.share


def scoring_for(capacity: Capacity | None, split: Split, n_folds: int) -> str:
    """The measure of a capacity, by name.

    Without one it is average precision. If there is room for more rows than are positive, it is
    the precision among them; else the partial AUC up to the false positive rate of a list whose
    rows taken are all negative, for precision among few rows hangs on chance.
    """
    if capacity is None:
        return "average_precision"
    n_pos, n_neg = split.counts
    positive = n_pos / (n_pos + n_neg)
    if capacity.share >= positive:
        return f"precision_at_{capacity.share:.3g}"
    held_out = n_neg / n_folds
    # Below a rate of 0.01 the measure rests on a few rows, unless 50 negatives lie within it.
    least = min(0.01, 50 / held_out)
    rate = max(capacity.share / (1.0 - positive), least)
    return f"partial_auc_{min(rate, 1.0):.2g}"  # above 1 where most rows are positive


def times_of(time: Any, n_rows: int) -> NDArray[Any]:
    """Return times as numbers or dates, or raise an error that names the row at fault."""
    column = column_of(time, "time")
    if column is None or column.kind not in ("number", "date", "span"):
        raise TypeError(
            "time must hold dates, such as 2026-01-31, or numbers, one for each row of X."
        )
    values = column.values
    if len(values) != n_rows:
        raise ValueError(f"time has {len(values)} entries, but X has {n_rows} rows.")
    missing = np.isnan(values) if column.kind == "number" else np.isnat(values)
    if missing.any():
        raise ValueError(
            f"time is missing in row {int(np.argmax(missing))}: leave such rows out, or fit "
            "without time."
        )
    return values


def folds_in_time(n_folds: int, times: NDArray[Any], rows: LabelledRows) -> Folds:
    """Return folds that each train on the rows before those they hold out.

    Together they hold out the later half of the rows. Rows of one time are on one side of a cut.
    """
    if 2 * n_folds > len(times):
        raise ValueError(
            f"cv={n_folds}: folds in time need {2 * n_folds} rows, got {len(times)}. Pass a "
            "smaller cv."
        )
    order = np.argsort(times, kind="stable")
    # Folds hold out the later half of the rows in turn.
    size = max(int(0.5 * len(times) / n_folds), 1)
    splitter = WholeTimeSplit(n_folds, test_size=size)
    pairs = list(splitter.split(order, groups=times[order]))
    listed = [(np.sort(order[training]), np.sort(order[test])) for training, test in pairs]
    first = rows.split.tilt[listed[0][0]]
    for name, there in (("positive", (first > 0.0).any()), ("negative", (first < 0.0).any())):
        if not there:
            raise ValueError(
                f"The earliest {len(first)} rows, which the first fold trains on, hold no {name} "
                "row of weight above zero: leave time out, or add earlier rows."
            )
    return checked_folds(Folds(len(listed), None, listed), rows)


def growth_of(folds: Folds, n_rows: int) -> float:
    """Return how many times as many rows the final fit has as the folds have on average.

    The number is at most `_GROWTH`: with few different times the first folds may be tiny.
    """
    return min(float(n_rows / np.mean([len(training) for training, _ in folds])), _GROWTH)


__all__ = [
    "Capacity",
    "Setup",
    "capacity_of",
    "folds_in_time",
    "growth_of",
    "measure_of",
    "refined_share",
    "rows_asked_for",
    "scoring_for",
    "set_up",
    "times_of",
]
