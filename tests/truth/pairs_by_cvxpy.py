"""The hinge on pairs and points, written out: differences, values, optima."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def differences(X: Array, pairs: NDArray[np.int64]) -> Array:
    """z = x_first - x_second, -1 standing for the zero vector."""
    padded = np.vstack([X, np.zeros(X.shape[1])])
    return np.asarray(padded[pairs[:, 0]] - padded[pairs[:, 1]])


def value(z: Array, c: Array, alpha: float, w: Array) -> float:
    """alpha/2 |w|^2 + sum_q c_q [1 - w.z_q]_+."""
    return float(0.5 * alpha * w @ w + c @ np.maximum(1.0 - z @ w, 0.0))


def optimum(z: Array, c: Array, alpha: float) -> float:
    """The minimum of the same."""
    w = cp.Variable(z.shape[1])
    objective = 0.5 * alpha * cp.sum_squares(w) + c @ cp.pos(1 - z @ w)
    cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
    return value(z, c, alpha, np.asarray(w.value))


def all_real_pairs(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every positive row with every negative one."""
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    i, j = np.meshgrid(positives, negatives, indexing="ij")
    return np.column_stack([i.ravel(), j.ravel()])


def all_points(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every row as a pseudo-pair: on the left if it is positive, else on the right."""
    rows = np.arange(len(y))
    return np.column_stack([np.where(y == 1, rows, -1), np.where(y == 1, -1, rows)])
