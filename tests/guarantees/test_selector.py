"""Promises about rows that a fitted model puts first, whoever made the model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from toprank import LogisticRank
from toprank.guarantees import HeadBound, HeadSelector
from toprank.guarantees.selector import scores_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 4))
Y = RNG.random(1500) < 1 / (1 + np.exp(3 - 3 * X[:, 0]))
TRAIN, CALIBRATION, NEW = slice(0, 500), slice(500, 1100), slice(1100, 1500)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRank(random_state=0),
        LogisticRegression(),
        HistGradientBoostingClassifier(max_iter=20),
        LinearSVC(),
        RandomForestClassifier(30, random_state=0),  # has probabilities only
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_classifier_can_be_bounded(model):
    model.fit(X[TRAIN], Y[TRAIN])
    selector = HeadSelector(model).calibrate(X[CALIBRATION], Y[CALIBRATION])
    chosen = selector.select(X[NEW], 40)
    scores = scores_of(model, X[NEW])[0]
    assert (np.sort(scores[chosen.rows]) == np.sort(scores)[-40:]).all()
    assert 0 < chosen.lower <= Y[NEW][chosen.rows].sum()
    surer = selector.select(X[NEW], 40, confidence=0.999)
    assert surer.lower < chosen.lower
    assert selector.select(X[NEW], precision=0.6).lower >= 0
    statement = selector.statement(X[NEW])
    assert statement.n_negatives == int((~Y[CALIBRATION]).sum())


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        HistGradientBoostingClassifier(max_iter=20),
        RandomForestClassifier(30, random_state=0),
    ],
)
def test_labels_may_be_named_in_any_order(model):
    """fraud sorts before ok: the model's classes_ have it first."""
    names = np.where(Y, "fraud", "ok")
    named = HeadSelector(model.fit(X[TRAIN], names[TRAIN]), pos_label="fraud")
    named.calibrate(X[CALIBRATION], names[CALIBRATION])
    chosen = named.select(X[NEW], 40)
    assert chosen.lower > 10
    assert (names[NEW][chosen.rows] == "fraud").sum() >= chosen.lower


def test_the_kind_of_promise_is_the_bounds():
    model = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
    rows = HeadSelector(model, HeadBound(assume="rows")).calibrate(X[CALIBRATION], Y[CALIBRATION])
    statement = rows.statement(X[NEW])
    assert statement.upper(40) <= 40
    assert statement.recall_lower(100) > 0


def test_what_is_no_classifier_of_two_classes_is_refused():
    regression = LinearRegression().fit(X, Y)
    with pytest.raises(ValueError, match="classifier of two classes"):
        HeadSelector(regression).calibrate(X, Y)
    three = LogisticRegression().fit(X, np.arange(1500) % 3)
    with pytest.raises(ValueError, match="it has 3"):
        HeadSelector(three).calibrate(X, Y)
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match="pos_label"):
        HeadSelector(model, pos_label="yes").calibrate(X, Y)
    with pytest.raises(ValueError, match="call calibrate first"):
        HeadSelector(model).select(X, 3)


def test_labels_that_the_model_does_not_know_are_refused():
    names = np.where(Y, "fraud", "ok")
    model = LogisticRegression().fit(X[TRAIN], names[TRAIN])
    selector = HeadSelector(model, pos_label="fraud")
    with pytest.raises(ValueError, match=r'y\[0\] is .* "fraud" and "ok" only'):
        selector.calibrate(X[CALIBRATION], Y[CALIBRATION])
    unlabelled = names[CALIBRATION].astype(object)
    unlabelled[3] = None
    with pytest.raises(ValueError, match=r"y\[3\] is None"):
        selector.calibrate(X[CALIBRATION], unlabelled)
    with pytest.raises(ValueError, match="one for each row"):
        selector.calibrate(X[CALIBRATION], names[:3])
    with pytest.raises(ValueError, match="new_scores is NaN at row 1"):
        HeadBound().fit(Y, X[:, 0]).of([0.0, np.nan])
