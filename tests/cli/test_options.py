"""Options from a file, quiet, time and groups, reasons, lists in files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import Result
from sklearn.model_selection import StratifiedGroupKFold, TimeSeriesSplit

import toprank
from support.orders import read_scores
from toprank.cli.app import toprank as program
from toprank.cli.options import _names
from toprank.files import batches
from toprank.files.model import load_with_metadata
from toprank.report.head_rows import reasons

Run = Callable[..., Result]


def kept(path: Path) -> dict[str, Any]:
    return load_with_metadata(path)[1]["toprank fit"]


def test_options_from_a_file(run: Run, folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    path = tmp_path / "model.toprank"
    config.write_text(
        f"""id = "order"
why = 1  # of `top` alone
[fit]
data = "{folder / "old.csv"}"
label = "fraud"
model = "logistic"
capacity = 0.05
list-size = 1000
ignore = ["member", "placed"]
json = true
[top]
k = 4
"""
    )
    found = json.loads(run("fit", "--config", config, "-o", path).stdout)
    assert found["class"] == "LogisticRank"
    assert list(kept(path)["kinds"]) == ["amount", "items", "country"]
    assert kept(path)["capacity"] == 0.05
    # The command line wins.
    run("fit", "--config", config, "-o", path, "--force", "--capacity", 7, "--ignore", "items")
    assert kept(path)["capacity"] == 7
    assert "member" in kept(path)["kinds"]
    listed = run("top", path, folder / "new.csv", "--config", config).stdout.splitlines()
    assert len(listed) == 5
    assert all(line.count("+") <= 1 for line in listed)
    assert (
        len(run("top", path, folder / "new.csv", "--config", config, "-k", 2).stdout.splitlines())
        == 3
    )


@pytest.mark.parametrize(
    ("content", "pieces"),
    [
        ("capasity = 3", ["no command has an option 'capasity'", "is it 'capacity'?"]),
        ("[fit]\nk = 3", ["`toprank fit` has no option 'k'"]),
        ("[fti]\nid = 'a'", ["no command 'fti'", "is it 'fit'?"]),
        ("json = 1", ["'json' must be true or false"]),
        ("label = true", ["'label' must be no truth value"]),
        ("label = ['a', 'b']", ["'label' takes one value"]),
        ("label = ", ["run.toml is no TOML"]),
        ("config = 'other.toml'", ["no command has an option 'config'"]),
    ],
)
def test_files_of_options_that_will_not_do(
    content: str, pieces: list[str], run: Run, folder: Path, tmp_path: Path
) -> None:
    config = tmp_path / "run.toml"
    config.write_text(content)
    found = run("fit", folder / "old.csv", "-o", tmp_path / "m", "--config", config, code=2)
    assert found.stderr.startswith("toprank: ")
    assert len(found.stderr.splitlines()) == 1
    for piece in pieces:
        assert piece in found.stderr
    found = run(
        "fit", folder / "old.csv", "-o", tmp_path / "m", "--config", tmp_path / "no", code=2
    )
    assert "No such file" in found.stderr


def test_every_command_has_the_common_options() -> None:
    for name, command in program.commands.items():
        assert {"json", "quiet"} <= _names(command).keys(), name
        assert "config" in {parameter.name for parameter in command.params}, name


def test_quiet(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ("fit", folder / "old.csv", "--label", "fraud", "--model", "logistic", "-q")
    (line,) = run(*words, "-o", tmp_path / "m").output.splitlines()
    assert line == "'1' is ranked first: 106 of 400 rows, 26.5 %."
    model, scores = folder / "model.toprank", tmp_path / "scores.csv"
    assert run("score", model, folder / "new.csv", "-o", scores, "--quiet").output == ""
    assert run("score", model, tmp_path / "no.csv", "--quiet", code=2).stderr.startswith(
        "toprank: "
    )


def test_scores_as_json(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ("score", folder / "model.toprank", folder / "new.csv")
    table = read_scores(io.StringIO(run(*words).stdout))
    lines = [json.loads(line) for line in run(*words, "--json").stdout.splitlines()]
    assert lines == table.to_dict("records")
    path = str(tmp_path / "scores.csv.zst")
    assert json.loads(run(*words, "-o", path, "--json").stdout) == {"rows": 300, "output": path}
    with pa.CompressedInputStream(path, "zstd") as stream:
        assert stream.read().decode() == run(*words).stdout


@pytest.mark.parametrize(
    "options", [["--cv", 3, "--model", "logistic"], ["--budget", 0.001, "--cv", 2]]
)
def test_folds_in_time_and_of_groups(
    options: list[Any], run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toprank.cli.fitting.save", partial(toprank.save, folds=True))
    old = pd.read_csv(folder / "old.csv", dtype={"order": str})
    shuffled = old.sample(frac=1.0, random_state=0)
    shuffled["customer"] = np.arange(len(old)) // 4
    shuffled.to_csv(tmp_path / "data.csv", index=False)
    path = tmp_path / "model.toprank"
    words = (
        "fit",
        tmp_path / "data.csv",
        "--label",
        "fraud",
        "--id",
        "order",
        "-o",
        path,
        "--force",
        *options,
    )
    run(*words, "--time", "placed", "--ignore", "customer")
    model = toprank.load(path)
    last = model[-1] if hasattr(model, "steps") else model
    assert isinstance(last.cv, TimeSeriesSplit) or isinstance(last, toprank.HeadRanker)
    assert kept(path)["time"] == "placed"
    assert "placed" not in kept(path)["kinds"]
    days = np.sort(shuffled["placed"].to_numpy())
    for training, test in last.folds_:
        assert days[training.max()] < days[test.min()]  # no day is on both sides
    # The rows themselves were sorted, and not their times alone.
    labels = shuffled.sort_values("placed", kind="stable")["fraud"].to_numpy()
    again = toprank.load(path)
    frame = shuffled.sort_values("placed", kind="stable")
    frame["member"] = frame["member"].astype(str)
    frame["country"] = frame["country"].astype(object).where(frame["country"].notna(), None)
    scores = again.decision_function(frame[list(again.feature_names_in_)])
    assert toprank.metrics.auc(labels, scores) > 0.75
    run(*words, "--group", "customer")
    model = toprank.load(path)
    last = model[-1] if hasattr(model, "steps") else model
    assert isinstance(last.cv, StratifiedGroupKFold)
    groups = shuffled["customer"].to_numpy()
    for training, test in last.folds_:
        assert not set(groups[training]) & set(groups[test])
    run(*words, "--group", "customer", "--calibrate", 0.5)
    assert 150 < len(kept(path)["calibration_scores"]) < 250
    found = run(*words, "--group", "customer", "--time", "placed", code=2)
    assert "pass one of them" in found.stderr


def test_times_and_groups_that_will_not_do(run: Run, folder: Path, tmp_path: Path) -> None:
    old = pd.read_csv(folder / "old.csv", dtype={"order": str})
    words = ("fit", tmp_path / "data.csv", "--label", "fraud", "-o", tmp_path / "m", "--cv", 2)
    for column, cell, option, piece in (
        ("placed", "soon", "--time", "row 5, column 'placed': 'soon' is no time"),
        ("placed", None, "--time", "row 5, column 'placed': the time is missing"),
        ("items", None, "--time", "row 5, column 'items': the time is missing"),
        ("country", None, "--group", "row 1, column 'country': the group is missing"),
    ):
        table = old.astype({column: object})
        table.loc[4, column] = cell
        table.to_csv(tmp_path / "data.csv", index=False)
        assert piece in run(*words, option, column, code=2).stderr
    old.to_csv(tmp_path / "data.csv", index=False)
    assert "--time names" in run(*words, "--time", "when", code=2).stderr


def test_the_newest_rows_are_held_out(run: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.toprank"
    words = ("fit", folder / "old.csv", "--label", "fraud", "--id", "order", "--model", "logistic")
    run(*words, "--time", "placed", "--calibrate", 0.25, "-o", path)
    old = pd.read_csv(folder / "old.csv").sort_values("placed", kind="stable")
    assert kept(path)["calibration_positive"].tolist() == (old["fraud"] == 1)[-100:].tolist()


def test_reasons_are_terms_of_a_linear_score(run: Run, folder: Path) -> None:
    words = ("top", folder / "model.toprank", folder / "new.csv", "-k", 12, "--why", 9)
    found = json.loads(run(*words, "--json").stdout)["rows"]
    model = toprank.load(folder / "model.toprank")
    new = pd.read_csv(folder / "new.csv", dtype={"order": str, "member": str})
    new["placed"] = pd.to_datetime(new["placed"])
    new["country"] = new["country"].astype(object).where(new["country"].notna(), None)
    names = list(model["numbers"].get_feature_names_out())
    Z = model[:-1].transform(new[list(model.feature_names_in_)])
    terms = pd.DataFrame(Z * model[-1].coef_, columns=names)
    for row in found:
        place = row["row"] - 1
        own = terms.loc[place]
        expected = {
            "amount": own["amount"] + own["missingindicator_amount"],
            "items": own["items"],
            "country": own.filter(like="country_").sum(),
            "member": own.filter(like="member_").sum(),
            "placed": own.filter(like="placed_").sum(),
        }
        positive = {name: adds for name, adds in expected.items() if adds > 1e-12}
        assert [one["column"] for one in row["why"]] == sorted(positive, key=lambda n: -positive[n])
        for one in row["why"]:
            assert one["adds"] == pytest.approx(positive[one["column"]], rel=1e-9)
            cell = new.loc[place, one["column"]]
            if one["column"] == "placed":
                assert one["value"] == str(cell)[:10]
            else:
                assert one["value"] == (None if pd.isna(cell) else cell)
    # A report tells the same of these rows.
    places = np.array([row["row"] - 1 for row in found])
    reported = reasons(model, new[list(model.feature_names_in_)], places)
    for row, parts in zip(found, reported.parts, strict=True):
        told = dict(zip(reported.columns, parts, strict=True))
        assert {one["column"]: one["adds"] for one in row["why"]} == pytest.approx(
            {name: adds for name, adds in told.items() if adds > 1e-12}, rel=1e-9
        )


def test_lists_in_files(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ("top", folder / "model.toprank", folder / "new.csv", "-k", 5)
    plain = run(*words).stdout
    assert plain.startswith("order,score,why\n")
    for name in ("list.csv", "list.tsv", "list.csv.gz", "list.parquet"):
        told = run(*words, "-o", tmp_path / name)
        assert told.stdout == ""
        assert f"5 rows of 300: {tmp_path / name}" in told.stderr
    assert (tmp_path / "list.csv").read_text() == plain
    table = pd.read_csv(io.StringIO(plain), dtype={"order": str})
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "list.parquet"), table)
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "list.tsv", sep="\t", dtype={"order": str}), table
    )
    assert run(*words, "--why", 0).stdout.startswith("order,score\n")
    assert ".parquet" in run(*words, "-o", tmp_path / "list.xls", code=2).stderr
    piped = run(*words[:2], "-", *words[3:], input=(folder / "new.csv").read_bytes())
    assert piped.stdout == plain


def test_reasons_of_sparse_rows(run: Run, tmp_path: Path) -> None:
    data, path = tmp_path / "rows.svmlight", tmp_path / "model.toprank"
    data.write_text("1 1:1 2:3\n-1 1:2\n1 2:4 3:1\n-1 1:1 3:1\n" * 5)
    for model in (["--model", "toppush", "--alpha", 0.1], ["--cv", 2]):
        run("fit", data, *model, "-o", path, "--force")
        found = json.loads(run("top", path, data, "-k", 1, "--json").stdout)["rows"][0]
        assert found["row"] == 3
        assert found["why"][0]["column"] == "2"
        assert found["why"][0]["value"] == 4.0


def test_the_fingerprint_is_of_the_cells(run: Run, folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "old.csv", dtype={"order": str})
    table.to_parquet(tmp_path / "old.parquet")
    words = ("--label", "fraud", "--id", "order", "--model", "logistic", "-o", tmp_path / "m")
    one = json.loads(run("fit", folder / "old.csv", *words, "--json").stdout)
    other = json.loads(run("fit", tmp_path / "old.parquet", *words, "--json", "--force").stdout)
    assert one["fingerprint"] == other["fingerprint"]
    table.loc[7, "items"] += 1
    table.to_parquet(tmp_path / "old.parquet")
    other = json.loads(run("fit", tmp_path / "old.parquet", *words, "--json", "--force").stdout)
    assert one["fingerprint"] != other["fingerprint"]
    text = run("inspect", tmp_path / "m").stdout
    assert other["fingerprint"] in text
    assert "country: 4 categories ((missing), AT, DE, FR)" in text
    assert "placed: days, month, day, weekday" in text


def test_missing_cells_are_those_of_pandas() -> None:
    from pandas._libs.parsers import STR_NA_VALUES

    assert set(batches.MISSING) == STR_NA_VALUES


def test_truth_values_are_written_in_many_ways(run: Run, folder: Path, tmp_path: Path) -> None:
    old = pd.read_csv(folder / "old.csv", dtype={"order": str})
    old["member"] = old["member"].map({True: "true", False: "FALSE"})
    old.to_csv(tmp_path / "old.csv", index=False)
    words = ("--label", "fraud", "--id", "order", "--model", "logistic", "-o", tmp_path / "m")
    run("fit", tmp_path / "old.csv", *words)
    again = run("score", tmp_path / "m", tmp_path / "old.csv").stdout
    assert run("score", tmp_path / "m", folder / "old.csv").stdout == again


def test_a_model_with_folds_of_its_own_gets_those_asked_for(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    words = ("fit", folder / "old.csv", "--label", "fraud", "--id", "order", "--model", "bbrcv")
    run(*words, "-o", path, "--time", "placed", "--cv", 3, "--capacity", "5%")
    model = toprank.load(path)
    last = model[-1] if hasattr(model, "steps") else model
    assert isinstance(last.cv, TimeSeriesSplit)
    assert (last.cv.n_splits, last.scoring) == (3, "precision_at_0.05")
    words = (*words, "--force")
    run(*words, "-o", path, "--group", "country", "--ignore", "placed", code=2)  # one is missing
    run(*words, "-o", path, "--group", "items")
    assert isinstance(toprank.load(path)[-1].cv, StratifiedGroupKFold)


@pytest.mark.parametrize("rising", [True, False])
def test_rows_in_the_order_of_a_date_are_noted(
    rising: bool, run: Run, folder: Path, tmp_path: Path
) -> None:
    old = pd.read_csv(folder / "old.csv", dtype={"order": str})
    path = tmp_path / "data.csv"
    words = (
        "fit",
        path,
        "--label",
        "fraud",
        "--model",
        "logistic",
        "-o",
        tmp_path / "m",
        "--force",
    )
    old.sort_values("placed", ascending=rising).to_csv(path, index=False)
    note = "are in the order of 'placed': to be judged on later rows than were fitted on, pass "
    assert f"{note}--time placed." in run(*words).stderr
    assert "in the order of" not in run(*words, "--time", "placed").stderr
    old.to_csv(path, index=False)  # in no order
    assert "in the order of" not in run(*words).stderr
    old.assign(placed="2025-01-31").to_csv(path, index=False)
    assert "in the order of" not in run(*words).stderr
