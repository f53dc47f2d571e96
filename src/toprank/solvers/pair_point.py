"""Where a fit of the squared hinge of all pairs is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
