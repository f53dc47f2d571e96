"""Tables from files, from standard input, packed and plain: the same rows from all of them."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from toprank.files import batches
from toprank.files.errors import TableError
from toprank.files.tables import Table

CSV, SVM = b"a,b\n1,x\n2,y\n", b"1 1:2\n-1 3:4\n"
ROWS = {"a": ["1", "2"], "b": ["x", "y"]}


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(content)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_packed_texts_are_the_texts(pack: Any, tmp_path: Path) -> None:
    ending = {bytes: "", gzip.compress: ".gz", zstd: ".zst"}[pack]
    for name, content in (("t.CSV", CSV), ("t.tsv", CSV.replace(b",", b"\t"))):
        (tmp_path / (name + ending)).write_bytes(pack(content))
        table = Table(str(tmp_path / (name + ending)))
        assert table.whole().to_pydict() == ROWS
        assert table.texts
        assert not table.sparse
        assert table.columns == ["a", "b"]
    path = tmp_path / ("t.svm" + ending)
    path.write_bytes(pack(SVM))
    table = Table(str(path))
    X, labels, from_zero = table.matrix()
    assert X.toarray().tolist() == [[2, 0, 0], [0, 0, 4]]
    assert labels.tolist() == [1, -1]
    assert not from_zero
    assert table.sparse
    assert not table.texts
    ((X, labels),) = table.matrices(3, from_zero=False)
    assert X.toarray().tolist() == [[2, 0, 0], [0, 0, 4]]


def test_names_that_do_not_tell(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_bytes(CSV)
    path = str(tmp_path / "rows.txt")
    assert Table(path, "csv").whole().to_pydict() == ROWS
    for name, format, told in (
        (path, None, r"rows\.txt: cannot tell the format by the name; pass --format, one of csv, "),
        (str(tmp_path), None, "is a folder, neither a file nor made by `toprank convert`"),
        ("t.parquet.gz", None, r"t\.parquet\.gz: parquet files are compressed inside, not by gz\."),
        ("t.npz.zst", None, "npz files are compressed inside, not by zst"),
        ("t.gz", "feather", "feather files are compressed inside, not by gz"),
    ):
        with pytest.raises(TableError, match=told):
            Table(name, format)
    folder = tmp_path / "t.csv"
    folder.mkdir()
    with pytest.raises(TableError, match=r"t\.csv is a folder, not a file"):
        Table(str(folder)).whole()


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Bytes become those of standard input, a pipe."""
    opened: list[Any] = []

    def give(content: bytes) -> None:
        reading, writing = os.pipe()
        os.write(writing, content)
        os.close(writing)
        opened.append(os.fdopen(reading, "rb"))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=opened[-1]))

    yield give
    for stream in opened:
        stream.close()


def test_standard_input_is_a_csv_or_what_is_named(stdin: Any) -> None:
    stdin(CSV)
    table = Table("-")
    assert (table.name, table.format, table.packing) == ("standard input", "csv", "")
    assert table.whole().to_pydict() == ROWS
    stdin(SVM)
    assert Table("-", "svmlight").matrix()[1].tolist() == [1, -1]
    stream = io.BytesIO()
    parquet.write_table(pa.table(ROWS), stream)
    stdin(stream.getvalue())
    assert Table("-", "parquet").whole().to_pydict() == ROWS
    stdin(b"")
    with pytest.raises(TableError, match=r"^standard input is empty"):
        Table("-").whole()


