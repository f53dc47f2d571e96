"""Tables of pandas, Polars, Arrow and NumPy as columns of numbers, categories and dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.cells import LARGEST_ENTRY, refuse_repeated_names
from .arrow import codes_of, dates_of, is_missing, kind_of_cells, numbers_of, plain_type, word_of
from .dates import in_utc, zone_changed

#: Cells that are no single value.
_NESTED = (list, tuple, set, np.ndarray)
#: A day, with a time or without, as ISO 8601 has it.
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
#: What a sentence calls columns of a kind.
_PLURAL = {
    "number": "numbers",
    "category": "categories",
    "text": "texts",
    "truth": "truth values",
    "date": "dates",
    "span": "spans of time",
}


@dataclass(frozen=True)
class Column:
    """A column: floats with NaN, codes of words with -1, or datetime64 or timedelta64 with NaT."""

    #: "number", "category", "date" or "span"; as read also "text", "truth", or "empty".
    kind: str
    values: NDArray[Any]
    words: tuple[str, ...] = ()
    #: Whether dates have a time zone, and are in UTC; None where that is not known.
    zoned: bool | None = None


@dataclass(frozen=True)
class Columns:
    """The columns of a table, read."""

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    n_rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.n_rows, len(self.columns)


def is_frame(X: Any) -> bool:
    """Return whether X is a table with named columns."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a Polars LazyFrame, which holds no rows yet: collect() it first.")
    frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    return frame or (hasattr(X, "column_names") and hasattr(X, "schema")) or _is_batch(X)


def _is_batch(X: Any) -> bool:
    return type(X).__name__ == "RecordBatch" and hasattr(X, "schema")


def columns_of(X: Any, names: Sequence[str] | None = None) -> Columns:
    """Read a table, each column as what it holds.

    `names` are those of the columns of an array, for messages.
    """
    if not is_frame(X):
        return _of_array(X, names)
    named = [str(name) for name in _names(X)]
    refuse_repeated_names(X)
    parts = zip(named, _series(X), strict=True)
    columns = tuple(_checked(_read(series, name), name) for name, series in parts)
    return Columns(tuple(named), columns, int(X.shape[0]))


def column_of(values: Any, name: str) -> Column | None:
    """Read a series or a one-dimensional array as a fit does; None if it is empty."""
    if type(values).__module__.partition(".")[0] == "pandas" and not hasattr(values, "iloc"):
        import pandas as pd

        values = pd.Series(values)  # an index, or an array such as Categorical
    if (hasattr(values, "dtype") and not isinstance(values, np.ndarray)) or hasattr(
        values, "chunks"
    ):
        return natural(_checked(_read(values, name), name), name)
    cells = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if cells.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got {cells.ndim}.")
    return natural(_checked(_of_cells(cells, name), name), name)


def _names(X: Any) -> Iterable[Any]:
    names: Iterable[Any] = X.columns if hasattr(X, "dtypes") else X.schema.names
    return names


def _series(X: Any) -> Iterator[Any]:
    width = X.shape[1]
    if hasattr(X, "iloc"):
        return (X.iloc[:, j] for j in range(width))
    if hasattr(X, "to_series"):
        return (X.to_series(j) for j in range(width))
    return (X.column(j) for j in range(width))


def _of_array(X: Any, names: Sequence[str] | None) -> Columns:
    cells = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    if cells.ndim != 2:
        raise ValueError(f"Expected 2D array, got {cells.ndim}D array instead. Reshape your data.")
    names = [f"x{j}" for j in range(cells.shape[1])] if names is None else names
    parts = zip(names, cells.T, strict=True)
    columns = tuple(_checked(_of_cells(own, name), name) for name, own in parts)
    return Columns(tuple(map(str, names)), columns, cells.shape[0])


def _read(series: Any, name: str) -> Column:
    """Read a column of a table of any library."""
    dtype = getattr(series, "dtype", None)
    if dtype is None:
        return _of_arrow(series, name)
    if hasattr(dtype, "is_numeric"):
        return _of_polars(series, dtype, name)
    if type(dtype).__name__ == "ArrowDtype":
        import pyarrow as pa

        return _of_arrow(pa.chunked_array(pa.array(series)), name)
    return _of_pandas(series, dtype, name)


def _of_pandas(series: Any, dtype: Any, name: str) -> Column:
    kind, own = getattr(dtype, "kind", "O"), type(dtype).__name__
    if own == "CategoricalDtype":
        words = [word_of(cell) for cell in series.cat.categories]
        return _coded("category", series.cat.codes.to_numpy().astype(np.int64), words)
    if own == "SparseDtype":
        return _read(series.sparse.to_dense(), name)
    if own == "DatetimeTZDtype":
        naive = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return replace(_of_cells(naive, name), zoned=True)
    if kind == "b":
        codes = series.astype("Int8").fillna(-1).to_numpy(dtype=np.int64)
        return _coded("truth", codes, ["False", "True"])
    if kind in "iuf":
        return Column("number", series.to_numpy(dtype=np.float64, na_value=np.nan))
    if own == "StringDtype":
        import pandas as pd

        codes, words = pd.factorize(series)
        return _coded("text", codes.astype(np.int64), [word_of(str(word)) for word in words])
    return _of_cells(series.to_numpy(), name)


