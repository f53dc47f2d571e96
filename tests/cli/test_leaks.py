"""Columns that give the label away are named before anything is learnt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from support.orders import orders

Run = Callable[..., Result]
FIT = ("fit", "leak.csv", "--label", "fraud", "--id", "order", "--model", "logistic")
COMPARE = ("compare", "leak.csv", "--label", "fraud", "--id", "order", "--models", "logistic")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start in a folder with leak.csv, sorted by the date on which fraud was found."""
    monkeypatch.chdir(tmp_path)
    table = orders()
    placed = table["placed"].to_numpy(dtype="datetime64[D]")
    back = np.where(table["fraud"] == 1, placed + np.timedelta64(30, "D"), np.datetime64("NaT"))
    table["chargeback"] = back
    table.sort_values("chargeback").to_csv("leak.csv", index=False)
    table["chargeback"] = np.where(np.isnat(back), np.datetime64("2024-12-31"), back)
    table.sort_values("chargeback").to_csv("filled.csv", index=False)


def warnings_of(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("warning: ")]


@pytest.mark.parametrize("quiet", [(), ("-q",)])
@pytest.mark.parametrize("command", [(*FIT, "-o", "m.toprank"), (*COMPARE, "--cv", "3")])
def test_a_leak_is_told_first(command: Any, quiet: tuple[str, ...], run: Run) -> None:
    lines = run(*command, *quiet).stderr.splitlines()
    assert lines[1] == (
        "warning: 'chargeback' (filled in for 100 % of the positives and 0 % of the others) gives "
        "the label away: pass --ignore chargeback, unless it is known when the list is made."
    )
    without = run(
        *command, *quiet, "--ignore", "chargeback", "--strict", *FORCE.get(command[0], ())
    )
    assert warnings_of(without) == []


FORCE = {"fit": ("--force",)}


def test_strict_fits_nothing(run: Run) -> None:
    result = run(*FIT, "-o", "m.toprank", "--strict", code=3)
    assert result.stderr.splitlines()[-1] == (
        "toprank: 'chargeback' gives the label away, and --strict was given: nothing was fitted."
    )
    assert not Path("m.toprank").exists()


def test_strict_compare_writes_its_report(run: Run) -> None:
    words = (*COMPARE, "--cv", "3", "--report", "r.html", "--strict")
    result = run(*words, code=3)
    assert "TR006" in result.stderr.splitlines()[-1]
    assert Path("r.html").exists()
    silenced = run(*words, "--ignore", "tr006")
    assert warnings_of(silenced) == []


@pytest.mark.parametrize("table", ["leak.csv", "filled.csv"])
def test_a_leaking_date_is_no_time(table: str, run: Run) -> None:
    words = [table if word == "leak.csv" else word for word in FIT]
    result = run(*words, "-o", "m.toprank")
    assert len(warnings_of(result)) == 1
    assert "--time" not in result.stderr


def test_a_date_with_gaps_is_no_time(run: Run) -> None:
    table = orders().sort_values("placed")
    table.to_csv("leak.csv", index=False)
    assert "--time placed" in run(*FIT, "-o", "a.toprank").stderr
    table.loc[table.index[-1], "placed"] = None
    table.to_csv("leak.csv", index=False)
    assert "--time" not in run(*FIT, "-o", "b.toprank").stderr


def test_the_model_remembers(run: Run) -> None:
    assert json.loads(run(*FIT, "-o", "m.toprank", "--json").stdout)["leaks"] == ["chargeback"]
    assert json.loads(run("inspect", "m.toprank", "--json").stdout)["fit"]["leaks"] == [
        "chargeback"
    ]
    assert "gives the label away  chargeback" in run("inspect", "m.toprank").stdout


def test_many_leaks_are_counted(run: Run) -> None:
    table = orders()
    for k in range(7):
        table[f"leak {k}"] = table["fraud"] + 0.1 * k
    table.to_csv("leak.csv", index=False)
    lines = warnings_of(run(*FIT, "-o", "m.toprank"))
    assert len(lines) == 6
    assert "--ignore 'leak 0'" in lines[0]
    assert lines[-1] == "warning: so do 2 more columns."


def test_sparse_rows(run: Run) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    lines = [
        f"{int(own)} 1:{value:.3f}{' 3:1' if own else ''}"
        for own, value in zip(y, rng.random(200), strict=True)
    ]
    Path("rows.svmlight").write_text("\n".join(lines) + "\n")
    result = run("fit", "rows.svmlight", "--model", "logistic", "-o", "m.toprank", "-q")
    (line,) = warnings_of(result)
    assert "'x2'" in line
    assert "--ignore" not in line


def test_ids_are_noted_not_warned_of(run: Run) -> None:
    table = pd.read_csv("leak.csv").drop(columns="chargeback")
    rng = np.random.default_rng(0)
    table["case"] = 5000 + rng.permutation(len(table))
    table["customer_id"] = rng.integers(1000, 1300, len(table))
    table.to_csv("leak.csv", index=False)
    result = run(*FIT, "-o", "m.toprank", "--strict")
    assert warnings_of(result) == []
    assert "column 'case' of leak.csv has another value in almost every row" in result.stderr
    assert "'customer_id' of leak.csv seems to hold names" in result.stderr
