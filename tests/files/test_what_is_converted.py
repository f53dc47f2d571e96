"""Conversions in blocks of few rows: rows are named by their place in the whole table."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet

import toprank
from toprank.files import batches, convert, converting, mapped_writing, preparing, svmlight
from toprank.files.errors import TableError

N = 12
COLUMNS: dict[str, Any] = {
    "x": [k + 0.5 for k in range(N)],
    "weigh": [k / 4 for k in range(N)],
    "case": [f"c{k}" * (k % 3) for k in range(N)],
    "y": ["no"] * 5 + ["yes", "no"] * 3 + ["no"],
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "CHUNK", 3)
    monkeypatch.setattr(svmlight, "BLOCK", 16)
    monkeypatch.setattr(mapped_writing, "_OFTEN", 1)


def converted(folder: Path, changes: dict[str, Any] | None = None, **options: Any) -> Any:
    path = str(folder / "t.feather")
    table = pa.table(COLUMNS | (changes or {}))
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    options = {"label": "y", "weight": "weigh", "id": "case"} | options
    return convert(path, folder / "t.toprank", **options)


def sparse(folder: Path, text: str, **options: Any) -> Any:
    (folder / "t.svm").write_text(text)
    return convert(folder / "t.svm", folder / "t.toprank", **options)


def test_what_is_kept_of_a_table(tmp_path: Path) -> None:
    told: list[tuple[int, str]] = []
    data = converted(tmp_path, tell=lambda *what: told.append(what))
    x = np.array(COLUMNS["x"])
    assert_allclose(data.X[:, 0], (x - x.mean()) / x.std(), rtol=1e-6)
    assert data.X.dtype == np.float32
    assert_array_equal(data.sample_weight, COLUMNS["weigh"])
    assert data.ids.tolist() == COLUMNS["case"]
    assert_array_equal(data.y, [label == "yes" for label in COLUMNS["y"]])
    assert told == [
        *((rows, "looking at the rows") for rows in (3, 6, 9, 12)),
        *((rows, "converting") for rows in (3, 6, 9, 12)),
    ]
    about = {name: data.meta[name] for name in ("label", "id", "weight", "source", "toprank")}
    assert about == {
        "label": "y",
        "id": "case",
        "weight": "weigh",
        "source": "t.feather",
        "toprank": toprank.__version__,
    }
    assert (data.meta["rows"], data.meta["positives"]) == (N, 3)
    assert data.meta["scaled"] is True
    assert data.meta["finite"] is True


def test_what_is_not_asked_for_is_not_kept(tmp_path: Path) -> None:
    options = {"ignore": ["weigh", "case"], "weight": None, "id": None, "scale": False}
    data = converted(tmp_path, dtype="float64", **options)
    assert_array_equal(data.X[:, 0], COLUMNS["x"])
    assert (data.X.dtype, data.X.shape) == (np.float64, (N, 1))
    assert (data.sample_weight, data.ids, data.meta["scaled"]) == (None, None, False)


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_a_label_that_comes_late_may_be_the_positive_one(positive: str, tmp_path: Path) -> None:
    data = converted(tmp_path, positive=positive)
    assert data.classes[1] == positive
    assert_array_equal(data.y, [label == positive for label in COLUMNS["y"]])


def changed(name: str, **cells: Any) -> dict[str, Any]:
    """The column with some cells changed, by their places."""
    column = list(COLUMNS[name])
    for place, cell in cells.items():
        column[int(place[1:])] = cell
    return {name: column}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (changed("weigh", _7=-1.5), r"row 8, column 'weigh': -1.5 is no weight; .* from 0 on"),
        (changed("weigh", _0=-2.0), r"row 1, column 'weigh': -2 is no weight"),
        (
            changed("x", _7=1e39, _8=1e40),
            "row 8, column 'x': 1e.39 is beyond float32; pass --dtype",
        ),
        (changed("y", _7="maybe"), "row 8: 'maybe' is a third label, after 'no' and 'yes'; there"),
        (changed("y", _10=None), "row 11, column 'y': the label is missing"),
        ({"y": ["no"] * N}, "there must be two labels, and all rows have 'no'"),
    ],
)
def test_a_bad_row_is_named(changes: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=told):
        converted(tmp_path, changes, scale=False)
    assert {path.name for path in tmp_path.iterdir()} == {"t.feather"}


def test_labels_that_are_not_those_of_the_table(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="--positive so is no label; there are 'no' and 'yes'"):
        converted(tmp_path, positive="so")
    with pytest.raises(ValueError, match="dtype must be float32 or float64, not 'int8'"):
        converted(tmp_path, dtype="int8")


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errno.ENOSPC, r"no room is left: \.t\.toprank\.part keeps what is done; make room"),
        (errno.EIO, "the disk is broken"),
    ],
)
def test_a_disk_that_fails(
    code: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, calls = os.fsync, iter(range(100))

    def failing(descriptor: int) -> None:
        if next(calls) > 6:
            raise OSError(code, "the disk is broken")
        whole(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match=told):
        converted(tmp_path)
    assert (tmp_path / ".t.toprank.part").is_dir()


TEXT = "1 2:5 4:7\n-1 1:6\n-1\n1 3:8\n-1 2:9\n1 1:1\n-1 4:2\n"
MATRIX = [
    *([0, 5, 0, 7], [6, 0, 0, 0], [0, 0, 0, 0], [0, 0, 8, 0]),
    *([0, 9, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2]),
]


class Stopped(BaseException):
    """As Ctrl-C."""


@pytest.mark.parametrize("after", [1, 2, 4, 6])
@pytest.mark.parametrize("block", [1, 16, 24])
def test_a_sparse_conversion_goes_on(
    after: int, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(svmlight, "BLOCK", block)
    seen: list[int] = []

    def tell(rows: int, what: str) -> None:
        seen.append(rows)
        if rows >= after:
            raise Stopped

    with pytest.raises(Stopped):
        sparse(tmp_path, TEXT, tell=tell)
    monkeypatch.setattr(svmlight, "BLOCK", 20)  # the rows that are left out end in a block
    again: list[int] = []
    data = convert(
        tmp_path / "t.svm", tmp_path / "t.toprank", tell=lambda rows, what: again.append(rows)
    )
    assert not again or again[0] > seen[-1]
    assert_array_equal(data.X.toarray(), np.array(MATRIX))
    assert_array_equal(data.y, [1, 0, 0, 1, 0, 1, 0])
    assert (data.meta["entries"], data.meta["from_zero"], data.meta["scaled"]) == (7, False, False)
    assert (data.meta["columns"], data.feature_names) == (4, None)


@pytest.mark.parametrize("after", [3, 6, 12])
def test_a_dense_conversion_goes_on(after: int, tmp_path: Path) -> None:
    def tell(rows: int, what: str) -> None:
        if what == "converting" and rows >= after:
            raise Stopped

    with pytest.raises(Stopped):
        converted(tmp_path, tell=tell)
    told: list[tuple[int, str]] = []
    options = {"label": "y", "weight": "weigh", "id": "case"}
    target = tmp_path / "t.toprank"
    data = convert(tmp_path / "t.feather", target, tell=lambda *what: told.append(what), **options)
    assert told == [(rows, "converting") for rows in range(after + 3, N + 1, 3)]
    whole = convert(tmp_path / "t.feather", tmp_path / "whole.toprank", **options)
    assert_array_equal(data.X, whole.X)
    assert_array_equal(data.y, whole.y)
    assert_array_equal(data.sample_weight, whole.sample_weight)
    assert data.ids.tolist() == COLUMNS["case"]


@pytest.mark.parametrize("where", [0, 3, 6])
def test_a_column_zero_anywhere_counts_from_zero(where: int, tmp_path: Path) -> None:
    lines = TEXT.splitlines()
    lines[where] = "1 0:3"
    data = sparse(tmp_path, "\n".join(lines))
    truth = np.column_stack([np.zeros(7), np.array(MATRIX)])
    truth[where] = [3, 0, 0, 0, 0]
    assert_array_equal(data.X.toarray(), truth[:, : data.X.shape[1]])
    assert data.meta["from_zero"] is True


@pytest.mark.parametrize("pieces", [1, 2, 3, 7, 8])
def test_columns_are_renumbered_some_at_a_time(
    pieces: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converting, "_AT_A_TIME", pieces)
    assert_array_equal(sparse(tmp_path, TEXT).X.toarray(), np.array(MATRIX))


def test_rows_without_any_entry_have_no_columns(tmp_path: Path) -> None:
    data = sparse(tmp_path, "1\n-1\n1\n")
    assert data.X.shape == (3, 0)
    assert data.X.indptr.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("value", ["1e39", "inf", "nan"])
def test_a_sparse_value_that_is_no_number(value: str, tmp_path: Path) -> None:
    told = rf"t\.svm, row 4, column 3: {float(value):g} is no finite number, or beyond float32"
    with pytest.raises(TableError, match=told.replace("+", r"\+")):
        sparse(tmp_path, TEXT.replace("3:8", f"2:1 3:{value}"))
    with pytest.raises(TableError, match="row 2: the label is missing"):
        sparse(tmp_path, TEXT.replace("-1 1:6", "nan 1:6"))


def test_the_last_column_that_can_be(tmp_path: Path) -> None:
    last = 2**31 - 2
    with pytest.raises(TableError, match=rf"line 2: the index of '{last + 1}:6' is above {last}"):
        sparse(tmp_path, f"1 1:5\n-1 {last + 1}:6\n")
    data = sparse(tmp_path, f"1 1:5\n-1 {last}:6\n")
    assert data.X.shape == (2, last)
    assert data.X.indices.tolist() == [0, last - 1]


def test_numbers_of_columns_are_as_wide_as_they_must_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry takes four bytes: where there may be 2^31 of them, and of a packed file, wide."""
    assert sparse(tmp_path, TEXT).X.indices.dtype == np.int32
    (tmp_path / "t.svm.gz").write_bytes(gzip.compress(TEXT.encode()))
    data = convert(tmp_path / "t.svm.gz", tmp_path / "packed.toprank")
    assert (data.X.indices.dtype, data.X.indptr.dtype) == (np.int64, np.int64)
    assert_array_equal(data.X.toarray(), np.array(MATRIX))
    monkeypatch.setattr(os.path, "getsize", lambda _: 2**33 + 1)
    data = convert(tmp_path / "t.svm", tmp_path / "large.toprank")
    assert data.X.indices.dtype == np.int64


