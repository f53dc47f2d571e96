"""What rows held out say of scores: where to cut, and the probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...estimators.platt import sigmoid
from ...inputs.class_split import share_threshold
from .capacity import Capacity
from .contenders import Data

Array = NDArray[np.float64]


def cut_of(
    scores: Array, data: Data, positive_share: float, capacity: Capacity | None
) -> dict[str, Any]:
    """Threshold and calibration, from the scores of rows held out; NaN for those that were not."""
    known = ~np.isnan(scores)
    if data.weight is not None:
        known &= data.weight > 0.0
    weight = None if data.weight is None else data.weight[known]
    if weight is not None and weight.mean() < 1.0:  # tiny weights would count as hardly any rows
        weight = weight / weight.mean()
    slope, offset = sigmoid(scores[known], data.y[known] == 1, weight)
    if capacity is not None:
        threshold = share_threshold(scores[known], weight, capacity.share)
    elif slope > 0.0:
        threshold = -offset / slope
    else:
        threshold = share_threshold(scores[known], weight, positive_share)
    return {"threshold_": float(threshold), "calibration_": (slope, offset)}


__all__ = ["cut_of"]
