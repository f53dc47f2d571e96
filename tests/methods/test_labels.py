"""Which label is the positive one: `pos_label` everywhere, and a word where nobody said it."""

from __future__ import annotations

import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    PrecisionRecallDisplay,
    RocCurveDisplay,
    average_precision_score,
    f1_score,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toprank
from support.toy_rows import overlapping
from theory import Distribution
from toprank import BBR, BBRCV, LCBR, HeadRanker, PositiveLabelWarning, RankSVM, TopPush, methods
from toprank.methods.squared.bbr import bbr_path
from toprank.metrics import auc, get_scorer, ranking_report
from toprank.theory import is_trivial

ESTIMATORS: list[Any] = [
    estimator
    for name in ("HeadRanker", *methods.__all__)
    if inspect.isclass(estimator := getattr(toprank, name)) and issubclass(estimator, BaseEstimator)
]
# Separable, so that no method finds the optimum trivial; and fraud is rare.
X, FRAUD = overlapping(30, 120, 4, shift=4.0)
FRAUD = FRAUD == 1
WORDS = np.where(FRAUD, "fraud", "ok")


def made(estimator: Any, **parameters: Any) -> Any:
    """The estimator with a seed, if it takes one."""
    if "random_state" in inspect.signature(estimator).parameters:
        parameters["random_state"] = 0
    return estimator(**parameters)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_named_label_is_ranked_first(estimator: Any) -> None:
    ranker = made(estimator, pos_label="fraud").fit(X, WORDS)
    plain = made(estimator).fit(X, FRAUD)
    assert_array_equal(ranker.classes_, ["ok", "fraud"])
    assert_array_equal(ranker.decision_function(X), plain.decision_function(X))
    assert roc_auc_score(FRAUD, ranker.decision_function(X)) > 0.95
    assert ranker.score(X, WORDS) == pytest.approx(roc_auc_score(FRAUD, plain.decision_function(X)))
    assert_array_equal(ranker.predict(X) == "fraud", plain.predict(X))
    assert_array_equal(ranker.rank(X), plain.rank(X))
    assert FRAUD[ranker.rank(X)[:10]].mean() >= 0.9


@pytest.mark.parametrize("estimator", [one for one in ESTIMATORS if one is not HeadRanker])
def test_without_it_the_fit_says_which_label_it_took(estimator: Any) -> None:
    with pytest.warns(PositiveLabelWarning) as said:
        ranker = made(estimator).fit(X, WORDS)
    assert [str(one.message) for one in said] == [
        'y holds "fraud" (30 rows) and "ok" (120 rows); "ok" is taken as the positive class, to be '
        'ranked first, because it sorts last. It is the majority: if "fraud" should come first, '
        'set pos_label="fraud".'
    ]
    assert said[0].filename == __file__
    assert_array_equal(ranker.classes_, ["fraud", "ok"])
    assert roc_auc_score(FRAUD, ranker.decision_function(X)) < 0.05


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_parameter_is_documented_alike(estimator: Any) -> None:
    sentence = (
        "    pos_label : label or None, default=None\n"
        "        The label to rank first. None takes the greater one, and the fit says so with a\n"
        "        `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.\n"
    )
    if estimator is HeadRanker:
        sentence = (
            "    pos_label : label or None, default=None\n"
            "        The label to rank first. None takes the greater one of 0/1, -1/1 and booleans."
        )
    assert sentence in (estimator.__doc__ or "")
    parameter = inspect.signature(estimator).parameters["pos_label"]
    assert parameter.kind is parameter.KEYWORD_ONLY
    assert list(inspect.signature(estimator).parameters)[-1] == "pos_label"


def test_a_rare_greater_label_is_told_without_alarm() -> None:
    rare = np.where(FRAUD, "yes", "no")
    with pytest.warns(PositiveLabelWarning, match='"yes" is taken') as said:
        TopPush().fit(X, rare)
    assert "majority" not in str(said[0].message)
    assert 'Set pos_label="yes" to confirm' in str(said[0].message)


PLAIN = [(0, 1), (-1, 1), (False, True), (0.0, 1.0), (-1.0, 1.0)]


