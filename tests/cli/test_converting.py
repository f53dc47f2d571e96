"""`toprank convert`, and a model of what it made, which takes tables as they were before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import toprank
from support.orders import orders
from toprank.cli.convert import table_of


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


@pytest.fixture
def leaking(folder: Path) -> pd.DataFrame:
    """A table, leak.csv, in the order of a date; another date is filled in for fraud only."""
    table = orders(1500).sort_values("placed")
    table["fraud"] = np.where(table["fraud"] == 1, "fraud", "ok")
    table = table[(table["fraud"] == "ok") | (np.arange(1500) % 3 == 0)].reset_index(drop=True)
    placed = table["placed"].to_numpy(dtype="datetime64[D]")
    known = (table["fraud"] == "fraud") & (np.arange(len(table)) % 5 > 0)
    table["back"] = np.where(known, placed + np.timedelta64(30, "D"), np.datetime64("NaT"))
    table.to_csv("leak.csv", index=False)
    return table


@pytest.mark.parametrize("more", [(), ("--no-scale",)])
def test_the_raw_columns_are_got_back(
    run: Callable[..., Result], leaking: pd.DataFrame, more: tuple[str, ...]
) -> None:
    run("convert", "leak.csv", "-o", "set", "--label", "fraud", "--id", "order", *more)
    rows = np.arange(3, len(leaking), 7)
    found, raw = (
        table_of(toprank.open_dataset("set"), rows),
        leaking.iloc[rows].reset_index(drop=True),
    )
    for own in ("amount", "items"):
        np.testing.assert_allclose(found[own], raw[own], rtol=1e-5)
    for own in ("placed", "back"):
        days = raw[own].to_numpy(dtype="datetime64[D]")
        np.testing.assert_array_equal(found[own].to_numpy("datetime64[D]"), days)
    country = [None if pd.isna(one) else one for one in raw["country"]]
    assert [None if pd.isna(one) else one for one in found["country"]] == country
    assert found["member"].tolist() == raw["member"].astype(str).tolist()


def test_convert_and_fit_of_it_say_what_fit_says(
    run: Callable[..., Result], leaking: pd.DataFrame
) -> None:
    label = ("--label", "fraud", "--id", "order")
    model = ("--model", "logistic")
    of_table = run("fit", "leak.csv", *label, *model, "-o", "a").stderr.splitlines()
    told = [line for line in of_table[:3] if not line.startswith("note: ")]
    assert "the rarer label" in told[0]
    share = 100 * leaking["back"].notna().sum() / (leaking["fraud"] == "fraud").sum()
    assert told[1].startswith(f"warning: 'back' (filled in for {share:.3g} % of the positives")
    converted = run("convert", "leak.csv", "-o", "set", *label).stderr.splitlines()
    assert [line for line in converted if not line.startswith("note: ")][:2] == told
    (note,) = [line for line in converted if line.startswith("note: ")]
    assert "in the order of 'placed'" in note
    assert "fit the table itself with --time placed" in note
    fitted = json.loads(run("fit", "set", *model, "-o", "b", "--json").stdout)
    assert fitted["leaks"] == ["back"]
    strict = run("fit", "set", *model, "-o", "c", "--strict", "-q", code=3)
    assert strict.stderr.splitlines()[:2] == told
    assert not Path("c").exists()
