"""Tables read from files, whole or a chunk at a time."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .errors import TableError

#: Rows that are held at a time.
CHUNK = 50_000
#: The formats, by how names of files end; ".gz" may follow those that are text.
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
_TEXT = ("csv", "tsv", "svmlight")
#: What a file begins with that is no UTF-8.
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Table:
    """A table in a file; "-" is standard input, a CSV unless a format is named."""

    def __init__(self, path: str, format: str | None = None) -> None:
        self.path = path
        self.name = "standard input" if path == "-" else path
        self.packed = path.endswith(".gz")
        self.format = format or self._by_name()
        if self.packed and self.format not in _TEXT:
            raise TableError(f"{path}: {self.format} files are compressed inside, not by gzip.")

    def _by_name(self) -> str:
        if self.path == "-":
            return "csv"
        ending = Path(self.path.removesuffix(".gz")).suffix.lower()
        if ending not in FORMATS:
            raise TableError(
                f"{self.path}: cannot tell the format by the name; pass --format, one of "
                f"{', '.join(sorted(set(FORMATS.values())))}."
            )
        return FORMATS[ending]

    @property
    def sparse(self) -> bool:
        """Whether rows come as a sparse matrix, with their labels."""
        return self.format == "svmlight"

    def _open(self) -> Any:
        """The bytes, to be read from the start to the end."""
        if self.path == "-":
            stream = sys.stdin.buffer
            return stream if self.format in _TEXT else io.BytesIO(stream.read())
        if Path(self.path).is_dir():
            raise TableError(f"{self.path} is a folder, not a file.")
        return gzip.open(self.path, "rb") if self.packed else open(self.path, "rb")

    def whole(self, as_text: tuple[str, ...] = ()) -> Any:
        """All rows as a frame; columns `as_text` are not made numbers of."""
        import pandas as pd

        if self.format in ("csv", "tsv"):
            # low_memory would tell the type of a column by its parts, one by one
            (frame,) = self._lines(dict.fromkeys(as_text, str), None)
            return frame
        return pd.concat(list(self.chunks()), ignore_index=True)

    def chunks(self, types: dict[str, Any] | None = None) -> Iterator[Any]:
        """The rows, some at a time, as frames; `types` of columns are for texts."""
        if self.format in ("csv", "tsv"):
            yield from self._lines(types or {}, CHUNK)
        elif self.format == "npz":
            yield from self._arrays()
        else:
            yield from self._batches()

    def _lines(self, types: dict[str, Any], rows: int | None) -> Iterator[Any]:
        import pandas as pd

        separator = "," if self.format == "csv" else "\t"
        options: dict[str, Any] = {"low_memory": False} if rows is None else {"chunksize": rows}
        with _closing(self._open()) as stream:
            try:
                read = pd.read_csv(stream, sep=separator, dtype=types, encoding="utf-8", **options)
                yield from [read] if rows is None else read
            except pd.errors.EmptyDataError as error:
                raise TableError(f"{self.name} is empty.") from error
            except UnicodeDecodeError as error:
                found = bytes(error.object[:2])
                kind = "UTF-16" if found in _UTF_16 else "not UTF-8"
                raise TableError(f"{self.name} is {kind}: save it as UTF-8.") from error
            except (pd.errors.ParserError, EOFError, gzip.BadGzipFile) as error:
                reason = str(error).strip().rstrip(".")
                raise TableError(f"{self.name} cannot be read: {reason}.") from error

    def _batches(self) -> Iterator[Any]:
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            raise TableError(
                f"{self.name}: {self.format} needs pyarrow; install toprank[cli]."
            ) from error
        with _closing(self._open()) as stream:
            try:
                if self.format == "parquet":
                    batches = parquet.ParquetFile(stream).iter_batches(batch_size=CHUNK)
                else:
                    file = pa.ipc.open_file(stream)
                    batches = (file.get_batch(k) for k in range(file.num_record_batches))
                for batch in batches:
                    yield batch.to_pandas()
            except (pa.ArrowException, OSError) as error:
                raise TableError(
                    f"{self.name} is no {self.format} file, or a truncated one."
                ) from error

    def _arrays(self) -> Iterator[Any]:
        """X, a dense array, as columns x0, x1, ...; y as a column of that name."""
        import pandas as pd

        try:
            with _closing(self._open()) as stream, np.load(stream, allow_pickle=False) as arrays:
                X, y = arrays["X"], arrays.get("y")
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise TableError(
                f"{self.name} is no .npz with an array X of numbers, or a truncated one."
            ) from error
        if X.ndim != 2 or X.dtype.kind not in "biuf" or (y is not None and y.shape != X.shape[:1]):
            raise TableError(f"{self.name}: X must be two-dimensional, and y a label for each row.")
        names = [f"x{j}" for j in range(X.shape[1])]
        for start in range(0, max(len(X), 1), CHUNK):
            frame = pd.DataFrame(X[start : start + CHUNK], columns=names)
            yield frame if y is None else frame.assign(y=y[start : start + CHUNK])

    def matrix(self) -> tuple[Any, Any, bool]:
        """All sparse rows, their labels, and whether columns are numbered from 0."""
        ((X, labels),) = self.matrices(None, from_zero=True)
        from_zero = X.shape[1] > 0 and X[:, [0]].nnz > 0
        return (X if from_zero else X[:, 1:]), labels, from_zero

    def matrices(self, n_features: int | None, *, from_zero: bool) -> Iterator[tuple[Any, Any]]:
        """Sparse rows and their labels, some at a time; all at once without a number of columns."""
        from sklearn.datasets import load_svmlight_file

        first = 0
        with _closing(self._open()) as stream:
            while True:
                lines = _some(stream, CHUNK if n_features else None)
                if not lines:
                    break
                try:
                    yield load_svmlight_file(
                        io.BytesIO(b"".join(lines)), n_features=n_features, zero_based=from_zero
                    )
                except ValueError as error:
                    where = f"rows {first + 1} to {first + len(lines)}"
                    raise TableError(
                        f"{self.name}, {where}: {error}.".replace("..", ".")
                    ) from error
                first += len(lines)
        if not first:
            raise TableError(f"{self.name} is empty.")


def _some(stream: Any, count: int | None) -> list[bytes]:
    """The next lines, comments left out; all that are left without a count."""
    lines: list[bytes] = []
    for line in stream:
        if line.strip() and not line.lstrip().startswith(b"#"):
            lines.append(line)
        if len(lines) == count:
            break
    return lines


class _closing:
    """Closes a stream, standard input not."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __enter__(self) -> Any:
        return self._stream

    def __exit__(self, *_: object) -> None:
        if self._stream is not sys.stdin.buffer:
            self._stream.close()


__all__ = ["CHUNK", "FORMATS", "Table"]
