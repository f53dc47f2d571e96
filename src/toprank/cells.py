"""Cells of a table that hold no number: which column they are in, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from scipy import sparse

_DATES = (
    "holds dates or times{}. Take them apart into numbers first: the month, the day of the week, "
    "the days since an event."
)
_MISSING = "Fill missing values first, for instance with sklearn.impute.SimpleImputer."
_WORDS = (
    "Encode categories first, for instance with sklearn.preprocessing.OneHotEncoder in a "
    "sklearn.compose.ColumnTransformer."
)


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
            "would count. Fill it, X.filled(np.nan), and impute, for instance with "
            "sklearn.impute.SimpleImputer."
        )
    for place, (name, dtype) in enumerate(_dtypes(X)):
        temporal = getattr(dtype, "is_temporal", None)
        if getattr(dtype, "kind", "") in ("m", "M") or (temporal is not None and temporal()):
            raise ValueError(f"Column {place} ({name!r}) of X {_DATES.format(f' ({dtype})')}")


def _dtypes(X: Any) -> Iterator[tuple[Any, Any]]:
    """Names and types of the columns of a table, of pandas or polars."""
    names, dtypes = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if names is not None and dtypes is not None:
        yield from zip(names, dtypes, strict=True)


def first_no_number(X: Any) -> str:
    """What the first cell is that is no number, where it is, and what to do; empty if none is."""
    if sparse.issparse(X) or (cells := np.asarray(X, dtype=object)).ndim != 2:
        return ""
    names = getattr(X, "columns", None)
    for column, values in enumerate(cells.T):
        where = f"column {column}" + (f" ({names[column]!r})" if names is not None else "")
        for row, value in enumerate(values):
            if value is None:  # which NumPy takes for NaN
                continue
            try:
                float(value)
            except OverflowError:
                return f"X holds a number too large for a float: row {row}, {where}. Scale it."
            except (TypeError, ValueError):
                if type(value).__name__ == "NAType":
                    return f"X has no value in row {row}, {where}. {_MISSING}"
                if isinstance(value, date | time | timedelta):
                    return f"X {_DATES.format('')} Row {row}, {where}."
                return f"X holds {value!r}, which is no number: row {row}, {where}. {_WORDS}"
    return ""


def unusable(value: float, row: int, column: int, names: Any, of: str = "X") -> str:
    """What is wrong with an entry that is NaN, infinite or too large, where, and what to do."""
    where = f"row {row}, column {column}"
    if names is not None:
        where += f" ({names[column]!r})"
    if np.isnan(value):
        return (
            f"Input {of} contains NaN: {where}. Fill missing values first, for instance with "
            "sklearn.impute.SimpleImputer."
        )
    if np.isinf(value):
        return f"Input {of} contains infinity: {where}. Replace or drop infinite values first."
    return (
        f"Input {of} contains {value:g}, whose square overflows: {where}. Scale the features "
        "first, for instance with sklearn.preprocessing.StandardScaler."
    )
