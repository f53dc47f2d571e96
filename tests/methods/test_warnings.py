"""What a fit warns of: once a search, with the true reason; and what a fit that fails leaves."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toprank
from support.toy_rows import inside_out, overlapping
from toprank import (
    BBR,
    InfinitePush,
    RankBoost,
    RectPushApp,
    TopPush,
    TrivialSolutionWarning,
    methods,
)
from toprank.exceptions import warn_unconverged
from toprank.metrics import get_scorer

ESTIMATORS: list[Any] = [
    estimator
    for name in ("HeadRanker", *methods.__all__)
    if inspect.isclass(estimator := getattr(toprank, name)) and issubclass(estimator, BaseEstimator)
]
X, Y = overlapping(30, 120, 4, shift=4.0)


def said_by(call: Any) -> list[warnings.WarningMessage]:
    """The warnings of a call, as Python would show them by default."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        call()
    return said


def test_a_search_warns_once_of_a_trivial_optimum() -> None:
    rows, y = inside_out()
    model = make_pipeline(StandardScaler(), TopPush())
    search = GridSearchCV(model, {"toppush__alpha": [1.0, 0.1, 0.01]}, scoring=get_scorer("auc"))
    said = said_by(lambda: search.fit(rows, y))  # 16 fits, and 15 scores of ties
    assert [one.category for one in said] == [TrivialSolutionWarning]
    assert said[0].filename == __file__
    assert len(said_by(lambda: search.fit(rows, y))) == 1


def test_threads_warn_once_each() -> None:
    rows, y = inside_out()
    search = GridSearchCV(TopPush(), {"alpha": np.logspace(-3, 0, 8)}, n_jobs=2, refit=False)
    with parallel_config(backend="threading"):
        said = said_by(lambda: search.fit(rows, y))
    assert 1 <= len([one for one in said if one.category is TrivialSolutionWarning]) <= 2


def test_two_rankers_in_one_search_are_both_named() -> None:
    rows, y = inside_out()
    model = make_pipeline(TopPush())
    search = GridSearchCV(model, {"toppush": [TopPush(), InfinitePush()]}, refit=False)
    named = {str(one.message).split()[3] for one in said_by(lambda: search.fit(rows, y))}
    assert named == {"TopPush", "InfinitePush"}


def test_the_advice_on_a_trivial_optimum_names_what_works() -> None:
    rows, y = inside_out()
    for ranker in (TopPush(), InfinitePush()):
        with pytest.warns(TrivialSolutionWarning, match=r"RectPushApp or PNormPush .* RankSVM"):
            ranker.fit(rows, y)


def test_ties_are_not_passed_off_as_an_order() -> None:
    rows, y = inside_out()
    with pytest.warns(TrivialSolutionWarning, match="trivial: w = 0"):
        ranker = TopPush().fit(rows, y)
    with pytest.warns(TrivialSolutionWarning, match="same score, so that all rows are tied"):
        order = ranker.rank(rows)
    assert_array_equal(order, np.arange(len(rows)))
    with pytest.warns(TrivialSolutionWarning, match="gives every row the same score"):
        ranker.decision_function(rows)
    assert ranker.score(rows, y) == 0.5  # a figure says it itself
    with pytest.warns(TrivialSolutionWarning, match="No ranker has an edge"):
        nothing = RankBoost().fit(np.ones((4, 1)), [0, 1, 0, 1])
    with pytest.warns(TrivialSolutionWarning, match="This RankBoost is trivial"):
        nothing.rank(np.ones((3, 1)))
    RankBoost().fit(X, Y).rank(X)


def test_a_fit_that_ran_out_of_iterations_says_so() -> None:
    with pytest.warns(
        ConvergenceWarning,
        match=r"RectPushApp stopped after 1 iterations at a relative gap of .*, above tol=0.0001. "
        "Raise max_iter, scale the features, raise alpha, or accept the gap by a larger tol.",
    ):
        RectPushApp(max_iter=1).fit(X, Y)


def test_a_fit_that_rounding_ended_does_not_blame_max_iter() -> None:
    for ranker in (RectPushApp(), toprank.LCBR()):  # the second has no max_iter
        with pytest.warns(ConvergenceWarning) as said:
            warn_unconverged(ranker, "a relative gap of 0.1, above tol=0.01", 82)
        assert str(said[0].message) == (
            f"{type(ranker).__name__} stopped after 82 iterations at a relative gap of 0.1, above "
            "tol=0.01. Rounding left no further progress, which more iterations would not change. "
            "Scale the features, raise alpha, or accept the gap by a larger tol."
        )


def test_a_search_warns_once_of_gaps() -> None:
    grid = {"alpha": [1e-1, 1e-2]}
    search = GridSearchCV(RectPushApp(max_iter=1), grid, cv=4, refit=False)
    said = said_by(lambda: search.fit(*overlapping()))
    assert [one.category for one in said] == [ConvergenceWarning]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_wrong_parameter_is_answered_in_the_name_of_the_class(estimator: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{estimator.__name__}\.__init__\(\) got an unexpected"):
        estimator(nonsense=1)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_fit_that_fails_leaves_the_one_before(estimator: Any) -> None:
    seed = {"random_state": 0} if "random_state" in inspect.signature(estimator).parameters else {}
    ranker = estimator(**seed).fit(X, Y)
    scores, before = ranker.decision_function(X), dict(vars(ranker))
    for rows, y, message in (
        (X[:, :2], np.ones(len(X)), "one class"),
        (np.full((4, 9), np.nan), [0, 1, 0, 1], "NaN"),
        (X[:, :2], Y[:3], "inconsistent"),
    ):
        with pytest.raises(ValueError, match=message):
            ranker.fit(rows, y)
        assert vars(ranker).keys() == before.keys()
        assert all(vars(ranker)[name] is before[name] for name in before)
        assert_array_equal(ranker.decision_function(X), scores)
    fresh = estimator(**seed)
    with pytest.raises(ValueError, match="one class"):
        fresh.fit(X, np.ones(len(X)))
    with pytest.raises(NotFittedError):
        fresh.decision_function(X)
    assert not hasattr(fresh, "n_features_in_")


@pytest.mark.parametrize(
    "estimator", [estimator for estimator in ESTIMATORS if hasattr(estimator, "partial_fit")]
)
def test_a_block_that_fails_is_as_if_it_had_not_come(estimator: Any) -> None:
    seed = {"random_state": 0} if "random_state" in inspect.signature(estimator).parameters else {}
    ranker, undisturbed = estimator(**seed), estimator(**seed)
    with pytest.raises(ValueError, match="not in classes"):
        ranker.partial_fit(X, Y + 1, classes=[0, 1])
    for part in (slice(0, 70), slice(70, None)):
        undisturbed.partial_fit(X[part], Y[part], classes=[0, 1])
        ranker.partial_fit(X[part], Y[part], classes=[0, 1])
        with pytest.raises(ValueError, match="features"):
            ranker.partial_fit(X[:, :2], Y)
    assert_array_equal(ranker.decision_function(X), undisturbed.decision_function(X))


def test_an_interrupted_fit_leaves_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    ranker = BBR().fit(X, Y)
    scores = ranker.decision_function(X)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ranker, "_solved", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X[:, :2], Y)
    assert_array_equal(ranker.decision_function(X), scores)


def test_nothing_is_said_of_what_went_well() -> None:
    assert said_by(lambda: cross_val_score(RectPushApp(1e-2), X, Y)) == []
