"""The commands do what the library does, from files to files."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import toprank
from support.orders import read_scores
from support.programs import PATIENCE
from toprank import methods
from toprank.files import batches
from toprank.files.model import load_with_metadata
from toprank.guarantees import HeadBound
from toprank.metrics import auc, interval, precision_at_k

Run = Callable[..., Result]


def scores_of(folder: Path) -> pd.Series:
    """The scores of new.csv, by the library and a table that pandas typed."""
    model = toprank.load(folder / "model.toprank")
    table = pd.read_csv(folder / "new.csv", dtype={"order": str, "member": str})
    table["placed"] = pd.to_datetime(table["placed"])
    table["country"] = table["country"].astype(object).where(table["country"].notna(), None)
    columns = table[list(model.feature_names_in_)]
    return pd.Series(model.decision_function(columns), index=table["order"])


def test_score_writes_what_the_library_gives(run: Run, folder: Path, tmp_path: Path) -> None:
    expected = scores_of(folder)
    for name in ("scores.csv", "scores.tsv.gz", "scores.parquet"):
        run("score", folder / "model.toprank", folder / "new.csv", "-o", tmp_path / name)
        if name.endswith("parquet"):
            found = pd.read_parquet(tmp_path / name)
        else:
            separator = "\t" if ".tsv" in name else ","
            found = read_scores(tmp_path / name, sep=separator)
        assert found.columns.tolist() == ["order", "score"]
        assert found["order"].tolist() == expected.index.tolist()
        assert found["score"].to_numpy().tolist() == expected.to_numpy().tolist()


def test_every_format_gives_the_same_scores(run: Run, folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "new.csv", dtype={"order": str})
    table.to_csv(tmp_path / "new.tsv.gz", sep="\t", index=False)
    table.to_parquet(tmp_path / "new.parquet")
    table.to_feather(tmp_path / "new.feather")
    table["placed"] = pd.to_datetime(table["placed"]).dt.date
    table.to_parquet(tmp_path / "dates.parquet")
    plain = run("score", folder / "model.toprank", folder / "new.csv").stdout
    assert len(plain.splitlines()) == 301
    for name in ("new.tsv.gz", "new.parquet", "new.feather", "dates.parquet"):
        assert run("score", folder / "model.toprank", tmp_path / name).stdout == plain
    for name, options in (("new.csv", []), ("new.parquet", ["--format", "parquet"])):
        content = ((folder if name == "new.csv" else tmp_path) / name).read_bytes()
        found = run("score", folder / "model.toprank", "-", *options, input=content)
        assert found.stdout == plain


def test_chunks_change_nothing(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk without a country, or with whole amounts only, is read as all the others are."""
    words = ("score", folder / "model.toprank", folder / "new.csv")
    head = ("top", folder / "model.toprank", folder / "new.csv", "--json")
    whole, first = run(*words).stdout, run(*head).stdout
    monkeypatch.setattr(batches, "CHUNK", 7)
    assert run(*words).stdout == whole
    assert run(*head).stdout == first


def test_top_lists_the_highest_scores_with_the_promise(run: Run, folder: Path) -> None:
    expected = scores_of(folder).sort_values(ascending=False, kind="stable")
    result = run("top", folder / "model.toprank", folder / "new.csv", "-k", 30)
    listed = read_scores(io.StringIO(result.stdout))
    assert listed["order"].tolist() == expected.index[:30].tolist()
    assert listed["score"].to_numpy() == pytest.approx(expected[:30].to_numpy(), rel=1e-5)
    _, metadata = load_with_metadata(folder / "model.toprank")
    kept = metadata["toprank fit"]
    assert len(kept["calibration_scores"]) == 200
    bound = HeadBound().fit(kept["calibration_positive"], kept["calibration_scores"])
    statement = bound.of(expected.to_numpy())
    assert statement.text(30) in result.stderr
    found = json.loads(run("top", folder / "model.toprank", folder / "new.csv", "--json").stdout)
    assert len(found["rows"]) == 20  # the capacity that fit was told
    assert found["at_least"] == statement.lower(20) > 0
    share = run("top", folder / "model.toprank", folder / "new.csv", "-k", "10%").stdout
    assert share == result.stdout


