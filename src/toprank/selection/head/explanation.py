"""What each column adds to a row's score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...trees import TreeEnsemble
from .blend import Blend
from .contenders import decisions_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Explanation:
    """The scores of rows, taken apart by columns.

    ``baseline + contributions.sum(axis=1) + remainder`` are the scores.

    Attributes
    ----------
    contributions : ndarray or CSR array of shape (n_samples, n_features)
        What each column adds to each row's score.
    baseline : float
        The score of the row of medians, or of zeros where the rows are sparse.
    remainder : ndarray of shape (n_samples,)
        What no column can be given: the interplay of three columns or more. Zero but for rounding
        for every linear score of columns, bins and pairs.
    names : ndarray of shape (n_features,)
        The names of the columns, or x0, x1, ...
    """

    contributions: Any
    baseline: float
    remainder: Array
    names: NDArray[Any]

    def top(self, row: int, k: int = 5) -> list[tuple[str, float]]:
        """The columns that move a row most, with what they add to its score.

        Parameters
        ----------
        row : int
            Which of the rows that were explained.
        k : int, default=5
            How many columns.

        Returns
        -------
        list of (str, float)
            The largest first, by size.
        """
        own = self.contributions[[row]]
        values = np.asarray(own.todense() if hasattr(own, "todense") else own).ravel()
        order = np.argsort(-np.abs(values), kind="stable")[:k]
        return [(str(self.names[j]), float(values[j])) for j in order]


def by_columns(
    score: Callable[[Array], Array],
    X: Array,
    typical: Array,
    groups: Sequence[NDArray[np.intp]] | None = None,
) -> tuple[Array, float, Array]:
    """Half of what a column adds to a typical row, and half of what it adds to the rest of its own.

    contribution_j = ((f(b with x_j) - f(b)) + (f(x) - f(x with b_j))) / 2

    For a score that is a sum of functions of one column and of two, these are the columns' Shapley
    values against the typical row b, and sum to f(x) - f(b). Where there are groups of columns,
    such as those made of one column of a table, each takes the place of a column.
    """
    groups = [np.array([j]) for j in range(len(typical))] if groups is None else groups
    baseline, whole = float(score(typical[np.newaxis])[0]), score(X)
    contributions = np.zeros((len(X), len(groups)))
    for j, own in enumerate(groups):
        moved = np.flatnonzero((X[:, own] != typical[own]).any(axis=1))
        if not len(moved):
            continue
        here = np.ix_(moved, own)
        alone = np.repeat(typical[np.newaxis], len(moved), axis=0)
        alone[:, own] = X[here]
        without = X[moved]
        without[:, own] = typical[own]
        added = score(alone) - baseline, whole[moved] - score(without)
        contributions[moved, j] = 0.5 * (added[0] + added[1])
    return contributions, baseline, whole - baseline - contributions.sum(axis=1)


def explained(
    model: Any, X: Array, typical: Array, groups: Sequence[NDArray[np.intp]] | None = None
) -> tuple[Array, float, Array]:
    """Take the scores of a model apart by columns, or by groups of them.

    Trees are taken apart along the paths of the rows, a blend by its models.
    """
    if isinstance(model, TreeEnsemble):
        return _along_paths(model, X, typical, groups)
    if isinstance(model, Blend):
        return _blended(model, X, typical, groups)
    return by_columns(lambda part: decisions_of(model, part), X, typical, groups)


def _along_paths(
    trees: TreeEnsemble, X: Array, typical: Array, groups: Sequence[NDArray[np.intp]] | None
) -> tuple[Array, float, Array]:
    """Contributions beyond those of the typical row: both add up to scores minus a mean."""
    rows = np.vstack([typical, X])
    both = trees.contributions(rows)
    added = both[1:] - both[0]
    if groups is not None:
        added = np.column_stack([added[:, own].sum(axis=1) for own in groups])
    scores = trees.decision_function(rows)
    baseline, whole = float(scores[0]), scores[1:]
    return added, baseline, whole - baseline - added.sum(axis=1)


def _blended(
    blend: Blend, X: Array, typical: Array, groups: Sequence[NDArray[np.intp]] | None
) -> tuple[Array, float, Array]:
    """Sum the models' contributions, each scaled by the slope of its curve from the typical row."""
    width = len(typical) if groups is None else len(groups)
    total, baseline, whole = np.zeros((len(X), width)), 0.0, np.zeros(len(X))
    for model, curve, weight in zip(blend.models, blend.curves, blend.weights, strict=True):
        added, start, rest = explained(model, X, typical, groups)
        scores = start + added.sum(axis=1) + rest
        begun, places = float(curve(np.array([start]))[0]), curve(scores)
        rise, run = places - begun, scores - start
        slope = np.divide(rise, run, out=np.zeros_like(run), where=run != 0.0)
        total += weight * slope[:, np.newaxis] * added
        baseline += weight * begun
        whole += weight * places
    return total, baseline, whole - baseline - total.sum(axis=1)


#: The row that a fitted step knows to compare with, and its name: a HeadRanker's, a scaler's.
_TYPICAL = {"medians_": "the row of medians", "mean_": "a mean row"}


def typical_row(steps: Iterable[Any]) -> tuple[Array, str] | None:
    """The row that the first of these steps to know one compares with, and what it is called."""
    for step in steps:
        for name, told in _TYPICAL.items():
            if getattr(step, name, None) is not None:
                return np.asarray(getattr(step, name)), told
    return None


def by_weights(model: Any, X: Any) -> tuple[Any, float, Array]:
    """The terms of a linear score of sparse rows, scaled column by column or row by row."""
    features, ranker = model["features"], model["ranker"]
    contributions = features.transform(X).multiply(ranker.coef_).tocsr()
    return contributions, float(ranker.intercept_[0]), np.zeros(X.shape[0])


__all__ = ["Explanation", "by_columns", "by_weights", "typical_row"]