@pytest.mark.parametrize("labels", PLAIN)
@pytest.mark.parametrize("form", [np.array, lambda y: np.array(y, dtype=object), pd.Series])
def test_labels_that_speak_for_themselves_are_not_talked_about(labels: Any, form: Any) -> None:
    y = form([labels[int(one)] for one in FRAUD])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = TopPush().fit(X, y)
        assert auc(y, ranker.decision_function(X)) == ranker.score(X, y) > 0.95


FORMS: list[Any] = [
    np.array,
    list,
    lambda y: np.array(y, dtype=object),
    pd.Series,
    pd.Categorical,
    lambda y: pd.Series(pd.Categorical(y, categories=["ok", "fraud"], ordered=True)),
    lambda y: pd.Series(y, dtype="string"),
    pl.Series,
    lambda y: pl.Series(y, dtype=pl.Categorical),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", [TopPush, BBR, BBRCV, toprank.CRR, toprank.RankBoost])
def test_labels_of_any_container(estimator: Any, form: Any) -> None:
    y = form(WORDS.tolist())
    ranker = made(estimator, pos_label="fraud").fit(X, y)
    assert ranker.score(X, y) > 0.95
    assert ranking_report(y, ranker.decision_function(X), pos_label="fraud")["auc"] > 0.95
    assert get_scorer("auc")(ranker, X, y) > 0.95


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ((3, 5), np.int64(3)),
        ((3, 5), 3.0),
        ((2.0, 7.0), np.float32(2.0)),
        (("a", "b"), np.str_("a")),
        ((False, True), False),
        ((False, True), np.False_),
        ((0, 1), 0),
    ],
)
def test_the_label_may_be_of_any_kind(labels: Any, pos_label: Any) -> None:
    y = np.array(labels)[1 - FRAUD.astype(int)]
    ranker = clone(TopPush(pos_label=pos_label)).fit(X, y)
    assert_array_equal(ranker.classes_, labels[::-1])
    assert ranker.score(X, y) > 0.95
    assert auc(y, ranker.decision_function(X), pos_label=pos_label) > 0.95
    assert ranker.get_params()["pos_label"] == pos_label
    again = pickle.loads(pickle.dumps(ranker))
    assert_array_equal(again.predict(X), ranker.predict(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_label_that_is_not_there_is_refused(estimator: Any) -> None:
    message = 'pos_label="froud" is not a label of y, which holds "fraud" and "ok": set pos_label'
    with pytest.raises(ValueError, match=message):
        made(estimator, pos_label="froud").fit(X, WORDS)
    with pytest.raises(ValueError, match="'pos_label' parameter of"):
        made(estimator, pos_label=["fraud"]).fit(X, WORDS)


IN_BLOCKS = [estimator for estimator in ESTIMATORS if hasattr(estimator, "partial_fit")]


@pytest.mark.parametrize("estimator", IN_BLOCKS)
def test_blocks_keep_to_the_label(estimator: Any) -> None:
    ranker = made(estimator, pos_label="fraud")
    plain = made(estimator)
    for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 3):
        ranker.partial_fit(X[rows], WORDS[rows], classes=["ok", "fraud"])
        plain.partial_fit(X[rows], FRAUD[rows], classes=[False, True])
    assert_array_equal(ranker.classes_, ["ok", "fraud"])
    assert_array_equal(ranker.decision_function(X), plain.decision_function(X))
    with pytest.raises(ValueError, match='pos_label="ok", but "fraud" has been the positive class'):
        ranker.set_params(pos_label="ok").partial_fit(X, WORDS)
    with pytest.raises(ValueError, match='pos_label="no" is not a label of y, which holds "fraud"'):
        made(estimator, pos_label="no").partial_fit(X, WORDS, classes=["fraud", "ok"])


@pytest.mark.parametrize("estimator", IN_BLOCKS)
def test_the_first_block_says_which_label_was_taken(estimator: Any) -> None:
    ranker = made(estimator)
    with pytest.warns(PositiveLabelWarning, match=r'"fraud" \(30 rows\) .* "ok" is taken'):
        ranker.partial_fit(X, WORDS, classes=["ok", "fraud"])
    ranker.partial_fit(X, WORDS)  # without another word
    assert_array_equal(ranker.classes_, ["fraud", "ok"])


@pytest.mark.parametrize("estimator", [BBR, LCBR])
def test_only_rankers_of_the_same_label_merge(estimator: Any) -> None:
    half = len(X) // 2
    rows = np.random.default_rng(0).permutation(len(X))
    one, other = (
        made(estimator, pos_label="fraud").fit(X[part], WORDS[part])
        for part in (rows[:half], rows[half:])
    )
    turned = made(estimator, pos_label="ok").fit(X, WORDS)
    assert one.merge(other).score(X, WORDS) > 0.95
    with pytest.raises(ValueError, match=r"classes .*'ok', 'fraud'.*the second of them is the pos"):
        one.merge(turned)
    with pytest.raises(ValueError, match='pos_label="fraud", but the other ranker has "ok"'):
        made(estimator, pos_label="fraud").merge(turned)
    assert made(estimator, pos_label="ok").merge(turned).score(X, WORDS) > 0.95


def test_functions_of_rows_and_labels_take_it_too() -> None:
    path = bbr_path(X, WORDS, alphas=[1.0], pos_label="fraud")
    assert_allclose(path.coefs[0], BBR(1.0).fit(X, FRAUD).coef_[0])
    overlap, y = overlapping(20, 200, 2, shift=0.5)
    words = np.where(y == 1, "fraud", "ok")
    assert is_trivial(overlap, words, pos_label="fraud").trivial == is_trivial(overlap, y).trivial
    with pytest.warns(PositiveLabelWarning) as said:
        is_trivial(overlap, words)
    assert len(said) == 1
    D = Distribution.empirical(overlap, words, pos_label="fraud")
    assert_array_equal(D.eta, Distribution.empirical(overlap, y).eta)


def test_a_learning_curve_goes_by_the_label() -> None:
    ranker = toprank.ASRankSVM(pos_label="fraud", random_state=0)
    ranker.fit(X, WORDS, eval_set=(X, WORDS))
    assert ranker.rounds_["auc"][-1] == pytest.approx(ranker.score(X, WORDS))
    assert ranker.rounds_["auc"][-1] > 0.95


# Metrics and scorers.

SCORES = FRAUD + 0.1 * np.random.default_rng(0).normal(size=len(FRAUD))


def test_a_report_without_the_label_says_which_it_took() -> None:
    with pytest.warns(PositiveLabelWarning, match='y_true holds .* "ok" is taken .* majority'):
        upside_down = ranking_report(WORDS, SCORES)
    assert upside_down["auc"] < 0.01
    assert ranking_report(WORDS, SCORES, pos_label="fraud") == ranking_report(FRAUD, SCORES)


@pytest.mark.parametrize("name", ["auc", "average_precision", "precision_at_10", "lift_at_0.1"])
def test_scorers_go_by_the_estimator_or_by_what_they_are_told(name: str) -> None:
    ranker = RankSVM(pos_label="fraud").fit(X, WORDS)
    truth = get_scorer(name)(RankSVM().fit(X, FRAUD), X, FRAUD)
    assert get_scorer(name)(ranker, X, WORDS) == truth
    assert (
        get_scorer(name)(make_pipeline(StandardScaler(), ranker).fit(X, WORDS), X, WORDS) == truth
    )
    assert get_scorer(name, pos_label="fraud")(ranker, X, WORDS) == truth
    other = LogisticRegression().fit(X, WORDS)  # whose classes_ are sorted
    same = get_scorer(name)(LogisticRegression().fit(X, FRAUD), X, FRAUD)
    assert get_scorer(name, pos_label="fraud")(other, X, WORDS) == pytest.approx(same)
    with pytest.warns(PositiveLabelWarning, match='"ok" is taken'):
        get_scorer(name)(other, X, WORDS)


def test_a_search_says_it_once() -> None:
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RankSVM()),
        {"ranksvm__alpha": [1.0, 0.1, 0.01, 0.001]},
        scoring=get_scorer("average_precision"),
        cv=10,
    )
    with pytest.warns(PositiveLabelWarning) as said:
        search.fit(X, WORDS)
    assert len(said) == 1
    assert said[0].filename == __file__
    with pytest.warns(PositiveLabelWarning) as said:
        search.fit(X, WORDS)  # another search says it again
    assert len(said) == 1


