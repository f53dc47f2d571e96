"""Folds in the order of time: no fold learns from rows that are later than those it holds out."""

from __future__ import annotations

import re
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from support.raw_tables import raw_labels, raw_table
from toprank import HeadRanker
from toprank.inputs.class_split import Split
from toprank.metrics import average_precision
from toprank.selection.head.candidates import linear
from toprank.selection.head.explain import _without_features
from toprank.selection.head.linear import RefinedScore
from toprank.selection.head.setup import folds_in_time

N = 300
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.logistic(size=N) > 1.5).astype(int)
DAYS = pd.Series(pd.Timestamp("2025-01-01") + pd.to_timedelta(RNG.permutation(N) // 3, unit="D"))
ALONE: dict[str, Any] = {"candidates": ["columns"], "trees": False, "random_state": 0}


@given(st.lists(st.integers(0, 30), min_size=24, max_size=80), st.integers(2, 5))
def test_no_training_row_is_as_late_as_a_row_held_out(times: list[int], n_folds: int) -> None:
    when = np.array([0, 1, *times])
    # Both classes are among the earliest rows, so that every fold can be trained.
    positive = np.random.default_rng(0).random(len(when)) < 0.5
    positive[:2] = True, False
    positive[np.flatnonzero(when == 0)] = np.arange((when == 0).sum()) % 2 == 0
    rows: Any = SimpleNamespace(split=Split.of(positive))
    assume((when == 0).sum() >= 2 and len(np.unique(when)) >= 6)
    try:
        folds = folds_in_time(n_folds, when, rows)
    except ValueError:
        # One time has most of the rows, or all early rows are of one class.
        assume(False)
    held_out = [test for _, test in folds]
    for training, test in folds:
        assert when[training].max() < when[test].min()
        assert_array_equal(np.sort(training), np.flatnonzero(when < when[test].min()))
        assert np.isin(when, when[test]).sum() == len(test)
    joined = np.concatenate(held_out)
    assert len(np.unique(joined)) == len(joined)
    assert all(when[one].max() < when[other].min() for one, other in pairwise(held_out))


def test_folds_hold_out_the_later_half() -> None:
    when = np.random.default_rng(0).permutation(120).astype(float)
    folds = folds_in_time(3, when, SimpleNamespace(split=Split.of(when % 3 == 0)))  # type: ignore[arg-type]
    assert [sorted(when[test]) for _, test in folds] == [
        list(range(60, 80)), list(range(80, 100)), list(range(100, 120)),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["series", "polars", "datetime64", "zone", "words", "seconds"])
def test_dates_and_numbers_give_the_same_folds(kind: str) -> None:
    seconds = DAYS.to_numpy().astype("datetime64[s]").astype(np.int64)
    times: dict[str, Any] = {
        "series": DAYS,
        "polars": pl.from_pandas(DAYS),
        "datetime64": DAYS.to_numpy(),
        "zone": DAYS.dt.tz_localize("UTC"),
        "words": [str(day.date()) for day in DAYS],
        "seconds": seconds,
    }
    ranker = HeadRanker(**ALONE).fit(X, Y, time=times[kind])
    assert len(ranker.folds_) == 3
    for training, test in ranker.folds_:
        assert seconds[training].max() < seconds[test].min()
    held_out = np.concatenate([test for _, test in ranker.folds_])
    assert_array_equal(np.flatnonzero(~np.isnan(ranker.oof_scores_)), np.sort(held_out))


def test_a_raw_table_is_fitted_in_time() -> None:
    table = raw_table(400).assign(
        since=pd.Timestamp("2025-01-01") + pd.to_timedelta(range(400)[::-1], unit="h")
    )
    y = raw_labels(table)
    options: dict[str, Any] = {"effort": "fast", "random_state": 0, "pos_label": "fraud"}
    ranker = HeadRanker(cv=2, **options).fit(table, y, time=table["since"])
    (first, one), (second, other) = ranker.folds_
    assert_array_equal(first, np.arange(200, 400))
    assert_array_equal(one, np.arange(100, 200))
    assert_array_equal(second, np.arange(100, 400))
    assert_array_equal(other, np.arange(100))
    assert np.isfinite(ranker.decision_function(table)).all()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"time": np.where(np.arange(N) == 7, np.nan, 1.0)}, ValueError, "missing in row 7: leave"),
        ({"time": DAYS.where(DAYS.index != 9)}, ValueError, "time is missing in row 9"),
        ({"time": [*DAYS[:5], None, *DAYS[6:]]}, ValueError, "time is missing in row 5"),
        ({"time": np.arange(N - 1)}, ValueError, f"time has {N - 1} entries, but X has {N} rows"),
        ({"time": np.arange(N).reshape(-1, 1)}, ValueError, "must have one dimension, got 2"),
        ({"time": ["early"] * N}, TypeError, "time must hold dates, such as 2026-01-31, or num"),
        ({"time": "day"}, ValueError, "time must have one dimension"),
        ({"time": np.ones(N)}, ValueError, f"several times, and {N} rows have 1"),
        ({"time": DAYS, "groups": np.arange(N)}, ValueError, "time and groups make folds of diff"),
    ],
)  # fmt: skip
def test_times_that_cannot_be_used_are_named(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        HeadRanker(**ALONE).fit(X, Y, **options)


def test_a_splitter_and_time_are_refused() -> None:
    with pytest.raises(ValueError, match="pass a number of folds as cv"):
        HeadRanker(cv=KFold(3), **ALONE).fit(X, Y, time=DAYS)


def test_what_folds_choose_is_scaled_to_all_rows() -> None:
    ranker = HeadRanker(cv=2, **ALONE).fit(X, Y, time=np.arange(N))
    growth = N / np.mean([150, 225])
    chosen = ranker.leaderboard_["alpha"].item()
    assert ranker.best_estimator_["ranker"].alpha == pytest.approx(chosen / growth)
    assert ranker.fold_models_[0]["ranker"].alpha == chosen
    trees = HeadRanker(candidates="trees", effort="fast", cv=2, random_state=0)
    trees.fit(X, Y, time=np.arange(N))
    count = trees.leaderboard_["value"].item()
    assert trees.best_estimator_.n_trees == round(count * growth)


def test_random_folds_claim_more_where_labels_come_in_waves() -> None:
    waves = np.random.default_rng(0).random(10) < 0.5
    chance = np.where(waves[np.arange(N) // 30], 0.7, 0.1)
    y = np.random.default_rng(1).random(N) < chance
    rows = np.column_stack([np.arange(N, dtype=float), X])
    ranker = HeadRanker(candidates="trees", effort="fast", random_state=0)
    ranker.fit(rows, y, time=np.arange(N))
    claim = re.search(r"would claim (0\.\d+)\.", ranker.why_)
    assert claim is not None
    assert float(claim[1]) > ranker.nested_score_ + 0.2


def test_the_claim_of_random_folds_is_that_of_such_folds() -> None:
    alone = HeadRanker(candidates=[LogisticRegression()], trees=False, random_state=0)
    alone.fit(X, Y, time=np.arange(N))
    training, test = alone.folds_[-1]
    figures = []
    chance = np.random.default_rng(alone._seed())
    for _ in range(2):
        order = chance.permutation(N)
        held = np.sort(order[: len(test)])
        rest = np.sort(order[len(test) : len(test) + len(training)])
        model = LogisticRegression().fit(X[rest], Y[rest])
        figures.append(average_precision(Y[held], model.decision_function(X[held])))
    assert f"would claim {np.mean(figures):.4f}." in alone.why_


def test_a_claim_that_cannot_be_scored_is_left_out() -> None:
    # Neither of the two random folds holds out a positive.
    y = np.zeros(200, dtype=int)
    y[[10, 20, 198]] = 1
    with pytest.warns(UserWarning, match="2 of the 3 folds hold out rows of one class only"):
        ranker = HeadRanker(**ALONE | {"random_state": 2}).fit(X[:200], y, time=np.arange(200))
    assert "would claim" not in ranker.why_
    assert "Only 1 positive rows were held out" in ranker.why_


def test_random_folds_see_no_features_of_other_folds() -> None:
    first = linear("bins", "logistic", LogisticRegression(), 0)  # type: ignore[arg-type]
    first.cache.known[0] = first.cache.ready = object()
    for candidate in (first, RefinedScore(first, 1.0, 0.1)):
        fresh = _without_features(candidate)
        cache = getattr(fresh, "first", fresh).cache
        assert cache.known == {}
        assert cache.whole is cache.ready is None
    assert 0 in first.cache.known
