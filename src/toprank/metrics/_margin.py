"""AUC at a margin: the one metric that reads more of the scores than their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inputs.arguments import check_number
from ._checks import FloatArray, check_rows
from ._ranking import class_total, share


def auc_at_margin(
    y_true: ArrayLike,
    scores: ArrayLike,
    margin: float,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Sum over positives: weight * weight of the negatives with s_i - s_j >= margin."""
    check_number("margin", margin, 0.0, ends="(]")
    positive, values, weights, rows = check_rows(y_true, scores, sample_weight, pos_label)
    values = values.astype(np.float64)
    infinite = ~np.isfinite(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"scores is infinite at row {row if rows is None else rows[row]}, and a margin needs "
            "differences of scores. Pass finite scores, or leave margin out."
        )
    if weights is None:
        weights = np.ones(len(values))
    m = class_total(weights[positive].sum(), "positive", "auc")
    n = class_total(weights[~positive].sum(), "negative", "auc")
    levels, level = np.unique(values[~positive], return_inverse=True)
    below = np.append(0.0, np.cumsum(np.bincount(level, weights[~positive])))
    apart = _count_apart(values[positive], levels, margin)
    # Divided by n first: weights near the largest float would overflow as products.
    return share(float(weights[positive] @ (below[apart] / n)), m)


def _count_apart(highs: FloatArray, levels: FloatArray, margin: float) -> NDArray[np.intp]:
    """How many of the increasing levels have fl(high - level) >= margin, for each high.

    The differences are rounded, as anyone's would be who takes them; high - margin is rounded
    otherwise, and may be a level or two away.
    """
    with np.errstate(over="ignore"):
        count = np.searchsorted(levels, highs - margin, side="right")
        padded = np.concatenate(([-np.inf], levels, [np.inf]))
        while (more := highs - padded[count + 1] >= margin).any():
            count = count + more
        while (less := highs - padded[count] < margin).any():
            count = count - less
    return count
