"""Conjugate gradients for the linear systems of Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def conjugate_gradient(
    product: Callable[[Array], tuple[Array, Any]],
    target: Array,
    *,
    enough: float,
    max_iter: int,
    scale: Array | None = None,
) -> tuple[Array, Any]:
    """x with |A x - target| <= enough, and what `product` would have told of x.

    `product` gives A d and a number or vector that is linear in d; `scale` is a diagonal near A's.
    """
    x, total = np.zeros_like(target), 0.0
    residual = target.copy()
    direction = residual.copy() if scale is None else residual / scale
    norm = float(residual @ direction)
    for _ in range(max_iter):
        image, told = product(direction)
        curved = float(direction @ image)
        length = norm / curved if norm > 0 and curved > 0 else 0.0  # underflow: no more digits
        x += length * direction
        total = total + length * told
        residual -= length * image
        if length == 0.0 or float(np.linalg.norm(residual)) <= enough:
            break
        scaled = residual if scale is None else residual / scale
        last, norm = norm, float(residual @ scaled)
        direction = scaled + (norm / last) * direction
    return x, total
