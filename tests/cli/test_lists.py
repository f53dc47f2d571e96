"""Lists in files of every kind, read again by other programs than the one that wrote them."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from support.orders import read_scores
from support.terminals import on_terminal
from toprank.cli import list_files as sheets
from toprank.cli.output import UsageError
from toprank.cli.top import short

Run = Callable[..., Result]
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def cells_of(content: bytes) -> list[list[Any]]:
    """The cells of a workbook by XML alone, as ECMA-376 describes it."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        assert book.testzip() is None
        for name in book.namelist():
            ElementTree.fromstring(book.read(name))
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    rows = []
    for number, row in enumerate(sheet.iter(f"{MAIN}row"), 1):
        assert row.get("r") == str(number)
        cells: list[Any] = []
        for cell in row:
            place = "ABC".index(cell.get("r").removesuffix(str(number)))
            cells += [None] * (place - len(cells))
            assert cell.find(f"{MAIN}f") is None
            if cell.get("t") == "inlineStr":
                text = cell.find(f"{MAIN}is/{MAIN}t").text or ""
                text = re.sub("_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), text)
                cells.append(text)
            else:
                cells.append(float(cell.find(f"{MAIN}v").text))
        rows.append(cells)
    return rows


def workbook(rows: list[list[Any]]) -> bytes:
    file = io.BytesIO()
    with sheets.Sheet(file, "list.xlsx") as sheet:
        for row in rows:
            sheet.row(row)
    return file.getvalue()


ANY_TEXT = st.text(st.characters(categories=None), max_size=9)


@given(st.lists(st.tuples(ANY_TEXT, st.floats(allow_nan=False, allow_infinity=False), ANY_TEXT)))
def test_a_workbook_holds_what_was_written(rows: list[tuple[str, float, str]]) -> None:
    expected = [list(row) for row in rows]
    assert cells_of(workbook(expected)) == expected
    assert workbook(expected) == workbook(expected)


def test_texts_like_those_that_stand_for_others() -> None:
    rows = [["=1+1", "_x0041_", "\x1b\r\n\t<&>"], ["_x005F_x0041_", " ", "\ud800\uffff"]]
    assert cells_of(workbook(rows)) == rows


def test_what_excel_does_not_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"list.xlsx, row 1: .* 32,767 letters .* one has 32,768"):
        workbook([["x" * 32768]])
    monkeypatch.setattr(sheets, "MOST_ROWS", 3)
    workbook([[1]] * 3)
    with pytest.raises(UsageError, match=r"no more than 3 rows or 2 GB of a sheet: write .csv"):
        workbook([[1]] * 4)


def test_openpyxl_reads_it() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows = [["order", "score"], ["=1+1", 0.1], ["000123", 1e-300], [" Zoë\n<&>", -2.0]]
    book = openpyxl.load_workbook(io.BytesIO(workbook(rows)))
    assert [list(row) for row in book.active.iter_rows(values_only=True)] == rows


def test_every_kind_of_file_has_the_same_list(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ("top", folder / "model.toprank", folder / "new.csv", "-k", 5)
    whole = json.loads(run(*words, "--json").stdout)["rows"]
    ids, scores = [row["id"] for row in whole], [row["score"] for row in whole]
    for name in ("list.xlsx", "list.jsonl", "list.jsonl.gz"):
        assert f"5 rows of 300: {tmp_path / name}" in run(*words, "-o", tmp_path / name).stderr
    why = pd.read_csv(io.StringIO(run(*words).stdout))["why"].tolist()
    expected = [["order", "score", "why"], *map(list, zip(ids, scores, why, strict=True))]
    assert cells_of((tmp_path / "list.xlsx").read_bytes()) == expected
    lines = (tmp_path / "list.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == whole
    assert gzip.decompress((tmp_path / "list.jsonl.gz").read_bytes()).decode().splitlines() == lines


def test_every_kind_of_file_has_the_same_scores(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ("score", folder / "model.toprank", folder / "new.csv")
    printed = run(*words, "--json").stdout
    expected = read_scores(io.StringIO(run(*words).stdout))
    run(*words, "-o", tmp_path / "s.jsonl")
    assert (tmp_path / "s.jsonl").read_text() == printed
    path = str(tmp_path / "s.xlsx")
    assert json.loads(run(*words, "-o", path, "--json").stdout) == {"rows": 300, "output": path}
    found = cells_of(Path(path).read_bytes())
    assert found == [["order", "score"], *map(list, expected.itertuples(index=False))]
    run(*words, "--id", "amount", "-o", path)
    amounts = pd.read_csv(folder / "new.csv", dtype=str)["amount"]
    assert [row[0] for row in found[1:]] != amounts.tolist()
    found = cells_of(Path(path).read_bytes())
    assert [row[0] for row in found] == [
        "amount",
        *amounts.astype(object).where(amounts.notna(), None),
    ]
    before = Path(path).read_bytes()
    for name in ("s.json", "s.xls", "s.xlsx.gz", "s.parquet.zst"):
        said = run(*words, "-o", tmp_path / name, code=2).stderr
        assert "lists are written as .csv, .tsv or .jsonl (.gz, .zst), .parquet or .xlsx" in said
    assert Path(path).read_bytes() == before


@given(st.lists(st.floats(-1e9, 1e9), max_size=30), st.sampled_from([("f", 4), ("g", 6)]))
def test_few_digits_keep_the_order(scores: list[float], kind: tuple[str, int]) -> None:
    scores.sort()
    shown = [float(text) for text in short(scores, *kind)]
    assert np.array_equal(np.diff(shown) > 0, np.diff(scores) > 0)
    assert shown == sorted(shown)
    assert shown == pytest.approx(scores, rel=1e-5, abs=1e-4)


def test_digits() -> None:
    assert short([0.123456789, 2.0], "g", 6) == ["0.123457", "2"]
    assert short([0.123456789, 0.123456788, 2.0], "g", 6) == ["0.123456789", "0.123456788", "2"]
    assert short([0.5, 0.5, -0.0], "f", 4) == ["0.5000", "0.5000", "0.0000"]
    assert short([1.0, 1.0 + 2**-52], "g", 6) == ["1", "1.0000000000000002"]


def test_a_pipe_has_six_digits_and_a_terminal_four(run: Run, folder: Path) -> None:
    words = ("top", folder / "model.toprank", folder / "new.csv", "-k", 9, "--why", 0)
    whole = [row["score"] for row in json.loads(run(*words, "--json").stdout)["rows"]]
    piped = [line.split(",")[1] for line in run(*words).stdout.splitlines()[1:]]
    assert piped == [f"{own:.6g}" for own in whole]
    shown = on_terminal("from toprank.cli import main; main()", *words).splitlines()
    rows = [line for line in shown if re.match(r" *\d+ +\d{6} ", line)]
    assert [line.split()[2] for line in rows] == [f"{own:.4f}" for own in whole]
    assert len({line.rindex(".") for line in rows}) == 1  # one under another


def test_a_list_longer_than_the_table_is_noted(run: Run, folder: Path) -> None:
    words = ("top", folder / "model.toprank", folder / "new.csv", "-k")
    said = "has 300 rows, fewer than the 100,000 wanted: all are listed."
    assert said in run(*words, 100_000).stderr
    assert "all are listed" not in run(*words, 300).stderr
    assert "all are listed" not in run(*words, "99.9%").stderr
