"""Rows in order of time: folds that hold out later rows, and what random folds would claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...estimators.validation import LabelledRows
from ...features.frames import column_of
from ...inputs.folds import Folds, WholeTimeSplit
from ..folding import checked_folds
from .contenders import Data
from .ensemble import Ensemble, places
from .linear import Linear
from .race import Entry, quietly
from .refine import Refined

#: Share of the rows, the latest ones, that folds hold out in turn. Each fold trains on at least
#: the other half.
_HELD_OUT = 0.5
#: The most that settings are scaled by. Folds that train on half of the rows or more, as those of
#: `folds_in_time` do with many different times, are below it.
_GROWTH = 2.0
#: Random folds that show what they would have claimed.
_RANDOM = 2


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
    size = max(int(_HELD_OUT * len(times) / n_folds), 1)
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


def random_claim(chosen: Entry, data: Data, seed: int) -> float:
    """Return the mean score of the chosen candidate on random folds of the last fold's size."""
    training, test = data.folds[data.folds.count - 1]
    rng = np.random.default_rng(seed)
    listed = []
    for _ in range(_RANDOM):
        order = rng.permutation(len(data.y))[: len(training) + len(test)]
        listed.append((np.sort(order[len(test) :]), np.sort(order[: len(test)])))
    mixed = replace(data, folds=Folds(_RANDOM, None, listed), exchangeable=False)
    scores = [_score_of(chosen, mixed, k) for k in range(_RANDOM)]
    known = [score for score in scores if np.isfinite(score)]
    return float(np.mean(known)) if known else float("nan")


def _score_of(chosen: Entry, data: Data, k: int) -> float:
    """Return the score of a candidate, at its setting, on one fold."""
    if not data.both_classes(data.folds.training(k)):
        return float("nan")
    contender = chosen.contender
    members = contender.members if isinstance(contender, Ensemble) else (chosen,)
    weights = contender.weights if isinstance(contender, Ensemble) else (1.0,)
    fits = [_fit_of(member, data, k) for member in members]
    parts = zip(weights, fits, strict=True)
    total = np.sum([weight * places(fit, data, k) for weight, fit in parts], axis=0)
    return data.score(fits[0].ranker, total, data.folds.held_out(k))


def _fit_of(entry: Entry, data: Data, k: int) -> Any:
    _, fits = quietly(_without_features(entry.contender), data, k, np.array([entry.setting]))
    return fits[0]


def _without_features(contender: Any) -> Any:
    """Return a contender without the features that it made for other folds."""
    if isinstance(contender, Refined):
        return replace(contender, first=_without_features(contender.first))
    if isinstance(contender, Linear):
        making = replace(contender.making, known={}, whole=None, ready=None)
        return replace(contender, making=making)
    return contender


__all__ = ["folds_in_time", "growth_of", "random_claim", "times_of"]
