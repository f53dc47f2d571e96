"""A table in memory, and the same in parts."""

from __future__ import annotations

import itertools
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
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
    """A Dask array of parts of these lengths, which it need not know."""
    ends = np.cumsum([0, *lengths])
    blocks = [X[a:b] for a, b in itertools.pairwise(ends)]
    shapes = [(b.shape[0] if known else np.nan, *b.shape[1:]) for b in blocks]
    return da.concatenate(
        [
            da.from_delayed(delayed(b, pure=False), shape, dtype=X.dtype)
            for b, shape in zip(blocks, shapes, strict=True)
        ],
        allow_unknown_chunksizes=True,
    )
