"""Ensembles of trees in ONNX: gaps, categories, zeros that are missing, forests in float32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline

import toprank
from support.tree_rows import CITY, rows, unseen
from toprank.onnx import export, to_onnx
from toprank.trees import TreeEnsemble, from_model

onnxruntime = pytest.importorskip("onnxruntime")
lightgbm = pytest.importorskip("lightgbm")


def run(model: Any, X: Any) -> list[Any]:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": X})


def sources() -> dict[str, Any]:
    X, y = rows(1500, 0)
    words = np.where(y == 1, "yes", "no")
    mask = np.arange(6) == CITY
    boosted = {"max_iter": 30, "random_state": 0}
    light = {"n_estimators": 30, "verbose": -1}
    return {
        "boosting": HistGradientBoostingClassifier(**boosted).fit(X, words),
        "categories": HistGradientBoostingClassifier(categorical_features=mask, **boosted).fit(
            X, y
        ),
        "regression": HistGradientBoostingRegressor(**boosted).fit(X, y),
        "forest": RandomForestClassifier(10, random_state=0).fit(X, y),
        "extra trees": ExtraTreesClassifier(10, random_state=0).fit(X, words),
        "lightgbm": lightgbm.LGBMClassifier(**light).fit(X, y, categorical_feature=[CITY]),
        "lightgbm, zeros": lightgbm.LGBMClassifier(
            zero_as_missing=True, num_leaves=200, min_child_samples=2, **light
        ).fit(X, y, categorical_feature=[CITY]),
        "constant": lightgbm.LGBMClassifier(**light).fit(np.ones((1500, 6)), y),
    }


@pytest.fixture(scope="module")
def ensembles() -> dict[str, TreeEnsemble]:
    return {name: from_model(model) for name, model in sources().items()}


NAMES = (
    *("boosting", "categories", "regression", "forest", "extra trees"),
    *("lightgbm", "lightgbm, zeros", "constant"),
)


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_labels(name: str, ensembles: dict[str, TreeEnsemble]) -> None:
    trees, X = ensembles[name], unseen()
    # At thresholds, one step of float64 above them, and where float32 rounds across them.
    inner = trees.feature >= 0
    for row, node in enumerate(np.flatnonzero(inner)[:150]):
        X[row, trees.feature[node]] = trees.threshold[node]
        X[row + 150, trees.feature[node]] = np.nextafter(trees.threshold[node], np.inf)
        X[row + 300, trees.feature[node]] = trees.threshold[node] * (1.0 + 1e-9)
    for few in (X, X[:1]):
        scores, *labels = run(to_onnx(trees), few)
        assert scores.dtype == np.float64
        np.testing.assert_allclose(scores, trees.decision_function(few), rtol=0, atol=1e-12)
        if name == "regression":
            assert labels == []
        else:
            np.testing.assert_array_equal(labels[0], trees.predict(few))


def test_the_first_trees_and_zeros_by_node(ensembles: dict[str, TreeEnsemble]) -> None:
    X = unseen()
    first = ensembles["categories"].first(3)
    np.testing.assert_allclose(run(to_onnx(first), X)[0], first.decision_function(X), atol=1e-12)
    parameters = ensembles["boosting"].get_params(deep=False)
    parameters["zero_missing"] = np.arange(len(parameters["feature"])) % 2 == 0
    mixed = TreeEnsemble(**parameters)
    X[::3, :3] = [0.0, 1e-36, -1e-34]
    np.testing.assert_allclose(run(to_onnx(mixed), X)[0], mixed.decision_function(X), atol=1e-12)


def test_in_a_pipeline_and_in_a_file(ensembles: dict[str, TreeEnsemble], tmp_path: Path) -> None:
    X = np.nan_to_num(unseen(), posinf=3.0, neginf=-3.0)
    model = make_pipeline(toprank.features.Squash().fit(X), ensembles["boosting"])
    path = tmp_path / "trees.onnx"
    export(model, path)
    session = onnxruntime.InferenceSession(path)
    (scores,) = session.run(["score"], {"X": X})
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-12)
