"""Bin edges at quantiles of each class, codes by these edges, and thresholds of codes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LARGEST = np.finfo(np.float64).max


def case_control_edges(
    X: NDArray[Any],
    positive: NDArray[Any],
    n_edges: int,
    weight: Array | None = None,
    skip: Collection[int] | None = None,
    *,
    above: bool = False,
) -> list[Array]:
    """Return the edges of every column: the union of `n_edges` quantiles of each class.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        In float32 or float64. NaN is ignored, infinite values are ordered values.
    positive : ndarray of shape (n_samples,)
        Booleans, or labels of more than two classes.
    n_edges : int
        Quantiles of each class, at (k + 0.5) / n_edges. A class with at most `n_edges` distinct
        values contributes all of them.
    weight : ndarray of shape (n_samples,), optional
        Sample weights. A row of weight 2 counts as two rows, a row of weight 0 as none.
    skip : collection of int, optional
        Columns without edges, such as categories.
    above : bool, default=False
        Which side an edge belongs to where no float lies between two neighbouring values:
        value <= edge < next by default, value < edge <= next if True.
    """
    classes = [np.flatnonzero(positive == label) for label in np.unique(positive)]
    if weight is not None:
        classes = [rows[weight[rows] > 0.0] for rows in classes]
    if weight is not None and np.ptp(weight[np.concatenate(classes)]) == 0.0:
        weight = None
    skipped = set() if skip is None else set(skip)
    edges = []
    for j in range(X.shape[1]):
        if j in skipped:
            edges.append(np.empty(0))
            continue
        column = np.ascontiguousarray(X[:, j])
        values, following = _quantiles(column, classes, n_edges, weight)
        edges.append(_between(values, following, above=above))
    return edges


def _quantiles(
    column: Array, classes: list[NDArray[np.intp]], n_edges: int, weight: Array | None
) -> tuple[Array, Array]:
    """Return the quantiles of all classes, and the next larger value of each one.

    The largest value of the column has no next value, and is left out.
    """
    parts, chosen = [], []
    for rows in classes:
        values, shares = _sorted(column[rows], None if weight is None else weight[rows])
        if len(values):
            parts.append(values)
            chosen.append(_class_quantiles(values, shares, n_edges))
    if not parts:
        return np.empty(0), np.empty(0)
    quantiles = np.unique(np.concatenate(chosen))
    quantiles = quantiles[quantiles < max(values[-1] for values in parts)]
    following = np.full(len(quantiles), np.inf)
    for values in parts:
        index = np.searchsorted(values, quantiles, side="right")
        larger = index < len(values)
        following[larger] = np.minimum(following[larger], values[index[larger]])
    return quantiles.astype(np.float64), following


def _sorted(values: Array, weight: Array | None) -> tuple[Array, Array | None]:
    """Return the values without NaN in ascending order, and the sums of their weights."""
    if weight is None:
        values = np.sort(values)  # NaN last
        return values[: len(values) - np.count_nonzero(np.isnan(values))], None
    known = ~np.isnan(values)
    values, weight = values[known], weight[known]
    order = np.argsort(values, kind="stable")
    return values[order], np.cumsum(weight[order])


def _class_quantiles(values: Array, sums: Array | None, n_edges: int) -> Array:
    """Return the quantiles of sorted values at (k + 0.5) / n_edges, or all distinct values.

    A quantile is the first value at which the sum of weights reaches its share of the total. Exact
    for integer weights below 2^53 / (2 n_edges).
    """
    starts = np.append(True, values[1:] != values[:-1])
    if np.count_nonzero(starts) <= n_edges:
        return np.asarray(values[starts])
    total = float(len(values)) if sums is None else float(sums[-1])
    targets = np.arange(1, 2 * n_edges, 2) * total / (2 * n_edges)
    if sums is None:
        chosen = np.ceil(targets).astype(np.intp) - 1
    else:
        chosen = np.searchsorted(sums, targets, side="left")
    return np.asarray(values[chosen])


def _between(values: Array, following: Array, *, above: bool) -> Array:
    """Return edges halfway between values and the next larger ones."""
    edges = np.where(np.isinf(values), values, values / 2 + np.minimum(following, _LARGEST) / 2)
    if above:
        return np.where((values < edges) & (edges <= following), edges, following)
    return np.where((values <= edges) & (edges < following), edges, values)


def code(
    X: NDArray[Any],
    edges: Sequence[Array],
    dtype: Any = np.float32,
    skip: Collection[int] | None = None,
) -> NDArray[Any]:
    """Return the number of edges below every value; NaN stays NaN.

    Columns in `skip` are copied unchanged.
    """
    codes = np.empty(X.shape, dtype=dtype)
    skipped = set() if skip is None else set(skip)
    for j, own in enumerate(edges):
        if j in skipped:
            codes[:, j] = X[:, j]
            continue
        column = np.ascontiguousarray(X[:, j])
        codes[:, j] = np.searchsorted(own, column, side="left")
        missing = np.isnan(column)
        if missing.any():
            codes[missing, j] = np.nan
    return codes


#: Values of a summary: 16 kB a column, and an error of 0.05 % of the weight for each pruning. The
#: 120 edges of a class are 0.83 % apart.
SIZE = 1024


class Summary(NamedTuple):
    """Distinct values in ascending order, and the weight that each of them stands for."""

    values: Array
    weights: Array


def summarise(
    values: NDArray[np.floating], weight: Array | None = None, size: int = SIZE
) -> Summary:
    """Return the summary of a column; exact if it has at most `size` distinct values.

    NaN and values of weight zero are ignored.
    """
    known = ~np.isnan(values)
    if weight is not None:
        known &= weight > 0.0
        weight = weight[known]
    return _pruned(_tied(values[known].astype(np.float64, copy=False), weight), size)


def merge(summaries: Sequence[Summary], size: int = SIZE) -> Summary:
    """Return the summary of several columns' rows together, pruned to `size` values."""
    values = np.concatenate([one.values for one in summaries])
    weights = np.concatenate([one.weights for one in summaries])
    return _pruned(_tied(values, weights), size)


def _tied(values: Array, weight: Array | None) -> Summary:
    """Return the distinct values, and the sum of the weights of each."""
    if not len(values):
        return Summary(np.empty(0), np.empty(0))
    if weight is None:
        values = np.sort(values)  # faster than argsort
    else:
        order = np.argsort(values, kind="stable")
        values, weight = values[order], weight[order]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    if weight is None:
        return Summary(values[starts], np.diff(starts, append=len(values)).astype(np.float64))
    return Summary(values[starts], np.add.reduceat(weight, starts))


def _pruned(summary: Summary, size: int) -> Summary:
    """Return the quantiles at (k + 0.5) / size, each with the weight W / size."""
    values, weights = summary
    if len(values) <= size:
        return summary
    sums = np.cumsum(weights)
    targets = (np.arange(size) + 0.5) * (sums[-1] / size)
    chosen, counts = np.unique(np.searchsorted(sums, targets), return_counts=True)
    return Summary(values[chosen], counts * (sums[-1] / size))


__all__ = ["SIZE", "Summary", "case_control_edges", "code", "merge", "summarise"]
