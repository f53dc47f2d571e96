"""What features add to the scores of the rows at the top of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..trees import TreeEnsemble
from .base import Array, chosen, last_step

#: A remainder below this share of the largest contribution is rounding.
_ROUNDING = 1e-9


class Contributions(NamedTuple):
    """The scores of the first k rows, taken apart by features."""

    rows: NDArray[np.intp]
    """Row numbers, best first."""
    parts: Array
    """What each feature adds to each row, of shape (k, n_features)."""
    names: list[str]
    """Of the features."""
    scores: Array
    """The rows' scores less that of the row they are compared with: the sums of the parts."""
    compared_with: str
    """Which row that is, in words."""


def contributions(
    estimator: Any, X: Any, k: int, feature_names: Sequence[str] | None = None
) -> Contributions:
    """Split the scores of the first rows of a linear ranker, one with `explain`, or trees."""
    model = chosen(estimator)
    ranker = last_step(model)
    check_is_fitted(ranker)
    seen = model[:-1].transform(X) if _has_steps(model) else X
    take_apart = _explained if hasattr(ranker, "explain") else _linear
    if isinstance(ranker, TreeEnsemble):
        take_apart = _of_trees
    found = take_apart(ranker, seen, k)
    n_features = found.parts.shape[1] - len(found.names)
    names = _feature_names(model, n_features, feature_names)
    return found._replace(names=names + found.names)


def _linear(ranker: Any, seen: Any, k: int) -> Contributions:
    """coef_j (x_ij - mean of x_j)."""
    weights = _weights(ranker)
    values = sparse.csr_array(seen) if sparse.issparse(seen) else np.asarray(seen, dtype=float)
    if values.ndim != 2 or values.shape[1] != len(weights):
        raise ValueError(
            f"X has shape {values.shape}, and {type(ranker).__name__} has {len(weights)} weights."
        )
    scores = np.asarray(values @ weights)
    rows = _first(scores, k)
    parts = (_dense(values[rows]) - np.asarray(values.mean(axis=0)).ravel()) * weights
    return Contributions(rows, parts, [], scores[rows] - scores.mean(), "a mean row")


def _explained(ranker: Any, seen: Any, k: int) -> Contributions:
    """By the ranker's own `explain`; what it can give to no feature comes last, with a name."""
    scores = ranker.decision_function(seen)
    rows = _first(scores, k)
    found = ranker.explain(_safe_indexing(seen, rows))
    parts, names = _dense(found.contributions), []
    if np.abs(found.remainder).max() > _ROUNDING * np.abs(parts).max():
        parts, names = np.column_stack([parts, found.remainder]), ["interplay"]
    with_what = "a row of zeros" if sparse.issparse(seen) else "the row of medians"
    return Contributions(rows, parts, names, scores[rows] - found.baseline, with_what)


def _of_trees(ranker: TreeEnsemble, seen: Any, k: int) -> Contributions:
    """Differences of means along the paths."""
    scores = ranker.decision_function(seen)
    rows = _first(scores, k)
    parts = ranker.contributions(_safe_indexing(seen, rows))
    return Contributions(rows, parts, [], scores[rows] - ranker.baseline, "the mean training row")


def _first(scores: Array, k: int) -> NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")[:k]


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)


def _has_steps(model: Any) -> bool:
    return isinstance(model, Pipeline) and len(model) > 1


def _weights(ranker: Any) -> Array:
    """The weights of a linear ranker."""
    weights = getattr(ranker, "coef_", None)
    if weights is None:
        raise ValueError(
            f"{type(ranker).__name__} has neither coef_ nor explain: contributions are those of a "
            "linear score, of a HeadRanker, or of trees made by toprank.trees.from_model."
        )
    table = np.atleast_2d(_dense(weights))
    if len(table) != 1:
        raise ValueError(
            f"{type(ranker).__name__} has the weights of {len(table)} scores: pass a ranker of "
            "two classes."
        )
    return np.asarray(table[0])


def _feature_names(model: Any, count: int, given: Sequence[str] | None) -> list[str]:
    """Names given, those that the last step knows, those that the steps before it make, or x0."""
    if given is not None:
        if len(given) != count:
            raise ValueError(f"feature_names has {len(given)} names for {count} features.")
        return [str(name) for name in given]
    known = getattr(last_step(model), "feature_names_in_", None)
    if known is None and _has_steps(model):
        try:
            known = model[:-1].get_feature_names_out()
        except (AttributeError, ValueError):  # a step without names
            known = None
    if known is None:
        known = [f"x{j}" for j in range(count)]
    return [str(name) for name in known]


__all__ = ["Contributions", "contributions"]
