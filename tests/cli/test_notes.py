"""What `fit` says of columns and times, and of its model in the units of the user."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import toprank
from support.orders import orders
from toprank.cli import fit as fit_command
from toprank.files.model import load_with_metadata

Run = Callable[..., Result]


def kept(path: Path) -> dict[str, Any]:
    return load_with_metadata(path)[1]["toprank fit"]


def fit(run: Run, table: pd.DataFrame, folder: Path, *more: Any, code: int = 0) -> Result:
    table.to_csv(folder / "old.csv", index=False)
    words = ["fit", folder / "old.csv", "--label", "fraud", "--model", "logistic"]
    return run(*words, "-o", folder / "m", "--force", *more, code=code)


def test_columns_that_say_nothing_are_left_out(run: Run, tmp_path: Path) -> None:
    table = orders().assign(currency="EUR", one=1.0, since="2024-02-03", none=None)
    table["gaps"] = np.where(np.arange(400) % 3 == 0, "x", None)  # missing or not: that says much
    table["half"] = np.where(np.arange(400) % 3 == 0, 2.5, np.nan)
    said = fit(run, table, tmp_path, "--id", "order").stderr
    assert "note: left out, because nothing is in them: 'none'.\n" in said
    assert (
        "note: left out, because every row has the same: 'currency' ('EUR'), 'one' (1), "
        "'since' ('2024-02-03" in said
    )
    names = ["amount", "items", "country", "placed", "member", "gaps", "half"]
    assert list(kept(tmp_path / "m")["kinds"]) == names
    # Nothing of them is needed, or looked at, later.
    run("score", tmp_path / "m", tmp_path / "old.csv")
    table.drop(columns=["currency", "one", "since", "none"]).to_csv(tmp_path / "new.csv")
    run("score", tmp_path / "m", tmp_path / "new.csv")
    said = fit(run, table[["one", "currency", "fraud"]], tmp_path, code=2).stderr
    assert "no column to learn from beside the label: the others have the same in every row" in said
    words = ("compare", tmp_path / "old.csv", "--label", "fraud", "--models", "bbr", "--cv", 2)
    orders().assign(currency="EUR").to_csv(tmp_path / "old.csv", index=False)
    compared = run(*words, "--json")
    assert "every row has the same: 'currency' ('EUR')" in compared.stderr
    assert json.loads(compared.stdout)["data"]["columns"] == 6


def timed(counts: list[int]) -> pd.DataFrame:
    """Orders of consecutive days, so many on each, in no order, each at a minute of its own."""
    table = orders(sum(counts))
    days = np.repeat(np.arange(len(counts)), counts)
    table["placed"] = pd.Timestamp("2025-03-01") + pd.to_timedelta(days, unit="D")
    table["placed"] += pd.to_timedelta(np.arange(len(table)), unit="min")
    return table.sample(frac=1.0, random_state=0)


def test_a_list_is_as_long_as_a_day(run: Run, tmp_path: Path) -> None:
    days = [5, 90, 100, 110, 95, 8]  # of the first and the last there is a part
    words = ("--time", "placed", "--cv", 2, "--id", "order")
    said = fit(run, timed(days), tmp_path, *words, "--capacity", 10).stderr
    assert "a list is taken to have 97 rows, the median of a day by 'placed'" in said
    found = toprank.load(tmp_path / "m")[-1]
    assert found.scoring == f"precision_at_{10 / 97:.4g}"
    assert kept(tmp_path / "m")["list_size"] == 97
    for more in (
        ["--capacity", 10, "--list-size", 50],
        ["--capacity", "10%"],
        ["--capacity", 97],  # as many as there are
        [],
    ):
        assert "a list is taken" not in fit(run, timed(days), tmp_path, *words, *more).stderr
    assert "a list is taken" not in fit(run, timed(days[:3]), tmp_path, *words, *more).stderr
    table = timed(days)
    table["placed"] = np.arange(len(table))  # numbers are of no day
    assert "a list is taken" not in fit(run, table, tmp_path, *words, "--capacity", 10).stderr


def test_the_folds_that_are_left_are_said(run: Run, tmp_path: Path) -> None:
    table = timed([100, 100, 100])
    table["placed"] = table["placed"].dt.date
    words = ("--time", "placed", "--id", "order")
    said = fit(run, table, tmp_path, *words, "--cv", 5).stderr
    assert (
        "note: 2 of the 5 folds in time are left, because 'placed' has only 3 different times, "
        "and rows of one time stay together.\n"
    ) in said
    assert "folds in time" not in fit(run, table, tmp_path, *words, "--cv", 2).stderr
    assert "folds in time" not in fit(run, table, tmp_path, *words).stderr
    fine = timed([100, 100, 100])
    assert "folds in time" not in fit(run, fine, tmp_path, *words, "--cv", 5).stderr


@pytest.mark.parametrize("numeric", [True, False])
def test_a_column_of_numbers_is_no_label(numeric: bool, run: Run, tmp_path: Path) -> None:
    table = orders()
    table["fraud"] = np.arange(400) / 8 if numeric else [f"w{k % 40}" for k in range(400)]
    said = fit(run, table, tmp_path, code=2).stderr
    assert ("It looks like a column of numbers: is it the one meant?" in said) is numeric


def test_a_fit_is_told_in_rows(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = orders(900)
    table.to_csv(tmp_path / "old.csv", index=False)
    words = ["fit", tmp_path / "old.csv", "--label", "fraud", "--id", "order", "--cv", 3]
    words += ["--capacity", 12, "--list-size", 60, "-o", tmp_path / "m", "--force"]
    folds: list[tuple[Any, Any]] = []
    measure = fit_command.measured

    def noted(model: Any, *more: Any) -> Any:
        last = model.steps[-1][1] if hasattr(model, "steps") else model
        folds.extend((test, last.oof_scores_) for _, test in last.folds_)
        return measure(model, *more)

    monkeypatch.setattr(fit_command, "measured", noted)
    found = run(*words)
    monkeypatch.undo()
    y = table["fraud"].to_numpy()
    shares = []
    for test, scores in folds:  # a fifth of each fold, by hand
        best = test[np.argsort(-scores[test], kind="stable")]
        assert len(best) == 300
        shares.append(y[best[:60]].mean())
    mean, error = np.mean(shares), np.std(shares, ddof=1) / math.sqrt(3)
    between = f"{12 * max(mean - 2 * error, 0):.0f} to {12 * min(mean + 2 * error, 1):.0f}"
    lines = found.stderr.splitlines()
    line = (
        f"about {12 * mean:.0f} ({between}) of the first 12 of 60 rows are '1', by cross-validation"
    )
    assert line in lines
    assert lines.index(line) < next(k for k, own in enumerate(lines) if "Chosen" in own)
    assert line in run("inspect", tmp_path / "m").stdout
    top = json.loads(run(*words, "--json").stdout)["metrics"]["top"]
    assert top["positives"] == pytest.approx(12 * mean)
    assert (top["k"], top["of"]) == (12, 60)


def test_rows_held_out_tell_of_a_fit_without_folds(run: Run, tmp_path: Path) -> None:
    table = orders(2000)
    found = fit(run, table, tmp_path, "--id", "order", "--calibrate", 0.5)
    own = kept(tmp_path / "m")
    scores, positive = own["calibration_scores"], own["calibration_positive"]
    mean = positive[np.argsort(-scores)[:50]].mean()  # 100 of 2,000 is 50 of 1,000
    assert f"about {100 * mean:.0f} (" in found.stderr
    assert "of the first 100 of 2,000 rows are '1', by 1,000 rows held out\n" in found.stderr
    assert "of the first" not in fit(run, table, tmp_path, "--id", "order").stderr


def test_inspect_shows_what_fills_gaps_where_there_are_some(run: Run, folder: Path) -> None:
    shown = run("inspect", folder / "model.toprank").stdout
    assert "amount: " in shown
    assert " where missing\n" in shown
    assert "items:" not in shown
    whole = json.loads(run("inspect", folder / "model.toprank", "--json").stdout)
    assert [line["column"] for line in whole["summary"]["preprocessing"]][:2] == ["amount", "items"]
