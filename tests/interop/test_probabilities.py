"""Probabilities: where there are none, and the twin of scikit-learn's that has them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from support.small_fits import X, Y, fitted
from support.toy_rows import overlapping
from toprank import HeadRanker, LogisticRank, RankSVM, TopPush, methods
from toprank.selection import RankerCV

#: Whose score is a sum of stumps by default.
STUMPS = {"RankBoost", "SoftRankBoost"}


@pytest.mark.parametrize("name", methods.__all__)
def test_probabilities_that_are_not_there_name_the_way(name: str) -> None:
    ranker = fitted(name)
    if name == "LogisticRank":
        assert ranker.predict_proba(X).shape == (len(X), 2)
        return
    assert not hasattr(ranker, "predict_proba")
    with pytest.raises(
        AttributeError, match=r"'predict_proba'.*CalibratedClassifierCV.*HeadRanker"
    ):
        ranker.predict_proba(X)
    with pytest.raises(AttributeError, match=r"object has no attribute 'predict_prob'$"):
        _ = ranker.predict_prob


def test_a_search_has_the_probabilities_of_its_estimator() -> None:
    assert hasattr(RankerCV(LogisticRank()), "predict_proba")
    with pytest.raises(AttributeError, match=r"'RankerCV' object .* CalibratedClassifierCV"):
        _ = RankerCV(RankSVM()).predict_proba


def test_a_vote_takes_calibrated_rankers() -> None:
    vote = VotingClassifier([("a", RankSVM()), ("b", LogisticRank())], voting="soft")
    with pytest.raises(AttributeError, match="CalibratedClassifierCV"):
        vote.fit(X, Y).predict(X)
    vote.set_params(a=CalibratedClassifierCV(RankSVM())).fit(X, Y)
    assert vote.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize("name", sorted(set(methods.__all__) - STUMPS))
def test_the_twin_has_the_same_scores(name: str) -> None:
    ranker = fitted(name)
    twin = ranker.to_sklearn()
    assert type(twin) is (LogisticRegression if name == "LogisticRank" else LinearSVC)
    assert_allclose(twin.decision_function(X), ranker.decision_function(X), atol=1e-12)
    assert_array_equal(twin.predict(X), ranker.predict(X))
    assert twin.n_features_in_ == 4
    if name == "LogisticRank":
        assert_allclose(twin.predict_proba(X), ranker.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_calibrated_twin_agrees_with_platts_sigmoid(weighted: bool) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcd"))
    labels = np.where(Y, "yes", "no")
    rows, y = overlapping(50, 150, 4, seed=1)
    new, names = pandas.DataFrame(rows, columns=list("abcd")), np.where(y, "yes", "no")
    weight = np.random.default_rng(0).integers(0, 3, len(y)) if weighted else None
    ranker = TopPush(pos_label="yes").fit(table, labels)
    twin = ranker.to_sklearn(new, names, weight)
    # The same problem by hand: its two slopes are zero at the minimum.
    s, v = ranker.decision_function(new), np.ones(len(y)) if weight is None else weight
    t = np.where(y, (50 + 1) / (50 + 2), 1 / (150 + 2))
    p = twin.predict_proba(new)[:, 1]
    assert twin.classes_.tolist() == ["no", "yes"]
    assert abs((v * (p - t)).sum()) < 1e-3
    assert abs((v * s * (p - t)).sum()) < 1e-2
    assert_array_equal(np.argsort(p, kind="stable"), np.argsort(s, kind="stable"))
    assert_array_equal(twin.feature_names_in_, list("abcd"))
    assert_allclose(p, expit(twin.decision_function(new)))


def test_the_twin_of_what_is_not_linear_is_refused() -> None:
    for ranker in (fitted("RankBoost"), HeadRanker(cv=2, random_state=0, trees=True).fit(X, Y)):
        with pytest.raises(ValueError, match=r"is not linear in the columns of X.*toprank\.save"):
            ranker.to_sklearn()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        RankSVM().to_sklearn()


def test_calibration_rows_are_checked() -> None:
    ranker = RankSVM().fit(X, Y)
    with pytest.raises(ValueError, match="both X_cal and y_cal"):
        ranker.to_sklearn(X)
    with pytest.raises(ValueError, match=r"y_cal holds the labels \[1\]"):
        ranker.to_sklearn(X, np.ones_like(Y))
    with pytest.raises(ValueError, match=r"y_cal holds the labels \[0, 1, 7\]"):
        ranker.to_sklearn(X, np.where(np.arange(len(Y)) == 3, 7, Y))
    with pytest.raises(ValueError, match=r"y_cal holds the labels \[0\]"):
        ranker.to_sklearn(X, Y, 1.0 - Y)
    with pytest.raises(ValueError, match="Is y_cal in the order of X_cal"):
        ranker.to_sklearn(X, 1 - Y)
    with pytest.raises(ValueError, match="X has 150 rows, y has 7"):
        ranker.to_sklearn(X, Y[:7])
