"""Tables in files: which format they have, and their rows, whole or some at a time."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import TableError

#: The formats, by how names of files end; ".gz" or ".zst" may follow those that are text.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
}
#: How names of packed texts end.
PACKED = (".gz", ".zst")
_TEXT = ("csv", "tsv", "svmlight")


class Table:
    """A table in a file; "-" is standard input, a CSV unless a format is named."""

    def __init__(self, path: str, format: str | None = None) -> None:
        self.path = path
        self.name = "standard input" if path == "-" else path
        #: The names of its columns, once rows have been read.
        self.columns: list[str] = []
        self.packing = next((end for end in PACKED if path.endswith(end)), "")
        self.format = format or self._by_name()
        if self.packing and self.format not in _TEXT:
            raise TableError(
                f"{path}: {self.format} files are compressed inside, not by {self.packing[1:]}."
            )

    def _by_name(self) -> str:
        if self.path == "-":
            return "csv"
        ending = Path(self.path.removesuffix(self.packing)).suffix.lower()
        if ending not in FORMATS:
            if Path(self.path).is_dir():
                raise TableError(
                    f"{self.path} is a folder, neither a file nor made by `toprank convert`."
                )
            raise TableError(
                f"{self.path}: cannot tell the format by the name; pass --format, one of "
                f"{', '.join(sorted(set(FORMATS.values())))}."
            )
        return FORMATS[ending]

    @property
    def sparse(self) -> bool:
        """Whether rows come as a sparse matrix, with their labels."""
        return self.format == "svmlight"

    @property
    def texts(self) -> bool:
        """Whether cells are texts, of which kinds have to be made."""
        return self.format in ("csv", "tsv")

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """The bytes, to be read from the start to the end."""
        if self.path == "-":
            stream = sys.stdin.buffer
            yield stream if self.format in _TEXT else io.BytesIO(stream.read())
            return
        if Path(self.path).is_dir():
            raise TableError(f"{self.path} is a folder, not a file.")
        with open(self.path, "rb") as file:
            if not self.packing:
                yield file
                return
            try:
                if self.packing == ".gz":
                    with gzip.open(file, "rb") as plain:
                        yield plain
                else:
                    import pyarrow as pa

                    with pa.CompressedInputStream(file, "zstd") as plain:
                        yield io.BufferedReader(plain)
            except (EOFError, OSError) as error:  # pyarrow's errors of a stream are OSErrors
                raise TableError(f"{self.path} cannot be unpacked: {error}.") from error

    def batches(self, columns: Sequence[str] | None = None, *, skip: int = 0) -> Iterator[Any]:
        """The rows, some at a time, as record batches; those of `columns` that are there.

        So many rows are left out; of a Parquet file they are not read.
        """
        from . import batches

        with self._open() as stream:
            if self.texts:
                comma = "," if self.format == "csv" else "\t"
                own = batches.of_text(stream, self.name, comma, columns, self.columns)
                yield from batches.without(own, skip)
            elif self.format == "npz":
                own = batches.of_arrays(stream, self.name, columns, self.columns)
                yield from batches.without(own, skip)
            else:
                yield from batches.of_arrow(
                    stream, self.name, self.format, columns, self.columns, skip
                )

    def whole(self) -> Any:
        """All rows, as one table of Arrow."""
        import pyarrow as pa

        found = list(self.batches())
        if not sum(batch.num_rows for batch in found):
            raise TableError(f"{self.name} has no rows.")
        return pa.Table.from_batches(found)

    def matrix(self) -> tuple[Any, Any, bool]:
        """All sparse rows, their labels, and whether columns are numbered from 0."""
        from .svmlight import read_all

        with self._open() as stream, self._telling():
            X, labels, from_zero = read_all(stream)
        if not len(labels):
            raise TableError(f"{self.name} is empty.")
        return X, labels, from_zero

    def matrices(self, n_features: int, *, from_zero: bool) -> Iterator[tuple[Any, Any]]:
        """Sparse rows of so many columns and their labels, some at a time."""
        from .svmlight import SvmlightReader

        rows = 0
        with self._open() as stream, self._telling():
            for X, labels in SvmlightReader(stream, n_features, from_zero=from_zero):
                rows += len(labels)
                yield X, labels
        if not rows:
            raise TableError(f"{self.name} is empty.")

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Errors of lines, with the name of the file."""
        try:
            yield
        except TableError:
            raise
        except ValueError as error:
            raise TableError(f"{self.name}, {error}.") from error


__all__ = ["FORMATS", "PACKED", "Table"]
