"""Links, pickles, importances, groups and warnings: what other tools ask of a ranker."""

from __future__ import annotations

import linecache
import pickle
import types
import warnings
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

import toprank
from support.small_fits import X, Y, fitted, forms_of
from support.toy_rows import inside_out
from toprank import BBRCV, HeadRanker, LogisticRank, RankBoost, TopPush, methods
from toprank.selection import RankerCV


@pytest.mark.parametrize("estimator", [TopPush(), BBRCV(), HeadRanker(), RankerCV(TopPush())])
def test_the_docs_are_linked_where_they_have_an_address(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOPRANK_DOCS", raising=False)
    assert estimator._get_doc_link() == ""
    for address in ("https://docs.example", "https://docs.example/"):
        monkeypatch.setenv("TOPRANK_DOCS", address)
        module = "toprank.methods" if isinstance(estimator, BBRCV) else "toprank"
        link = f"https://docs.example/docs/api/{module}.{type(estimator).__name__}.html"
        assert estimator._get_doc_link() == link
        assert link in estimator._repr_html_()


@pytest.mark.parametrize("name", methods.__all__)
def test_equal_fits_have_equal_hashes(name: str) -> None:
    for options in forms_of(name):
        one, other = fitted(name, **options), fitted(name, **options)
        assert joblib.hash(one) == joblib.hash(other)
        again = pickle.loads(pickle.dumps(one))
        assert_array_equal(again.decision_function(X), one.decision_function(X))
    if hasattr(one, "history_"):
        assert np.isfinite(one.history_["seconds"]).all()  # where it was fitted
        assert np.isnan(again.history_["seconds"]).all()
        assert_array_equal(again.history_["passes"], one.history_["passes"])


def test_equal_searches_have_equal_hashes() -> None:
    for make in (
        lambda: HeadRanker(cv=2, random_state=0, trees=False).fit(X, Y),
        lambda: RankerCV(LogisticRank(), alphas=[10.0, 1.0, 0.1, 0.01]).fit(X, Y),
    ):
        assert joblib.hash(make()) == joblib.hash(make())


@pytest.mark.parametrize("name", ["RankBoost", "SoftRankBoost", "LPPair", "SoftMarginRank"])
def test_importances_are_shares_of_the_weights(name: str) -> None:
    ranker = fitted(name, weak_learners="stumps")
    by_hand = np.zeros(4)
    for feature, weight in zip(ranker.features_, ranker.ranker_weights_, strict=True):
        by_hand[feature] += abs(weight)
    assert_allclose(ranker.feature_importances_, by_hand / by_hand.sum())
    chosen = RFE(getattr(toprank, name)(weak_learners="stumps"), n_features_to_select=2).fit(X, Y)
    assert chosen.support_.sum() == 2
    assert not hasattr(getattr(toprank, name)(), "feature_importances_")


def test_a_booster_without_rounds_has_no_importances_to_share() -> None:
    with pytest.warns(toprank.TrivialSolutionWarning):
        nothing = RankBoost().fit(np.ones((4, 1)), [0, 1, 0, 1])
    assert nothing.feature_importances_.tolist() == [0.0]


def test_missing_values_in_float32_are_taken() -> None:
    rows = X.astype(np.float32)
    rows[::5, 1] = np.nan
    with pytest.raises(ValueError, match="weak_learners='thresholds'"):
        RankBoost().fit(rows, Y)
    single = RankBoost(weak_learners="thresholds").fit(rows, Y)
    double = RankBoost(weak_learners="thresholds").fit(rows.astype(np.float64), Y)
    assert_array_equal(single.decision_function(rows), double.decision_function(rows))
    rows[3, 2] = np.inf
    with pytest.raises(ValueError, match="row 3"):
        single.decision_function(rows)


def fit_by(package: str, model: Any, rows: Any, y: Any) -> None:
    """Fit in a function of a module of that package, as its pipelines and searches do."""
    module = types.ModuleType(f"{package}.pipeline")
    exec("def run(model, X, y):\n    model.fit(X, y)", module.__dict__)
    module.run(model, rows, y)  # the user's line


@pytest.mark.parametrize("package", ["joblib", "imblearn", "optuna", "optuna_integration", "skrub"])
def test_a_warning_points_at_the_users_line_through_other_tools(package: str) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit_by(package, make_pipeline(TopPush()), *inside_out())
    assert [one.category for one in said] == [toprank.TrivialSolutionWarning]
    assert said[0].filename == __file__
    assert "the user's line" in linecache.getline(__file__, said[0].lineno)


def test_groups_stay_together_in_bbrcv() -> None:
    groups = np.arange(len(Y)) // 5
    by_groups = BBRCV(cv=GroupKFold(3)).fit(X, Y, groups=groups)
    listed = BBRCV(cv=list(GroupKFold(3).split(X, Y, groups))).fit(X, Y)
    assert_array_equal(by_groups.cv_risks_, listed.cv_risks_)
    assert by_groups.alpha_ == listed.alpha_
    with pytest.raises(ValueError, match=r"cv=GroupKFold\(\) keeps groups together"):
        BBRCV(cv=GroupKFold(3)).fit(X, Y)
    with pytest.raises(ValueError, match="cv=5 makes folds that do not keep groups together"):
        BBRCV().fit(X, Y, groups=groups)


def test_groups_are_routed_to_bbrcv() -> None:
    groups = np.arange(len(Y)) // 5
    with config_context(enable_metadata_routing=True):
        inner = BBRCV(cv=GroupKFold(3)).set_fit_request(groups=True)
        outer = GridSearchCV(inner, {"tol": [1e-4]}, cv=GroupKFold(2))
        found = outer.fit(X, Y, groups=groups).best_estimator_
    assert_array_equal(found.cv_risks_, BBRCV(cv=GroupKFold(3)).fit(X, Y, groups=groups).cv_risks_)
