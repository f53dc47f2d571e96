"""The secular equation: for which shift do the weights have a given length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shifted:
    """h = (T + shift)^+ b, |h|, and fall = g'(T + shift)^+ g, g = h / |h|: the fall of log |h|."""

    h: Array
    length: float
    fall: float

    @classmethod
    def of_diagonal(cls, h: Array, theta: Array) -> Shifted:
        """Where T + shift is diagonal, with theta there."""
        length = float(linalg.norm(h))
        g = h / length if length > 0.0 else h
        fall = np.divide(g, theta, out=np.zeros_like(theta), where=g != 0.0)
        return cls(h, length, float(g @ fall))


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
        step = (at.length - radius) / radius / at.fall
        following = shift + step
        if not low < following < high:
            following = low + 0.5 * (high - low)
        if abs(following - shift) <= 2.0 * np.finfo(np.float64).eps * following:
            break
        shift = following
    return shift
