"""Weights of a HeadRanker in units of the columns of X, where its score is linear in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import LinearSVC

from toprank import HeadRanker
from toprank.selection.head.attributes import NotLinear, weights_of

RNG = np.random.default_rng(0)
N, D = 300, 5
Y = RNG.random(N) < 0.3
X = RNG.normal(size=(N, D)) + 0.8 * Y[:, np.newaxis]
UNITS = np.array([1e-3, 1.0, 50.0, 7.0, 1e4])
DENSE = X * UNITS + 3.0 * UNITS
SPARSE = sparse.csr_array(np.where(RNG.random((N, D)) < 0.5, X * UNITS, 0.0))


def fitted(rows: Any, candidates: Any, **options: Any) -> HeadRanker:
    return HeadRanker(candidates=candidates, cv=3, random_state=0, **options).fit(rows, Y)


@pytest.mark.parametrize(
    ("rows", "candidates"),
    [
        (DENSE, ["columns"]),
        (SPARSE, ["as given"]),
        (SPARSE, ["largest 1"]),
        (DENSE, [make_pipeline(StandardScaler(with_std=False), LogisticRegression())]),
        (DENSE, [make_pipeline(StandardScaler(with_mean=False), "passthrough", LinearSVC())]),
    ],
)
@pytest.mark.parametrize("capacity", [None, 0.1])
def test_scores_are_weighted_sums_of_the_columns(
    rows: Any, candidates: Any, capacity: float | None
) -> None:
    ranker = fitted(rows, candidates, capacity=capacity, trees=False)
    scores = ranker.decision_function(rows)
    assert ranker.coef_.shape == (1, D)
    assert ranker.intercept_.shape == (1,)
    assert_allclose(rows @ ranker.coef_[0] + ranker.intercept_[0], scores, atol=1e-12, rtol=1e-12)
    twin = ranker.to_sklearn()
    assert type(twin) is LinearSVC
    assert_allclose(twin.decision_function(rows), scores, atol=1e-12, rtol=1e-12)
    assert_array_equal(twin.predict(rows), ranker.predict(rows))


@pytest.mark.parametrize(
    ("rows", "candidates", "why"),
    [
        (DENSE, ["squashed"], "its columns are made by Squash"),
        (DENSE, ["bins"], "its columns are made by BinsAndPairs"),
        (SPARSE, ["unit rows"], "its columns are made by Normalizer"),
        (
            DENSE,
            [make_pipeline(MinMaxScaler(), Normalizer(), LogisticRegression())],
            "its columns are made by Normalizer",
        ),
    ],
)
def test_other_scores_have_no_weights(rows: Any, candidates: Any, why: str) -> None:
    ranker = fitted(rows, candidates, trees=False)
    for name in ("coef_", "intercept_"):
        assert not hasattr(ranker, name)
        with pytest.raises(AttributeError, match=f"HeadRanker.*{name}.*not linear.*{why}"):
            getattr(ranker, name)
    with pytest.raises(ValueError, match=rf"not linear in the columns of X \({why}\)"):
        ranker.to_sklearn()


def test_trees_have_no_weights() -> None:
    ranker = fitted(DENSE, [HistGradientBoostingClassifier(max_iter=3)], trees=False)
    with pytest.raises(AttributeError, match="HistGradientBoostingClassifier has no weights"):
        _ = ranker.coef_


def test_before_a_fit() -> None:
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = HeadRanker().coef_


def test_a_twin_with_probabilities() -> None:
    twin = fitted(DENSE, ["columns"], trees=False).to_sklearn(DENSE, Y)
    assert type(twin) is LogisticRegression
    assert twin.predict_proba(DENSE).shape == (N, 2)


def test_the_weights_of_several_scores_are_none() -> None:
    model = LogisticRegression().fit(X, np.arange(N) % 3)
    with pytest.raises(NotLinear, match="several scores"):
        weights_of(model)
