"""BBRCV: its table against fits fold by fold, its folds, its scorers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)

from support.toy_rows import overlapping
from toprank import BBR, BBRCV
from toprank.metrics import precision_at_k

X, Y = overlapping(30, 90, 6)
WEIGHT = np.random.default_rng(3).uniform(0.1, 2.0, len(Y))
ALPHAS = np.logspace(-4, 1, 6)


def risk(scores: Any, y: Any, weight: Any) -> float:
    """The mean over pairs of (1 - difference)^2 / 2."""
    above, below = scores[y == 1], scores[y == 0]
    pairs = 0.5 * (1.0 - (above[:, np.newaxis] - below)) ** 2
    return float(np.average(pairs, weights=np.outer(weight[y == 1], weight[y == 0])))


CUTS = [
    StratifiedKFold(4),
    KFold(3, shuffle=True, random_state=0),  # parts the rows
    ShuffleSplit(3, test_size=0.3, random_state=0),  # does not
    RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
]


@pytest.mark.parametrize("solver", ["moments", "lanczos"])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("cv", CUTS, ids=lambda cv: type(cv).__name__)
def test_risks_are_those_of_fits_on_the_other_folds(cv: Any, form: Any, solver: str) -> None:
    ranker = BBRCV(ALPHAS, cv=cv, solver=solver, tol=1e-10)
    ranker.fit(form(X), Y, sample_weight=WEIGHT)
    expected = np.array(
        [
            [
                risk(
                    X[test] @ BBR(alpha).fit(X[fit], Y[fit], WEIGHT[fit]).coef_[0],
                    Y[test],
                    WEIGHT[test],
                )
                for alpha in ALPHAS
            ]
            for fit, test in cv.split(X, Y)
        ]
    )
    assert_allclose(ranker.cv_risks_, expected, rtol=1e-10 if solver == "moments" else 1e-4)
    assert ranker.alpha_ == ALPHAS[np.argmin(expected.mean(axis=0))]
    whole = BBR(ranker.alpha_).fit(X, Y, sample_weight=WEIGHT)
    assert_allclose(ranker.coef_, whole.coef_, atol=1e-4 * np.abs(whole.coef_).max())
    assert ranker.certificate_.holds(1e-9)


@pytest.mark.parametrize("scoring", ["roc_auc", "precision_at_5", "average_precision"])
def test_a_scorer_chooses_as_a_grid_search_does(scoring: str) -> None:
    from toprank.metrics import get_scorer

    cv = StratifiedKFold(3, shuffle=True, random_state=1)
    try:
        known = get_scorer(scoring)
    except ValueError:
        known = scoring
    search = GridSearchCV(BBR(), {"alpha": ALPHAS}, cv=cv, scoring=known).fit(X, Y)
    ranker = BBRCV(ALPHAS, cv=cv, scoring=scoring).fit(X, Y)
    means = search.cv_results_["mean_test_score"]
    assert_allclose(ranker.cv_scores_.mean(axis=0), means, rtol=1e-12)
    assert ranker.alpha_ == ALPHAS[means >= means.max() - 1e-12].max()


def test_a_scorer_may_be_any_callable_and_sees_the_weights() -> None:
    seen = []

    def scorer(estimator: Any, rows: Any, labels: Any, sample_weight: Any = None) -> float:
        seen.append(sample_weight)
        scores = estimator.decision_function(rows)
        return float(roc_auc_score(labels, scores, sample_weight=sample_weight))

    BBRCV(ALPHAS, cv=3, scoring=scorer).fit(X, Y, sample_weight=WEIGHT)
    assert len(seen) == 3 * len(ALPHAS)
    assert_allclose(sorted(np.concatenate(seen[:: len(ALPHAS)])), sorted(WEIGHT))
    made = make_scorer(precision_at_k, response_method="decision_function", k=5)
    assert BBRCV(ALPHAS, cv=3, scoring=made).fit(X, Y).cv_scores_.shape == (3, len(ALPHAS))


def test_whole_numbers_are_stratified_folds_of_consecutive_rows() -> None:
    ours = BBRCV(ALPHAS, cv=5).fit(X, Y)
    theirs = BBRCV(ALPHAS, cv=StratifiedKFold(5)).fit(X, Y)
    assert_allclose(ours.cv_risks_, theirs.cv_risks_, rtol=1e-12)


def test_there_are_no_more_folds_than_positive_rows() -> None:
    rows = np.concatenate([np.flatnonzero(Y == 1)[:3], np.flatnonzero(Y == 0)])
    assert BBRCV(cv=5).fit(X[rows], Y[rows]).cv_risks_.shape == (3, 40)
    with pytest.raises(ValueError, match=r"1 positive and 90 negative rows .* cv=5: two folds"):
        BBRCV(cv=5).fit(X[rows[2:]], Y[rows[2:]])


def test_the_grid_follows_the_scale_of_the_features() -> None:
    plain, scaled = BBRCV().fit(X, Y), BBRCV().fit(1e3 * X, Y)
    assert_allclose(scaled.alphas_, 1e6 * plain.alphas_, rtol=1e-12)
    assert_allclose(scaled.coef_, 1e-3 * plain.coef_, rtol=1e-9)
    for solver in ("moments", "lanczos"):
        assert_allclose(
            BBRCV(solver=solver).fit(sparse.csr_array(X), Y).alphas_, plain.alphas_, rtol=1e-10
        )


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"alphas\[1\] is -1: it must be 0 or above"):
        BBRCV([1.0, -1.0]).fit(X, Y)
    with pytest.raises(ValueError, match="alphas must be a list of numbers"):
        BBRCV([]).fit(X, Y)
    with pytest.raises(ValueError, match="holds no positive row"):
        BBRCV(cv=KFold(2)).fit(X, np.sort(Y))
    with pytest.raises(ValueError, match="no number for alpha"):
        BBRCV(cv=3, scoring=lambda *_: np.nan).fit(X, Y)
    with pytest.raises(ValueError, match="scoring='no such thing' is known neither here nor to"):
        BBRCV(scoring="no such thing").fit(X, Y)
    with pytest.raises(ValueError, match="scoring must return a number"):
        BBRCV(cv=3, scoring=lambda *_: "good").fit(X, Y)
    with pytest.raises(ValueError, match="cv has no folds"):
        BBRCV(cv=iter([])).fit(X, Y)
    with pytest.raises(ValueError, match=r"Fold 0 of cv names row 120, .* from 0 to 119\."):
        BBRCV(cv=[(np.arange(100), np.arange(100, 121))]).fit(X, Y)
    strange = X.copy()
    strange[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3, column 1"):
        BBRCV().fit(strange, Y)


def test_a_scorer_without_weights_is_called_without() -> None:
    def scorer(estimator: Any, rows: Any, labels: Any) -> float:
        return float(roc_auc_score(labels, estimator.decision_function(rows)))

    assert BBRCV(ALPHAS, cv=3, scoring=scorer).fit(X, Y, WEIGHT).cv_scores_.shape == (3, 6)
