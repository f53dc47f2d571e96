"""The rows by which a large table is told: all of a small one, and of others some from all over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from pyarrow import parquet

from toprank.files import batches, convert, preparing
from toprank.files.columns import as_kinds, frame_of
from toprank.files.errors import TableError
from toprank.files.preparing import Preparation, Unforeseen, kinds_and_sample, prepare
from toprank.files.tables import Table


def feather(folder: Path, **columns: Any) -> Table:
    path = str(folder / "t.feather")
    table = pa.table(columns)
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return Table(path)


def looked_at(table: Table, *others: str) -> Any:
    return preparing._look(table, list(others), lambda rows, what: None)[0]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (8, [0, 1, 2, 3, 4, 5, 6, 7]),
        (7, [0, 2, 4, 6]),
        (4, [0, 2, 4, 6]),
        (3, [0, 4]),
        (1, [0]),
    ],
)
def test_every_other_row_until_they_are_few_enough(
    cells: int, expected: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "CHUNK", 3)
    monkeypatch.setattr(preparing, "CELLS", cells)
    told: list[tuple[int, str]] = []
    table = feather(tmp_path, x=np.arange(8), y=np.arange(8) % 2)
    found, rows = preparing._look(table, ["y"], lambda *what: told.append(what))
    assert found.to_pydict() == {"x": expected}
    assert rows.tolist() == expected
    assert told == [(rows, "looking at the rows") for rows in (3, 6, 8)]
    # Cells are those of all columns.
    monkeypatch.setattr(preparing, "CELLS", 2 * cells)
    assert looked_at(table).to_pydict()["x"] == expected


def test_of_every_column_the_first_row_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "CHUNK", 4)
    monkeypatch.setattr(preparing, "CELLS", 9)
    places = np.arange(12)
    a = np.where((places == 5) | (places == 7) | (places == 9), np.nan, places)
    b = np.where(places == 10, np.nan, places)
    found = looked_at(feather(tmp_path, place=places, a=a, b=b))
    assert found["place"].to_pylist() == [0, 4, 5, 8, 10]


def test_numbers_that_are_missing_in_words() -> None:
    """NaN is a number to Arrow, and a text of it one that only a cast tells."""
    for column, expected in (
        (pa.array(["1", "NAN", None]), [False, True, True]),
        (pa.array(["1", "NAN", "word"]), [False, False, False]),
        (pa.array([1.0, np.nan, None], from_pandas=False), [False, True, True]),
        (pa.array([1, None]), [False, True]),
    ):
        assert preparing._missing(column).tolist() == expected


def numbers(folder: Path, group: int = 4, columns: int = 2, **options: Any) -> Table:
    """Parquet of 24 rows; the first column is their places."""
    made: dict[str, Any] = {f"x{k}": np.arange(24) + 100.0 * k for k in range(columns)}
    path = str(folder / "t.parquet")
    options = {"row_group_size": group} | options
    parquet.write_table(pa.table(made | {"y": np.arange(24) % 2}), path, **options)
    return Table(path)


@pytest.mark.parametrize(
    ("cells", "columns", "expected"),
    [
        (48, 2, range(24)),
        (24, 2, [*range(4), *range(8, 12), *range(20, 24)]),
        (24, 1, range(24)),
        (8, 1, [*range(4), *range(20, 24)]),
        (2, 2, [0]),
        (1, 2, [0]),
    ],
)
def test_numbers_of_groups_from_all_over_the_file(
    cells: int, columns: int, expected: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the cells are half of the groups: the first, the last, and those between."""
    monkeypatch.setattr(preparing, "CELLS", cells)
    table = numbers(tmp_path, columns=columns)
    found, rows = preparing._of_numbers(table, ["y"]) or (None, None)
    assert rows.tolist() == list(expected)
    assert found.column_names == [f"x{k}" for k in range(columns)]
    assert found["x0"].to_pylist() == list(expected)
    assert table.columns == [*found.column_names, "y"]


def test_what_a_parquet_file_must_say_to_be_read_in_part(tmp_path: Path) -> None:
    y = np.arange(3) % 2
    path = str(tmp_path / "other.parquet")
    assert preparing._of_numbers(numbers(tmp_path, group=24), ["y"]) is not None
    assert preparing._of_numbers(numbers(tmp_path, write_statistics=False), ["y"]) is None
    assert preparing._of_numbers(feather(tmp_path, x=y, y=y), ["y"]) is None
    for column, whole in (
        (pa.array([1, 2, 3], pa.int16()), True),
        (pa.array([1.5, 2.0, 3.0], pa.float32()), True),
        (pa.array([1.5, None, 3.0]), False),
        (pa.array([1.5, np.nan, 3.0], from_pandas=False), False),
        (pa.array(["1", "2", "3"]), False),
        (pa.array([True, False, True]), False),
    ):
        parquet.write_table(pa.table({"x": column, "y": y}), path)
        found = preparing._of_numbers(Table(path), ["y"])
        assert (found is not None) == whole, column.type
    # Columns within columns have numbers of their own, which the names do not count.
    inside = pa.array([{"a": 1, "b": None}] * 3)
    parquet.write_table(pa.table({"inside": inside, "x": y, "y": y}), path)
    assert preparing._of_numbers(Table(path), ["y", "inside"]) is None


