"""Bounds of how many new items come before the c-th calibration item, for all c at once.

An urn U(n, m) holds n calibration items and m new ones in random order, best first; all orders are
alike. V(c) is how many of the new ones come before the (c+1)-th calibration item. It never falls,
and is m from c = n on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from .._core import urn_crossing, urn_quantiles

Counts = NDArray[np.int64]

#: The envelope is held at places this many standard deviations of V apart, and at all small ones.
_FINENESS = 0.2
#: Local levels that are tried between one and its half: the choice is canonical.
_LEVELS = 8
#: The level, out of those, that fits most urns: the search begins there.
_USUAL = 28


def upper_quantile(n: int, m: int, c: int, level: float) -> int:
    """The least q with P(V(c) > q) <= level."""
    return int(urn_quantiles(n, m, np.array([c], dtype=np.int64), level, True)[0])


def lower_quantile(n: int, m: int, c: int, level: float) -> int:
    """The largest a with P(V(c) < a) <= level."""
    return int(urn_quantiles(n, m, np.array([c], dtype=np.int64), level, False)[0])


@dataclass(frozen=True, eq=False)
class Envelope:
    """B with V(c) <= B(c) for all c, or A with V(c) >= A(c) for all c, but for an `error`.

    Between two places of the grid the safe one of both is taken. Beyond the last, B is m.
    """

    n: int
    m: int
    upper: bool
    #: The error at every single place.
    local_level: float
    #: That at any place, which is delta at the most.
    error: float
    grid: Counts
    values: Counts

    def __call__(self, c: Counts | int) -> Counts:
        """B(c) or A(c)."""
        at = np.asarray(c)
        if self.upper:
            place = np.searchsorted(self.grid, at, side="left")
            return np.where(at < 0, 0, np.append(self.values, self.m)[place])
        place = np.searchsorted(self.grid, at, side="right")
        return np.where(at >= self.n, self.m, np.append(0, self.values)[place])


@lru_cache(maxsize=256)
def envelope(n: int, m: int, delta: float, *, upper: bool, last: int) -> Envelope:
    """The narrowest envelope with the same level at every place up to `last` and error <= delta.

    The level is delta 2^(-j/8), j the least that keeps delta, so that the answer depends on
    nothing else. The error falls as j grows, and the sum of the levels bounds it.
    """
    grid = _places(n, last)
    none, all_new = np.zeros(len(grid), dtype=np.int64), np.full(len(grid), m, dtype=np.int64)

    @cache
    def at_level(j: int) -> tuple[float, Counts]:
        values = urn_quantiles(n, m, grid, delta * 2.0 ** (-j / _LEVELS), upper)
        bounds = (none, values) if upper else (values, all_new)
        return urn_crossing(n, m, grid, *bounds), values

    low, high = -1, ceil(_LEVELS * log2(max(len(grid), 2)))
    middle = _USUAL if high > _USUAL else high // 2
    while high - low > 1:
        if at_level(middle)[0] <= delta:
            high = middle
        else:
            low = middle
        middle = (low + high) // 2
    error, values = at_level(high)
    return Envelope(n, m, upper, delta * 2.0 ** (-high / _LEVELS), error, grid, values)


def _places(n: int, last: int) -> Counts:
    """The c at which an envelope is held; `last` is below n, unless there are none."""
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    places, c = [], 0
    while c < last:
        places.append(c)
        c += max(1, int(_FINENESS * sqrt(c)))
    return np.array([*places, last], dtype=np.int64)


__all__ = ["Envelope", "envelope", "lower_quantile", "upper_quantile"]
