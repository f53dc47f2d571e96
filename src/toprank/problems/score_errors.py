"""What rounding may have done to scores X w and to pulls X'v."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..losses import DualRounding
from ..rounding import STEPS, UNDERFLOW, UNIT, gamma, length

Array = NDArray[np.float64]


def score_rounding(design: Design, w: Array, s: Array) -> Array:
    """How far computed scores can be off, and differences of them."""
    if not w.any():
        return np.zeros(len(s))
    size = length(w)
    own = 4.0 * UNIT * float(np.abs(s).max(initial=0.0))
    return np.asarray(gamma(design.shape[1] + STEPS) * size * design.norms + own)


def pull_rounding(design: Design, v: Array, off: DualRounding) -> float:
    """How far X'v can be from that of a dual vector that is surely allowed, in length."""
    size = np.abs(v)
    share = gamma(len(v) + STEPS) + off.share
    largest = float(design.norms[size > 0.0].max(initial=0.0))
    underflow = len(v) * UNDERFLOW
    return share * float(size @ design.norms) + off.mass * largest + underflow


__all__ = ["pull_rounding", "score_rounding"]
