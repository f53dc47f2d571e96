"""Rows of a file, some at a time, as record batches of Arrow."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .errors import TableError

#: Rows that are held at a time, where rows are counted.
CHUNK = 50_000
#: Bytes of a text that are held at a time. A header is shorter.
BLOCK = 1 << 22
#: Cells that are missing: what pandas takes for it, too.
MISSING = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
]
#: Bytes of a group of rows in a Parquet file that are worth a word.
LARGE_GROUP = 1 << 31
#: What a file begins with that is no UTF-8.
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BAD_ROW = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def of_text(
    stream: Any, name: str, comma: str, columns: Sequence[str] | None, seen: list[str]
) -> Iterator[Any]:
    """Lines of cells, every cell a text."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    peeked = _Peeked(stream)
    header = _header(peeked.start, name, comma)
    wanted = _of_those(header, columns, seen)
    try:
        reader = arrow.open_csv(
            peeked,
            # With threads the error of a bad row has no line, and reading is no faster.
            read_options=arrow.ReadOptions(block_size=BLOCK, use_threads=False),
            parse_options=arrow.ParseOptions(delimiter=comma, newlines_in_values=True),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(wanted, pa.string()),
                include_columns=wanted,
                null_values=MISSING,
                strings_can_be_null=True,
            ),
        )
        yield from reader
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:  # a header that reads in two ways
        raise TableError(_of_line(str(error), name)) from error


class _Peeked(io.RawIOBase):
    """A stream whose first bytes are known; who closes this leaves it open."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.start = self._left = stream.read(BLOCK)

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, those that are known first."""
        if not self._left:
            return bytes(self._stream.read(size))
        size = len(self._left) if size < 0 else size
        found, self._left = self._left[:size], self._left[size:]
        return bytes(found)


def _header(start: bytes, name: str, comma: str) -> list[str]:
    """The names of the columns, by the first bytes of a file."""
    if not start.strip():
        raise TableError(f"{name} is empty.")
    if start[:2] in _UTF_16 or b"\0" in start[:200]:
        raise TableError(f"{name} is UTF-16: save it as UTF-8.")
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError as error:
        raise TableError(f"{name} is not UTF-8: save it as UTF-8.") from error
    try:
        header = next(csv.reader(io.StringIO(text, newline=None), delimiter=comma), [])
    except csv.Error as error:  # a cell as long as a book: quotes that are not closed
        raise TableError(f"{name}: the names of the columns cannot be read: {error}.") from error
    for place, own in enumerate(header):
        if own in header[:place]:
            raise TableError(f"{name} has two columns {own!r}: rename one.")
    return header


def _of_line(error: str, name: str) -> str:
    if found := _BAD_ROW.search(error):
        row, expected, got = found.groups()
        return f"{name}, line {row}: there are {got} cells, and the header has {expected}."
    if "UTF8" in error:
        return f"{name} is not UTF-8: save it as UTF-8."
    return f"{name} cannot be read: {' '.join(error.split())}."


