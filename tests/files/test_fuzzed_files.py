"""The first files of `python -m fuzz.readers`: taken, or refused by an error meant for them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from fuzz.readers.__main__ import made, read
from fuzz.readers.matrices import fitted, matrices, unpacked
from fuzz.readers.subjects import SUBJECTS
from toprank.files.errors import TableError
from toprank.files.tables import Table

#: With it early readers died, or raised what no file should: headers, dates, offsets, zips.
SEED, FILES = 1, 60


@pytest.mark.parametrize("name", SUBJECTS)
def test_harmed_files_are_taken_or_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subject = SUBJECTS[name]
    seeds, path = subject.seeds(), tmp_path / f"table{subject.ending}"
    assert [read(subject, path, data) for data in seeds] == [""] * len(seeds)
    files = [made(name, seeds, SEED, index) for index in range(FILES)]
    assert len(set(files)) > FILES / 2
    assert {
        index: wrong for index, data in enumerate(files) if (wrong := read(subject, path, data))
    } == {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_matrices_that_are_harmed_are_good_ones() -> None:
    for data in matrices():
        X, kind = unpacked(data)
        X.check_format()
        assert fitted(X, kind).decision_function(X).shape == (X.shape[0],)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("csv", 51),
        ("csv", 1459),
        ("parquet", 806),
        ("feather", 389),
        ("feather", 1156),
        ("model", 43),
    ],
)
def test_files_that_were_found(
    name: str, index: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subject = SUBJECTS[name]
    data = made(name, subject.seeds(), SEED, index)
    assert read(subject, tmp_path / f"table{subject.ending}", data) == ""


def test_a_header_of_lines_that_end_in_the_old_way_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes(b"a,b\r1,2\r")
    assert Table(str(path)).whole().to_pydict() == {"a": ["1"], "b": ["2"]}


def test_a_quote_that_is_never_closed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_bytes(b'"a,b\n' + b"1,2\n" * 100_000)
    with pytest.raises(TableError, match="names of the columns cannot be read"):
        Table(str(path)).whole()


def test_columns_of_a_feather_file_with_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["", ""])
    path = str(tmp_path / "twins.feather")
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    with pytest.raises(TableError, match="more than one column called ''"):
        Table(path).whole()
