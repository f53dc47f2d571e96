"""A table in memory, and the same in parts."""

from __future__ import annotations

import itertools
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask._task_spec import DataNode
from numpy.typing import NDArray

N, D = 3000, 5


def table(
    n: int = N, d: int = D, seed: int = 0, noise: float = 2.0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of which some tenth are positive, none of them for sure where there is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, 3.0, d) + 0.5
    y = (X @ np.linspace(1.0, -1.0, d) + rng.normal(size=n) * noise > 4.0).astype(int)
    return X, y


def cut(X: Any, lengths: list[int], *, known: bool = True) -> Any:
    """A Dask array of parts of these lengths, some of which may be none, and need not be known."""
    ends, name = np.cumsum([0, *lengths]), f"cut-{uuid4().hex}"
    rest = (0,) * (X.ndim - 1)
    blocks = {
        (name, k, *rest): DataNode((name, k, *rest), X[a:b])
        for k, (a, b) in enumerate(itertools.pairwise(ends))
    }
    rows = tuple(lengths) if known else (np.nan,) * len(lengths)
    return da.Array(blocks, name, (rows, *((size,) for size in X.shape[1:])), dtype=X.dtype)
