"""Trees fitted on codes of columns score the columns themselves as they score the codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from support.tree_rows import CITY, rows, unseen
from toprank.features import CaseControlBins
from toprank.trees import TreeEnsemble, from_model
from toprank.trees.from_libraries import uncoded

lightgbm = pytest.importorskip("lightgbm")

Array = NDArray[np.float64]
Edges = list[Array | None]

#: A column that is passed through, besides the one of categories, and one of a single value.
PLAIN, CONSTANT = 4, 2


def table(seed: int, *, gaps: bool) -> tuple[Array, NDArray[np.int64], Edges]:
    """Return rows, labels, and edges at values of the columns and between them."""
    X, y = rows(2000, seed)
    rng = np.random.default_rng(seed)
    X[:, CONSTANT] = np.where(rng.random(len(X)) < 0.3 + 0.3 * y, np.nan, 5.0)
    X = X if gaps else np.nan_to_num(X)
    edges: Edges = [np.unique(rng.choice(X[:, j][~np.isnan(X[:, j])], 12)) for j in range(6)]
    edges[1] = np.unique(np.append(edges[1], [0.1 + 0.2, 1e-310, 1e300]))
    edges[5] = edges[5][:1]
    X[::9, 1] = rng.choice(edges[1][:-1], len(X[::9]))
    edges[CITY] = edges[PLAIN] = None
    if gaps:
        edges[CONSTANT] = np.array([])
    return X, y, edges


def codes(X: Array, edges: Edges) -> Array:
    """Return the number of edges below each value; NaN stays NaN."""
    coded = X.copy()
    for j, column in enumerate(edges):
        if column is not None:
            found = np.searchsorted(column, X[:, j], side="left")
            coded[:, j] = np.where(np.isnan(X[:, j]), np.nan, found)
    return coded


def new_rows(edges: Edges, *, gaps: bool) -> Array:
    """Return rows on edges, one step from them, infinite, missing, and with new categories."""
    X = unseen(7)
    rng = np.random.default_rng(1)
    for j, column in enumerate(edges):
        if column is not None and len(column):
            on = rng.choice(column, 300)
            X[:100, j] = on[:100]
            X[100:200, j] = np.nextafter(on[100:200], np.inf)
            X[200:300, j] = np.nextafter(on[200:], -np.inf)
            X[300:320, j], X[320:340, j] = np.inf, -np.inf
    X[:, PLAIN] = np.clip(np.nan_to_num(X[:, PLAIN], nan=0.3), -9.0, 9.0)
    return X if gaps else np.where(np.isnan(X), 0.0, X)


def check(model: Any, source: Any, edges: Edges, X: Array) -> TreeEnsemble:
    """Compare scores of values with the model's of their codes, bit for bit."""
    on_codes = from_model(model)
    trees = from_model(model, edges=edges)
    coded = codes(X, edges)
    scores = trees.decision_function(X)
    np.testing.assert_array_equal(scores, on_codes.decision_function(coded))
    np.testing.assert_allclose(scores, source(coded), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(trees.contributions(X), on_codes.contributions(coded))
    columns = np.array([7, 2, 9, 0, 4, 5])
    wide = np.full((len(X), 11), np.nan)
    wide[:, columns] = X
    moved = from_model(model, edges=edges, columns=columns, n_features=11)
    np.testing.assert_array_equal(moved.decision_function(wide), scores)
    assert not trees.round_to_float32
    return trees


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "options", [{}, {"categorical_features": [CITY], "max_leaf_nodes": 200, "min_samples_leaf": 1}]
)
def test_histogram_boosting(options: dict[str, Any], seed: int, gaps: bool) -> None:
    X, y, edges = table(seed, gaps=gaps)
    model = HistGradientBoostingClassifier(max_iter=30, **options).fit(codes(X, edges), y)
    check(model, model.decision_function, edges, new_rows(edges, gaps=True))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"categorical_feature": [CITY], "num_leaves": 80},
        {"use_missing": False},
        {"extra_trees": True, "max_bin": 7, "min_child_samples": 1},
    ],
)
def test_lightgbm(options: dict[str, Any], seed: int, gaps: bool) -> None:
    X, y, edges = table(seed, gaps=gaps)
    categories = options.get("categorical_feature", "auto")
    options = {name: value for name, value in options.items() if name != "categorical_feature"}
    model = lightgbm.LGBMClassifier(n_estimators=30, verbose=-1, **options)
    model.fit(codes(X, edges), y, categorical_feature=categories)
    source = {"raw_score": True}
    check(model, lambda Z: model.predict(Z, **source), edges, new_rows(edges, gaps=True))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(9, random_state=0),
        ExtraTreesClassifier(9, random_state=0),
        DecisionTreeClassifier(random_state=0),
    ],
)
def test_forests_compare_values_in_double_precision(model: Any, seed: int, gaps: bool) -> None:
    X, y, edges = table(seed, gaps=gaps)
    X[:, PLAIN] = np.float32(X[:, PLAIN])
    model.fit(codes(X, edges), y)
    new = new_rows(edges, gaps=gaps)
    # Thresholds of the column that is passed through, and numbers halfway between floats.
    split = from_model(model)
    at = np.resize(split.threshold[split.feature == PLAIN], len(new) // 2)
    near, far = at.astype(np.float32), np.nextafter(at.astype(np.float32), np.float32(np.inf))
    middle = 0.5 * (near.astype(float) + far)
    new[1::2, PLAIN] = np.select(
        [np.arange(len(at)) % 4 == k for k in range(3)],
        [at, middle, np.nextafter(middle, -np.inf)],
        np.nextafter(middle, np.inf),
    )
    check(model, lambda Z: model.predict_proba(Z)[:, 1], edges, new)


def test_thresholds_beyond_the_codes() -> None:
    nodes = {
        "left": np.array([1, 0, 3, 0, 0], np.int32),
        "right": np.array([2, 0, 4, 0, 0], np.int32),
        "value": np.array([0.0, 1.0, 0.0, 2.0, 3.0]),
        "weight": np.array([0.0, 1.0, 0.0, 1.0, 1.0]),
        "tree_starts": np.array([0, 5]),
    }
    for missing_left in (False, True):
        parameters = {
            "feature": np.array([0, -1, 0, -1, -1], np.int32),
            "threshold": np.array([-0.5, 0.0, 2.0, 0.0, 0.0]),
            "missing_left": np.array([missing_left, False, not missing_left, False, False]),
            "n_features": 1,
            "classes": np.array([0, 1]),
            **nodes,
        }
        edges = [np.array([0.25, 0.75])]
        on_codes = TreeEnsemble(**parameters)
        trees = TreeEnsemble(**(parameters | uncoded(parameters, edges)))
        X = np.array([[-np.inf], [0.25], [0.3], [0.8], [np.inf], [np.nan]])
        np.testing.assert_array_equal(
            trees.decision_function(X), on_codes.decision_function(codes(X, edges))
        )


def test_the_first_trees() -> None:
    X, y, edges = table(3, gaps=True)
    model = lightgbm.LGBMClassifier(n_estimators=9, verbose=-1).fit(codes(X, edges), y)
    few, trees = from_model(model, n_trees=4, edges=edges), from_model(model, edges=edges)
    np.testing.assert_array_equal(few.decision_function(X), trees.first(4).decision_function(X))


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=20, categorical_features=[CITY]),
        lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, min_data_in_bin=1),
        ExtraTreesClassifier(9, random_state=0),
    ],
)
def test_a_pipeline_of_bins_and_trees(model: Any, framed: bool) -> None:
    X, y, _ = table(0, gaps=True)
    new = np.where(np.isinf(unseen()), 5.0, unseen())
    new[:, [PLAIN, CITY]] = np.nan_to_num(new[:, [PLAIN, CITY]])
    if framed:
        pd = pytest.importorskip("pandas")
        X, new = (pd.DataFrame(rows, columns=list("abcdef")) for rows in (X, new))
    bins = CaseControlBins(20, categorical=[CITY])
    pipeline = make_pipeline(bins, model).fit(X, y)
    assert not len(bins.edges_[CONSTANT])
    trees = from_model(pipeline)
    np.testing.assert_allclose(
        trees.predict_proba(new), pipeline.predict_proba(new), rtol=0, atol=1e-12
    )
    if framed:
        assert trees.feature_names == list("abcdef")
    with pytest.raises(ValueError, match="edges must be None for a pipeline"):
        from_model(pipeline, edges=bins.edges_)
    with pytest.raises(TypeError, match=r"two steps.*got StandardScaler, .*: pass its last step"):
        from_model(make_pipeline(StandardScaler(), model))


