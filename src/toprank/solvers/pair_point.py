"""Where a fit of the squared hinge of all pairs is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import PairRanks

Array = NDArray[np.float64]
#: A line search that ends too far on looks again, for a slope this many times as large.
_NEARER = 0.1
#: So often at the most: what is left then is rounding.
_LOOKS = 4


@dataclass
class PairPoint:
    """Weights, their scores, the loss there with its slope, and what X' makes of that."""

    w: Array
    s: Array
    v: Array
    value: float
    pull: Array
    #: Whether s are the products of the rows with w, and not sums of such.
    fresh: bool


def lower_along(
    ranks: PairRanks,
    at: PairPoint,
    moved: Array,
    ray: tuple[float, float, float],
    share: float,
    first: float = 1.0,
) -> tuple[float, Array, Array, float, float]:
    """How far to go along a step, the scores there, slope and value of the loss, and the rise.

    `ray` is the slope of the objective along the step, and what the penalty has of it: linear,
    square. A share of the slope is to be left; beyond the minimum it may be left at a point that
    is higher than the first, and then the search goes on.
    """
    slope, linear, square = ray
    for _ in range(_LOOKS):
        theta, s, v, value, left = ranks.search(at.s, moved, *ray, share, first)
        rise = theta * (linear + 0.5 * theta * square) + value - at.value
        if rise < 0 or not 0 < left < np.inf:
            break
        share, first = _NEARER * share, theta * slope / (slope - left)
        if not first > 0.0:  # it may underflow
            break
    return theta, s, v, value, rise
