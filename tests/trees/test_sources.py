"""Scores equal those of the model that the trees come from: gaps, categories, every depth."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from support.tree_rows import CITY, rows, unseen, worst
from toprank.trees import from_model

lightgbm = pytest.importorskip("lightgbm")

MOST = 1e-12
CATEGORICAL = np.arange(6) == CITY


@pytest.fixture(scope="module")
def table() -> Any:
    return rows(3000, 0)


def same(model: Any, X: Any, source: Any) -> Any:
    trees = from_model(model)
    assert worst(trees.decision_function(X), source(X)) <= MOST
    added = trees.contributions(X).sum(axis=1) + trees.baseline
    assert worst(added, trees.decision_function(X)) <= 1e-11
    return trees


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_iter": 7, "max_leaf_nodes": None, "min_samples_leaf": 1},
        {"max_depth": 1, "learning_rate": 0.5},
        {"early_stopping": True, "max_bins": 20, "interaction_cst": "no_interactions"},
        {"categorical_features": CATEGORICAL},
        {"categorical_features": CATEGORICAL, "max_leaf_nodes": 100, "min_samples_leaf": 2},
        {"categorical_features": [CITY], "monotonic_cst": [0, 0, 0, 0, 1, 0]},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_histogram_boosting(options: dict[str, Any], weighted: bool, table: Any) -> None:
    X, y = table
    weight = np.random.default_rng(2).random(len(y)) if weighted else None
    model = HistGradientBoostingClassifier(random_state=0, **{"max_iter": 30, **options})
    model.fit(X, np.where(y == 1, "yes", "no"), sample_weight=weight)
    trees = same(model, unseen(), model.decision_function)
    assert worst(trees.predict_proba(unseen()), model.predict_proba(unseen())) <= MOST
    np.testing.assert_array_equal(trees.predict(unseen()), model.predict(unseen()))
    np.testing.assert_array_equal(trees.classes_, ["no", "yes"])


def test_categories_of_any_numbers(table: Any) -> None:
    X, y = table
    X = X.copy()
    X[:, CITY] = X[:, CITY] * 1000.5 - 7e3
    X[::9, CITY] = np.nan
    X[:, 4] = np.round(X[:, 4])
    mask = CATEGORICAL | (np.arange(6) == 4)
    model = HistGradientBoostingClassifier(max_iter=20, categorical_features=mask).fit(X, y)
    new = np.vstack([X, unseen()])
    trees = same(model, new, model.decision_function)
    assert len(trees.categories) > 40


def test_categories_are_not_numbers_only_if_they_are_words(table: Any) -> None:
    pd = pytest.importorskip("pandas")
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["d"] = frame["d"].astype("category")
    model = HistGradientBoostingClassifier(max_iter=5).fit(frame, y)
    plain = frame.astype({"d": float})
    trees = from_model(model)
    assert worst(trees.decision_function(plain), model.decision_function(frame)) <= MOST
    with pytest.raises(ValueError, match="feature names"):
        trees.decision_function(plain[list("badcef")])
    frame["d"] = pd.Categorical(np.where(X[:, CITY] > 20, "Rome", "Oslo"))
    words = HistGradientBoostingClassifier(max_iter=5).fit(frame, y)
    with pytest.raises(ValueError, match=r"Column 3 has the category 'Oslo'.*OrdinalEncoder"):
        from_model(words)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_regressions(loss: str, table: Any) -> None:
    X, y = table
    model = HistGradientBoostingRegressor(loss=loss, max_iter=20, random_state=0)
    model.fit(X, X[:, 1] + y)
    trees = same(model, unseen(), model.predict)
    np.testing.assert_array_equal(trees.predict(unseen()), trees.decision_function(unseen()))
    assert not hasattr(trees, "classes_")
    with pytest.raises(ValueError, match="no probabilities"):
        trees.predict_proba(unseen())


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(15, random_state=0),
        RandomForestClassifier(9, max_depth=4, class_weight="balanced", random_state=0),
        RandomForestClassifier(5, max_leaf_nodes=9, bootstrap=False, random_state=0),
        ExtraTreesClassifier(15, random_state=0),
        DecisionTreeClassifier(random_state=0),
    ],
)
def test_forests(model: Any, gaps: bool, table: Any) -> None:
    X, y = table
    if not gaps:
        X = np.nan_to_num(X)
    model.fit(X, y)
    new = np.nan_to_num(unseen(), posinf=3.0, neginf=-3.0) if not gaps else unseen()
    new = np.where(np.isinf(new), 5.0, new)
    # Between two numbers of float32: the forest rounds them, and so must the trees.
    new[:200, 1] = X[:200, 1] * (1.0 + 1e-9)
    trees = same(model, new, lambda rows: model.predict_proba(rows)[:, 1])
    np.testing.assert_array_equal(trees.predict(new), model.predict(new))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"categorical_feature": [CITY]},
        {"categorical_feature": [CITY], "max_cat_to_onehot": 100},
        {"categorical_feature": [CITY, 2], "max_cat_threshold": 8, "num_leaves": 80},
        {"zero_as_missing": True},
        {"zero_as_missing": True, "categorical_feature": [CITY]},
        {"use_missing": False},
        {"boosting_type": "dart"},
        {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
        {"boost_from_average": False, "extra_trees": True},
    ],
)
@pytest.mark.parametrize("gaps", [False, True])
def test_lightgbm(options: dict[str, Any], gaps: bool, table: Any) -> None:
    X, y = table
    X = X if gaps else np.nan_to_num(X)
    if options.get("categorical_feature") == [CITY, 2]:
        X = np.c_[X[:, :2], np.abs(X[:, 2]), X[:, 3:]]
    categorical = options.pop("categorical_feature", "auto")
    model = lightgbm.LGBMClassifier(n_estimators=30, verbose=-1, random_state=0, **options)
    model.fit(X, y, categorical_feature=categorical)
    options |= {} if categorical == "auto" else {"categorical_feature": categorical}
    # LightGBM takes the mean of the trees of its forests for probabilities only.
    count = model.n_estimators if options.get("boosting_type") == "rf" else 1

    def raw(rows: Any) -> Any:
        return model.predict(rows, raw_score=True) / count

    trees = same(model, unseen(), raw)
    assert worst(trees.predict_proba(unseen()), model.predict_proba(unseen())) <= MOST
    booster = same(model.booster_, unseen(), raw)
    np.testing.assert_array_equal(booster.classes_, [0, 1])


def test_lightgbm_objectives(table: Any) -> None:
    X, y = table
    ranker = lightgbm.LGBMRanker(n_estimators=5, verbose=-1).fit(X, y, group=[100] * 30)
    assert not hasattr(same(ranker, unseen(), ranker.predict), "classes_")
    for options in ({"sigmoid": 2.0}, {"linear_tree": True}):
        model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, **options).fit(X, y)
        with pytest.raises(ValueError, match=r"objective 'binary sigmoid:2'|linear leaves"):
            from_model(model)
    with pytest.raises(ValueError, match="objective 'poisson'"):
        from_model(lightgbm.LGBMRegressor(objective="poisson", verbose=-1).fit(X, y))
    with pytest.raises(ValueError, match="3 classes"):
        from_model(lightgbm.LGBMClassifier(verbose=-1).fit(X, np.arange(3000) % 3))
    constant = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(np.ones((3000, 2)), y)
    assert from_model(constant).value.size == from_model(constant).n_trees
    same(constant, np.ones((4, 2)), lambda rows: constant.predict(rows, raw_score=True))


def test_lightgbm_stopped_early(table: Any) -> None:
    X, y = table
    model = lightgbm.LGBMClassifier(n_estimators=300, learning_rate=0.5, verbose=-1)
    stop = lightgbm.early_stopping(3, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of eval_set, which LightGBM 4.7 calls otherwise
        model.fit(X[:2000], y[:2000], eval_set=[(X[2000:], y[2000:])], callbacks=[stop])
    trees = same(model, unseen(), lambda rows: model.predict(rows, raw_score=True))
    assert trees.n_trees == model.best_iteration_ < 300


def test_lightgbm_categories_of_pandas_are_refused(table: Any) -> None:
    pd = pytest.importorskip("pandas")
    X, y = table
    frame = pd.DataFrame(X[:, [1, CITY]], columns=["a", "b"]).astype({"b": "category"})
    model = lightgbm.LGBMClassifier(n_estimators=9, verbose=-1).fit(frame, y)
    with pytest.raises(ValueError, match="pandas categories"):
        from_model(model)


def test_the_first_trees_and_other_columns(table: Any) -> None:
    X, y = table
    model = HistGradientBoostingClassifier(
        max_iter=12, categorical_features=CATEGORICAL, early_stopping=False
    ).fit(X, y)
    stages = list(model.staged_decision_function(unseen()))
    trees = from_model(model)
    for number, scores in enumerate(stages, start=1):
        first = trees.first(number)
        assert worst(first.decision_function(unseen()), scores.ravel()) <= MOST
        assert (
            worst(from_model(model, n_trees=number).decision_function(unseen()), scores.ravel())
            <= MOST
        )
        added = first.contributions(unseen()).sum(axis=1) + first.baseline
        assert worst(added, scores.ravel()) <= 1e-11
    assert worst(trees.stages(unseen(), [1, 5, 12]), np.array(stages)[[0, 4, 11]]) <= MOST
    columns = np.array([8, 1, 4, 0, 3, 6])
    wide = np.random.default_rng(0).normal(size=(600, 10))
    wide[:, columns] = unseen()
    moved = from_model(model, columns=columns, n_features=10)
    np.testing.assert_array_equal(moved.decision_function(wide), trees.decision_function(unseen()))
    np.testing.assert_array_equal(
        moved.contributions(wide)[:, columns], trees.contributions(unseen())
    )
    assert from_model(model, columns=columns).n_features_in_ == 9


def test_the_first_trees_of_a_forest_are_averaged(table: Any) -> None:
    X, y = table
    model = RandomForestClassifier(9, random_state=0).fit(X, y)
    new = np.where(np.isinf(unseen()), 5.0, unseen())
    few = np.mean([tree.predict_proba(new)[:, 1] for tree in model.estimators_[:4]], axis=0)
    trees = from_model(model)
    for first in (trees.first(4), from_model(model, n_trees=4)):
        assert worst(first.decision_function(new), few) <= MOST
    assert worst(trees.stages(new, [4])[0], few) <= MOST


def test_models_that_are_refused(table: Any) -> None:
    X, y = rows(300, 0)
    three = np.arange(300) % 3
    for model in (HistGradientBoostingClassifier(max_iter=2), RandomForestClassifier(2)):
        with pytest.raises(ValueError, match="3 classes"):
            from_model(model.fit(X, three))
        with pytest.raises(NotFittedError):
            from_model(type(model)())
    with pytest.raises(NotFittedError):
        from_model(lightgbm.LGBMClassifier())
    with pytest.raises(ValueError, match="loss='poisson'"):
        from_model(HistGradientBoostingRegressor(loss="poisson", max_iter=2).fit(X, three))
    with pytest.raises(TypeError, match="GradientBoostingClassifier cannot be made"):
        from_model(GradientBoostingClassifier())
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, y)
    for options, why in (
        ({"n_trees": 3}, "at most 2"),
        ({"n_trees": 0}, "n_trees must be an int"),
        ({"columns": [1, 2]}, "columns must be 6 ints"),
        ({"columns": [0, 1, 2, 3, 4, 4]}, "distinct"),
        ({"columns": [0, 1, 2, 3, 4, 9], "n_features": 9}, "above 9"),
        ({"n_features": 9}, "pass columns as well"),
    ):
        with pytest.raises(ValueError, match=why):
            from_model(model, **options)