def test_edges_that_are_refused() -> None:
    X, y, edges = table(0, gaps=False)
    coded = codes(X, edges)
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(coded, y)
    for wrong, why in (
        (edges[:5], "edges must have 6 entries, one for each column of the model, got 5"),
        ([*edges[:5], np.array([1.0, 1.0])], r"edges\[5\] must be a one-dimensional array of inc"),
        ([*edges[:5], np.array([1.0, np.nan])], r"edges\[5\] must be"),
        ([*edges[:5], np.array([np.nan])], r"edges\[5\] must be"),
        ([*edges[:5], np.ones((1, 1))], r"edges\[5\] must be"),
        ([*edges[:5], []], r"edges\[5\] is empty, so .* at 1e-35: pass None for a column that"),
    ):
        with pytest.raises(ValueError, match=why):
            from_model(model, edges=wrong)
    zeros = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, zero_as_missing=True)
    with pytest.raises(ValueError, match=r"code 0 as missing.*without zero_as_missing"):
        from_model(zeros.fit(coded, y), edges=edges)
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1)
    model.fit(coded, y, categorical_feature=[CITY])
    edges[CITY] = np.arange(5.0)
    with pytest.raises(ValueError, match=r"edges\[3\] must be None: the model splits this column"):
        from_model(model, edges=edges)
