"""The highest rows of the report, with the columns that raise their scores."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ..features.table import is_of_table, origins
from ..guarantees.selector import scores_of
from ..inputs.cells import is_missing, names_of
from ..selection import Comparison
from ..selection.head.explain import by_columns, typical_row

Array = NDArray[np.float64]

#: How many rows a mean or a median row is made of.
_ROWS = 5_000


class Reasons(NamedTuple):
    """Contributions of columns to the scores of some rows."""

    parts: Array
    """Of shape (n_rows, n_columns)."""
    columns: list[str]
    """The raw columns, or features where these cannot be traced back."""
    compared_with: str
    """The row that the others are compared with, in words."""


def reasons(model: Any, X: Any, rows: NDArray[np.intp]) -> Reasons:
    """What the columns add to the scores of some rows of X, by a fitted model."""
    before, last = _parts(model)
    if not before and getattr(last, "_coder", None) is not None:
        found = last.explain(_safe_indexing(X, rows))
        return Reasons(found.contributions, [str(name) for name in found.names], "a typical row")
    # Numbers made of a table are known by their columns; steps behind them are part of the score.
    cut = 1 if before and is_of_table(before[0]) else len(before)
    made, scoring = before[:cut], before[cut:]
    wanted = _transformed(made, _safe_indexing(X, rows))
    columns, owners = np.unique(_sources(made, X, wanted.shape[1]), return_inverse=True)
    if sparse.issparse(wanted):
        terms, told = _of_sparse(last, wanted, lambda: _transformed(made, _some(X)))
        parts = np.zeros((len(rows), len(columns)))
        np.add.at(parts.T, owners, terms.T)
        return Reasons(parts, columns.tolist(), told)
    typical, told = typical_row([*scoring, last]) or _middle(
        _transformed(made, _some(X)), linear=hasattr(last, "coef_")
    )

    def score(Z: Array) -> Array:
        return scores_of(last, _transformed(scoring, Z), 1)[0]

    groups = [np.flatnonzero(owners == j) for j in range(len(columns))]
    parts, _, _ = by_columns(score, _dense(wanted), typical, groups)
    return Reasons(parts, columns.tolist(), told)


def _of_sparse(last: Any, wanted: Any, others: Callable[[], Any]) -> tuple[Array, str]:
    """The terms of a linear score; a HeadRanker tells its own, of which zeros have none."""
    if hasattr(last, "explain"):
        return _dense(last.explain(wanted).contributions), "a row of zeros"
    linear = hasattr(last, "coef_")
    typical, told = _middle(others(), linear=linear)
    if linear:
        return (_dense(wanted) - typical) * _dense(last.coef_).reshape(-1), told
    parts, _, _ = by_columns(lambda Z: scores_of(last, Z, 1)[0], _dense(wanted), typical)
    return parts, told


def _middle(Z: Any, *, linear: bool) -> tuple[Array, str]:
    """The mean of rows for a linear score, which has the mean score there; else the medians."""
    if linear:
        return np.asarray(Z.mean(axis=0)).ravel(), "a mean row"
    return np.median(_dense(Z), axis=0), "the row of medians"


def _some(X: Any) -> Any:
    """Rows, evenly spread, that a mean or a median row is made of."""
    places = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _ROWS)).astype(np.intp)
    return _safe_indexing(X, np.unique(places))


def _parts(model: Any) -> tuple[list[Any], Any]:
    """The fitted steps before the one that ranks, and that one; searches stand for their best."""
    before: list[Any] = []
    while isinstance(model, Pipeline | BaseSearchCV):
        if isinstance(model, Pipeline):
            before += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
            model = model.steps[-1][1]
        else:
            model = model.best_estimator_
    return before, model


def _transformed(before: list[Any], X: Any) -> Any:
    for step in before:
        X = step.transform(X)
    return X if hasattr(X, "mean") and not hasattr(X, "columns") else np.asarray(X, dtype=float)


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)


def _sources(before: list[Any], X: Any, count: int) -> list[str]:
    """The raw column that each feature comes from, or the feature's own name."""
    raw = names_of(X)
    names = raw
    if before:
        try:
            names = [str(one) for one in Pipeline(list(_numbered(before))).get_feature_names_out()]
        except (AttributeError, ValueError):  # a step that has no names
            names = raw if len(raw) == count else [f"x{j}" for j in range(count)]
        if is_of_table(before[0]) and len(found := origins(before[0])) == count:
            return [str(raw[own] if isinstance(own, int) else own) for own in found]
    return names


def _numbered(steps: list[Any]) -> Any:
    return ((f"step{k}", step) for k, step in enumerate(steps))


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


__all__ = ["Reasons", "reasons", "top_rows"]