def test_what_cannot_be_unpacked_or_is_empty(tmp_path: Path) -> None:
    for name, content, told in (
        ("t.csv.gz", b"no gzip", r"t\.csv\.gz cannot be unpacked"),
        ("t.csv.gz", gzip.compress(CSV)[:-9], r"t\.csv\.gz cannot be unpacked"),
        ("t.csv.zst", b"no zstd at all", r"t\.csv\.zst cannot be unpacked"),
        ("t.csv", b"a,b\n", r"t\.csv has no rows"),
        ("t.svm", b"# nothing\n", r"t\.svm is empty"),
        ("t.svm", b"1 1:2\n1 a\n", r"t\.svm, line 2: 'a' is no entry"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        table = Table(str(path))
        with pytest.raises(TableError, match=told):
            table.matrix() if table.sparse else table.whole()
        if table.sparse:
            with pytest.raises(TableError, match=told):
                list(table.matrices(9, from_zero=False))


def test_cells_of_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n"one\ntwo",NA\n"x,y",""\nnull,"say ""so"""\n')
    assert Table(str(path)).whole().to_pydict() == {
        "a": ["one\ntwo", "x,y", None],
        "b": [None, None, 'say "so"'],
    }


def test_headers_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for content, why in (
        # Of these letters no byte is zero.
        (("列" * 150 + "\n1\n").encode("utf-16"), "is UTF-16"),
        (b"a\0" + b"b" * 300 + b"\n1\n", "is UTF-16"),
        (b"a,b\n1,2\n" + b"x,\xff\n" * 40, "is not UTF-8"),
        (b"a,b,c,b\n1,2,3,4\n", "has two columns 'b': rename one"),
    ):
        path.write_bytes(content)
        with pytest.raises(TableError, match=why):
            Table(str(path)).whole()
    path.write_bytes("ä,b\n1,2\n".encode("utf-8-sig"))
    assert Table(str(path)).whole().to_pydict() == {"ä": ["1"], "b": ["2"]}


def test_bad_bytes_far_from_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BLOCK", 64)
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 40 + b"1,\xff\xff\n")
    with pytest.raises(TableError, match=r"t\.csv is not UTF-8: save it as UTF-8"):
        Table(str(path)).whole()
    path.write_bytes(b"a,b\n" + b"1,2\n" * 40 + b"1,2,3\n")
    with pytest.raises(
        TableError, match=r"t\.csv, line 42: there are 3 cells, and the header has 2"
    ):
        Table(str(path)).whole()


def test_a_stream_whose_start_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BLOCK", 4)
    peeked = batches._Peeked(io.BytesIO(b"abcdefgh"))
    assert peeked.start == b"abcd"
    assert peeked.readable()
    assert [peeked.read(2), peeked.read(0), peeked.read(), peeked.read(1), peeked.read()] == [
        *(b"ab", b"", b"cd", b"e", b"fgh")
    ]


def test_batches_without_rows_are_passed_over(tmp_path: Path) -> None:
    """However many rows are skipped, an empty batch does not bring them back."""
    path = str(tmp_path / "t.feather")
    schema = pa.schema([("a", pa.int64())])
    with pa.ipc.new_file(path, schema) as file:
        for cells in ([0, 1, 2], [], [3, 4, 5], [], [6]):
            file.write_batch(pa.record_batch([pa.array(cells, pa.int64())], schema=schema))
    for skip in range(8):
        found = [one for batch in Table(path).batches(skip=skip) for one in batch["a"].to_pylist()]
        assert found == list(range(skip, 7)), skip


def test_a_table_without_rows_has_columns(tmp_path: Path) -> None:
    for order in ("C", "F"):
        np.savez(tmp_path / "t.npz", X=np.zeros((0, 3), order=order), y=np.zeros(0))
        table = Table(str(tmp_path / "t.npz"))
        (batch,) = table.batches()
        assert batch.schema.names == table.columns == ["x0", "x1", "x2", "y"]
        assert batch.num_rows == 0
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.parquet")
    table = Table(str(tmp_path / "t.parquet"))
    assert sum(batch.num_rows for batch in table.batches()) == 0
    assert table.columns == ["a"]


class Bomb:
    """Runs code when it is read with pickle."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("the file was unpickled",))


def test_labels_of_objects_are_not_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.zeros((1, 2)), y=np.array([Bomb()], dtype=object))
    with pytest.raises(TableError, match=r"t\.npz is no \.npz with an array X of numbers"):
        Table(str(tmp_path / "t.npz")).whole()
    (tmp_path / "t.npz").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(TableError, match=r"t\.npz is no \.npz with an array X of numbers"):
        Table(str(tmp_path / "t.npz")).whole()


def test_fewer_bytes_than_rows_need(tmp_path: Path) -> None:
    import zipfile

    for rows, columns in ((3, 2), (2, 3)):
        head = io.BytesIO()
        about = {"descr": "<f8", "fortran_order": False, "shape": (rows + 1, columns)}
        np.lib.format.write_array_header_1_0(head, about)
        with zipfile.ZipFile(tmp_path / "t.npz", "w") as file:
            file.writestr("X.npy", head.getvalue() + bytes(8 * rows * columns))
        with pytest.raises(TableError, match="or a truncated one"):
            Table(str(tmp_path / "t.npz")).whole()


@pytest.mark.parametrize("format", ["parquet", "feather"])
def test_texts_that_are_none_are_refused(format: str, tmp_path: Path) -> None:
    """Arrow itself trusts what a file holds; a reader of its cells would not find UTF-8."""
    offsets = pa.py_buffer(np.array([0, 1, 2], dtype=np.int32).tobytes())
    wrong = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"\xff\xfe"))
    table, path = pa.table({"a": wrong}), str(tmp_path / f"t.{format}")
    if format == "parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    with pytest.raises(TableError, match=f"is no {format} file, or a truncated one"):
        Table(path).whole()


def test_of_many_twins_the_first_is_named(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1])] * 5, names=["z", "a", "b", "a", "b"])
    path = str(tmp_path / "twins.feather")
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    with pytest.raises(TableError, match="more than one column called 'a': rename them"):
        Table(path).whole()
