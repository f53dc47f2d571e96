"""`toprank convert`, and a model of what it made, which takes tables as they were before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from support.orders import orders


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    orders(1500).to_csv("orders.csv", index=False)
    orders(500, seed=1).to_csv("today.csv", index=False)
    return tmp_path


def test_a_converted_table_gives_the_scores_of_the_table(
    run: Callable[..., Result], folder: Path
) -> None:
    convert = ["convert", "orders.csv", "-o", "train.toprank", "--label", "fraud", "--id", "order"]
    made = json.loads(run(*convert, "--dtype", "float64", "--json").stdout)
    assert made["rows"] == 1500
    positive = made["classes"][1]
    assert made["positives"] == (orders(1500)["fraud"].astype(str) == positive).sum() > 0
    options = ["--model", "logistic", "--alpha", "0.001"]
    run("fit", "train.toprank", *options, "-o", "a.model")
    run("fit", "orders.csv", "--label", "fraud", "--id", "order", *options, "-o", "b.model")
    for name in ("a", "b"):
        run("score", f"{name}.model", "today.csv", "-o", f"{name}.csv")
    a, b = (pd.read_csv(f"{name}.csv") for name in ("a", "b"))
    assert a["order"].tolist() == b["order"].tolist()
    np.testing.assert_allclose(a["score"], b["score"], atol=0.05)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--label", "fraud"], "--label is for `toprank convert`"),
        (["--calibrate", "0.2"], "--calibrate is for tables in memory"),
        (["--positive", "maybe"], "convert the table with --positive maybe"),
    ],
)
def test_what_was_settled_is_not_asked_again(
    run: Callable[..., Result], folder: Path, words: list[str], told: str
) -> None:
    run("convert", "orders.csv", "-o", "train.toprank", "--label", "fraud")
    failed = run("fit", "train.toprank", "-o", "m", "--model", "logistic", *words, code=2)
    assert told in failed.output
    assert not (folder / "m").exists()


def test_a_damaged_folder_is_told(run: Callable[..., Result], folder: Path) -> None:
    run("convert", "orders.csv", "-o", "train.toprank", "--label", "fraud")
    file = folder / "train.toprank" / "X.npy"
    file.write_bytes(file.read_bytes()[:-8])
    failed = run("fit", "train.toprank", "-o", "m", "--model", "logistic", code=2)
    assert "X.npy is truncated" in failed.output


def test_what_was_made_is_said(run: Callable[..., Result], folder: Path) -> None:
    words = ("convert", "orders.csv", "-o", "train.toprank", "--label", "fraud", "--id", "order")
    rows, columns, written = run(*words).stderr.splitlines()
    count = orders(1500)["fraud"].sum()
    assert rows == f"'1' is ranked first: {count} of 1,500 rows, {count / 15:.3g} %."
    assert columns.endswith(" columns, dense float32")
    assert written == "written: train.toprank"
