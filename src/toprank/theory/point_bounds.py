"""What a loss on single rows says of pairs: Theorem 1 of the active sampling paper.

W.-Y. Shen, H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear Bipartite Ranking,
ACML 2013.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..metrics._checks import check_rows
from ..metrics._ranking import class_total


def pair_hinge_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""A bound of RankSVM's mean hinge over all pairs, from the rows one by one.

    .. math:: \mathrm{mean}_{ij} [1 - (s_i - s_j)]_+ \le
        \tfrac12 \mathrm{mean}_i [1 - 2 s_i]_+ + \tfrac12 \mathrm{mean}_j [1 + 2 s_j]_+

    The right side is the loss of WSVM at twice the scores. With the penalties, RankSVM's
    objective at w and alpha is at most that of WSVM at 2 w and alpha / 4, and so are their minima:
    that is Theorem 1, whose factor is 1/4 for objectives that are written with sums.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Binary labels.
    scores : array-like of shape (n_rows,)
        The scores; a constant added to them changes the bound, not the pairs.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows; a pair has the product of its rows'.
    pos_label : label, optional
        The positive label, as in `toprank.metrics.auc`.

    Returns
    -------
    float
        The bound, which is also one of 1 - AUC.

    Examples
    --------
    >>> from toprank.theory import pair_hinge_bound
    >>> pair_hinge_bound([1, 1, 0, 0], [0.75, 0.25, 0.125, -1.0])
    0.4375
    """
    positive, values, weights, _ = check_rows(y_true, scores, sample_weight, pos_label)
    mass = np.ones(len(values)) if weights is None else weights
    p = mass[positive] / class_total(mass[positive].sum(), "positive", "pair_hinge_bound")
    q = mass[~positive] / class_total(mass[~positive].sum(), "negative", "pair_hinge_bound")
    high, low = values[positive].astype(np.float64), values[~positive].astype(np.float64)
    lost = p @ np.maximum(1.0 - 2.0 * high, 0.0) + q @ np.maximum(1.0 + 2.0 * low, 0.0)
    return float(lost) / 2.0
