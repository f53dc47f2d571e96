"""The steps of CRR in plain NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Draws = list[tuple[int, int]]


def plain_steps(
    X: Array,
    draws: Draws,
    *,
    alpha: float,
    loss: str = "hinge",
    project: bool = False,
    start: Array | None = None,
    before: int = 0,
) -> Array:
    """The weights after each step; a draw is (i, j), -1 for the side that a point lacks."""
    w = np.zeros(X.shape[1]) if start is None else start.copy()
    iterates = []
    for k, (i, j) in enumerate(draws, start=before + 1):
        z = (X[i] if i >= 0 else 0.0) - (X[j] if j >= 0 else 0.0)
        target = 2.0 if min(i, j) >= 0 else 1.0
        pull = float(w @ z < 1.0) if loss == "hinge" else target - w @ z
        w = max(1.0 - 1.0 / k, 1e-7) * w + pull / (alpha * k) * z
        if project:
            w *= min(1.0, 1.0 / np.sqrt(alpha * w @ w)) if w.any() else 1.0
        iterates.append(w)
    return np.array(iterates)
