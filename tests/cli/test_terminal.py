"""What commands show on a terminal."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result

from support.orders import orders
from support.terminals import on_terminal

Run = Callable[..., Result]

PROGRAM = "from toprank.cli import main; main()"
#: Sets the title of a window, turns text around, begins a new line, is a tag of rich.
NASTY = "\x1b]0;pwned\x07 \u202egnp.exe \u2028[bold]x[/y] :smile:"
SHOWN = r"\x1b]0;pwned\x07 \u202egnp.exe \u2028[bold]x[/y] :smile:"


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """Orders whose first id and one of whose countries are nasty, and a model of them."""
    folder = tmp_path_factory.mktemp("nasty")
    table = orders()
    table["country"] = table["country"].replace("FR", NASTY)
    table["order"] = table["order"] + NASTY
    table.to_csv(folder / "old.csv", index=False)
    words = ["fit", folder / "old.csv", "--label", "fraud", "--id", "order"]
    run(*words, "--model", "logistic", "-o", folder / "model.toprank")
    return folder


def assert_clean(shown: str) -> None:
    for unsafe in ("\x1b]", "\x07", "\u202e", "\u2028"):
        assert unsafe not in shown


def test_data_is_escaped_on_a_terminal(nasty: Path) -> None:
    words = (nasty / "model.toprank", nasty / "old.csv")
    for shown in (
        on_terminal(PROGRAM, "top", *words, "-k", 2, width=400),
        on_terminal(PROGRAM, "top", *words, "-k", 2, "--json"),
        on_terminal(PROGRAM, "score", *words),
        on_terminal(PROGRAM, "inspect", words[0], width=400),
    ):
        assert_clean(shown)
        assert SHOWN in shown or json.dumps(NASTY, ensure_ascii=True)[1:-1] in shown


def test_inspect_escapes_into_a_pipe_too(run: Run, nasty: Path) -> None:
    shown = run("inspect", nasty / "model.toprank").stdout
    assert_clean(shown)
    assert SHOWN in shown


def test_ids_are_exact_in_files_and_pipes(run: Run, nasty: Path, tmp_path: Path) -> None:
    expected = sorted(orders()["order"] + NASTY)
    words = (nasty / "model.toprank", nasty / "old.csv")
    for command in (("score", *words), ("top", *words, "-k", 400)):
        printed = pd.read_csv(io.StringIO(run(*command).stdout), dtype=str)
        assert sorted(printed["order"]) == expected
        run(*command, "-o", tmp_path / "list.parquet")
        assert sorted(pd.read_parquet(tmp_path / "list.parquet")["order"]) == expected
    found: Any = json.loads(run("top", *words, "-k", 400, "--json").stdout)
    assert sorted(row["id"] for row in found["rows"]) == expected


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(1)", " =1", "\uff1d1", ""])
def test_reasons_in_csv_are_no_formulas(run: Run, tmp_path: Path, start: str) -> None:
    name = f"{start}\tx\n" if start else ""
    orders().rename(columns={"items": name}).to_csv(tmp_path / "old.csv", index=False)
    run(
        *("fit", tmp_path / "old.csv", "--label", "fraud", "--id", "order"),
        *("--model", "logistic", "--alpha", "0.01", "-o", tmp_path / "m.toprank"),
    )
    words = ("top", tmp_path / "m.toprank", tmp_path / "old.csv", "-k", 9)
    run(*words, "-o", tmp_path / "list.csv")
    run(*words, "-o", tmp_path / "list.tsv")
    for listed in (
        pd.read_csv(tmp_path / "list.csv"),
        pd.read_csv(tmp_path / "list.tsv", sep="\t"),
        pd.read_csv(io.StringIO(run(*words).stdout)),
    ):
        first = listed["why"].str.lstrip().str[0]
        assert not first.isin(list("=+-@\uff1d\t\r\n")).any()
        assert listed["why"].str.contains("'" + start, regex=False).any()
        assert not listed["why"].str.contains("[\t\n]").any()
