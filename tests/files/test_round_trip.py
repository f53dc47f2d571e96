"""A model that was saved and loaded is the model that it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import toprank
from toprank import methods, selection
from toprank.features import BinsAndPairs, Squash, table_pipeline
from toprank.files import ModelFileError, classes
from toprank.files.model import load_with_metadata, read_summary
from toprank.selection import RankerCV

ROWS = 90


def rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, 5))
    return X, (X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(ROWS) > 1.0).astype(int)


def table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = rows(seed)
    frame = pd.DataFrame(X[:, :2], columns=["amount", "age"])
    frame.loc[::7, "age"] = np.nan
    frame["job"] = np.where(X[:, 2] > 0, "clerk", np.where(X[:, 3] > 0, "nurse", None))
    frame["since"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(ROWS), unit="D")
    frame["member"] = X[:, 4] > 0
    return frame, y


def again(model: Any, folder: Path, **options: Any) -> Any:
    toprank.save(model, folder / "model.toprank", **options)
    return toprank.load(folder / "model.toprank")


def _timed(array: np.ndarray) -> bool:
    return "seconds" in (array.dtype.names or ())


def assert_same(one: Any, other: Any, at: str = "") -> None:
    """The same classes, and the same bits, all the way down; seconds are not kept."""
    assert type(one) is type(other), at
    if isinstance(one, np.ndarray) and (at.endswith("['seconds']") or _timed(one)):
        assert np.isnan(other["seconds"] if _timed(one) else other).all()
        for column in set(one.dtype.names or ()) - {"seconds"}:
            assert_same(one[column], other[column], f"{at}[{column!r}]")
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, at
        if one.dtype.kind == "O":
            assert_same(one.tolist(), other.tolist(), at)
        else:
            assert one.shape == other.shape, at
            assert one.tobytes() == other.tobytes(), at
    elif isinstance(one, dict):
        assert list(one) == list(other), at
        for key, value in one.items():
            assert_same(value, other[key], f"{at}[{key!r}]")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), at
        for k, both in enumerate(zip(one, other, strict=True)):
            assert_same(*both, f"{at}[{k}]")
    elif isinstance(one, slice | type | np.dtype | FunctionType):
        assert one == other, at
    elif hasattr(one, "__dict__") and not sparse.issparse(one):
        own, others = dict(vars(one)), dict(vars(other))
        assert own.keys() == others.keys(), at
        for key in own:
            assert_same(own[key], others[key], f"{at}.{key}")
    elif not sparse.issparse(one):
        assert one == other or (one != one and other != other), at


@pytest.mark.parametrize("name", methods.__all__)
@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
def test_every_method_comes_back(name: str, tmp_path: Path) -> None:
    X, y = rows()
    model = getattr(methods, name)().fit(X, y)
    back = again(model, tmp_path)
    new, _ = rows(1)
    assert back.decision_function(new).tobytes() == model.decision_function(new).tobytes()
    assert_same(model, back)
    seed = {"random_state": 0} if "random_state" in model.get_params() else {}
    for file in ("one", "other"):
        toprank.save(getattr(methods, name)(**seed).fit(X, y), tmp_path / file)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    # And before it is fitted.
    assert repr(again(getattr(methods, name)(), tmp_path)) == repr(getattr(methods, name)())


def test_equal_fits_make_equal_files(tmp_path: Path) -> None:
    frame, y = table()
    frame.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    program = """
import sys
import pandas as pd
import toprank
from toprank.features import table_pipeline
from toprank.selection import RankerCV
folder = sys.argv[1]
table = pd.read_csv(f"{folder}/table.csv", parse_dates=["since"])
y = table.pop("y")
head = toprank.HeadRanker(trees=False, candidates="fast", cv=2, random_state=0)
search = RankerCV(toprank.LogisticRank(), alphas=[0.1, 0.01], cv=2)
for name, ranker in {"head": head, "search": search, "boost": toprank.RankBoost()}.items():
    model = table_pipeline(ranker).fit(table, y)
    toprank.save(model, f"{folder}/{name}{sys.argv[2]}", metadata={"about": "orders"})