def test_ids_of_any_name_and_missing_ones(run: Run, folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "new.csv", dtype={"order": str}).rename(columns={"order": "row"})
    table.loc[2, "row"] = None
    table.to_csv(tmp_path / "new.csv", index=False)
    words = ("score", folder / "model.toprank", tmp_path / "new.csv", "--id", "row", "-o")
    run(*words, tmp_path / "scores.parquet")
    found = pd.read_parquet(tmp_path / "scores.parquet")["row"]
    assert found[:2].tolist() == ["100000", "100001"]
    assert found.isna().tolist() == [k == 2 for k in range(300)]


def test_calibration_rows_are_not_fitted_on(folder: Path) -> None:
    model, metadata = load_with_metadata(folder / "model.toprank")
    positive = metadata["toprank fit"]["calibration_positive"]
    labels = pd.read_csv(folder / "old.csv")["fraud"]
    assert abs(positive.mean() - labels.mean()) < 0.01
    # Half of the rows were left: their median says so.
    imputer = model["numbers"].named_transformers_["number"][-1]
    assert imputer.n_features_in_ == 2
    assert imputer.statistics_[0] != np.nanmedian(pd.read_csv(folder / "old.csv")["amount"])


def test_evaluate_measures_as_the_metrics_do(run: Run, folder: Path) -> None:
    words = ("evaluate", folder / "model.toprank", folder / "new.csv", "-k", 25, "--json")
    found = json.loads(run(*words).stdout)
    scores = scores_of(folder).to_numpy()
    labels = pd.read_csv(folder / "new.csv")["fraud"]
    assert found["rows"] == 300
    assert found["positives"] == labels.sum()
    assert found["metrics"]["auc"] == auc(labels, scores)
    assert found["metrics"]["precision_at_25"] == precision_at_k(labels, scores, k=25)
    assert "precision_at_20" in run(*words[:3]).stdout


def test_evaluate_counts_first(run: Run, folder: Path) -> None:
    words = ("evaluate", folder / "model.toprank", folder / "new.csv", "-k", 25, "-k", "10%")
    labels = pd.read_csv(folder / "new.csv")["fraud"].to_numpy()
    order = np.argsort(-scores_of(folder).to_numpy(), kind="stable")
    lines = run(*words).stdout.splitlines()
    lists = json.loads(run(*words, "--json").stdout)["lists"]
    for line, one, k in zip(lines, lists, (25, 30), strict=False):
        hits = int(labels[order[:k]].sum())
        assert (one["k"], one["found"]) == (k, pytest.approx(hits))
        share = interval(f"precision_at_{k}", labels, scores_of(folder).to_numpy())
        assert one["low"] <= k * share.low < one["low"] + 1
        assert one["high"] - 1 < k * share.high <= one["high"]
        chance = f"{k * labels.mean():.1f}".removesuffix(".0")
        assert line == (
            f"{hits} of the first {k} are '1' ({one['low']} to {one['high']}, 95 %); in random "
            f"order it would be {chance}. The table has {labels.sum()}."
        )
    table = lines[2:]
    assert table[0].split() == ["metric", "value"]
    assert table[1].startswith("precision_at_25")
    assert table[1].endswith("the share of positives among the first 25 rows")
    assert all(len(line.split()) > 3 for line in table[1:])  # every metric is explained