def _of_polars(series: Any, dtype: Any, name: str) -> Column:
    import polars as pl

    if dtype == pl.Null:
        return Column("empty", np.full(len(series), np.nan))
    if dtype == pl.Boolean:
        codes = series.cast(pl.Int8).fill_null(-1).to_numpy().astype(np.int64)
        return _coded("truth", codes, ["False", "True"])
    if dtype.is_numeric():
        return Column("number", series.cast(pl.Float64).to_numpy().astype(np.float64))
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        kind = "text" if dtype == pl.String else "category"
        return _of_words(kind, series.cast(pl.String).to_list())
    zoned = bool(getattr(dtype, "time_zone", None))
    if zoned:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if dtype == pl.Date or isinstance(dtype, pl.Datetime):
        return Column("date", series.cast(pl.Datetime("us")).to_numpy(), zoned=zoned)
    if isinstance(dtype, pl.Duration):
        return Column("span", series.cast(pl.Duration("us")).to_numpy())
    raise _nothing(name, dtype)


def _of_arrow(column: Any, name: str) -> Column:
    kind = plain_type(column)
    if column.null_count == len(column):
        return Column("empty", np.full(len(column), np.nan))
    if kind == "number":
        return Column("number", numbers_of(column)[0])
    if kind == "date":
        values, _ = dates_of(column)
        span = values.dtype.kind == "m"
        zoned = None if span else bool(getattr(column.type, "tz", None))
        return Column("span" if span else "date", values, zoned=zoned)
    if kind is None:
        raise _nothing(name, column.type)
    truth = str(column.type) == "bool"
    return _coded("truth" if truth else kind, *codes_of(column))


def _of_cells(cells: NDArray[Any], name: str) -> Column:
    """Read an array of NumPy, of Python objects too."""
    kind = cells.dtype.kind
    if kind == "b":
        return _coded("truth", cells.astype(np.int64), ["False", "True"])
    if kind in "iuf":
        return Column("number", cells.astype(np.float64))
    if kind in "mM":
        dates = cells.astype(f"{kind}8[us]")
        return Column("date", dates, zoned=False) if kind == "M" else Column("span", dates)
    if kind in "US":
        return _of_words("text", cells.astype(str).tolist())
    if kind != "O":
        raise _nothing(name, cells.dtype)
    return _of_objects(cells, name)


def _of_objects(cells: NDArray[Any], name: str) -> Column:
    nested = next((cell for cell in cells if isinstance(cell, _NESTED)), None)
    if nested is not None:
        raise _nothing(name, type(nested).__name__)
    there = [cell for cell in cells if not is_missing(cell)]
    if not there:
        return Column("empty", np.full(len(cells), np.nan))
    if all(isinstance(cell, bool | np.bool_) for cell in there):
        return _of_words("truth", [None if is_missing(cell) else str(cell) for cell in cells])
    kind = kind_of_cells(there)
    if kind == "number":
        return Column(
            "number", np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
        )
    if kind == "date":
        zoned = any(getattr(cell, "tzinfo", None) for cell in there)
        naive = np.array([in_utc(cell) for cell in cells], dtype="datetime64[us]")
        return Column("date", naive, zoned=zoned)
    text = all(isinstance(cell, str) for cell in there)
    words = [None if is_missing(cell) else word_of(cell) for cell in cells]
    return _of_words("text" if text else "category", words)


def _of_words(kind: str, cells: list[str | None]) -> Column:
    known: dict[str | None, int] = {None: -1}
    places = (known.setdefault(cell, len(known) - 1) for cell in cells)
    codes = np.fromiter(places, dtype=np.int64, count=len(cells))
    return _coded(kind, codes, [word_of(word) for word in known if word is not None])


def _coded(kind: str, codes: NDArray[np.int64], words: Sequence[str]) -> Column:
    codes, words = merged(codes, words)
    return Column(kind if (codes >= 0).any() else "empty", codes, tuple(words))


def merged(
    codes: NDArray[np.int64], words: Sequence[str]
) -> tuple[NDArray[np.int64], Sequence[str]]:
    """Return codes of words of which no two are equal."""
    first = {word: place for place, word in reversed(list(enumerate(words)))}
    if len(first) == len(words):
        return codes, words
    kept = sorted(first.values())
    new = {words[place]: number for number, place in enumerate(kept)}
    table = np.array([*(new[word] for word in words), -1], dtype=np.int64)
    return table[codes], [words[place] for place in kept]