def test_a_warning_that_is_an_error_is_one_every_time() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cross_val_score(RankSVM(), X, FRAUD, cv=3)
        assert np.isfinite(scores).all()
        with pytest.raises(ValueError, match="All the 3 fits failed"):
            cross_val_score(RankSVM(), X, WORDS, cv=3)


# The rest of scikit-learn.


def test_searches_choose_by_the_named_label() -> None:
    noisy, y = overlapping(60, 240, 4, seed=3)
    words = np.where(y == 1, "fraud", "ok")
    grid = {"alpha": [10.0, 0.1, 1e-3]}
    fraud = {"response_method": "decision_function", "pos_label": "fraud"}
    for ours, scoring in (
        (get_scorer("average_precision"), make_scorer(average_precision_score, **fraud)),
        (get_scorer("auc"), None),
    ):
        expected = GridSearchCV(RankSVM(), grid, scoring=ours, cv=3).fit(noisy, y)
        for one in (ours, scoring):
            search = GridSearchCV(RankSVM(pos_label="fraud"), grid, scoring=one, cv=3)
            found = search.fit(noisy, words).cv_results_["mean_test_score"]
            assert_allclose(found, expected.cv_results_["mean_test_score"], rtol=1e-9)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1", "precision_at_10", None])
def test_bbrcv_chooses_by_the_named_label(scoring: str | None) -> None:
    noisy, y = overlapping(60, 240, 4, seed=3)
    chosen = BBRCV(pos_label="fraud", scoring=scoring).fit(noisy, np.where(y == 1, "fraud", "ok"))
    plain = BBRCV(scoring=scoring).fit(noisy, y)
    assert chosen.alpha_ == plain.alpha_
    if scoring is not None:
        assert_array_equal(chosen.cv_scores_, plain.cv_scores_)