"""
    for seed in ("1", "2"):  # of the order of sets of texts
        done = [sys.executable, "-W", "ignore", "-c", program, tmp_path, seed]
        subprocess.run(done, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    for name in ("head", "search", "boost"):
        assert (tmp_path / f"{name}1").read_bytes() == (tmp_path / f"{name}2").read_bytes()


def test_the_catalogue_is_on_the_list() -> None:
    assert {f"toprank.{name}" for name in methods.__all__} <= classes.ESTIMATORS.keys()
    for kinds in (classes.ESTIMATORS, classes.RECORDS, classes.FUNCTIONS):
        for name in kinds:
            if name != "toprank.HeadRanker" or hasattr(selection, "HeadRanker"):
                assert classes.name_of(classes.named(name, kinds), kinds) == name


@pytest.mark.parametrize("rankers", ["stumps", "thresholds", "linear"])
def test_boosters_of_any_rankers_come_back(rankers: str, tmp_path: Path) -> None:
    X, y = rows()
    model = toprank.RankBoost(n_estimators=5, weak_learners=rankers).fit(X, y)
    back = again(model, tmp_path)
    assert back.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_a_stream_goes_on_where_it_was(tmp_path: Path) -> None:
    X, y = rows()
    for name in ("CRR", "OAM", "OPAUC", "AdaOAM", "SPAM"):
        model = getattr(methods, name)(random_state=0).partial_fit(X, y, classes=[0, 1])
        back = again(model, tmp_path)
        more, labels = rows(2)
        scores = [one.partial_fit(more, labels).decision_function(X) for one in (model, back)]
        assert scores[0].tobytes() == scores[1].tobytes(), name
    model = toprank.BBR().fit(X, y)
    back = again(model, tmp_path)
    scores = [one.partial_fit(more, labels).decision_function(X) for one in (model, back)]
    assert scores[0].tobytes() == scores[1].tobytes()


@pytest.mark.filterwarnings("ignore::toprank.GridEdgeWarning")
def test_a_choice_of_alpha_comes_back(tmp_path: Path) -> None:
    X, y = rows()
    model = RankerCV(toprank.TopPush(), alphas=[1.0, 0.1, 0.01], cv=StratifiedKFold(3)).fit(X, y)
    back = again(model, tmp_path, folds=True)
    assert back.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert_same(model, back)
    assert back.cv.n_splits == 3
    assert_array_equal(back.folds_[-1][1], model.folds_[-1][1])
    size = (tmp_path / "model.toprank").stat().st_size
    small = again(model, tmp_path)
    assert_same(model.best_estimator_, small.best_estimator_)
    assert (tmp_path / "model.toprank").stat().st_size < 0.8 * size
    assert vars(model).keys() - vars(small).keys() == {"fold_rankers_", "folds_", "oof_scores_"}
    for name in ("fold_rankers_", "folds_", "oof_scores_"):
        with pytest.raises(AttributeError, match=r"save\(model, path, folds=True\)"):
            getattr(small, name)


@pytest.mark.parametrize("as_words", [False, True])
def test_a_pipeline_of_a_table_comes_back(as_words: bool, tmp_path: Path) -> None:
    frame, y = table()
    y = np.array(["no", "yes"], dtype=object)[y] if as_words else y
    ranker = toprank.LogisticRank(0.01, pos_label="yes" if as_words else None)
    model = table_pipeline(ranker, min_frequency=2).fit(frame, y)
    back = again(model, tmp_path)
    new, _ = table(1)
    new.loc[3, "job"] = "pilot"
    assert back.decision_function(new).tobytes() == model.decision_function(new).tobytes()
    assert back.classes_.tolist() == model.classes_.tolist()
    assert back.predict(new).tolist() == model.predict(new).tolist()
    names = [one[:-1].get_feature_names_out().tolist() for one in (model, back)]
    assert names[0] == names[1]
    back.fit(frame, y)  # the parameters came back too


def test_pipelines_of_other_features_come_back(tmp_path: Path) -> None:
    X, y = rows()
    union = FeatureUnion(
        [("as_they_are", "passthrough"), ("kernel", Nystroem(n_components=9, random_state=0))],
        transformer_weights={"kernel": 2.0},
    )
    for steps in (
        (StandardScaler(), FunctionTransformer(np.float32)),
        (Squash(), BinsAndPairs(4)),
        (Squash(), union),
        (FunctionTransformer(np.sign), OneHotEncoder(dtype=float)),
    ):
        model = make_pipeline(*steps, toprank.RectPush(0.1)).fit(X, y)
        if steps[0].__class__ is FunctionTransformer:
            with pytest.raises(ModelFileError, match=r"func is 'sign', a function"):
                toprank.save(model, tmp_path / "no.toprank")
            continue
        back = again(model, tmp_path)
        assert back.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_sparse_rows_of_a_kernel_come_back(tmp_path: Path) -> None:
    X, y = rows()
    model = make_pipeline(Nystroem(n_components=8, random_state=0), toprank.TopPush(0.1))
    model.fit(sparse.csr_array(np.where(X > 0, X, 0.0)), y)
    back = again(model, tmp_path)
    assert back.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_the_file_describes_itself(tmp_path: Path) -> None:
    frame, y = table()
    model = table_pipeline(toprank.LogisticRank(0.01), min_frequency=2).fit(frame, y)
    path = tmp_path / "model.toprank"
    metadata = {"label": "fraud", "scores": np.arange(3.0), "nested": {"k": [1, None, np.inf]}}
    toprank.save(model, path, metadata=metadata)
    with zipfile.ZipFile(path) as archive:
        text = json.loads(archive.read("model.json"))
        assert text["format"] == "toprank model"
        for name in archive.namelist():
            if name.endswith(".npy"):
                with archive.open(name) as entry:
                    np.lib.format.read_array(entry, allow_pickle=False)
    summary = read_summary(path)
    assert summary["toprank"] == toprank.__version__
    assert summary["summary"]["class"] == "LogisticRank"
    assert summary["summary"]["feature_names"] == list(frame.columns)
    assert summary["summary"]["classes"] == ["0", "1"]
    relative_gap = float(summary["summary"]["certificate"]["relative_gap"])
    assert relative_gap == model[-1].certificate_.relative_gap
    assert_same(load_with_metadata(path)[1], metadata)


def test_equal_models_are_equal_files(tmp_path: Path) -> None:
    model = toprank.LogisticRank().fit(*rows())
    for name in "ab":
        toprank.save(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    X, y = rows()
    path = tmp_path / "model.toprank"
    trees = HistGradientBoostingClassifier(max_iter=2).fit(X, y)
    for model, why in (
        (make_pipeline(StandardScaler(), trees), r"save toprank\.trees\.from_model"),
        (RankerCV(toprank.TopPush(), scoring=lambda *_: 0.0), r"RankerCV\.scoring.*function"),
        (make_pipeline(StandardScaler(), toprank.TopPush(), memory=str(tmp_path)), "memory"),
        (RankerCV(toprank.TopPush(), cv=iter([])), "list_iterator"),
        ("model", "no estimator"),
        (3, "no estimator"),
    ):
        with pytest.raises(ModelFileError, match=f"This .* cannot be saved: .*{why}"):
            toprank.save(model, path)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ModelFileError, match="holds itself"):
        toprank.save(toprank.TopPush(), path, metadata={"a": endless})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(selection, "HeadRanker"), reason="there is no HeadRanker")
@pytest.mark.filterwarnings("ignore")
def test_a_race_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 4))
    y = (X[:, 0] + rng.standard_normal(240) > 1).astype(int)
    for candidates in (["columns"], ["bins"], ["nystroem"]):
        model = selection.HeadRanker(
            candidates=candidates, trees=False, cv=3, random_state=0, capacity=0.1
        ).fit(X, y)
        back = again(model, tmp_path)
        assert back.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        assert back.select(X).tolist() == model.select(X).tolist()
        assert back.why_ == model.why_
        with pytest.raises(ValueError, match=r"calibrate\(X, y\).*folds=True"):
            back.promise(X, 10)
        new = rng.standard_normal((240, 4))
        both = again(model, tmp_path, folds=True), model
        assert_array_equal(*(one.promise(new, 10).rows for one in both))
        positive = new[:, 0] > 1
        both = back.calibrate(new, positive), model.calibrate(new, positive)
        assert both[0].promise(X, 10).lower == both[1].promise(X, 10).lower
        # Bounds by calibration rows are kept.
        assert again(back, tmp_path).promise(X, 10).lower == both[1].promise(X, 10).lower
    for options in ({"candidates": "trees"}, {"candidates": ["forest"]}, {"trees": True}):
        model = selection.HeadRanker(cv=3, random_state=0, **options).fit(X, y)
        assert "Trees" not in str(model.best_estimator_)
        back = again(model, tmp_path)
        assert back.decision_function(X).tobytes() == model.decision_function(X).tobytes()
