"""What puts each row where it is: contributions, added up by the columns of the raw table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ..features.made import is_of_table, origins
from ..guarantees.selector import scores_of
from ..selection.head.explanation import by_columns
from .columns import names_of

Array = NDArray[np.float64]

#: Rows that a mean or a median row is made of.
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
    some = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], _ROWS)).astype(np.intp))
    wanted = _transformed(before, _safe_indexing(X, rows))
    if hasattr(last, "explain"):
        parts, told = _dense(last.explain(wanted).contributions), "the row of medians"
    elif getattr(last, "coef_", None) is not None:
        typical = np.asarray(_transformed(before, _safe_indexing(X, some)).mean(axis=0)).ravel()
        parts = (_dense(wanted) - typical) * _dense(last.coef_).reshape(-1)
        told = "a mean row"
    else:
        typical = np.median(_dense(_transformed(before, _safe_indexing(X, some))), axis=0)
        parts, _, _ = by_columns(lambda Z: scores_of(last, Z, 1)[0], _dense(wanted), typical)
        told = "the row of medians"
    return Reasons(*_by_raw_columns(parts, _sources(before, X, parts.shape[1])), told)


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


def _by_raw_columns(parts: Array, sources: list[str]) -> tuple[Array, list[str]]:
    columns = list(dict.fromkeys(sources))
    place = {name: j for j, name in enumerate(columns)}
    total = np.zeros((len(parts), len(columns)))
    for j, source in enumerate(sources):
        total[:, place[source]] += parts[:, j]
    return total, columns


__all__ = ["Reasons", "reasons"]
