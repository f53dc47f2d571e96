"""Columns that order the rows almost perfectly by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

from .columns import as_codes, as_numbers, cells_of

#: A column alone whose AUC is as high as this is suspected.
LEAK = 0.99
#: Rows that are looked at: enough to tell .99 from .98, and quick.
_ROWS = 20_000


def telling_columns(X: Any, positive: NDArray[np.bool_]) -> list[tuple[str, float]]:
    """Columns whose AUC alone is .99 or more, either way up, the most telling first."""
    if sparse.issparse(X):
        found = _sparse(X, positive)
    else:
        rows = _sample(positive)
        some = positive[rows]
        found = [(name, _auc_of(cells, some)) for name, cells in cells_of(X, rows)]
    return sorted([one for one in found if one[1] >= LEAK], key=lambda one: -one[1])


def _sample(positive: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Some rows, evenly spread over each class; all positives if they are few."""
    kept = []
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        most = min(len(rows), _ROWS // 2)
        kept.append(rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)])
    return np.sort(np.concatenate(kept))


def _auc_of(cells: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    numbers = as_numbers(cells)
    if numbers is None:
        return _by_category(cells, positive)
    lost = np.isnan(numbers)
    ways = [numbers] if not lost.any() else _with_gaps(numbers, lost)
    return max(_either_way(one, positive) for one in ways)


def _with_gaps(numbers: NDArray[np.float64], lost: NDArray[np.bool_]) -> list[NDArray[Any]]:
    """Missing cells last, first, and alone: a gap can tell the label too."""
    low = np.where(lost, -np.inf, numbers)
    return [low, np.where(lost, np.inf, numbers), lost.astype(np.float64)]


def _by_category(cells: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """By the share of positives of a category among the other half of the rows.

    Its own rows would make a column of names, each once, look perfect.
    """
    codes, _ = as_codes(cells)
    half = np.arange(len(codes)) % 2 == 0
    rate = positive.mean()
    scores = np.empty(len(codes))
    for own in (half, ~half):
        count = np.bincount(codes[~own], minlength=codes.max() + 1)
        hits = np.bincount(codes[~own], weights=positive[~own], minlength=codes.max() + 1)
        scores[own] = ((hits + rate) / (count + 1.0))[codes[own]]
    return _either_way(scores, positive)


def _either_way(scores: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """The AUC, or that of the order turned round."""
    m, n = int(positive.sum()), int((~positive).sum())
    auc = (rankdata(scores)[positive].sum() - m * (m + 1) / 2) / (m * n)
    return float(max(auc, 1.0 - auc))


def _sparse(X: Any, positive: NDArray[np.bool_]) -> list[tuple[str, float]]:
    """Of sparse columns: whether there is an entry, which orders the rows in two parts."""
    there = sparse.csr_array(X).astype(bool)
    shares = [np.asarray(there[rows].mean(axis=0)).ravel() for rows in (positive, ~positive)]
    aucs = 0.5 + 0.5 * np.abs(shares[0] - shares[1])
    return [(f"x{j}", float(aucs[j])) for j in np.flatnonzero(aucs >= LEAK)]


__all__ = ["LEAK", "telling_columns"]
