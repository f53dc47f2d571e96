"""Rows of a file, some at a time, as record batches of Arrow."""

from __future__ import annotations

import codecs
import csv
import io
import re
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
            read_options=arrow.ReadOptions(block_size=BLOCK),
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
    stream: Any, name: str, format: str, columns: Sequence[str] | None, seen: list[str]
) -> Iterator[Any]:
    """Batches of a Parquet or Feather file."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        if format == "parquet":
            # Fetched ahead, a file of one column after another would be in memory.
            file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=BLOCK)
            wanted = _of_those(file.schema_arrow.names, columns, seen)
            for batch in file.iter_batches(batch_size=CHUNK, columns=wanted):
                batch.validate(full=True)
                yield batch
            return
        opened = pa.ipc.open_file(stream)
        wanted = _of_those(opened.schema.names, columns, seen)
        for k in range(opened.num_record_batches):
            batch = opened.get_batch(k).select(wanted)
            batch.validate(full=True)  # or a broken file would be read beyond its end
            for start in range(0, batch.num_rows, CHUNK):
                yield batch.slice(start, CHUNK)
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        raise TableError(f"{name} is no {format} file, or a truncated one.") from error


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
            X, y = arrays["X"], arrays.get("y")
    except Exception as error:  # what a broken zip may raise has no end, memory errors included
        raise TableError(
            f"{name} is no .npz with an array X of numbers, or a truncated one."
        ) from error
    if X.ndim != 2 or X.dtype.kind not in "biuf" or (y is not None and y.shape != X.shape[:1]):
        raise TableError(f"{name}: X must be two-dimensional, and y a label for each row.")
    for start in range(0, max(len(X), 1), CHUNK):
        rows = slice(start, start + CHUNK)
        made = {f"x{j}": pa.array(column) for j, column in enumerate(X[rows].T)}
        if y is not None:
            made["y"] = pa.array(y[rows])
        wanted = _of_those(list(made), columns, seen)
        yield pa.RecordBatch.from_arrays([made[own] for own in wanted], names=wanted)


__all__ = ["BLOCK", "CHUNK", "MISSING", "of_arrays", "of_arrow", "of_text"]
