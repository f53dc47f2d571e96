"""Tables read from files, whole or a chunk at a time."""

from __future__ import annotations

import gzip
import io
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
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
#: Bytes of a group of rows in a Parquet file that are worth a word.
_LARGE_GROUP = 1 << 31
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

    def chunks(self, types: dict[str, Any] | None = None, *, skip: int = 0) -> Iterator[Any]:
        """The rows, some at a time, as frames; `types` of columns are for texts.

        So many rows are skipped; groups of rows in a Parquet file are not even read then.
        """
        if self.format in ("csv", "tsv"):
            chunks = self._lines(types or {}, CHUNK)
        elif self.format == "npz":
            chunks = self._arrays()
        elif self.format == "parquet":
            chunks, skip = self._groups(skip)
        else:
            chunks = self._batches()
        for frame in chunks:
            if skip >= len(frame) > 0:
                skip -= len(frame)
                continue
            yield frame.iloc[skip:] if skip else frame
            skip = 0

    def _groups(self, skip: int) -> tuple[Iterator[Any], int]:
        """The batches from the group of rows on that has a row, and how many are before it there.

        A group that is larger than memory should hold is told: it is read as a whole.
        """
        about = self._parquet(lambda file: file.metadata)
        sizes = [about.row_group(k) for k in range(about.num_row_groups)]
        largest = max((group.total_byte_size for group in sizes), default=0)
        if largest > _LARGE_GROUP:
            warnings.warn(
                f"{self.name} has a row group of {largest / 1e9:.1f} GB, and one is held in memory "
                "while it is read: write the file with smaller ones (row_group_size).",
                stacklevel=2,
            )
        first = 0
        while first < len(sizes) and skip >= sizes[first].num_rows > 0:
            skip -= sizes[first].num_rows
            first += 1
        return self._batches(range(first, len(sizes))), skip

    def number_sample(self, cells: int, others: list[str]) -> Any:
        """Rows from all over a Parquet file whose columns are numbers, but for some others.

        None where the file does not say so: then all rows must be looked at. So they are where
        numbers are missing.
        """
        if self.format != "parquet" or self.path == "-":
            return None

        def sample(file: Any) -> Any:
            import pyarrow as pa

            about, schema = file.metadata, file.schema_arrow
            own = [k for k, name in enumerate(schema.names) if name not in others]
            kinds = (pa.types.is_integer, pa.types.is_floating)
            if not all(any(is_kind(schema.field(k).type) for is_kind in kinds) for k in own):
                return None
            groups = range(about.num_row_groups)
            if about.num_columns != len(schema.names) or not _none_missing(about, own):
                return None
            rows = max(cells // max(len(schema.names), 1), 1)
            wanted = max(min(len(groups), rows * len(groups) // max(about.num_rows, 1)), 1)
            chosen = np.unique(np.linspace(0, len(groups) - 1, wanted).astype(int))
            each = max(rows // len(chosen), 1)
            parts = [file.read_row_group(int(k)) for k in chosen]
            return pa.concat_tables([part.slice(0, each) for part in parts]).to_pandas()

        return self._parquet(sample)

    def _parquet(self, ask: Callable[[Any], Any]) -> Any:
        """What is asked of a Parquet file."""
        import pyarrow as pa
        from pyarrow import parquet

        with _closing(self._open()) as stream:
            try:
                return ask(parquet.ParquetFile(stream))
            except (pa.ArrowException, OSError) as error:
                raise TableError(
                    f"{self.name} is no {self.format} file, or a truncated one."
                ) from error

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

    def _batches(self, groups: range | None = None) -> Iterator[Any]:
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
                    # One group after the other: all at once, those that were read stay in memory.
                    file = parquet.ParquetFile(stream, pre_buffer=False)
                    own = range(file.num_row_groups) if groups is None else groups
                    batches = (
                        batch
                        for k in own
                        for batch in file.iter_batches(batch_size=CHUNK, row_groups=[k])
                    )
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
                y, (shape, kind, rows) = arrays.get("y"), _rows_of(arrays.zip, "X.npy")
                if (
                    len(shape) != 2
                    or kind not in "biuf"
                    or (y is not None and y.shape != shape[:1])
                ):
                    raise TableError(
                        f"{self.name}: X must be two-dimensional, and y a label for each row."
                    )
                names = [f"x{j}" for j in range(shape[1])]
                first = 0
                for X in rows:
                    frame = pd.DataFrame(X, columns=names)
                    yield frame if y is None else frame.assign(y=y[first : first + len(X)])
                    first += len(X)
        except TableError:
            raise
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise TableError(
                f"{self.name} is no .npz with an array X of numbers, or a truncated one."
            ) from error

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


def _rows_of(archive: Any, name: str) -> tuple[tuple[int, ...], str, Iterator[Any]]:
    """The shape of an array in a zip, the kind of its numbers, and its rows, some at a time."""
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        read = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            read = np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(member)

    def rows() -> Iterator[Any]:
        if fortran or not shape[0]:
            with archive.open(name) as member:
                whole = np.lib.format.read_array(member, allow_pickle=False)
            for begin in range(0, max(len(whole), 1), CHUNK):
                yield whole[begin : begin + CHUNK]
            return
        with archive.open(name) as member:
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


def _none_missing(about: Any, columns: list[int]) -> bool:
    """Whether a Parquet file says that no value of these columns is missing."""
    for k in range(about.num_row_groups):
        group = about.row_group(k)
        for column in columns:
            known = group.column(column).statistics
            if known is None or not known.has_null_count or known.null_count:
                return False
    return True


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
