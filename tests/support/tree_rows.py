"""Rows with gaps, zeros and categories, for ensembles of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: The column of categories, and a column with gaps.
CITY, GAPS = 3, 0


def rows(n: int, seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Six columns: numbers, gaps, zeros, categories; the label needs all of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 2] = np.round(X[:, 2])
    X[:, CITY] = rng.integers(0, 40, n)
    X[rng.random(n) < 0.2, GAPS] = np.nan
    signal = np.nan_to_num(X[:, GAPS], nan=1.0) + X[:, 1] * X[:, 2] + np.sin(3.0 * X[:, CITY])
    return X, (signal + rng.normal(size=n) > 0.5).astype(np.int64)


def unseen(seed: int = 1) -> Array:
    """Rows with gaps in every column, new categories, zeros and infinite values."""
    X, _ = rows(600, seed)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[::7, CITY] = [41.0, -3.0, 2.5, -0.5, 1e6, 255.0, 256.0, 260.0, 0.7, 39.999] * 8 + [1e12] * 6
    X[::11, 1] = 0.0
    X[::13, 4] = -0.0
    X[::17, 5] = np.inf
    X[::19, 5] = -np.inf
    return X


def worst(first: Any, second: Any) -> float:
    """The largest difference."""
    return float(np.max(np.abs(np.asarray(first) - np.asarray(second))))


__all__ = ["CITY", "rows", "unseen", "worst"]
