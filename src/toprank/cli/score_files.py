"""Lists written as they come: CSV, TSV, Parquet, Excel or lines of JSON, whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._atomic import replacing
from ..inputs.printable import printable, printable_json
from .sheets import Sheet
from .targets import check_list_name


class ScoreFile:
    """Columns of ids and scores; rows are numbered where no column of ids is named.

    Without a path it is standard output: CSV, or `lines` of JSON. Ids are exact, except for CSV on
    a terminal, where control characters are escaped.
    """

    def __init__(self, path: str | None, id: str | None, *, lines: bool = False) -> None:
        self._path, self._id = path, id
        self._name = id or "row"
        self._stack = contextlib.ExitStack()
        self._ending = ".jsonl" if lines else check_list_name(path)
        self._begun = False

    def __enter__(self) -> ScoreFile:
        with contextlib.ExitStack() as stack:
            if self._path is None:
                sys.stdout.flush()
                self._file: Any = sys.stdout.buffer
                stack.callback(self._file.flush)
            else:
                self._file = stack.enter_context(packed(self._path))
                if self._ending == ".parquet":
                    self._file = stack.enter_context(self._parquet_writer(self._file))
                if self._ending == ".xlsx":
                    self._file = stack.enter_context(Sheet(self._file, self._path))
            self._stack = stack.pop_all()
        return self

    def _parquet_writer(self, file: Any) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        names = pa.int64() if self._id is None else pa.string()
        self._schema = pa.schema([(self._name, names), ("score", pa.float64())])
        return parquet.ParquetWriter(file, self._schema)

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def write(self, names: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Some more rows; all digits of the scores."""
        both = zip(names.tolist(), scores.tolist(), strict=True)
        if self._ending == ".xlsx":
            for row in both if self._begun else [(self._name, "score"), *both]:
                self._file.row(row)
            self._begun = True
            return
        if self._ending == ".jsonl":
            lines = [
                printable_json(json.dumps({self._name: own, "score": s}, ensure_ascii=False))
                for own, s in both
            ]
            self._file.write(("\n".join(lines) + "\n").encode())
            return
        import pyarrow as pa

        if self._path is None and self._id is not None and sys.stdout.isatty():
            names = np.array([printable(name) for name in names], dtype=object)
        own = pa.array(names, type=pa.int64() if self._id is None else pa.string())
        rows = pa.table([own, pa.array(scores)], names=[self._name, "score"])
        if self._ending == ".parquet":
            self._file.write_table(rows)
            return
        from pyarrow import csv as arrow

        comma = "\t" if self._ending == ".tsv" else ","
        if not self._begun:  # not before there are rows: a table may be refused
            self._file.write(line_of([self._name, "score"], comma))
            self._begun = True
        # Into memory first: a writer closes its file, which here goes on.
        text = io.BytesIO()
        arrow.write_csv(
            rows,
            text,
            arrow.WriteOptions(include_header=False, delimiter=comma, quoting_style="needed"),
        )
        self._file.write(text.getbuffer())


def line_of(cells: list[str], comma: str = ",") -> bytes:
    """A line of cells, quoted where they need it."""
    text = io.StringIO()
    csv.writer(text, delimiter=comma, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


@contextlib.contextmanager
def packed(path: str) -> Any:
    """A file to write bytes to, packed if its name says so; it is there once all is written."""
    with replacing(path) as file:
        if path.endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packing:
                yield packing
        elif path.endswith(".zst"):
            import pyarrow as pa

            with pa.CompressedOutputStream(pa.PythonFile(_Open(file), "w"), "zstd") as packing:
                yield packing
        else:
            yield file


class _Open(io.RawIOBase):
    """A file that others may close, and is not closed by that."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, content: Any) -> int:
        """As the file does."""
        return int(self._file.write(content))


__all__ = ["ScoreFile", "line_of", "packed"]
