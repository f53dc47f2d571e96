"""Algorithm 2 of the paper of LCBR as a loop, and the pairs that it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import LCBR
from toprank.inputs.class_split import Split
from toprank.methods.squared.pairs import draw_pairs

Array = NDArray[np.float64]


def algorithm_2(psi: Array, alpha: float, radius: float) -> Array:
    """The paper's loop over the pairs, then the ball by bisection on its multiplier."""
    d = psi.shape[1]
    mu, sigma = np.zeros(d), alpha * np.eye(d)
    for row in psi:
        mu += row / len(psi)
        sigma += np.outer(row, row) / len(psi)
    w = np.linalg.solve(sigma, mu)
    if np.linalg.norm(w) <= radius:
        return w
    low, high = 0.0, float(np.linalg.norm(mu)) / radius
    for _ in range(200):
        middle = (low + high) / 2.0
        w = np.linalg.solve(sigma + middle * np.eye(d), mu)
        low, high = (middle, high) if np.linalg.norm(w) > radius else (low, middle)
    return w


def drawn(ranker: LCBR, y: Array, weight: Any = None) -> tuple[Any, Any]:
    """The pairs that `fit` draws."""
    split = Split.of(y == 1, weight)
    rng = np.random.default_rng(ranker.random_state)
    return next(draw_pairs(split, int(ranker.n_pairs), ranker.sampling, rng))
