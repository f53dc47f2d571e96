"""Models in ONNX, run by onnxruntime: the same scores, the same order of rows, the same labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import toprank
from support.orders import orders
from toprank import methods
from toprank.datasets import load_mammography
from toprank.features import BinsAndPairs, Squash, table_pipeline
from toprank.onnx import export, to_onnx
from toprank.selection import RankerCV

onnxruntime = pytest.importorskip("onnxruntime")


def run(model: Any, inputs: dict[str, Any]) -> tuple[Any, Any]:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    score, label = session.run(["score", "label"], inputs)
    return score, label


def same(model: Any, X: Any, inputs: dict[str, Any]) -> None:
    score, label = run(to_onnx(model), inputs)
    expected = model.decision_function(X)
    assert score.dtype == np.float64
    np.testing.assert_allclose(score, expected, rtol=1e-11, atol=1e-12)
    order = np.argsort(-expected, kind="stable")
    # Rows whose scores differ by more than rounding are in the same order.
    assert (np.diff(score[order]) <= 1e-11 * np.abs(expected).max()).all()
    clear = np.abs(expected) > 1e-11 * np.abs(expected).max()
    assert (label[clear] == model.predict(X)[clear]).all()


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    X, y = load_mammography(return_X_y=True)
    return X[::4], y[::4]


LINEAR = ["BBR", "LogisticRank", "OAM", "PNormPush", "RankSVM", "RectPushApp", "WSVM"]


@pytest.mark.parametrize("name", LINEAR)
def test_linear_rankers(name: str, rows: tuple[Any, Any]) -> None:
    X, y = rows
    cls = getattr(methods, name)
    seed = {"random_state": 0} if "random_state" in cls._get_param_names() else {}
    model = cls(**seed).fit(X, y)
    same(model, X, {"X": X})


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False)],
        [RobustScaler(), MinMaxScaler()],
        [MaxAbsScaler(), RobustScaler(with_centering=False, with_scaling=False)],
        [Squash(2.0)],
        [Squash(), BinsAndPairs()],
        [StandardScaler(), BinsAndPairs(5, n_strongest=3, columns=False)],
    ],
)
def test_pipelines(steps: list[Any], rows: tuple[Any, Any]) -> None:
    X, y = rows
    same(make_pipeline(*steps, methods.LogisticRank(1e-3)).fit(X, y), X, {"X": X})


@pytest.mark.parametrize("candidates", [["columns"], ["squashed"], ["bins"], ["nystroem"]])
def test_head_rankers(candidates: list[str], rows: tuple[Any, Any]) -> None:
    X, y = rows
    model = toprank.HeadRanker(0.02, candidates=candidates, trees=False, cv=2, random_state=0).fit(
        X, y
    )
    score, _ = run(to_onnx(model), {"X": X})
    expected = model.decision_function(X)
    # The kernel columns are rounded to single precision, where a last bit may fall otherwise.
    loose = 1e-6 if candidates == ["nystroem"] else 1e-11
    np.testing.assert_allclose(score, expected, rtol=loose, atol=loose)
    if candidates != ["nystroem"]:
        assert np.argsort(-score, kind="stable")[:200].tolist() == (
            np.argsort(-expected, kind="stable")[:200].tolist()
        )


def test_alpha_by_cross_validation_and_labels_of_words(rows: tuple[Any, Any]) -> None:
    X, y = rows
    words = np.where(y == 1, "ill", "fine")
    model = RankerCV(methods.LogisticRank(pos_label="ill"), cv=2).fit(X, words)
    same(model, X, {"X": X})
    model = methods.LogisticRank().fit(X, np.where(y == 1, 1.0, -1.0))
    _, label = run(to_onnx(model), {"X": X})
    assert label.dtype == np.float32
    assert (label == model.predict(X)).all()


def inputs_of(table: pd.DataFrame) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name in ("amount", "items"):
        made[name] = table[[name]].to_numpy(dtype=np.float64)
    for name in ("country", "member"):
        cells = [[str(cell) if pd.notna(cell) else ""] for cell in table[name]]
        made[name] = np.array(cells, dtype=object)
    seconds = table["placed"].to_numpy(dtype="datetime64[s]").astype(np.float64)
    made["placed"] = np.where(table["placed"].isna(), np.nan, seconds)[:, None]
    return made


def typed(n: int, seed: int) -> pd.DataFrame:
    table = orders(n, seed)
    table["member"] = table["member"].astype(str)
    table["country"] = table["country"].astype(object).where(table["country"].notna(), None)
    hours = pd.to_timedelta(np.arange(n) % 24 * 3600 + np.arange(n) % 7, unit="s")
    table["placed"] = pd.to_datetime(table["placed"]) + hours
    table.loc[::13, "placed"] = pd.NaT
    return table


@pytest.mark.parametrize("last", [methods.LogisticRank(1e-2), None])
def test_tables(last: Any) -> None:
    old, new = typed(600, 0), typed(500, 1)
    new.loc[3, "country"] = "XX"  # which fit has not seen
    columns = ["amount", "items", "country", "placed", "member"]
    ranker = last or toprank.HeadRanker(candidates="fast", trees=False, cv=2, random_state=0)
    model = table_pipeline(ranker).fit(old[columns], old["fraud"])
    same(model, new[columns], inputs_of(new))


def test_dates_of_any_year() -> None:
    days = pd.to_datetime(np.arange("1890-01-01", "2110-01-01", dtype="datetime64[D]"))
    table = pd.DataFrame({"day": days + pd.to_timedelta(np.arange(len(days)) % 86400, unit="s")})
    month, weekday = table["day"].dt.month, table["day"].dt.day_of_week
    y = ((month * 3 + weekday + table["day"].dt.day) % 5 == 0).astype(int)
    model = table_pipeline(methods.LogisticRank(1e-3)).fit(table, y)
    seconds = table["day"].to_numpy(dtype="datetime64[s]").astype(np.float64)[:, None]
    same(model, table, {"day": seconds})


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: methods.RankBoost(), "RankBoost is no linear score"),
        (lambda: make_pipeline(Normalizer(), methods.LogisticRank()), "Normalizer cannot be exp"),
        (lambda: make_pipeline(PolynomialFeatures(), methods.LogisticRank()), "PolynomialFeatures"),
    ],
)
def test_what_cannot_be_exported(
    make: Callable[[], Any], what: str, rows: tuple[Any, Any], tmp_path: Path
) -> None:
    X, y = rows
    with pytest.raises(ValueError, match=what):
        export(make().fit(X[:300], y[:300]), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_spans_are_refused() -> None:
    table = pd.DataFrame({"age": pd.to_timedelta(np.arange(40), unit="D")})
    model = table_pipeline(methods.LogisticRank()).fit(table, np.arange(40) % 2)
    with pytest.raises(ValueError, match="'age' holds spans of time"):
        to_onnx(model)


def test_the_command(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from toprank.cli.app import toprank as program

    data, model, path = (tmp_path / name for name in ("old.csv", "model", "model.onnx"))
    table = typed(400, 0)
    table.to_csv(data, index=False)
    words = ["fit", str(data), "--label", "fraud", "--id", "order", "--model", "logistic"]
    assert CliRunner().invoke(program, [*words, "-o", str(model)]).exit_code == 0
    found = CliRunner().invoke(program, ["export", str(model), "-o", str(path), "--json"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["inputs"] == {
        "amount": "doubles",
        "items": "doubles",
        "country": "words",
        "member": "words",
        "placed": "doubles",
    }
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (score,) = session.run(["score"], inputs_of(table))
    scored = CliRunner().invoke(program, ["score", str(model), str(data)]).stdout.splitlines()
    expected = [float(line.split(",")[1]) for line in scored[1:]]
    np.testing.assert_allclose(score, expected, rtol=1e-11, atol=1e-12)
    boosted = [*words[:-1], "rankboost", "-o", str(model), "--force"]
    assert CliRunner().invoke(program, boosted).exit_code == 0
    found = CliRunner().invoke(program, ["export", str(model), "-o", str(tmp_path / "no.onnx")])
    assert found.exit_code == 2
    assert "RankBoost is no linear score" in found.stderr
    assert not (tmp_path / "no.onnx").exists()


def test_pipelines_of_skl2onnx(rows: tuple[Any, Any]) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    from toprank.onnx import register

    X, y = rows
    assert {"TopPush", "RankSVM", "LogisticRank", "RankerCV"} <= set(register())
    assert "RankBoost" not in register()
    for labels in (y, np.where(y == 1, "yes", "no")):
        model = make_pipeline(StandardScaler(), methods.RankSVM(pos_label=labels[y == 1][0]))
        model.fit(X, labels)
        expected = model.decision_function(X)
        for kind, dtype, close in (
            (DoubleTensorType, np.float64, 1e-11),
            (FloatTensorType, np.float32, 1e-3),
        ):
            made = skl2onnx.to_onnx(model, initial_types=[("X", kind([None, X.shape[1]]))])
            session = onnxruntime.InferenceSession(
                made.SerializeToString(), providers=["CPUExecutionProvider"]
            )
            label, scores = session.run(None, {"X": X.astype(dtype)})
            assert scores.dtype == dtype
            np.testing.assert_allclose(scores[:, 1], expected, rtol=close, atol=close)
            np.testing.assert_allclose(scores[:, 0], -expected, rtol=close, atol=close)
            if dtype is np.float64:
                clear = np.abs(expected) > 1e-9
                assert (label[clear] == model.predict(X)[clear]).all()