def test_a_parquet_file_without_rows_or_columns(tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    tell = lambda rows, what: None  # noqa: E731
    parquet.write_table(pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], "i8")}), path)
    with pytest.raises(TableError, match=r"t\.parquet has no rows"):
        kinds_and_sample(Table(path), ["y"], [], tell, look_at_all=False)
    with parquet.ParquetWriter(path, pa.schema([("x", "f8"), ("y", "i8")])):
        pass  # of no group of rows
    assert preparing._of_numbers(Table(path), ["y"]) is None
    parquet.write_table(pa.table({"y": [0, 1]}), path)
    with pytest.raises(TableError, match="no column to learn from beside the label"):
        kinds_and_sample(Table(path), ["y"], [], tell, look_at_all=False)
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(TableError, match=r"t\.parquet is no parquet file, or a truncated one"):
        kinds_and_sample(Table(path), ["y"], [], tell, look_at_all=False)


def test_all_rows_are_looked_at_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "CELLS", 8)
    table, told = numbers(tmp_path, columns=1), []
    for look_at_all in (False, True):
        tell = lambda rows, what: told.append(rows)  # noqa: E731
        kinds, sample = kinds_and_sample(table, ["y"], [], tell, look_at_all=look_at_all)
        assert kinds == {"x0": "number"}
        places = range(0, 24, 4) if look_at_all else [*range(4), *range(20, 24)]
        assert sample["x0"].tolist() == list(places)
    assert told[-1] == 24
    assert len(told) == 6


def test_a_bad_cell_of_a_sample_is_named_by_its_row_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "CELLS", 20)

    def look(table: Table) -> Any:
        return kinds_and_sample(table, ["y"], [], lambda rows, what: None, look_at_all=False)

    x = np.where(np.arange(40) == 36, np.inf, np.arange(40))
    with pytest.raises(TableError, match="row 37, column 'x': inf is no finite number"):
        look(feather(tmp_path, x=x, y=x))
    path = str(tmp_path / "t.parquet")
    parquet.write_table(pa.table({"x": x, "y": x}), path, row_group_size=8)
    with pytest.raises(TableError, match="row 37, column 'x': inf is no finite number"):
        look(Table(path))
    cells = ["word" if k == 36 else str(k) for k in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *(f"{cell},0" for cell in cells)]))
    told = "row 37, column 'x': 'word' is no number, and 19 of 20 cells are"
    with pytest.raises(TableError, match=told):
        look(Table(str(tmp_path / "t.csv")))


def test_columns_that_are_not_there_are_told_with_eight_that_are(tmp_path: Path) -> None:
    table = feather(tmp_path, **{f"c{k}": [1, 2] for k in range(9)})
    with pytest.raises(TableError, match=r"has no column 'z'; its columns are 'c0', .*, 'c7'\.$"):
        looked_at(table, "c0", "z")


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("which", ["ab", "abc", "abw", "w"])
def test_the_short_way_of_numbers_gives_those_of_the_transformers(scale: bool, which: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.gamma(2.0, 3.0, 50), "b": rng.normal(7.0, 2.0, 50)})
    frame["c"] = np.where(np.arange(50) == 7, np.nan, frame["a"])
    frame["w"] = np.where(frame["a"] > 3.0, "high", "low")
    frame = frame[list(which)]
    kinds = {name: "category" if name == "w" else "number" for name in which}
    (batch,) = pa.Table.from_pandas(frame).to_batches()
    columns = as_kinds(batch, kinds, "t", 0)
    pipeline, names = prepare(columns, scale=scale)
    truth = pipeline.transform(frame_of(columns))
    found = Preparation(pipeline, kinds)(columns)
    assert found.shape == (50, len(names))
    assert_allclose(found, truth, rtol=1e-12, atol=1e-12)
    if scale:
        assert_allclose(found.std(axis=0), 1.0, rtol=1e-12)
    # A number that is missing where none was is not filled silently.
    for name in set(which) & {"a", "b"}:
        short = columns | {name: np.where(np.arange(50) == 3, np.nan, columns[name])}
        with pytest.raises(Unforeseen):
            Preparation(pipeline, kinds)(short)
    if "c" in which:
        more = columns | {"c": np.full(50, np.nan)}
        assert np.isfinite(Preparation(pipeline, kinds)(more)).all()


def test_words_are_no_numbers_however_late_they_come(tmp_path: Path) -> None:
    """The cells that are tried first are numbers, and one after them is a word."""
    cells = [*map(str, range(150)), *["word"] * 50]
    lines = [f"{cell},{k % 2}" for k, cell in enumerate(cells)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *lines]))
    data = convert(tmp_path / "t.csv", tmp_path / "t.toprank", label="y", scale=False)
    assert data.feature_names is not None
    assert "x_word" in data.feature_names
