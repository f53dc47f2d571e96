"""Metrics that discount a positive row by its rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._checks import FloatArray
from ._ranking import Ranking, share

_Discount = Callable[[FloatArray], FloatArray]


def _logarithmic(rank: FloatArray) -> FloatArray:
    return 1 / np.log2(rank + 1)


def _expected_gain(ranking: Ranking, discount: _Discount, units: float) -> float:
    """Sum over the pieces of rank up to `units`: length * share of positives * discount."""
    lower, upper, positive_share = ranking.pieces
    length = np.minimum(upper, units) - np.minimum(lower, units)
    return float((length * positive_share) @ discount(np.ceil(upper)))


def dcg_of(ranking: Ranking, k: float | None = None) -> float:
    """Add up the positives' expected logarithmic discounts."""
    units = ranking.total if k is None else min(ranking.units(k), ranking.total)
    return _expected_gain(ranking, _logarithmic, units)


def ndcg_of(ranking: Ranking, k: float | None = None) -> float:
    """DCG over the DCG of positives first."""
    m = ranking.positive_total("ndcg")
    gain = dcg_of(ranking, k)
    units = m if k is None else min(ranking.units(k), m)
    positives_first = Ranking(np.array([m]), np.zeros(1), ranking.n_rows)
    return share(gain, _expected_gain(positives_first, _logarithmic, units))


def average_reciprocal_rank_of(ranking: Ranking) -> float:
    """Mean over the positives of their expected 1 / rank."""
    m = ranking.positive_total("average_reciprocal_rank")
    return share(_expected_gain(ranking, np.reciprocal, ranking.total), m)


def dcg(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Discounted cumulative gain: positives count less the lower they rank.

    .. math:: \sum_i \frac{1}{\log_2(\mathrm{rank}_i + 1)}

    over the positive rows i with rank at most k; rank 1 is the top.

    Ties: the expected value over all orders of the tied rows, each as likely: every row of a tie
    has the mean discount of the ranks the tie takes up (discount 0 beyond k).

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `auc`. A row of weight w takes up w units of rank, and whole-number weights equal
        repeated rows. A row from a to b gains D(b) - D(a), where D(r) is the sum of the first r
        discounts, straight between whole numbers. So the scale of the weights matters: with
        weights that add up to 1 all rows share the first rank. Keep their mean near 1.
    k : int >= 1 or float in (0, 1), optional
        Only the first k rows (units of weight), or that fraction of them, gain. A `k` beyond the
        last row is as None: all rows.

    Returns
    -------
    float
        At least 0; 0 if no row is positive.

    Raises
    ------
    ValueError
        If an argument is malformed, or the weights add up to more than 6e7.

    Examples
    --------
    >>> from toprank.metrics import dcg
    >>> dcg([1, 0, 1, 0], [4, 3, 2, 1])
    1.5
    """
    return dcg_of(Ranking.of(y_true, scores, sample_weight, pos_label), k)


def ndcg(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""DCG divided by the best DCG there is, that of all positives first.

    .. math:: \frac{\mathrm{DCG}}{\sum_{r=1}^{\min(m, k)} 1 / \log_2(r + 1)}

    for m positive rows.

    Ties: the expected value over all orders of the tied rows, as
    ``sklearn.metrics.ndcg_score(ignore_ties=False)``.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `dcg`.
    k : int >= 1 or float in (0, 1), optional
        As in `dcg`; the best DCG is cut at `k` too.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If no row is positive, if an argument is malformed, or the weights add up to more than 6e7.

    Examples
    --------
    >>> from toprank.metrics import ndcg
    >>> round(ndcg([1, 0, 1, 0], [4, 3, 2, 1]), 4)
    0.9197
    """
    return ndcg_of(Ranking.of(y_true, scores, sample_weight, pos_label), k)


def average_reciprocal_rank(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Mean over the positive rows of one over their rank.

    .. math:: \frac1m \sum_i \frac{1}{\mathrm{rank}_i}

    over the m positive rows i, ranked among all rows; rank 1 is the top.

    Ties: the expected value over all orders of the tied rows: every row of a tie has the mean of
    1 / rank over the ranks the tie takes up.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `dcg`, with the sum of reciprocals in the place of the sum of discounts.

    Returns
    -------
    float
        Between 0 and 1; below 1 as soon as there are two positives.

    Raises
    ------
    ValueError
        If no row is positive, if an argument is malformed, or the weights add up to more than 6e7.

    Examples
    --------
    >>> from toprank.metrics import average_reciprocal_rank
    >>> average_reciprocal_rank([1, 0, 0, 1], [4, 3, 2, 1])
    0.625
    """
    return average_reciprocal_rank_of(Ranking.of(y_true, scores, sample_weight, pos_label))
