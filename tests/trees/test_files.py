"""Ensembles of trees in model files: the same bits again; files made to do harm are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline

import toprank
from files.test_hostile import entries, npy, refused, write
from support.tree_rows import CITY, rows, unseen
from toprank.files import ModelFileError
from toprank.files.model import read_summary
from toprank.trees import TreeEnsemble, from_model

lightgbm = pytest.importorskip("lightgbm")


def models() -> list[TreeEnsemble]:
    X, y = rows(500, 0)
    words = np.where(y == 1, "yes", "no")
    boosted = HistGradientBoostingClassifier(
        max_iter=4, categorical_features=np.arange(6) == CITY, early_stopping=False
    )
    light = lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, zero_as_missing=True)
    fitted = [
        boosted.fit(X, words),
        light.fit(X, y, categorical_feature=[CITY]),
        RandomForestClassifier(3, random_state=0).fit(X, y),
    ]
    return [*(from_model(model) for model in fitted), from_model(boosted).first(2)]


@pytest.mark.parametrize("trees", models())
def test_the_same_bits_again(trees: TreeEnsemble, tmp_path: Path) -> None:
    path, X = tmp_path / "trees.toprank", unseen()
    toprank.save(trees, path)
    again = toprank.load(path)
    np.testing.assert_array_equal(again.decision_function(X), trees.decision_function(X))
    np.testing.assert_array_equal(again.contributions(X), trees.contributions(X))
    np.testing.assert_array_equal(again.predict(X), trees.predict(X))
    assert again.first(1).n_trees == 1
    toprank.save(again, tmp_path / "again.toprank")
    assert (tmp_path / "again.toprank").read_bytes() == path.read_bytes()
    pipeline = make_pipeline(toprank.features.Squash().fit(X[np.isfinite(X).all(axis=1)]), trees)
    toprank.save(pipeline, path)
    assert toprank.load(path)[-1].n_trees == trees.n_trees


def test_names_and_the_summary(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    X, y = rows(300, 0)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    trees = from_model(HistGradientBoostingClassifier(max_iter=2).fit(frame, y))
    toprank.save(trees, tmp_path / "trees.toprank")
    again = toprank.load(tmp_path / "trees.toprank")
    np.testing.assert_array_equal(again.decision_function(frame), trees.decision_function(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.decision_function(frame.rename(columns={"a": "z"}))
    summary = read_summary(tmp_path / "trees.toprank")["summary"]
    assert summary["classes"] == ["0", "1"]
    assert summary["feature_names"] == list("abcdef")
    assert summary["n_features"] == 6
    assert "feature" not in summary["parameters"]
    assert summary["parameters"]["link"] == "logistic"


CHANGES: list[tuple[str, Any, str]] = [
    ("left", lambda left: np.zeros_like(left), "has child 0, which must come after it"),
    ("right", lambda right: right + 10**6, "has child 10000"),
    (
        "feature",
        lambda feature: np.where(feature < 0, feature, np.int32(99)),
        "has feature 99, beyond the last",
    ),
    ("threshold", lambda threshold: threshold * np.nan, "threshold that is NaN"),
    ("threshold", lambda threshold: threshold.astype(np.float32), "array of float64, got float32"),
    ("threshold", lambda threshold: threshold.astype(">f8"), "array of float64, got >f8"),
    ("value", lambda value: value[:-1], "equal lengths"),
    ("value", lambda value: value[:, np.newaxis], "one-dimensional"),
    ("value", lambda value: value.astype("<M8[s]"), "got datetime64"),
    ("tree_starts", lambda starts: starts * 2**40, "tree_starts must"),
    ("set_starts", lambda starts: starts[::-1].copy(), "set_starts must"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trees") / "trees.toprank"
    toprank.save(models()[0], path)
    return path


@pytest.mark.parametrize("k", range(len(CHANGES)))
def test_arrays_that_are_no_trees(k: int, whole: Path, tmp_path: Path) -> None:
    name, change, why = CHANGES[k]
    own, trees = entries(whole), toprank.load(whole)
    place = json.loads(own["model.json"])["model"]["parameters"][name]["array"]
    array = change(getattr(trees, name))
    refused(write(tmp_path / "changed.toprank", own | {place: npy(array)}), why)


@pytest.mark.parametrize(
    ("part", "name", "value", "why"),
    [
        ("attributes", "threshold", 3, "should have parameters only"),
        ("attributes", "_kernel", 3, "should have parameters only"),
        ("parameters", "n_features", 10**20, "n_features must be below"),
        ("parameters", "n_features", -1, "n_features must be"),
        ("parameters", "offset", {"$": "float", "value": "nan"}, "offset must be"),
        ("parameters", "value", None, "value must be a one-dimensional array"),
        ("parameters", "depth", 3, "no parameter 'depth'"),
        ("parameters", "link", "eval", "link must be one of"),
    ],
)
def test_texts_that_are_changed(
    part: str, name: str, value: Any, why: str, whole: Path, tmp_path: Path
) -> None:
    own = entries(whole)
    text = json.loads(own["model.json"])
    text["model"][part][name] = value
    path = tmp_path / "changed.toprank"
    refused(write(path, own | {"model.json": json.dumps(text).encode()}), why)


def test_models_that_have_another_form_are_told_of_it(tmp_path: Path) -> None:
    X, y = rows(300, 0)
    for model in (
        HistGradientBoostingClassifier(max_iter=2).fit(X, y),
        RandomForestClassifier(2).fit(X, y),
        lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, y),
    ):
        with pytest.raises(ModelFileError, match=r"save toprank\.trees\.from_model\(model\)"):
            toprank.save(model, tmp_path / "model.toprank")
