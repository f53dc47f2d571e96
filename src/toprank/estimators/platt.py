"""Platt's sigmoid: probabilities from scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: All but no regularisation: two numbers are fitted.
_C = 1e6
#: Of the gradient; the default would leave a trace in the third digit of the offset.
_TOL = 1e-8


def sigmoid(
    scores: Array, positive: NDArray[np.bool_], weight: Array | None
) -> tuple[float, float]:
    """Slope and offset of the logit of the probability.

    Labels are drawn towards each other by a row of each class, as Platt has it, so that scores
    which separate the classes get no certainty.

    J. Platt, Probabilistic Outputs for Support Vector Machines, 1999.
    """
    from sklearn.linear_model import LogisticRegression

    weight = np.ones(len(scores)) if weight is None else weight
    m, n = int(positive.sum()), int((~positive).sum())
    sure = np.where(positive, (m + 1.0) / (m + 2.0), 1.0 / (n + 2.0))
    centre, scale = float(scores.mean()), float(scores.std()) or 1.0
    z = (scores - centre) / scale
    model = LogisticRegression(C=_C, tol=_TOL).fit(
        np.concatenate([z, z])[:, np.newaxis],
        np.repeat([1, 0], len(z)),
        sample_weight=np.concatenate([weight * sure, weight * (1.0 - sure)]),
    )
    slope = max(float(model.coef_[0, 0]), 0.0) / scale  # a score that misleads tells nothing
    if slope == 0.0:
        share = float(weight[positive].sum() / weight.sum())
        return 0.0, float(np.log(share / (1.0 - share)))
    return slope, float(model.intercept_[0]) - slope * centre


__all__ = ["sigmoid"]
