"""Columns that lie far from zero.

A loss that only looks at differences of scores does not change if a number is taken off a column.
Solvers do: their products, and above all their squares, are sums of terms as large as the offset,
and lose the digits that tell the rows apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: A column is far from zero if its median is this many times its spread: coordinate descent begins
#: to crawl there. Newton's method would bear a thousand times.
FAR = 30.0
#: Rows that are looked at to find such columns.
_SAMPLE = 100


def spread_out(n_rows: int, rows: Rows | None = None) -> Rows:
    """Some of the rows, at equal distances; of all there are, without a list."""
    size = n_rows if rows is None else len(rows)
    places = np.linspace(0, size - 1, min(size, _SAMPLE)).astype(np.int64)
    return places if rows is None else rows[places]


def far_medians(X: NDArray[np.floating[Any]]) -> Array:
    """The medians of columns that lie far from zero, and zero for the others.

    Medians and quartiles, for a single huge row says nothing of where the others are.
    """
    n = len(X)
    quartiles = np.partition(X, (n // 4, n // 2, 3 * n // 4), axis=0).astype(np.float64)
    middle = quartiles[n // 2]
    spread = quartiles[3 * n // 4] - quartiles[n // 4]
    if (spread > 0).all() and (np.abs(middle) <= FAR * spread).all():
        return np.zeros(X.shape[1])
    spread = np.where(spread > 0, spread, np.ptp(X, axis=0))  # most rows may have one value
    # A constant column is held against the others: ones beside features of their size do no
    # harm, and are not worth a copy.
    varies = spread > 0
    spread = np.where(varies, spread, np.median(spread[varies]) if varies.any() else 0.0)
    return np.where(np.abs(middle) > FAR * spread, middle, 0.0)
