"""Inputs that candidates must take: weights of any scale, huge columns, libraries that fail."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import TimeSeriesSplit

from toprank import HeadRanker
from toprank.selection.head.ensemble import Stretch

N = 900
RNG = np.random.default_rng(6)
X = RNG.normal(size=(N, 4))
Y = (X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=N) > 2.2).astype(int)
TREES: dict[str, Any] = {"candidates": "trees", "effort": "fast", "random_state": 0}


@pytest.mark.parametrize("library", ["lightgbm", "scikit-learn"])
def test_the_scale_of_weights_changes_nothing(library: str) -> None:
    weight = RNG.uniform(0.5, 1.5, N)
    first = HeadRanker(trees=library, **TREES).fit(X, Y, sample_weight=weight)
    for scale in (2.0**-30, 2.0**30):
        again = HeadRanker(trees=library, **TREES).fit(X, Y, sample_weight=scale * weight)
        ours, theirs = (one.best_estimator_.decision_function(X) for one in (again, first))
        assert_allclose(ours, theirs, rtol=1e-6)
        assert_allclose(again.predict_proba(X), first.predict_proba(X), atol=0.02)
    plain = HeadRanker(trees=library, **TREES).fit(X, Y)
    equal = HeadRanker(trees=library, **TREES).fit(X, Y, sample_weight=np.full(N, 1e-6))
    ours, theirs = (one.best_estimator_.decision_function(X) for one in (equal, plain))
    assert_array_equal(ours, theirs)


def test_a_splitter_in_time_does_not_scale_the_choice() -> None:
    cv = TimeSeriesSplit(3, max_train_size=200)
    for folds in (cv, list(cv.split(X))):
        ranker = HeadRanker(cv=folds, **TREES).fit(X, Y)
        assert ranker.best_estimator_.n_trees == ranker.fold_models_[0].n_trees


def test_few_times_scale_the_choice_by_two_at_most() -> None:
    ranker = HeadRanker(**TREES).fit(X, Y, time=(np.arange(N) >= N // 10) + 0)
    assert ranker.best_estimator_.n_trees <= 2 * ranker.fold_models_[0].n_trees


def test_a_column_beyond_float32_does_not_stop_forests() -> None:
    huge = X.copy()
    huge[:, 3] *= 1e60
    ranker = HeadRanker(candidates=["extra trees"], trees=False, random_state=0).fit(huge, Y)
    assert np.isfinite(ranker.decision_function(huge)).all()


@pytest.mark.parametrize("error", [OSError("libomp.dylib is missing"), ImportError("none")])
def test_a_library_that_cannot_be_loaded(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def failing(name: str, *args: Any, **options: Any) -> Any:
        if name == "lightgbm":
            raise error
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", failing)
    ranker = HeadRanker(**TREES).fit(X, Y)
    assert ranker.best_estimator_.n_trees > 0
    with pytest.raises(ImportError, match=r"pip install lightgbm.*(libomp|none)"):
        HeadRanker(trees="lightgbm", **TREES).fit(X, Y)


def test_curves_stay_finite_where_scores_underflow() -> None:
    curve = Stretch(np.r_[np.arange(30) * 1e-320, np.linspace(0.1, 1.0, 100)])
    assert np.isfinite(curve(np.array([0.0, 1e-320, 0.5, 1.0, 2.0]))).all()


@pytest.mark.parametrize("library", ["lightgbm", "scikit-learn"])
def test_the_largest_seed(library: str) -> None:
    options = {"candidates": "trees", "trees": library, "random_state": 2**32 - 1}
    assert HeadRanker(**options).fit(X, Y).n_iter_ >= 3


def test_what_runs_by_default_too_runs_once() -> None:
    board = HeadRanker(candidates=["default", "columns", "extra trees"]).fit(X, Y).leaderboard_
    names = board["candidate"].tolist()
    assert len(set(names)) == len(names)


def test_times_that_leave_nothing_to_train_on() -> None:
    late = np.where(Y == 1, 2000, np.arange(N))
    with pytest.raises(ValueError, match=r"The earliest \d+ rows.*hold no positive row"):
        HeadRanker(**TREES).fit(X, Y, time=late)
    with pytest.raises(ValueError, match="cv=700: folds in time need 1400 rows, got 900"):
        HeadRanker(cv=700, **TREES).fit(X, Y, time=np.arange(N))


def test_times_may_be_pandas_arrays() -> None:
    days = pd.date_range("2025-01-01", periods=N)
    expected = HeadRanker(**TREES).fit(X, Y, time=np.arange(N)).decision_function(X)
    for time in (days, days.array, pd.Series(days, index=range(N, 0, -1))):
        assert_array_equal(HeadRanker(**TREES).fit(X, Y, time=time).decision_function(X), expected)
    with pytest.raises(TypeError, match="time must hold dates"):
        HeadRanker(**TREES).fit(X, Y, time=pd.Categorical(days.strftime("%Y-%m-%d")))
