"""What `predict` calls positive: a rule for each method, documented in the same words."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import toprank
from support.toy_rows import overlapping
from toprank import methods

X, Y = overlapping()
SHARE = "set so that the share of training rows above it is that of the positives."
IN_BLOCKS = (
    "set so that the share of rows above it is that of the positives, in the training rows or in "
    "the last block that had both classes."
)
HIGHEST = "halfway from the highest score of a training negative to the next positive above"
MIDDLE = "halfway between the mean scores"
LEVELS = "halfway between two levels: the one that"

RULES: dict[str, str] = {
    **dict.fromkeys(
        ("RankSVM", "TopFractionPush", "ASRankSVM", "ASCRC", "RankBoost", "SoftRankBoost"), SHARE
    ),
    **dict.fromkeys(("OWPC", "SVMMAP", "SVMpAUC"), SHARE),
    **dict.fromkeys(("OAM", "AdaOAM", "OPAUC", "SPAM"), IN_BLOCKS),
    **dict.fromkeys(("TopPush", "InfinitePush", "SparseInfinitePush"), HIGHEST),
    **dict.fromkeys(("BBR", "BBRCV", "LCBR"), MIDDLE),
    **dict.fromkeys(("LPPair", "SoftMarginRank"), LEVELS),
    "RectPush": "-b, which the method itself chooses, at or above every training negative.",
    "ReverseRectPush": "-b, which the method itself chooses, below every training positive.",
    "RectPushApp": "-b, which the problem itself chooses.",
    "PNormPush": "-b, which the classification that solves it chooses.",
    "LogisticRank": "b, which is not regularised.",
    "QuantileSigmoid": "set so that the share of training rows above it is `fraction`.",
    "LogExpPush": "b, which is not regularised.",
    "LogSumExpPush": "the log of the negatives' mean exponential.",
    "WSVM": "zero, where the problem puts it.",
    "AATP": "between the K-th highest training score and the next one below",
    "CRR": "-b, learnt from points",
}


def fitted(name: str, rows: Any = X, y: Any = Y) -> Any:
    """The estimator of that name after a fit, with a seed if it takes one."""
    estimator = getattr(toprank, name)
    seed = {"random_state": 0} if "random_state" in inspect.signature(estimator).parameters else {}
    return estimator(**seed).fit(rows, y)


@pytest.mark.parametrize("name", methods.__all__)
def test_every_class_documents_its_threshold(name: str) -> None:
    estimator = getattr(toprank, name)
    words = " ".join((estimator.__doc__ or "").split())
    opening = "intercept_ : ndarray of shape (1,) Minus the threshold above which `predict` calls a"
    assert f"{opening} row positive: " in words
    assert RULES[name] in words


@pytest.mark.parametrize("name", RULES)
def test_predict_goes_by_the_sign_of_the_score(name: str) -> None:
    ranker = fitted(name)
    np.testing.assert_array_equal(ranker.predict(X) == 1, ranker.decision_function(X) > 0)


@pytest.mark.parametrize("name", [one for one in RULES if RULES[one] in (SHARE, IN_BLOCKS)])
def test_as_many_are_called_positive_as_are(name: str) -> None:
    called = int(fitted(name).predict(X).sum())
    ties = 0 if name not in ("SoftRankBoost", "RankBoost") else 2  # go to one side together
    assert abs(called - int(Y.sum())) <= ties


@pytest.mark.parametrize("name", ["TopPush", "InfinitePush", "RectPush"])
def test_no_training_negative_is_called_positive(name: str) -> None:
    assert not fitted(name).predict(X)[Y == 0].any()


def test_every_training_positive_is_called_positive() -> None:
    assert fitted("ReverseRectPush").predict(X)[Y == 1].all()


@pytest.mark.parametrize("name", ["BBR", "BBRCV"])
def test_the_middle_of_the_classes_is_the_threshold(name: str) -> None:
    scores = fitted(name).decision_function(X)
    assert scores[Y == 1].mean() == pytest.approx(-scores[Y == 0].mean())


def test_zero_is_the_threshold_of_wsvm() -> None:
    assert fitted("WSVM").intercept_[0] == 0.0


#: Draws of rows that the threshold is tried on.
SEEDS = range(10)


@pytest.mark.parametrize("name", methods.__all__)
def test_a_copy_of_the_rows_in_float32_gets_the_same_labels(name: str) -> None:
    for seed in SEEDS if "Push" in name else SEEDS[:2]:
        rows, y = overlapping(100, 200, 6, shift=2.0, seed=seed)
        ranker = fitted(name, rows, y)
        labels = ranker.predict(rows)
        np.testing.assert_array_equal(ranker.predict(rows.astype(np.float32)), labels)


@pytest.mark.parametrize("name", ["TopPush", "InfinitePush", "SparseInfinitePush"])
def test_the_threshold_is_halfway_to_the_next_positive(name: str) -> None:
    rows, y = overlapping(100, 200, 6, shift=2.0)
    scores = fitted(name, rows, y).decision_function(rows)
    highest = scores[y == 0].max()
    above = scores[(y == 1) & (scores > highest)].min()
    assert above > 0.0
    np.testing.assert_allclose(highest, -above, rtol=1e-9)


def test_a_negative_above_all_positives_is_not_called_positive_in_float32() -> None:
    rows = np.array([0.0, 0.1, 0.3, 2.3, 1.1, 1.3, 1.7])[:, np.newaxis]
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    ranker = fitted("RectPush", rows, y)
    assert ranker.coef_[0, 0] > 0.0
    assert y[ranker.rank(rows)[0]] == 0
    for copy in (rows, rows.astype(np.float32)):
        assert not ranker.predict(copy).any()
