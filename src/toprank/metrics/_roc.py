"""Metrics of the ROC curve: its area, part of its area, its height at a place or the very left."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inputs.arguments import check_choice, check_number
from ._checks import FloatArray, check_rows
from ._ranking import Ranking, class_total, share

Normalize = Literal["range", "mcclish"] | None


def auc_of(ranking: Ranking) -> float:
    """Sum over groups: positives * (negatives below + half the negatives beside them)."""
    m, n = ranking.positive_total("auc"), ranking.negative_total("auc")
    below = n - ranking.negatives_seen[1:]
    # Divided by n first: weights near the largest float would overflow as products.
    return share(float(ranking.positives @ ((below + ranking.negatives / 2) / n)), m)


def auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    margin: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Area under the ROC curve: the chance that a positive row is above a negative one.

    .. math:: P(s_i > s_j) + \tfrac12 P(s_i = s_j), \quad\text{or with a margin}\quad
              P(s_i - s_j \ge \rho)

    for a positive row i and a negative row j, drawn in proportion to their weights.

    Ties: a tied pair counts one half, which is also the mean over all orders of tied rows. With a
    margin it counts nothing, and a pair that is just the margin apart counts in full.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Binary labels.
    scores : array-like of shape (n_rows,)
        Higher is better. Infinities are allowed, NaN is not.
    margin : float above 0, optional
        Count the pairs that are at least so far apart, which makes the scale of the scores matter.
        `toprank.theory.auc_margin_failure` says what that share promises. Scores must be finite.
    sample_weight : array-like of shape (n_rows,), optional
        Weights >= 0; a row of weight w counts as w equal rows.
    pos_label : label, optional
        The positive label. Without it the greater one is positive, and a `PositiveLabelWarning`
        says so unless the labels are 0/1, -1/1 or booleans.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If a class has no weight, or an argument is malformed.

    Examples
    --------
    >>> from toprank.metrics import auc
    >>> auc([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    0.875
    >>> auc([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], margin=0.4)
    0.75
    """
    if margin is not None:
        return auc_at_margin(y_true, scores, margin, sample_weight, pos_label)
    return auc_of(Ranking.of(y_true, scores, sample_weight, pos_label))


