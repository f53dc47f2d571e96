"""The leaderboard, its order, and the measure that chose as the score of any rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from toprank import HeadRanker
from toprank.metrics import auc, average_precision, get_scorer
from toprank.selection.head.attributes import best_first

RNG = np.random.default_rng(5)
X = RNG.normal(size=(400, 5))
#: Positives lie in the middle of the first column, more so where the second is high.
CHANCE = 1 / (1 + np.exp(3 * (np.abs(X[:, 0]) - 0.7) - X[:, 1]))
Y = (RNG.random(400) < 0.9 * CHANCE).astype(int)
SOME: dict[str, Any] = {"cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def whole() -> HeadRanker:
    return HeadRanker(**SOME).fit(X, Y)


def test_the_leaderboard_is_read_from_its_first_row(whole: HeadRanker) -> None:
    board = whole.leaderboard_
    assert list(board.columns[:6]) == ["candidate", "mean", "error", "seconds", "chosen", "note"]
    assert board["chosen"].tolist() == [True] + [False] * (len(board) - 1)
    raced = board["mean"].notna()
    assert raced.is_monotonic_decreasing
    assert board["mean"][raced].is_monotonic_decreasing
    assert sorted(board.index) == list(range(len(board)))
    assert whole.best_score_ == board["mean"].iloc[0]


def test_the_chosen_one_comes_first_even_if_another_has_a_better_mean() -> None:
    ranker = HeadRanker(candidates="linear", **SOME).fit(X, Y)
    board = ranker.leaderboard_
    assert board["mean"].idxmax() != board.index[0]
    assert board["chosen"].iloc[0]
    assert ranker.best_score_ == board["mean"].iloc[0] < board["mean"].max()


def test_those_that_did_not_run_come_last_in_the_order_they_came() -> None:
    board = {
        "mean": np.array([np.nan, 0.5, 0.9, np.nan, 0.7, -2.0]),
        "chosen": np.array([False, False, False, False, True, False]),
    }
    assert best_first(board).tolist() == [4, 2, 1, 5, 0, 3]


def test_score_is_the_measure_that_decided(whole: HeadRanker) -> None:
    scores, weight = whole.decision_function(X), RNG.random(400)
    assert whole.score(X, Y) == average_precision(Y, scores)
    expected = average_precision(Y, scores, sample_weight=weight)
    assert whole.score(X, Y, sample_weight=weight) == expected
    capacity = HeadRanker(capacity=0.05, candidates="fast", cv=2).fit(X, Y)
    assert capacity.scoring_.startswith("partial_auc_")
    assert capacity.score(X, Y) == get_scorer(capacity.scoring_)(capacity, X, Y)


def test_score_calls_any_scorer_as_the_folds_do() -> None:
    def right(estimator: Any, rows: Any, labels: Any, sample_weight: Any = None) -> float:
        assert set(labels) == {0, 1}
        return float(np.average(estimator.predict(rows) == labels, weights=sample_weight))

    names, weight = np.where(Y == 1, "fraud", "ok"), np.where(np.arange(400) < 200, 1.0, 0.0)
    options: dict[str, Any] = {"candidates": "fast", "cv": 2, "pos_label": "fraud"}
    ranker = HeadRanker(scoring=right, **options).fit(X, names)
    expected = ranker.predict(X) == names
    assert ranker.score(X, names) == expected.mean()
    assert ranker.score(X, names, weight) == expected[:200].mean()
    area = HeadRanker(scoring="roc_auc", **options).fit(X, names)
    assert area.score(X, names) == pytest.approx(auc(Y, area.decision_function(X)))
    with pytest.raises(ValueError, match="the model knows the labels"):
        area.score(X, Y)
