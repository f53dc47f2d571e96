"""What rounding can do to sums of floating-point numbers: the bounds that certificates include.

A sum of n terms, in any order, is off by gamma(n) times the sum of their absolute values at the
most, and so is an inner product. Bounds here are for float64, whatever the data are kept in.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: The largest relative error of one operation.
UNIT = 2.0**-53
#: What a product below the smallest normal float64 can lose.
UNDERFLOW = 2.0**-1074
#: Operations that a term goes through beside its sum: products, a difference, a root.
STEPS = 16


def gamma(n: float) -> float:
    """The largest relative error of n operations in a row; infinite where that is no bound."""
    size = n * UNIT
    return size / (1.0 - size) if size < 1.0 else math.inf


def length(v: NDArray[np.float64]) -> float:
    """|v|, also where the squares of its entries overflow or underflow."""
    largest = float(np.abs(v).max(initial=0.0))
    if not 0.0 < largest < math.inf or 1e-140 < largest < 1e140:
        return float(np.linalg.norm(v))
    return largest * float(np.linalg.norm(v / largest))


__all__ = ["STEPS", "UNDERFLOW", "UNIT", "gamma", "length"]