def of_arrow(
    stream: Any,
    name: str,
    format: str,
    columns: Sequence[str] | None,
    seen: list[str],
    skip: int,
) -> Iterator[Any]:
    """Batches of a Parquet or Feather file, without so many rows; these are not read of Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        if format == "parquet":
            # One group after the other, and not fetched ahead: else what was read stays in memory.
            file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=BLOCK)
            wanted = _of_those(file.schema_arrow.names, columns, seen)
            _tell_large_groups(file.metadata, name)
            for k in range(file.num_row_groups):
                rows = file.metadata.row_group(k).num_rows
                if rows > skip or not rows:
                    own = file.iter_batches(batch_size=CHUNK, columns=wanted, row_groups=[k])
                    for batch in without(own, skip):
                        batch.validate(full=True)
                        yield batch
                skip = max(skip - rows, 0)
            return
        opened = pa.ipc.open_file(stream)
        names = opened.schema.names
        twins = [one for one in names if names.count(one) > 1]
        if twins:
            raise TableError(f"{name} has more than one column called {twins[0]!r}: rename them.")
        wanted = _of_those(opened.schema.names, columns, seen)
        parts = (opened.get_batch(k).select(wanted) for k in range(opened.num_record_batches))
        for batch in without(parts, skip):
            batch.validate(full=True)  # or a broken file would be read beyond its end
            for start in range(0, batch.num_rows, CHUNK):
                yield batch.slice(start, CHUNK)
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        raise TableError(f"{name} is no {format} file, or a truncated one.") from error


def without(batches: Iterator[Any], skip: int) -> Iterator[Any]:
    """The batches less the first rows, so many of them; one that was empty stays."""
    for batch in batches:
        left_out = min(skip, batch.num_rows)
        skip -= left_out
        if left_out < batch.num_rows or not batch.num_rows:
            yield batch.slice(left_out)


def _tell_large_groups(about: Any, name: str) -> None:
    """Warn of a group of rows that takes a lot of memory."""
    sizes = [about.row_group(k).total_byte_size for k in range(about.num_row_groups)]
    largest = max(sizes, default=0)
    if largest > LARGE_GROUP:
        warnings.warn(
            f"{name} has a row group of {largest / 1e9:.1f} GB, and one is held in memory while it "
            "is read: write the file with smaller ones (row_group_size).",
            stacklevel=2,
        )


def _of_those(names: list[str], columns: Sequence[str] | None, seen: list[str]) -> list[str]:
    """The columns to read; `seen` becomes those that there are."""
    seen[:] = names
    wanted = [own for own in names if columns is None or own in columns]
    # Without a column there would be no rows: then the first is read, and counts them.
    return wanted or names[:1]


def of_arrays(
    stream: Any, name: str, columns: Sequence[str] | None, seen: list[str]
) -> Iterator[Any]:
    """X, a dense array, as columns x0, x1, ...; y as a column of that name."""
    import pyarrow as pa

    try:
        with np.load(stream, allow_pickle=False) as arrays:
            y, (shape, kind, rows) = arrays.get("y"), _rows_of(arrays.zip, "X.npy")
            if len(shape) != 2 or kind not in "biuf" or (y is not None and y.shape != shape[:1]):
                raise TableError(f"{name}: X must be two-dimensional, and y a label for each row.")
            start = 0
            for X in rows:
                made = {f"x{j}": pa.array(column) for j, column in enumerate(X.T)}
                if y is not None:
                    made["y"] = pa.array(y[start : start + len(X)])
                start += len(X)
                wanted = _of_those(list(made), columns, seen)
                yield pa.RecordBatch.from_arrays([made[own] for own in wanted], names=wanted)
    except TableError:
        raise
    except Exception as error:  # what a broken zip may raise has no end, memory errors included
        raise TableError(
            f"{name} is no .npz with an array X of numbers, or a truncated one."
        ) from error


def _rows_of(archive: Any, name: str) -> tuple[tuple[int, ...], str, Iterator[Any]]:
    """The shape of an array in a zip, the kind of its numbers, and its rows, some at a time."""
    with archive.open(name) as member:
        first = np.lib.format.read_magic(member) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(member)

    def rows() -> Iterator[Any]:
        with archive.open(name) as member:
            if fortran or not shape[0]:
                whole = np.lib.format.read_array(member, allow_pickle=False)
                for begin in range(0, max(len(whole), 1), CHUNK):
                    yield whole[begin : begin + CHUNK]
                return
            np.lib.format.read_magic(member)
            read(member)
            for begin in range(0, shape[0], CHUNK):
                count = min(CHUNK, shape[0] - begin)
                size = count * shape[1] * dtype.itemsize
                own = member.read(size)
                if len(own) < size:
                    raise EOFError
                yield np.frombuffer(own, dtype=dtype).reshape(count, shape[1])

    return shape, dtype.kind, rows()


__all__ = ["BLOCK", "CHUNK", "MISSING", "of_arrays", "of_arrow", "of_text", "without"]
