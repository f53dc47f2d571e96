"""Metrics of the first k rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._ranking import Ranking, share


def _hits(ranking: Ranking, units: float) -> float:
    """Return the expected positive weight in the first `units` of rank.

    Of a group of t units with p positives, a random order puts r p / t of them in the first r:
    a straight line between the edges of the groups.
    """
    return float(np.interp(units, ranking.seen, ranking.positives_seen))


def precision_at_k_of(ranking: Ranking, k: float) -> float:
    """Hits in the first k units over k."""
    units = ranking.units_within(k)
    return share(_hits(ranking, units), units)


def recall_at_k_of(ranking: Ranking, k: float) -> float:
    """Hits in the first k units over all positives."""
    units = ranking.units_within(k)
    return share(_hits(ranking, units), ranking.positive_total("recall_at_k"))


def lift_at_k_of(ranking: Ranking, k: float) -> float:
    """Precision in the first k units over precision in all."""
    base_rate = ranking.positive_total("lift_at_k") / ranking.total
    return precision_at_k_of(ranking, k) / base_rate


def precision_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: float,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Share of positives among the first k rows.

    .. math:: \frac{1}{k} \, \mathrm{E}\,[\text{positives among the first } k]

    Ties: where a tie straddles k, the expected value over all orders of the tied rows, each as
    likely: r places left for a group of t rows with p positives hold ``r * p / t`` of these.

    Parameters
    ----------
    y_true, scores
        As in `auc`.
    k : int >= 1 or float in (0, 1)
        How many rows (units of weight), or which fraction of them. A fraction is not rounded to
        whole rows: of 5 rows, ``k=0.5`` is the first two and half of the third.
    sample_weight, pos_label
        As in `auc`. A row of weight w takes up w of the k places, in part if k cuts it.

    Returns
    -------
    float
        Between 0 and 1. Defined, as 0 or 1, even if one class is missing.

    Raises
    ------
    ValueError
        If `k` exceeds the number of rows (total weight), or an argument is malformed.

    Examples
    --------
    >>> from toprank.metrics import precision_at_k
    >>> precision_at_k([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    0.75
    """
    return precision_at_k_of(Ranking.of(y_true, scores, sample_weight, pos_label), k)


def recall_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: float,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Share of all positives that are among the first k rows.

    .. math:: \frac{\mathrm{E}\,[\text{positives among the first } k]}{\text{positives}}

    Ties: where a tie straddles k, the expected value over all orders of the tied rows.

    Parameters
    ----------
    y_true, scores
        As in `auc`.
    k : int >= 1 or float in (0, 1)
        As in `precision_at_k`.
    sample_weight, pos_label
        As in `auc`.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If `k` exceeds the number of rows (total weight), if no row is positive, or an argument is
        malformed.

    Examples
    --------
    >>> from toprank.metrics import recall_at_k
    >>> recall_at_k([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    0.75
    """
    return recall_at_k_of(Ranking.of(y_true, scores, sample_weight, pos_label), k)


def lift_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: float,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""How many times the share of positives in the first k rows is that in all rows.

    .. math:: \frac{\text{precision at } k}{\text{positives} / \text{rows}}

    Ties: where a tie straddles k, the expected value over all orders of the tied rows.

    Parameters
    ----------
    y_true, scores
        As in `auc`.
    k : int >= 1 or float in (0, 1)
        As in `precision_at_k`.
    sample_weight, pos_label
        As in `auc`.

    Returns
    -------
    float
        At least 0, 1 for random scores, at most rows / positives.

    Raises
    ------
    ValueError
        If `k` exceeds the number of rows (total weight), if no row is positive, or an argument is
        malformed.

    Examples
    --------
    >>> from toprank.metrics import lift_at_k
    >>> lift_at_k([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    1.5
    """
    return lift_at_k_of(Ranking.of(y_true, scores, sample_weight, pos_label), k)