def test_a_parquet_file_of_numbers_is_not_looked_at_first(tmp_path: Path) -> None:
    path, told = tmp_path / "t.parquet", []
    parquet.write_table(pa.table({"x": [0.5, 1.5, 2.5], "y": [0, 1, 0]}), path)
    data = convert(
        path, tmp_path / "t.toprank", label="y", tell=lambda rows, what: told.append(what)
    )
    assert set(told) == {"converting"}
    assert_array_equal(data.y, [0, 1, 0])


def test_a_missing_number_that_the_first_look_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "CELLS", 2)
    x = np.where(np.arange(N) == 7, np.nan, np.arange(N))
    rows = pa.table({"x": pa.array(x, from_pandas=False), "y": np.arange(N) % 2})
    parquet.write_table(rows, tmp_path / "t.parquet", row_group_size=4)
    data = convert(tmp_path / "t.parquet", tmp_path / "t.toprank", label="y", scale=False)
    assert data.feature_names == ["x", "missingindicator_x"]
    assert np.flatnonzero(data.X[:, 1]).tolist() == [7]


def test_batches_without_rows_in_a_table(tmp_path: Path) -> None:
    path = str(tmp_path / "t.feather")
    schema = pa.schema([("x", pa.float64()), ("y", pa.int64())])
    with pa.ipc.new_file(path, schema) as file:
        for rows in ([(0.5, 1)], [], [(1.5, 0), (2.5, 1)]):
            columns = [pa.array([row[k] for row in rows], schema.types[k]) for k in (0, 1)]
            file.write_batch(pa.record_batch(columns, schema=schema))
    data = convert(path, tmp_path / "t.toprank", label="y", scale=False)
    assert_array_equal(data.X, [[0.5], [1.5], [2.5]])
    assert_array_equal(data.y, [1, 0, 1])
