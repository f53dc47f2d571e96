"""The secular equation: for which shift do the weights have a given length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shifted:
    """h = (T + shift)^+ b, |h|, and bend = h'(T + shift)^+ h, the fall of |h|^2 / 2."""

    h: Array
    length: float
    bend: float


def ball_multiplier(
    shifted: Callable[[float], Shifted],
    radius: float,
    length: float,
    largest: float,
    least: float,
    tol: float = 1e-14,
    max_iter: int = 200,
) -> float:
    """The shift above `least` with |h(shift)| = radius, given that |h(least)| is above it.

    Newton's method on 1/|h| - 1/radius, which is almost linear and rises, inside a bracket:
    eigenvalues lie between 0 and `largest`, b has the length `length`.
    """
    low, high = max(least, length / radius - largest), max(least, length / radius)
    # At zero a singular T says nothing of the shifts near it.
    shift = low if low > 0.0 else 1e-3 * high
    for _ in range(max_iter):
        at = shifted(shift)
        if abs(at.length - radius) <= tol * radius:
            break
        if at.length > radius:
            low = shift
        else:
            high = shift
        step = at.length / at.bend * at.length * ((at.length - radius) / radius)
        following = shift + step
        if not low < following < high:
            following = low + 0.5 * (high - low)
        if abs(following - shift) <= 2.0 * np.finfo(np.float64).eps * following:
            break
        shift = following
    return shift
