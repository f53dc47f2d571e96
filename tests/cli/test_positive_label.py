"""Which label is ranked first, and that it is always said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import toprank
from support.orders import orders

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start in a folder with rare.csv, a tenth of it fraud, and even.csv."""
    monkeypatch.chdir(tmp_path)
    table = orders(1500)
    bad = table["fraud"] == 1
    table["fraud"] = np.where(bad, "fraud", "ok")
    table[~bad | (np.arange(1500) % 3 == 0)].to_csv("rare.csv", index=False)
    table["fraud"] = np.where(table["items"] > 4, "bad", "good")
    table.to_csv("even.csv", index=False)


FIT = ("fit", "rare.csv", "--label", "fraud", "--id", "order", "--model", "logistic")


def the_lines(result: Result) -> list[str]:
    return result.stderr.splitlines()


@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_the_rarer_label_is_ranked_first(quiet: tuple[str, ...], run: Run) -> None:
    labels = pd.read_csv("rare.csv")["fraud"]
    count, n = int((labels == "fraud").sum()), len(labels)
    assert 0.05 < count / n < 0.15
    of = f"{count} of {n:,} rows"
    first = the_lines(run(*FIT, "--capacity", 20, "-o", "m.toprank", *quiet))[0]
    assert first.startswith(f"'fraud' is ranked first, the rarer label: {of}, ")
    found = run("top", "m.toprank", "rare.csv", *quiet)
    assert the_lines(found)[0].startswith(f"'fraud' is ranked first: {of} learnt from, ")
    known = pd.read_csv("rare.csv").set_index("order")["fraud"]
    top = [line.split(",")[0] for line in found.stdout.splitlines()[1:]]
    assert (known.loc[[int(name) for name in top]] == "fraud").mean() > 0.5
    found = run("evaluate", "m.toprank", "rare.csv", *quiet)
    assert the_lines(found)[0].startswith(f"'fraud' is ranked first: {of}, ")


def test_programs_read_it(run: Run) -> None:
    fitted = json.loads(run(*FIT, "-o", "m.toprank", "--json").stdout)
    assert fitted["positive"] == "fraud"
    assert json.loads(run("top", "m.toprank", "rare.csv", "-k", 3, "--json").stdout)[
        "positive"
    ] == ("fraud")
    found = json.loads(run("evaluate", "m.toprank", "rare.csv", "--json").stdout)
    assert found["positive"] == "fraud"
    assert found["metrics"]["auc"] > 0.8
    assert json.loads(run("inspect", "m.toprank", "--json").stdout)["fit"]["positive"] == "fraud"
    words = ("convert", "rare.csv", "--label", "fraud", "--id", "order", "-o", "train")
    assert json.loads(run(*words, "--json").stdout)["positive"] == "fraud"


def test_a_named_label_wins(run: Run) -> None:
    named = run(*FIT, "--positive", "ok", "-o", "m.toprank").stderr
    assert named.startswith("'ok' is ranked first: ")
    found = json.loads(run("evaluate", "m.toprank", "rare.csv", "--json").stdout)
    assert found["positive"] == "ok"


@pytest.mark.parametrize("candidates", [(), ("--positive", "ok")])
def test_a_capacity_where_most_rows_are_positive(candidates: tuple[str, ...], run: Run) -> None:
    """The false positive rate that the capacity implies was 1.2."""
    n = len(pd.read_csv("rare.csv"))
    words = ["fit", "rare.csv", "--label", "fraud", "--id", "order", "--capacity", n // 5]
    words += ["--list-size", n, "--budget", 0.001, "--cv", 2, "-o", "m.toprank"]
    run(*words, *candidates)


@pytest.mark.parametrize("command", ["fit", "compare", "convert"])
def test_labels_that_are_even_must_be_chosen_from(command: str, run: Run) -> None:
    more: dict[str, list[Any]] = {
        "fit": ["-o", "m.toprank", "--model", "logistic"],
        "compare": ["--models", "logistic", "--cv", 2],
        "convert": ["-o", "train"],
    }
    words = [command, "even.csv", "--label", "fraud", "--id", "order", *more[command]]
    (refused,) = the_lines(run(*words, "-q", code=2))
    labels = pd.read_csv("even.csv")["fraud"].value_counts()
    shown = f"'bad' ({labels['bad']:,} rows) and 'good' ({labels['good']:,} rows)"
    assert f"has the labels {shown}, and neither" in refused
    assert "pass --positive with the one to rank first" in refused
    said = the_lines(run(*words, "--positive", "good"))
    assert said[0].startswith(f"'good' is ranked first: {labels['good']:,} of 1,500 rows, ")


def test_rows_that_were_read_are_kept_until_the_label_is_named(run: Run) -> None:
    words = ["convert", "even.csv", "--label", "fraud", "--id", "order", "-o", "train"]
    run(*words, code=2)
    left = Path(".train.part", "y.npy").stat()
    run(*words, "--positive", "bad")
    assert Path("train", "y.npy").stat().st_ino == left.st_ino
    data = toprank.open_dataset("train")
    assert data.classes == ("good", "bad")
    assert data.y.tolist() == (pd.read_csv("even.csv")["fraud"] == "bad").tolist()


def test_data_sets_of_sparse_rows(run: Run) -> None:
    lines = [f"{1 + (k % 2)} 1:{k} 2:1" for k in range(30)]
    Path("rows.svmlight").write_text("\n".join(lines))
    refused = run("convert", "rows.svmlight", "-o", "train", code=2).stderr
    assert "'1' (15 rows) and '2' (15 rows)" in refused
    run("convert", "rows.svmlight", "-o", "train", "--positive", "1")
    data = toprank.open_dataset("train")
    assert data.X.toarray()[:, 0].tolist() == list(range(30))  # numbered from 0, once
    said = run("fit", "train", "--model", "logistic", "-o", "m.toprank", "-q").stderr
    assert said == "'1' is ranked first: 15 of 30 rows, 50 %.\n"


def test_older_data_sets_with_the_frequent_label_first(run: Run) -> None:
    run(
        "convert",
        "rare.csv",
        "--label",
        "fraud",
        "--id",
        "order",
        "-o",
        "train",
        "--positive",
        "ok",
    )
    meta = Path("train", "toprank.json")
    if not meta.exists():
        (meta,) = Path("train").glob("*.json")
    found = json.loads(meta.read_text())
    assert found.pop("positive_named")
    meta.write_text(json.dumps(found))
    fit = ("fit", "train", "--model", "logistic", "-o", "m.toprank")
    assert "made with 'ok' as its positive label, the more frequent" in run(*fit, code=2).stderr
    assert run(*fit, "--positive", "ok").stderr.startswith("'ok' is ranked first: ")


@pytest.mark.parametrize("words", [("0", "1"), ("-1", "1"), ("false", "true"), ("FALSE", "TRUE")])
def test_labels_that_speak_for_themselves(words: tuple[str, str], run: Run) -> None:
    table = pd.read_csv("rare.csv", dtype=str)
    table["fraud"] = np.where(table["fraud"] == "ok", words[1], words[0])
    table.to_csv("plain.csv", index=False)
    said = run("fit", "plain.csv", *FIT[2:], "-o", "m.toprank").stderr
    assert said.casefold().startswith(f"'{words[1].casefold()}' is ranked first: ")
