"""Columns of new rows that are spread otherwise than those of the rows compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from ..inputs.table_columns import as_codes, as_numbers, cells_of, names_of

#: How likely a false alarm may be, over all columns.
_ALARM = 0.01
#: With many rows any difference is sure; one smaller than this, as a share of rows, does no harm.
_SMALL = 0.1
#: Rows of each side that are looked at.
_ROWS = 20_000


def moved_columns(old: Any, new: Any) -> list[str]:
    """The columns that moved, with by how much, the furthest first."""
    if list(names_of(old)) != list(names_of(new)):
        raise ValueError("The new rows must have the same columns as those compared.")
    if sparse.issparse(old):
        return _sparse_moved(sparse.csr_array(old), sparse.csr_array(new))
    level = _ALARM / max(old.shape[1], 1)
    moved = []
    pairs = zip(cells_of(old, _some(old)), cells_of(new, _some(new)), strict=True)
    for (name, before), (_, now) in pairs:
        distance, p = _apart(before, now)
        if p < level and distance > _SMALL:
            moved.append((distance, f"'{name}' ({100 * distance:.0f} % of rows apart)"))
    return [words for _, words in sorted(moved, reverse=True)]


def _some(X: Any) -> NDArray[np.intp]:
    n = X.shape[0]
    return np.unique(np.linspace(0, n - 1, min(n, _ROWS)).astype(np.intp))


def _apart(before: NDArray[Any], now: NDArray[Any]) -> tuple[float, float]:
    """How far two samples are apart, as a share of rows, and how likely that is by chance."""
    one, other = as_numbers(before), as_numbers(now)
    if one is None or other is None:
        return _categories_apart(before, now)
    gaps = _shares_apart(np.isnan(one), np.isnan(other))
    one, other = one[~np.isnan(one)], other[~np.isnan(other)]
    if not len(one) or not len(other):
        return gaps
    test = stats.ks_2samp(one, other, method="asymp")
    return max(gaps, (float(test.statistic), float(test.pvalue)))


def _shares_apart(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> tuple[float, float]:
    table = np.array([[part.sum(), (~part).sum()] for part in (one, other)])
    return abs(float(one.mean() - other.mean())), _chance(table)


def _categories_apart(before: NDArray[Any], now: NDArray[Any]) -> tuple[float, float]:
    codes, _ = as_codes(np.concatenate([before.astype(object), now.astype(object)]))
    kinds = codes.max() + 1
    table = np.array(
        [np.bincount(part, minlength=kinds) for part in np.split(codes, [len(before)])]
    )
    shares = table / table.sum(axis=1, keepdims=True)
    return 0.5 * float(np.abs(shares[0] - shares[1]).sum()), _chance(table)


def _chance(table: NDArray[np.int64]) -> float:
    """The p of the chi-squared test of two samples; rare kinds, which it is not for, are pooled."""
    rare = table.sum(axis=0) < 10
    pooled = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    pooled = pooled[:, pooled.sum(axis=0) > 0]
    if pooled.shape[1] < 2:
        return 1.0
    return float(stats.chi2_contingency(pooled).pvalue)


def _sparse_moved(old: Any, new: Any) -> list[str]:
    """Of sparse columns: how often there is an entry."""
    shares = [np.asarray((X != 0).mean(axis=0)).ravel() for X in (old, new)]
    apart = np.abs(shares[0] - shares[1])
    order = np.argsort(-apart, kind="stable")
    return [f"'x{j}' ({100 * apart[j]:.0f} % of rows apart)" for j in order if apart[j] > _SMALL]


__all__ = ["moved_columns"]
