"""HeadRanker on raw tables: the same from every library, in terms of the table's columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from support.raw_tables import raw_labels, raw_table
from toprank import HeadRanker
from toprank.exceptions import PositiveLabelWarning
from toprank.metrics import average_precision

TABLE = raw_table(1200)
Y = raw_labels(TABLE)
OPTIONS: dict[str, Any] = {"random_state": 0, "pos_label": "fraud", "cv": 3}


@pytest.fixture(scope="module")
def fitted() -> HeadRanker:
    return HeadRanker(**OPTIONS).fit(TABLE, Y)


def test_the_library_of_the_table_makes_no_difference(fitted: HeadRanker) -> None:
    for X in (pl.from_pandas(TABLE), pa.Table.from_pandas(TABLE)):
        other = HeadRanker(**OPTIONS).fit(X, Y)
        assert_array_equal(other.decision_function(X), fitted.decision_function(TABLE))
        assert_array_equal(fitted.decision_function(X), fitted.decision_function(TABLE))
        assert_array_equal(other.leaderboard_["mean"], fitted.leaderboard_["mean"])


def test_it_learns_from_every_kind_of_column(fitted: HeadRanker) -> None:
    new = raw_table(2000, seed=5)
    y = raw_labels(new, seed=6) == "fraud"
    truth = (
        2.0 * (new["job"] == "nurse")
        + 1.5 * (new["age"].fillna(90) > 60)
        + 2.0 * ((new["region"] == "a") & new["insured"])
    )
    best = average_precision(y, truth.to_numpy(float))
    assert average_precision(y, fitted.decision_function(new)) > 0.8 * best


def test_everything_is_in_terms_of_the_columns_of_the_table(fitted: HeadRanker) -> None:
    assert list(fitted.feature_names_in_) == list(TABLE)
    assert fitted.n_features_in_ == TABLE.shape[1]
    told = fitted.explain(TABLE[:20])
    assert list(told.names) == list(TABLE)
    total = told.baseline + told.contributions.sum(axis=1) + told.remainder
    assert_allclose(total, fitted.decision_function(TABLE[:20]), atol=1e-10)
    strongest = np.abs(told.contributions).mean(axis=0).argsort()[::-1][:4]
    assert {"age", "job"} <= {list(TABLE)[j] for j in strongest}
    assert not told.contributions[:, list(TABLE).index("empty")].any()
    assert len(fitted.select(TABLE, k=7)) == 7


@pytest.mark.parametrize("trees", [True, "lightgbm"])
def test_trees_see_gaps_and_categories(trees: Any) -> None:
    rng = np.random.default_rng(0)
    n = 1500
    words = rng.choice([f"w{k}" for k in range(12)], n)
    gap = rng.random(n) < 0.3
    table = pd.DataFrame({"word": words, "x": np.where(gap, np.nan, rng.normal(size=n))})
    odd = np.isin(words, [f"w{k}" for k in range(1, 12, 2)])
    y = rng.random(n) < 0.05 + 0.6 * (odd != gap)
    ranker = HeadRanker(candidates=["columns"], trees=trees, random_state=0).fit(table, y)
    board = ranker.leaderboard_.set_index("candidate")["mean"]
    assert board["trees"] > board["columns, logistic"]
    model = HeadRanker(
        candidates=[("tree", DecisionTreeClassifier(max_leaf_nodes=4))], trees=False
    ).fit(table, y)
    assert model.best_estimator_.steps[0][0] == "numbers"


def test_weights_of_zero_leave_rows_out_of_the_codes() -> None:
    table = TABLE.copy()
    weight = np.ones(len(table))
    weight[600:] = 0.0
    table.loc[600:, "job"] = "nobody"
    options = OPTIONS | {"candidates": "fast"}
    some = HeadRanker(**options).fit(table, Y, sample_weight=weight)
    assert "nobody" not in some._coder.words[1]


def test_new_rows_must_have_the_columns_of_the_fit(fitted: HeadRanker) -> None:
    with pytest.raises(ValueError, match=r"same order.*\n.*X\[ranker.feature_names_in_\]"):
        fitted.predict(TABLE[TABLE.columns[::-1]])
    with pytest.raises(ValueError, match=r"unseen at fit(.|\n)*X\[ranker.feature_names_in_\]"):
        fitted.predict(TABLE.assign(more=1))
    with pytest.raises(ValueError, match="now missing:\n- age"):
        fitted.predict(TABLE.drop(columns="age"))
    with pytest.raises(ValueError, match="X has 3 features, but HeadRanker is expecting 9"):
        fitted.predict(TABLE.to_numpy(dtype=object)[:, :3])
    with pytest.raises(TypeError, match="LazyFrame"):
        HeadRanker().fit(pl.from_pandas(TABLE).lazy(), Y)
    with pytest.raises(ValueError, match=r"empty \(NaN\) or constant"):
        HeadRanker(**OPTIONS).fit(TABLE[["empty", "currency"]], Y)
    assert np.isfinite(fitted.decision_function(TABLE.assign(job="new", region=None))).all()


def test_gaps_in_an_array_are_learnt_from() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 3))
    gap = rng.random(600) < 0.3
    X[gap, 0] = np.nan
    y = rng.random(600) < np.where(gap, 0.5, 0.05)
    ranker = HeadRanker(random_state=0, cv=3).fit(X, y)
    scores = ranker.decision_function(X)
    assert scores[gap].mean() > scores[~gap].mean()
    assert ranker.explain(X[:4]).contributions.shape == (4, 3)
    assert not hasattr(ranker, "feature_names_in_")


def test_columns_of_numbers_keep_their_weights() -> None:
    table = pd.DataFrame({"a": TABLE["age"].fillna(50.0), "b": np.arange(1200.0)})
    ranker = HeadRanker(candidates="linear", trees=False, **OPTIONS).fit(table, Y)
    by_weights = table.to_numpy() @ ranker.coef_[0] + ranker.intercept_
    assert_allclose(by_weights, ranker.decision_function(table), atol=1e-9)
    raw = HeadRanker(candidates="linear", trees=False, **OPTIONS).fit(TABLE, Y)
    with pytest.raises(AttributeError, match="not linear in the columns of X, because categories"):
        raw.coef_  # noqa: B018


def test_promises_know_the_rows_of_a_table(fitted: HeadRanker) -> None:
    with pytest.raises(ValueError, match="rows of the fit"):
        fitted.calibrate(TABLE, Y)
    assert fitted.promise(raw_table(400, seed=9), k=50).lower >= 0


def test_a_second_fit_forgets_the_table() -> None:
    ranker = HeadRanker(candidates="fast", **OPTIONS).fit(TABLE, Y)
    X = np.random.default_rng(0).normal(size=(300, 2))
    ranker.set_params(pos_label=None).fit(X, X[:, 0] > 0)
    assert ranker.decision_function(X).shape == (300,)
    assert ranker._coder is None


def test_tags_and_labels() -> None:
    tags = get_tags(HeadRanker()).input_tags
    assert tags.allow_nan
    assert tags.categorical
    assert tags.string
    with pytest.warns(PositiveLabelWarning, match="fraud"):
        ranker = HeadRanker(candidates="fast", cv=2).fit(TABLE, Y)
    assert ranker.classes_.tolist() == ["ok", "fraud"]


def test_a_raw_table_on_a_cluster_is_scored_and_not_fitted(fitted: HeadRanker) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    far = dataframe.from_pandas(TABLE, npartitions=2)
    with pytest.raises(TypeError, match=r"'job' of X holds .*Fit a sample in memory"):
        HeadRanker().fit(far, dataframe.from_pandas(pd.Series(Y), npartitions=2))
    assert_array_equal(fitted.decision_function(far).compute(), fitted.decision_function(TABLE))


def test_importances_are_named(fitted: HeadRanker) -> None:
    with pytest.raises(AttributeError, match=r"explain\(X\)\.contributions"):
        fitted.feature_importances_  # noqa: B018


@pytest.mark.parametrize(
    "options",
    [
        {"candidates": "trees"},
        {"candidates": ["forest"], "trees": False},
        {"candidates": ["columns"], "trees": True},
        {"candidates": ["bins"], "trees": False},
    ],
)
def test_contributions_add_up_for_every_kind_of_model(options: dict[str, Any]) -> None:
    ranker = HeadRanker(**OPTIONS, **options).fit(TABLE, Y)
    told = ranker.explain(TABLE[:30])
    total = told.baseline + told.contributions.sum(axis=1) + told.remainder
    assert_allclose(total, ranker.decision_function(TABLE[:30]), atol=1e-9)
    assert np.abs(told.remainder).max() < 1e-9 or "columns" in str(options)
