"""Rows some at a time are the rows: whatever the size of a batch, and however many are skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from toprank.features.arrow import codes_of, dates_of, numbers_of
from toprank.files import batches
from toprank.files.errors import TableError
from toprank.files.tables import Table

N = 23
FRAME = pd.DataFrame({"a": np.arange(N), "b": [f"w{k % 3}" for k in range(N)], "c": np.ones(N)})


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "CHUNK", 5)
    monkeypatch.setattr(batches, "BLOCK", 64)


def written(format: str, folder: Path) -> Table:
    path = folder / f"t.{format}"
    if format == "csv":
        FRAME.to_csv(path, index=False)
    elif format == "tsv":
        FRAME.to_csv(path, index=False, sep="\t")
    elif format == "parquet":
        FRAME.to_parquet(path, row_group_size=8)
    elif format == "feather":
        with pa.ipc.new_file(str(path), pa.Schema.from_pandas(FRAME)) as file:
            file.write_table(pa.Table.from_pandas(FRAME), max_chunksize=8)
    else:
        np.savez(path, X=FRAME[["a", "c"]].to_numpy(), y=FRAME["a"] % 2)
    return Table(str(path))


def rows(found: list[Any], name: str) -> list[float]:
    return [float(one) for batch in found for one in batch.column(name).to_pylist()]


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "feather", "npz"])
def test_the_same_rows_after_any_that_are_skipped(format: str, tmp_path: Path) -> None:
    table = written(format, tmp_path)
    name = "x0" if format == "npz" else "a"
    for skip in (0, 1, 4, 5, 7, 8, 9, 16, 22, 23):
        found = list(table.batches(skip=skip))
        assert rows(found, name) == list(range(skip, N)), skip
        assert all(0 < batch.num_rows <= 8 for batch in found)
    named = list(table.batches([name], skip=3))
    assert named[0].schema.names == [name]
    assert rows(named, name) == list(range(3, N))
    # Without a column of those that were asked for the first counts the rows.
    counted = list(table.batches(["nowhere"]))
    assert sum(batch.num_rows for batch in counted) == N
    assert counted[0].schema.names == [name]


def test_lines_within_a_cell_may_be_of_two_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [f"{k}\n" + "word\n" * k for k in range(N)]
    pd.DataFrame({"a": cells, "b": range(N)}).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(batches, "BLOCK", 256)  # a row is shorter
    found = Table(str(tmp_path / "t.csv")).whole()
    assert found.to_pydict() == {"a": cells, "b": [str(k) for k in range(N)]}


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_order_are_their_rows(order: str, tmp_path: Path) -> None:
    X = np.arange(3.0 * N).reshape(N, 3)
    np.savez(tmp_path / "t.npz", X=np.asarray(X, order=order), y=np.arange(N) % 2)
    found = Table(str(tmp_path / "t.npz")).whole()
    assert np.array_equal(np.column_stack([found[f"x{j}"] for j in range(3)]), X)
    assert found["y"].to_pylist() == [k % 2 for k in range(N)]
    np.savez(tmp_path / "t.npz", X=X)
    assert Table(str(tmp_path / "t.npz")).whole().column_names == ["x0", "x1", "x2"]


@pytest.mark.parametrize(
    "arrays",
    [
        {"X": np.zeros(4)},
        {"X": np.zeros((2, 2, 2))},
        {"X": np.full((2, 2), "a")},
        {"X": np.zeros((3, 2)), "y": np.zeros(2)},
        {"X": np.zeros((3, 2)), "y": np.zeros((3, 1))},
    ],
)
def test_arrays_that_are_no_table(arrays: dict[str, Any], tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(TableError, match="X must be two-dimensional, and y a label for each row"):
        Table(str(tmp_path / "t.npz")).whole()


def test_large_groups_of_rows_are_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = written("parquet", tmp_path)
    about = pa.parquet.ParquetFile(table.path).metadata
    largest = max(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
    monkeypatch.setattr(batches, "LARGE_GROUP", largest)
    table.whole()
    monkeypatch.setattr(batches, "LARGE_GROUP", largest - 1)
    with pytest.warns(UserWarning, match="has a row group of 0.0 GB"):
        table.whole()


def test_headers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for content, why in (
        (b"  \n", "is empty"),
        ("a,b\n1,2\n".encode("utf-16"), "is UTF-16"),
        (b"a\0,b\n1,2\n", "is UTF-16"),
        (b"a,b\n\xff,2\n", "is not UTF-8"),
        (b"a,a\n1,2\n", "has two columns 'a'"),
        (b"a,b\n1,2\n1,2,3\n", "line 3: there are 3 cells, and the header has 2"),
    ):
        path.write_bytes(content)
        with pytest.raises(TableError, match=why):
            Table(str(path)).whole()


def test_cells_as_numbers_words_and_dates() -> None:
    floats, bad = numbers_of(["1", None, " 2 ", "x", "1e3"])
    np.testing.assert_array_equal(floats, [1.0, np.nan, 2.0, np.nan, 1000.0])
    assert bad.tolist() == [False, False, False, True, False]
    codes, words = codes_of(pa.array([2.0, None, np.nan, 0.5, 2.0]))
    assert [words[k] if k >= 0 else None for k in codes] == ["2", None, None, "0.5", "2"]
    codes, words = codes_of(pa.array(["true", "FALSE", None]))
    assert [words[k] if k >= 0 else None for k in codes] == ["True", "False", None]
    times, bad = dates_of(pa.array(["2024-01-31", None, "soon", "2024-02-01T10:00:00+02:00"]))
    assert bad.tolist() == [False, False, True, False]
    assert times[0] == np.datetime64("2024-01-31")
    assert times[3] == np.datetime64("2024-02-01T08:00:00")
    assert np.isnat(times[1:3]).all()
