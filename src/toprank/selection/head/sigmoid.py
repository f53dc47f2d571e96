"""What rows held out say of scores: where to cut, and the probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...platt import sigmoid
from ...split import share_threshold
from ...validation import LabelledRows
from .capacity import Capacity

Array = NDArray[np.float64]


def cut_of(scores: Array, rows: LabelledRows, capacity: Capacity | None) -> dict[str, Any]:
    """Threshold and calibration, from the scores of rows held out; NaN for those that were not."""
    known = ~np.isnan(scores)
    if rows.weight is not None:
        known &= rows.weight > 0.0
    weight = None if rows.weight is None else rows.weight[known]
    slope, offset = sigmoid(scores[known], rows.positive[known], weight)
    if capacity is not None:
        threshold = share_threshold(scores[known], weight, capacity.share)
    elif slope > 0.0:
        threshold = -offset / slope
    else:
        threshold = share_threshold(scores[known], weight, rows.split.positive_share)
    return {"threshold_": float(threshold), "calibration_": (slope, offset)}


__all__ = ["cut_of"]
