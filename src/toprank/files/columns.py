"""What the columns of a table hold: a number, a category or a date, the same in every chunk."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.table import kind_of
from .errors import TableError

#: A day, with a time or without, as ISO 8601 has it.
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


def kinds_of(frame: Any) -> dict[str, str]:
    """The kind of every column that holds something; truth values are categories."""
    kinds = {}
    for name in frame.columns:
        column = frame[name].dropna()
        if len(column):
            kinds[str(name)] = _kind(column)
    return kinds


def _kind(column: Any) -> str:
    if column.dtype.kind == "b":
        return "category"
    kind = kind_of(column.dtype)
    if kind == "category" and all(map(_is_date, column.unique())):
        return "date"
    return kind


def _is_date(cell: Any) -> bool:
    if isinstance(cell, str):
        return _DATE.fullmatch(cell.strip()) is not None
    return isinstance(cell, date)


def types_of(kinds: dict[str, str]) -> dict[str, Any]:
    """The types to read columns of a text as: numbers are told apart later, with their rows."""
    return {name: str for name, kind in kinds.items() if kind != "number"}


def as_kinds(frame: Any, kinds: dict[str, str], table: str, first: int) -> Any:
    """The columns, each as its kind; `first` rows came before, of the table of that name."""
    import pandas as pd

    missing = [name for name in kinds if name not in frame.columns]
    if missing:
        more = f", nor {len(missing) - 1} others" if len(missing) > 1 else ""
        raise TableError(
            f"{table} has no column {missing[0]!r}{more}, which the model was trained on."
        )
    made = {}
    for name, kind in kinds.items():
        made[name], bad, what = _MAKE[kind](frame[name])
        if bad.any():
            row = int(np.argmax(bad))
            raise TableError(
                f"{table}, row {first + row + 1}, column {name!r}: {frame[name].iloc[row]!r} is "
                f"{what}."
            )
    return pd.DataFrame(made, index=frame.index)


def _numbers(column: Any) -> tuple[Any, NDArray[np.bool_], str]:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.isnan(numbers) & column.notna().to_numpy()
    if bad.any():
        return numbers, bad, "no number"
    return numbers, np.isinf(numbers), "no finite number"


def _dates(column: Any) -> tuple[Any, NDArray[np.bool_], str]:
    import pandas as pd

    if column.dtype.kind == "m":
        return column, np.zeros(len(column), dtype=bool), ""
    if column.dtype.kind == "M":
        dates = column.dt.tz_convert(None) if getattr(column.dtype, "tz", None) else column
    else:
        text = pd.Series(words(column), index=column.index, dtype=object)
        dates = pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True)
        dates = dates.dt.tz_convert(None)
    bad = dates.isna().to_numpy() & column.notna().to_numpy()
    return dates.astype("datetime64[ns]"), bad, "no date, such as 2025-01-31"


def _words(column: Any) -> tuple[Any, NDArray[np.bool_], str]:
    return words(column), np.zeros(len(column), dtype=bool), ""


def words(column: Any) -> NDArray[Any]:
    """Cells as words, None where they are missing."""
    found = np.full(len(column), None, dtype=object)
    there = column.notna().to_numpy()
    found[there] = [str(cell) for cell in column[there]]
    return found


_MAKE = {"number": _numbers, "category": _words, "date": _dates}
#: What a column can hold.
KINDS = _MAKE.keys()


def labels_of(frame: Any, label: str, table: str, first: int = 0) -> NDArray[Any]:
    """The labels as words: 1, 1.0 and "1" are the same one."""
    if label not in frame.columns:
        shown = ", ".join(repr(str(name)) for name in list(frame.columns)[:8])
        raise TableError(f"{table} has no column {label!r}; its columns are {shown}.")
    column = frame[label]
    lost = column.isna().to_numpy()
    if lost.any():
        row = first + int(np.argmax(lost)) + 1
        raise TableError(f"{table}, row {row}, column {label!r}: the label is missing.")
    return words_of(column)


def words_of(labels: Any) -> NDArray[Any]:
    """Labels as words."""
    found = []
    for cell in labels:
        whole = isinstance(cell, float | np.floating) and float(cell).is_integer()
        found.append(str(int(cell)) if whole else str(cell))
    return np.array(found, dtype=object)


__all__ = ["KINDS", "as_kinds", "kinds_of", "labels_of", "types_of", "words", "words_of"]
