"""Cells of a table that hold no number: which column they are in, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: What does all of it, at the end of every refusal.
_BY_TABLE = "Or let toprank.features.table_pipeline {}."
#: Squares of larger entries would overflow in sums.
LARGEST_ENTRY = 1e100
_DATES = (
    "holds dates or times{}. Take them apart into numbers first: the month, the day of the week, "
    f"the days since an event. {_BY_TABLE.format('take them apart')}"
)
_MISSING = (
    "Fill missing values first, for instance with sklearn.impute.SimpleImputer. "
    f"{_BY_TABLE.format('fill and flag them')}"
)
_WORDS = (
    "Encode categories first, for instance with sklearn.preprocessing.OneHotEncoder in a "
    f"sklearn.compose.ColumnTransformer. {_BY_TABLE.format('encode them')}"
)
#: Python's and NumPy's dates and times; NumPy makes numbers of its own without a word.
_NUMPY_TIMES = (np.datetime64, np.timedelta64)
_TIMES = (date, time, timedelta, *_NUMPY_TIMES)
#: How the types of dates and times begin in Arrow.
_ARROW_TIMES = ("timestamp", "date", "time", "duration", "month_day_nano")


def refuse_no_numbers(X: Any) -> None:
    """Refuse what NumPy would make numbers of without a word: dates, masks, imaginary parts."""
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind == "c":
        # scikit-learn says the same, and prints the whole of X after it.
        raise ValueError("Complex data not supported: X must hold real numbers.")
    if kind in ("m", "M"):
        raise ValueError(f"X {_DATES.format(f' ({X.dtype})')}")
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        row, column = np.argwhere(np.ma.getmaskarray(np.ma.atleast_2d(X)))[0]
        raise ValueError(
            f"X is a masked array, masked at row {row}, column {column}: what lies under the mask "
            f"would count. Take X.filled(np.nan). {_MISSING}"
        )
    refuse_repeated_names(X)
    for place, (name, dtype) in enumerate(_columns(X)):
        if _is_time(dtype):
            raise ValueError(f"Column {place} ({name!r}) of X {_DATES.format(f' ({dtype})')}")
    if kind == "O" or isinstance(X, list | tuple):
        _refuse_numpy_times(X)


def refuse_repeated_names(X: Any) -> None:
    """Refuse a table with two columns of one name."""
    seen: set[Any] = set()
    for name, _ in _columns(X):
        if name in seen:
            raise ValueError(f"Two columns of X are named {name!r}: rename one.")
        seen.add(name)


def _columns(X: Any) -> Iterator[tuple[Any, Any]]:
    """Names and types of the columns of a table, of pandas, polars or Arrow."""
    if (schema := _arrow_schema(X)) is not None:
        yield from zip(schema.names, schema.types, strict=True)
        return
    names, dtypes = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if names is not None and dtypes is not None:
        yield from zip(names, dtypes, strict=True)


def _arrow_schema(X: Any) -> Any:
    schema = getattr(X, "schema", None)
    return schema if hasattr(schema, "names") and hasattr(schema, "types") else None


def _names(X: Any) -> Any:
    """Names of the columns of a table, or None."""
    schema = _arrow_schema(X)
    return getattr(X, "columns", None) if schema is None else schema.names


def _is_time(dtype: Any) -> bool:
    if getattr(dtype, "kind", "") in ("m", "M"):
        return True
    temporal = getattr(dtype, "is_temporal", None)
    if temporal is not None:  # of polars
        return bool(temporal())
    return type(dtype).__module__ == "pyarrow.lib" and str(dtype).startswith(_ARROW_TIMES)


def _refuse_numpy_times(X: Any) -> None:
    try:
        cells = np.asarray(X)
    except ValueError:  # of rows that differ in length
        return
    if cells.dtype.kind in "mM":
        raise ValueError(f"X {_DATES.format(f' ({cells.dtype})')}")
    if cells.dtype.kind == "O" and cells.ndim == 2:
        for (row, column), value in np.ndenumerate(cells):
            if isinstance(value, _NUMPY_TIMES):
                raise ValueError(f"X {_DATES.format('')} Row {row}, column {column}.")


def first_no_number(X: Any) -> str:
    """What the first cell is that is no number, where it is, and what to do; empty if none is."""
    if sparse.issparse(X) or (cells := np.asarray(X, dtype=object)).ndim > 2:
        return ""
    names, missing = _names(X) if cells.ndim == 2 else None, ""
    for column, values in enumerate(cells.T if cells.ndim == 2 else cells.reshape(1, -1)):
        where = f"column {column}" + (f" ({names[column]!r})" if names is not None else "")
        for row, value in enumerate(values):
            if value is None:  # which NumPy takes for NaN
                continue
            try:
                if np.isnan(float(value)) and not missing:
                    missing = f"X has no value in row {row}, {where}. {_MISSING}"
            except OverflowError:
                return f"X holds a number too large for a float: row {row}, {where}. Scale it."
            except (TypeError, ValueError):
                if type(value).__name__ == "NAType":
                    return f"X has no value in row {row}, {where}. {_MISSING}"
                if isinstance(value, _TIMES):
                    return f"X {_DATES.format('')} Row {row}, {where}."
                return f"X holds {value!r}, which is no number: row {row}, {where}. {_WORDS}"
    return missing


def unusable(value: float, row: int, column: int, names: Any, of: str = "X") -> str:
    """What is wrong with an entry that is NaN, infinite or too large, where, and what to do."""
    where = f"row {row}, column {column}"
    if names is not None:
        where += f" ({names[column]!r})"
    if np.isnan(value):
        return f"Input {of} contains NaN: {where}. {_MISSING}"
    if np.isinf(value):
        return f"Input {of} contains infinity: {where}. Replace or drop infinite values first."
    return (
        f"Input {of} contains {value:g}, whose square overflows: {where}. Scale the features "
        "first, for instance with sklearn.preprocessing.StandardScaler."
    )


def names_of(X: Any) -> list[str]:
    """Return the names of the columns, or x0, x1, ..."""
    names = getattr(X, "columns", None)
    return [f"x{j}" for j in range(X.shape[1])] if names is None else [str(name) for name in names]


def cells_of(X: Any, rows: NDArray[np.intp] | None = None) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every column of a dense table, with its name; of some rows if they are given."""
    names = getattr(X, "columns", None)
    if names is None:
        table = np.asarray(X)
        for j in range(table.shape[1]):
            yield f"x{j}", table[:, j] if rows is None else table[rows, j]
        return
    for name in names:
        cells = np.asarray(X[name])
        yield str(name), cells if rows is None else cells[rows]


def as_numbers(cells: NDArray[Any]) -> NDArray[np.float64] | None:
    """Numbers, dates and truth values as floats, NaN where they are missing; None for words."""
    if cells.dtype.kind in "mM":
        numbers = cells.astype("int64").astype(np.float64)
        numbers[np.isnat(cells)] = np.nan
        return numbers
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    try:
        return np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=np.float64)
    except (TypeError, ValueError):
        return None


def as_codes(cells: NDArray[Any]) -> tuple[NDArray[np.intp], list[str]]:
    """Categories as numbers from 0, and what they are; missing ones are one of them."""
    words = np.array(["" if is_missing(cell) else str(cell) for cell in cells], dtype=object)
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(word, len(known)) for word in words], dtype=np.intp)
    return codes, list(known)


def is_missing(cell: Any) -> bool:
    """None, NaN, NaT, or the NA of pandas, of which not even a comparison is true or false."""
    same = cell == cell
    return cell is None or not (isinstance(same, bool | np.bool_) and same)


__all__ = ["as_codes", "as_numbers", "cells_of", "is_missing", "names_of"]