def test_what_sorts_the_labels_gets_no_scores() -> None:
    message = 'sorts the labels, .* "ok" .* although "fraud" is'
    turned, kept = RankSVM(pos_label="fraud"), RankSVM(pos_label="ok")
    with pytest.raises(ValueError, match=message):
        cross_val_score(turned, X, WORDS, scoring="roc_auc", error_score="raise")
    with pytest.raises(ValueError, match=f"CalibratedClassifierCV {message}"):
        CalibratedClassifierCV(turned).fit(X, WORDS)
    assert cross_val_score(turned, X, WORDS, scoring=get_scorer("auc")).min() > 0.9
    assert cross_val_score(RankSVM(), X, WORDS == "fraud", scoring="roc_auc").min() > 0.9
    assert cross_val_score(kept, X, WORDS, scoring="roc_auc").min() > 0.9


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_of_the_label_that_sorts_last(method: str) -> None:
    words = np.where(FRAUD, "yes", "no")
    chance = CalibratedClassifierCV(RankSVM(pos_label="yes"), method=method, cv=3).fit(X, words)
    plain = CalibratedClassifierCV(RankSVM(), method=method, cv=3).fit(X, FRAUD)
    assert_allclose(chance.predict_proba(X), plain.predict_proba(X))


def test_thresholds_are_those_of_the_named_label() -> None:
    ranker = RankSVM(pos_label="fraud").fit(X, WORDS)
    for pos_label in (None, "fraud"):
        fixed = FixedThresholdClassifier(
            RankSVM(pos_label="fraud"),
            threshold=0.0,
            pos_label=pos_label,
            response_method="decision_function",
        )
        assert_array_equal(fixed.fit(X, WORDS).predict(X), ranker.predict(X))
    scoring = make_scorer(f1_score, pos_label="fraud")
    tuned = TunedThresholdClassifierCV(RankSVM(pos_label="fraud"), scoring=scoring, cv=3)
    assert f1_score(WORDS, tuned.fit(X, WORDS).predict(X), pos_label="fraud") > 0.9


@pytest.mark.parametrize("pos_label", [None, "fraud"])
def test_displays_are_drawn_for_the_named_label(pos_label: str | None) -> None:
    pytest.importorskip("matplotlib", reason="a display needs matplotlib")
    ranker = RankSVM(pos_label="fraud").fit(X, WORDS)
    scores = ranker.decision_function(X)
    roc = RocCurveDisplay.from_estimator(ranker, X, WORDS, pos_label=pos_label)
    assert roc.roc_auc == pytest.approx(roc_auc_score(FRAUD, scores))
    curve = PrecisionRecallDisplay.from_estimator(ranker, X, WORDS, pos_label=pos_label)
    assert curve.average_precision == pytest.approx(average_precision_score(FRAUD, scores))
