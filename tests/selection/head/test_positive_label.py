"""HeadRanker takes the rarer label as positive where the labels do not say it themselves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import cross_val_score

from support.toy_rows import overlapping
from toprank import HeadRanker, PositiveLabelWarning
from toprank.inputs.labels import decided_positive
from toprank.metrics import get_scorer

X, FRAUD = overlapping(30, 120, 4, shift=4.0)
FRAUD = FRAUD == 1
WORDS = np.where(FRAUD, "fraud", "ok")


def head(**parameters: Any) -> HeadRanker:
    return HeadRanker(candidates="fast", cv=2, random_state=0, **parameters)


def test_head_ranker_takes_the_rarer_label() -> None:
    with pytest.warns(PositiveLabelWarning) as said:
        ranker = head().fit(X, WORDS)
    assert [str(one.message) for one in said] == [
        'y holds "ok" (120 rows) and "fraud" (30 rows); "fraud" is taken as the positive class, to '
        'be ranked first, because it is the rarer one. Set pos_label="fraud" to confirm that.'
    ]
    assert said[0].filename == __file__
    assert_array_equal(ranker.classes_, ["ok", "fraud"])
    named = head(pos_label="fraud").fit(X, WORDS)
    assert_array_equal(ranker.decision_function(X), named.decision_function(X))
    assert ranker.score(X, WORDS) > 0.95
    assert get_scorer("auc")(ranker, X, WORDS) > 0.95


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
def test_scikit_learn_may_not_sort_the_labels() -> None:
    with pytest.raises(ValueError, match=r'sorts the labels, .* "ok" .* although "fraud" is'):
        cross_val_score(head(), X, WORDS, scoring="roc_auc", error_score="raise")


def test_head_ranker_takes_the_greater_of_labels_that_are_even() -> None:
    even = np.where(X[:, 0] > np.median(X[:, 0]), "bad", "good")
    why = "because it sorts last, and neither is less than half as frequent as the other"
    with pytest.warns(PositiveLabelWarning, match=f'"good" is taken .*, {why}'):
        assert_array_equal(head().fit(X, even).classes_, ["bad", "good"])


def test_head_ranker_counts_rows_of_weight_above_zero() -> None:
    weight = np.where(FRAUD, 100.0, 1.0)
    with pytest.warns(PositiveLabelWarning, match="the rarer"):
        assert head().fit(X, WORDS, weight).classes_.tolist() == ["ok", "fraud"]
    few = np.flatnonzero(~FRAUD)[10:]
    weight[few] = 0.0  # 30 of fraud, 10 of ok
    with pytest.warns(PositiveLabelWarning, match="the rarer"):
        assert head().fit(X, WORDS, weight).classes_.tolist() == ["fraud", "ok"]
    kept = np.setdiff1d(np.arange(len(X)), few)
    with pytest.warns(PositiveLabelWarning, match="the rarer"):
        assert head().fit(X[kept], WORDS[kept]).classes_.tolist() == ["fraud", "ok"]


def test_head_ranker_takes_the_greater_of_plain_labels() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert head().fit(X, 1 - FRAUD.astype(int)).classes_.tolist() == [0, 1]
        assert head().fit(X, np.where(FRAUD, -1, 1)).classes_.tolist() == [-1, 1]
        assert head().fit(X, ~FRAUD).classes_.tolist() == [False, True]


@pytest.mark.parametrize(
    ("counts", "positive"),
    [
        ({"ok": 90, "fraud": 10}, "fraud"),
        ({"ok": 10, "fraud": 90}, "ok"),
        ({"a": 20, "b": 10}, None),
        ({"a": 21, "b": 10}, "b"),
        ({0: 1, 1: 99}, 1),
        ({1.0: 99, -1.0: 1}, 1.0),
        ({True: 99, False: 1}, True),
        ({"1": 99, "0": 1}, "1"),
        ({"TRUE": 99, "FALSE": 1}, "TRUE"),
        ({2: 99, 1: 1}, 1),
        ({0: 1, 2: 99}, 0),
    ],
)
def test_what_labels_and_their_counts_decide(counts: dict[Any, int], positive: Any) -> None:
    assert decided_positive(counts) == positive
    turned = dict(reversed(counts.items()))
    assert decided_positive(turned) == positive