def _fpr_bounds(
    max_fpr: float | None, fpr_range: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the lowest and the highest false-positive rate asked for."""
    if (max_fpr is None) == (fpr_range is None):
        raise ValueError("Pass either max_fpr or fpr_range=(lowest, highest), and not both.")
    if fpr_range is None:
        return 0.0, check_number("max_fpr", max_fpr, 0.0, 1.0, ends="(]")
    try:
        lowest, highest = map(float, fpr_range)
    except (TypeError, ValueError):
        lowest, highest = np.nan, np.nan
    if not 0 <= lowest < highest <= 1:
        raise ValueError(
            f"fpr_range must be two numbers 0 <= lowest < highest <= 1, got {fpr_range!r}."
        )
    return lowest, highest


def partial_auc_of(
    ranking: Ranking,
    max_fpr: float | None = None,
    fpr_range: tuple[float, float] | None = None,
    normalize: Normalize = "range",
) -> float:
    """Sum over the segments of the curve: width inside the range * mean height there."""
    lowest, highest = _fpr_bounds(max_fpr, fpr_range)
    check_choice("normalize", normalize, ("range", "mcclish", None))
    tpr = ranking.positives_seen / ranking.positive_total("partial_auc")
    fpr = ranking.negatives_seen / ranking.negative_total("partial_auc")
    left, right = np.clip(fpr[:-1], lowest, highest), np.clip(fpr[1:], lowest, highest)
    run, rise = np.diff(fpr), np.diff(tpr)
    # A vertical segment has no width, so whatever slope it is given counts for nothing.
    slope = np.divide(rise, run, out=np.zeros_like(run), where=run > 0)
    height = tpr[:-1] + slope * ((left + right) / 2 - fpr[:-1])
    area = share(float((right - left) @ height), highest - lowest)
    if normalize == "range":
        return area
    if normalize is None:
        return area * (highest - lowest)
    diagonal = (lowest + highest) / 2
    return 0.5 * (1 + (area - diagonal) / (1 - diagonal))


def partial_auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    max_fpr: float | None = None,
    fpr_range: tuple[float, float] | None = None,
    normalize: Normalize = "range",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Area under the ROC curve between two false-positive rates.

    .. math:: A = \frac{1}{b - a} \int_a^b \mathrm{TPR}(x)\, dx

    Ties: tied rows make one straight segment of the curve, which is cut where a bound falls
    inside it. At a vertical step the bound takes no area.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `auc`.
    max_fpr : float in (0, 1], optional
        The range from 0 to here. Pass this or `fpr_range`.
    fpr_range : (float, float), optional
        The range (a, b), 0 <= a < b <= 1.
    normalize : {"range", "mcclish", None}, default="range"
        "range" divides the area by b - a: the mean true-positive rate in the range, 1 at best and
        (a + b) / 2 for random scores. "mcclish" maps that so that random scores have 1/2, as
        ``sklearn.metrics.roc_auc_score(max_fpr=...)`` does:
        ``(1 + (A - (a + b) / 2) / (1 - (a + b) / 2)) / 2``. None leaves the plain area.

    Returns
    -------
    float
        At most 1.

    Raises
    ------
    ValueError
        If a class has no weight, or an argument is malformed.

    Examples
    --------
    >>> from toprank.metrics import partial_auc
    >>> y, s = [1, 0, 1, 0], [4, 3, 2, 1]
    >>> partial_auc(y, s, max_fpr=0.5)
    0.5
    >>> partial_auc(y, s, fpr_range=(0.25, 0.75), normalize=None)
    0.375
    """
    ranking = Ranking.of(y_true, scores, sample_weight, pos_label)
    return partial_auc_of(ranking, max_fpr, fpr_range, normalize)


def tpr_at_fpr_of(
    ranking: Ranking, fpr: float, ties: Literal["interpolate", "block"] = "interpolate"
) -> float:
    """Height of the curve at `fpr`, at the upper end of a vertical step."""
    check_number("fpr", fpr, 0.0, 1.0)
    check_choice("ties", ties, ("interpolate", "block"))
    m = ranking.positive_total("tpr_at_fpr")
    rates = ranking.negatives_seen / ranking.negative_total("tpr_at_fpr")
    # The last corner at or left of fpr; the slack forgives the rounding of sums of weights.
    last = int(np.searchsorted(rates, fpr * (1 + 1e-12), side="right")) - 1
    height = ranking.positives_seen[last]
    if ties == "interpolate" and last + 1 < len(rates):
        part = max(fpr - rates[last], 0.0) / (rates[last + 1] - rates[last])
        height = height + part * ranking.positives[last]
    return share(height, m)


def tpr_at_fpr(
    y_true: ArrayLike,
    scores: ArrayLike,
    fpr: float,
    *,
    ties: Literal["interpolate", "block"] = "interpolate",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""True-positive rate at a false-positive rate: the height of the ROC curve there.

    .. math:: \max_\theta \{\, P(s_i \ge \theta) : P(s_j \ge \theta) \le \mathrm{FPR} \,\}

    for a positive row i and a negative row j. Between two negatives that follow each other the
    curve is level, so no line is drawn from one to the next.

    Ties: a threshold cannot part tied rows. With ``ties="interpolate"`` the rows of a tie are
    one straight piece of the curve, as in `partial_auc`: where `fpr` falls inside it, positives of
    the tie count in part, as they do in the mean over all orders of the tied rows. With
    ``ties="block"`` they do not count: the formula as it reads.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `auc`.
    fpr : float in [0, 1]
        The share of negatives that may be called positive. At 0 this is `positives_at_top`.
    ties : {"interpolate", "block"}, default="interpolate"
        What the positives of a tie count that goes beyond `fpr`.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If a class has no weight, or an argument is malformed.

    Examples
    --------
    >>> from toprank.metrics import tpr_at_fpr
    >>> y, s = [1, 0, 1, 1, 0, 0], [5, 4, 3, 2, 2, 1]
    >>> tpr_at_fpr(y, s, 0.0), tpr_at_fpr(y, s, 0.4, ties="block")
    (0.3333333333333333, 0.6666666666666666)
    >>> tpr_at_fpr(y, s, 0.5)  # half of the tie at 2
    0.8333333333333334
    """
    return tpr_at_fpr_of(Ranking.of(y_true, scores, sample_weight, pos_label), fpr, ties)


def positives_at_top_of(ranking: Ranking, ties: Literal["strict", "half"] = "strict") -> float:
    """Positive weight above the first group that holds a negative."""
    check_choice("ties", ties, ("strict", "half"))
    m = ranking.positive_total("positives_at_top")
    ranking.negative_total("positives_at_top")
    first = int(np.argmax(ranking.negatives > 0))
    beside = ranking.positives[first] / 2 if ties == "half" else 0.0
    return share(ranking.positives_seen[first] + beside, m)


def positives_at_top(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Literal["strict", "half"] = "strict",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Share of the positive weight above the highest negative row.

    .. math:: \frac{1}{\sum_i w_i} \sum_i w_i \, [\, s_i > \max_j s_j \,]

    over the positive rows i and the negative rows j.

    Ties: a positive row tied with the highest negative counts nothing (``ties="strict"``) or one
    half (``ties="half"``). Neither is the mean over random orders of the tied rows: that depends
    on how many negatives share the tie.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `auc`.
    ties : {"strict", "half"}, default="strict"
        What a positive row counts that is tied with the highest negative.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If a class has no weight, or an argument is malformed.

    Examples
    --------
    >>> from toprank.metrics import positives_at_top
    >>> y, s = [1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1]
    >>> positives_at_top(y, s), positives_at_top(y, s, ties="half")
    (0.5, 0.75)
    """
    return positives_at_top_of(Ranking.of(y_true, scores, sample_weight, pos_label), ties)


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
