"""The rows at the top, with what puts them there."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..guarantees.selector import scores_of
from ..inputs.table_columns import is_missing
from ..selection import Comparison
from .why import reasons

#: Rows that are listed, of the k that the report speaks of: the whole list is for `toprank top`.
_LISTED = 25
#: Columns told of each row.
_REASONS = 4
#: A reason below this share of the row's largest is none.
_FAINT = 0.05
#: Characters of a cell or an id that are shown.
_LONG = 60
#: What a date or a time ends in without saying anything: midnight, or zeros of a second.
_NO_TIME = re.compile(r"( 00:00(:00)?)?(\.0+)?$")


def top_rows(
    comparison: Comparison,
    head: dict[str, Any],
    *,
    ids: Sequence[Any] | NDArray[Any] | None,
    new: Any = None,
    new_ids: Sequence[Any] | NDArray[Any] | None = None,
) -> dict[str, Any]:
    """The first rows of the new list by the winner, or else of the rows that folds held out."""
    model = comparison.refit()
    if new is None:
        X, names = comparison.data.X, ids
        rows, values = comparison.standing()
        order = np.argsort(-values, kind="stable")
        rows, values = rows[order], values[order]
        rows, first = np.unique(rows, return_index=True)  # repeated folds name a row again
        order = np.argsort(first, kind="stable")
        rows, values = rows[order], values[first[order]]
        positive: Any = comparison.positive
    else:
        X, names = new, new_ids
        scores, _ = scores_of(model, new, 1)
        rows = np.argsort(-scores, kind="stable")
        values, positive = scores[rows], None
    count = min(head["k"], _LISTED, len(rows))
    rows, values = rows[:count], values[:count]
    why = reasons(model, X, rows)
    return {
        "of": "new rows" if new is not None else "rows held out",
        "k": min(head["k"], X.shape[0]),
        "listed": count,
        "compared_with": why.compared_with,
        "rows": [
            {
                "place": place + 1,
                "row": int(row) + 1,
                "id": None if names is None else _told(names[int(row)]),
                "score": float(value),
                "positive": None if positive is None else bool(positive[row]),
                "why": _reasons(X, int(row), why.parts[place], why.columns),
            }
            for place, (row, value) in enumerate(zip(rows, values, strict=True))
        ],
    }


def _reasons(X: Any, row: int, parts: NDArray[np.float64], columns: list[str]) -> list[Any]:
    """The columns that move a row most, with their cells."""
    order = np.argsort(-np.abs(parts), kind="stable")[:_REASONS]
    least = _FAINT * float(np.abs(parts).max(initial=0.0))
    return [
        {"column": columns[j], "value": _cell(X, row, columns[j]), "adds": float(parts[j])}
        for j in order
        if abs(parts[j]) > least
    ]


def _cell(X: Any, row: int, column: str) -> str:
    """The cell of the raw table, as one would write it; empty if the column is none of it."""
    if hasattr(X, "columns"):
        for name in X.columns:
            if str(name) == column:
                return _told(np.asarray(X[name])[row])
        return ""
    place = column.removeprefix("x")
    if not place.isdecimal() or int(place) >= X.shape[1]:
        return ""
    return _told(X[row, int(place)] if sparse.issparse(X) else np.asarray(X)[row, int(place)])


def _told(value: Any) -> str:
    if is_missing(value):
        return "(missing)"
    if isinstance(value, np.datetime64 | datetime.date):
        return _NO_TIME.sub("", str(value).replace("T", " "))
    if isinstance(value, Real) and not isinstance(value, Integral | bool | np.bool_):
        return f"{float(value):.6g}"
    text = str(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


__all__ = ["top_rows"]
