"""What rows held out say of scores: where to cut, and the probabilities by Platt's sigmoid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from ...split import share_threshold
from ...validation import LabelledRows
from .capacity import Capacity

Array = NDArray[np.float64]

#: All but no regularisation: two numbers are fitted.
_C = 1e6


def sigmoid(
    scores: Array, positive: NDArray[np.bool_], weight: Array | None
) -> tuple[float, float]:
    """Slope and offset of the logit of the probability.

    Labels are drawn towards each other by a row of each class, as Platt has it, so that scores
    which separate the classes get no certainty.

    J. Platt, Probabilistic Outputs for Support Vector Machines, 1999.
    """
    weight = np.ones(len(scores)) if weight is None else weight
    m, n = int(positive.sum()), int((~positive).sum())
    sure = np.where(positive, (m + 1.0) / (m + 2.0), 1.0 / (n + 2.0))
    centre, scale = float(scores.mean()), float(scores.std()) or 1.0
    z = (scores - centre) / scale
    model = LogisticRegression(C=_C).fit(
        np.concatenate([z, z])[:, np.newaxis],
        np.repeat([1, 0], len(z)),
        sample_weight=np.concatenate([weight * sure, weight * (1.0 - sure)]),
    )
    slope = max(float(model.coef_[0, 0]), 0.0) / scale  # a score that misleads tells nothing
    if slope == 0.0:
        share = float(weight[positive].sum() / weight.sum())
        return 0.0, float(np.log(share / (1.0 - share)))
    return slope, float(model.intercept_[0]) - slope * centre


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


__all__ = ["cut_of", "sigmoid"]