def _nothing(name: str, what: Any) -> TypeError:
    return TypeError(
        f"Column {name!r} of X holds {what}, of which nothing can be made: leave it out, or make "
        "numbers, texts or dates of it."
    )


def _checked(column: Column, name: str) -> Column:
    """Refuse numbers that are infinite or too large."""
    if column.kind == "number":
        wrong = np.abs(column.values) > LARGEST_ENTRY
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"Column {name!r} of X holds {column.values[row]:g} in row {row}: replace it, or "
                "mark it as missing (NaN)."
            )
    return column


def natural(column: Column, name: str) -> Column | None:
    """Return a column as the kind it is in a fit; None if nothing is in it."""
    if column.kind == "empty" or (column.kind == "number" and np.isnan(column.values).all()):
        return None
    if column.kind in ("date", "span"):
        return None if np.isnat(column.values).all() else column
    if column.kind == "text" and all(DATE.fullmatch(word.strip()) for word in column.words):
        return _dates(column, name)
    return replace(column, kind="category") if column.kind in ("text", "truth") else column


def as_kind(column: Column, wanted: Column, name: str) -> Column:
    """Return a column of new rows as the kind it had in fit, which `wanted` is an example of."""
    n = len(column.values)
    found = natural(column, name)
    if found is None:
        return _missing(wanted, n)
    if wanted.kind == "category" and column.kind in ("text", "truth", "category", "number"):
        return found if found.kind == "category" else _words_of(column)
    if found.kind == wanted.kind:
        if None not in (found.zoned, wanted.zoned) and found.zoned != wanted.zoned:
            raise ValueError(zone_changed(f"Column {name!r} of X", zoned=bool(found.zoned)))
        return found
    if wanted.kind == "number" and column.kind == "truth":
        values = np.array([*(float(word == "True") for word in column.words), np.nan])
        return Column("number", values[column.values])
    raise ValueError(_changed(column, wanted, name))


def _changed(column: Column, wanted: Column, name: str) -> str:
    held, holds = _PLURAL[wanted.kind], _PLURAL[column.kind]
    if not column.words:
        return f"Column {name!r} of X held {held} in fit, and holds {holds}."
    there = column.values >= 0
    codes = column.values[there]
    odd = [_is_odd(word, wanted.kind) for word in column.words]
    places = np.flatnonzero(np.array(odd)[codes]) if any(odd) else np.zeros(1, dtype=np.int64)
    row = int(np.flatnonzero(there)[places[0]])
    return (
        f"Column {name!r} of X held {held} in fit, and holds {column.words[codes[places[0]]]!r} in "
        f"row {row}: read it as {held}, or mark it as missing."
    )


def _is_odd(word: str, kind: str) -> bool:
    """Return whether a word is not what a kind of column holds."""
    if kind != "number":
        return not DATE.fullmatch(word.strip())
    try:
        float(word)
    except ValueError:
        return True
    return False


def _missing(wanted: Column, n: int) -> Column:
    if wanted.kind == "number":
        return Column("number", np.full(n, np.nan))
    if wanted.kind == "category":
        return Column("category", np.full(n, -1), ())
    letter = "M" if wanted.kind == "date" else "m"
    return Column(wanted.kind, np.full(n, "NaT", dtype=f"{letter}8[us]"), zoned=wanted.zoned)


def _words_of(column: Column) -> Column:
    """Numbers or dates as words."""
    if column.kind != "number":
        return replace(column, kind="category")
    there = ~np.isnan(column.values)
    found, codes = np.unique(column.values[there], return_inverse=True)
    every = np.full(len(there), -1)
    every[there] = codes
    return Column("category", every, tuple(word_of(float(number)) for number in found))


def _dates(column: Column, name: str) -> Column:
    """Read texts as dates; a date with a time zone in UTC."""
    read = [_date(word) for word in column.words]
    if None in read:
        row = int(np.argmax(column.values == read.index(None)))
        word = column.words[read.index(None)]
        raise ValueError(
            f"Column {name!r} of X holds {word!r} in row {row}, which is no date: correct it, or "
            "mark it as missing."
        )
    times = np.array([*read, None], dtype="datetime64[us]")
    return Column("date", times[column.values])


def _date(word: str) -> datetime | None:
    try:
        made = datetime.fromisoformat(word.strip())
    except ValueError:
        return None
    return made if made.tzinfo is None else made.astimezone(UTC).replace(tzinfo=None)


__all__ = [
    "DATE",
    "Column",
    "Columns",
    "as_kind",
    "column_of",
    "columns_of",
    "is_frame",
    "merged",
    "natural",
]