def test_evaluate_with_few_positives_has_no_interval(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    table = pd.read_csv(folder / "new.csv")
    few = pd.concat([table[table["fraud"] == 1][:3], table[table["fraud"] == 0]])
    few.to_csv(tmp_path / "few.csv", index=False)
    words = ("evaluate", folder / "model.toprank", tmp_path / "few.csv", "-k", 10)
    (one,) = json.loads(run(*words, "--json").stdout)["lists"]
    assert one["low"] is one["high"] is None
    assert "95 %" not in run(*words).stdout


def test_the_json_of_fit_begins_with_the_outcome(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ("fit", folder / "old.csv", "--label", "fraud", "--model", "logistic", "--json")
    found = json.loads(run(*words, "-o", tmp_path / "m.toprank").stdout)
    assert list(found)[:6] == ["model", "why", "metrics", "rows", "positives", "positive"]
    assert list(found)[-2:] == ["preprocessing", "certificate"]


def test_inspect_and_models(run: Run, folder: Path) -> None:
    found = json.loads(run("inspect", folder / "model.toprank", "--json").stdout)
    assert found["summary"]["class"] == "LogisticRank"
    assert found["fit"]["kinds"] == {
        "amount": "number",
        "items": "number",
        "country": "category",
        "placed": "date",
        "member": "category",
    }
    assert found["fit"]["calibration_rows"] == 200
    text = run("inspect", folder / "model.toprank").stdout
    assert "placed (date)" in text
    assert "'1' above '0' in 'fraud'" in text
    assert "trained on    200 of the 400 rows of" in text
    assert "capacity      20 rows\n" in text
    assert all(line == line.rstrip() for line in text.splitlines())
    known = json.loads(run("models", "--json").stdout)
    assert {name.lower() for name in methods.__all__} < known.keys()
    assert all(known.values())
    assert list(known)[:5] == ["head", "head-fast", "head-best", "trees", "lightgbm"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--model", "toppush", "--alpha", 0.5], {"class": "TopPush"}),
        (["--model", "RectPushApp", "--cv", 3], {"class": "RankerCV"}),
        (["--budget", 0.001, "--cv", 2, "--capacity", "5%"], {"class": "HeadRanker"}),
    ],
)
def test_models_by_name(
    options: list[Any], wanted: dict[str, Any], run: Run, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model.toprank"
    words = ("fit", folder / "old.csv", "--label", "fraud", "--id", "order", "-o", path)
    found = json.loads(run(*words, *options, "--json").stdout)
    assert found["class"] == wanted["class"]
    assert found["rows"] == 400
    assert len(run("score", path, folder / "new.csv").stdout.splitlines()) == 301


@pytest.mark.parametrize("from_zero", [True, False])
def test_sparse_rows(from_zero: bool, run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((120, 9)) < 0.3, rng.random((120, 9)), 0.0))
    y = np.where(X @ np.arange(9) + 0.3 * rng.standard_normal(120) > 6, 1, -1)
    plain, path = tmp_path / "rows.svmlight", tmp_path / "model.toprank"
    dump_svmlight_file(X, y, str(plain), zero_based=from_zero)
    packed = tmp_path / "rows.svm.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    run("fit", packed, "--model", "toppush", "--alpha", 0.1, "-o", path)
    found = run("score", path, plain).stdout.splitlines()[1:]
    expected = toprank.TopPush(0.1).fit(X, y).decision_function(X)
    assert [float(line.split(",")[1]) for line in found] == pytest.approx(expected, rel=1e-9)
    # Lines alone, of which none has the first column, are read by the same numbers.
    alone = [k for k in range(120) if not X[[k], :1].nnz]
    lines = np.array(plain.read_bytes().splitlines(keepends=True)[-120:], dtype=object)[alone]
    part = run("score", path, "-", "--format", "svmlight", input=b"".join(lines))
    again = [float(line.split(",")[1]) for line in part.stdout.splitlines()[1:]]
    assert again == pytest.approx(expected[alone], rel=1e-9)
    assert json.loads(run("evaluate", path, plain, "--json").stdout)["positives"] == (y == 1).sum()


def test_arrays(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)).astype(np.float32)
    np.savez(tmp_path / "rows.npz", X=X, y=(X[:, 0] > 0.5).astype(np.int8))
    path = tmp_path / "model.toprank"
    run("fit", tmp_path / "rows.npz", "--label", "y", "--model", "logistic", "-o", path)
    found = json.loads(run("evaluate", path, tmp_path / "rows.npz", "--json").stdout)
    assert found["metrics"]["auc"] > 0.95


def test_the_program_is_quiet(folder: Path) -> None:
    words = ["score", str(folder / "model.toprank"), str(folder / "new.csv")]
    done = subprocess.run(
        [sys.executable, "-m", "toprank.cli", *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 301


def test_help_imports_little(run: Run) -> None:
    program = "import sys\nfrom toprank.cli.app import toprank\n"
    program += "try: toprank(['--help'], prog_name='toprank')\n"
    program += "except SystemExit: pass\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Usage: toprank ")
    assert {"sklearn", "pandas", "numpy", "rich", "pyarrow"} & set(done.stdout.split()) == set()
    assert run("--version").stdout == f"toprank {toprank.__version__}\n"
