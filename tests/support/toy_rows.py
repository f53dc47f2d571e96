"""Small made-up data on which the optimum is neither trivial nor a perfect ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from toprank._core import Matrix

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def overlapping(
    n_pos: int = 40, n_neg: int = 160, n_features: int = 10, *, shift: float = 1.0, seed: int = 0
) -> tuple[Array, Labels]:
    """Two Gaussian clouds, the positives moved by `shift` in every feature; rows in any order."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    X = rng.normal(size=(n_pos + n_neg, n_features)) + shift * y[:, np.newaxis]
    order = rng.permutation(len(y))
    return X[order], y[order]


def inside_out(seed: int = 0) -> tuple[Array, Labels]:
    """Positives in the midst of the negatives: w = 0 is the optimum."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [20, 100])
    return rng.normal(size=(120, 3)) * np.where(y, 0.1, 1.0)[:, np.newaxis], y


def sparse_rows(
    shape: tuple[int, int], density: float, rng: np.random.Generator
) -> sparse.csr_array:
    """Uniform numbers in [0, 1) at random places; older SciPy has no `random_array`."""
    return sparse.csr_array(sparse.random(*shape, density, "csr", random_state=rng))


def as_matrix(X: Any, storage: str, dtype: Any = np.float64, index: Any = np.int32) -> Matrix:
    """A matrix of the core."""
    if storage == "dense":
        return Matrix.dense(X.astype(dtype))
    stored = sparse.csr_array(X.astype(dtype))
    indices = stored.indices.astype(index)
    return Matrix.csr(stored.data, indices, stored.indptr.astype(np.int64), X.shape[1])
