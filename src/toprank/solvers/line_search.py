"""How far to go along a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: A step is no shorter than this: where it would be, the slope it began with was rounding.
_SHORTEST = 1e-16


def descend(
    slope_at: Callable[[float], float], slope: float, share: float, longest: float = 1.0
) -> float:
    """Where on [0, longest] a slope that increases from below zero has fallen to a share of it.

    The end where it has not fallen so far; what is not finite is too far.
    """
    if not slope < 0:
        return 0.0
    enough = share * abs(slope)
    low, at_low, high, at_high, theta, kept = 0.0, slope, np.inf, np.inf, 1.0, ""
    for _ in range(60):
        value = slope_at(theta)
        if abs(value) <= enough or (value < 0 and theta >= longest):
            return theta
        if value < 0:
            at_high *= 0.5 if kept == "high" else 1.0  # an end that is kept twice counts for less
            low, at_low, kept = theta, value, "high"
        else:  # or not a number
            at_low *= 0.5 if kept == "low" else 1.0
            high, at_high, kept = theta, value, "low"
        if np.isinf(high):
            theta = min(4.0 * low, longest)
            continue
        if high - low <= 1e-8 * high or high <= _SHORTEST:  # a kink, maybe at the very beginning
            break
        part = at_low / (at_low - at_high) if np.isfinite(at_high) else 0.1
        theta = low + (high - low) * min(max(part, 0.02), 0.98)
    return low if low > 0 else theta
