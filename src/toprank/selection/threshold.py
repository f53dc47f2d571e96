"""Thresholds that meet a demand: few alarms, few false positives, few missed positives."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, inf, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv

from ..guarantees.bounds import upper_quantile
from ..inputs.arguments import check_count, check_number
from ..metrics._checks import as_column, check_rows, check_scores

Array = NDArray[np.float64]

#: What rounding may take from a whole number of rows.
_SLACK = 1e-9


def choose_threshold(
    y_true: ArrayLike | None,
    scores: ArrayLike,
    *,
    capacity: tuple[int, int] | None = None,
    max_fpr: float | None = None,
    min_recall: float | None = None,
    min_precision: float | None = None,
    cost: tuple[float, float] | None = None,
    confidence: float | None = None,
    pos_label: Any = None,
) -> float:
    """Choose a threshold from labelled rows that the model has not seen, by one demand.

    A row is flagged if its score is above the threshold. Without `confidence` the demand is met on
    average, so that it is missed about every second time; with it, it is missed with a probability
    of at most one less `confidence`. For one list that is at hand, take its first k rows, or
    `HeadStatement.select`.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
        Labels. `capacity` needs none.
    scores : array-like of shape (n_rows,)
        Higher is better.
    capacity : (int, int), optional
        At most this number of flagged rows, in lists of this length.
    max_fpr : float in (0, 1), optional
        At most this share of the negatives is flagged.
    min_recall : float in (0, 1), optional
        At least this share of the positives is flagged.
    min_precision : float in (0, 1), optional
        At least this share of the flagged rows is positive. Without `confidence` it is judged by
        the rows it was chosen by, which is optimistic.
    cost : (float, float), optional
        What a false alarm and a missed positive cost: the threshold of least cost on these rows.
        It takes no `confidence`.
    confidence : float in (0, 1), optional
        How sure the demand is to be met.
    pos_label : label, optional
        As in `toprank.metrics.auc`.

    Returns
    -------
    float
        The threshold, for ``score > threshold``. `inf` flags no row, `-inf` all; both only by cost.

    Raises
    ------
    ValueError
        If the rows are too few for the demand: the message says how many would do.

    Examples
    --------
    scikit-learn's FixedThresholdClassifier takes it:

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import FixedThresholdClassifier, train_test_split
    >>> from toprank.datasets import load_mammography
    >>> from toprank.selection import choose_threshold
    >>> X, y = load_mammography(return_X_y=True)
    >>> X, X_cal, y, y_cal = train_test_split(X, y, stratify=y, random_state=0)
    >>> model = LogisticRegression().fit(X, y)
    >>> scores = model.decision_function(X_cal)
    >>> threshold = choose_threshold(y_cal, scores, capacity=(50, 1000), confidence=0.95)
    >>> fixed = FixedThresholdClassifier(
    ...     model, threshold=threshold, response_method="decision_function"
    ... ).fit(X, y)
    >>> int(fixed.predict(X_cal).sum()) <= 50 * len(y_cal) / 1000
    True
    """
    demands = {
        "capacity": capacity,
        "max_fpr": max_fpr,
        "min_recall": min_recall,
        "min_precision": min_precision,
        "cost": cost,
    }
    given = [name for name, value in demands.items() if value is not None]
    if len(given) != 1:
        names = " and ".join(given) if given else "none"
        raise ValueError(f"Pass one of {', '.join(demands)}, got {names}.")
    sure = None
    if confidence is not None:
        sure = check_number("confidence", confidence, 0.0, 1.0, ends="()")
        if cost is not None:
            raise ValueError(
                "confidence cannot be combined with cost: the cost is measured on these rows only."
            )
    if capacity is not None:
        values = check_scores(as_column("scores", scores), len(np.asarray(scores)))
        return _by_capacity(values.astype(np.float64), capacity, sure)
    if y_true is None:
        raise ValueError(f"{given[0]} needs labels: pass y_true.")
    positive, values, _, _ = check_rows(y_true, scores, None, pos_label)
    values = values.astype(np.float64)
    if cost is not None:
        return _by_cost(positive, values, cost)
    share = check_number(given[0], demands[given[0]], 0.0, 1.0, ends="()")
    if max_fpr is not None:
        negatives = np.sort(values[~positive])[::-1]
        place = _place(len(negatives), share, sure)
        return _at(negatives, place, "negatives", f"max_fpr={share:g}", _enough(1.0 - share, sure))
    if min_recall is not None:
        positives = np.sort(values[positive])
        place = _place(len(positives), 1.0 - share, sure)
        enough = _enough(share, sure)
        # At or above the lowest that is to be flagged is above what is just below it.
        lowest = _at(positives, place, "positives", f"min_recall={share:g}", enough)
        return float(np.nextafter(lowest, -inf))
    return _by_precision(positive, values, share, sure)


def _place(n: int, share: float, sure: float | None) -> int:
    """Return one less than the number of n rows that may lie beyond the threshold."""
    if sure is None:
        return floor(share * (n + 1) + _SLACK) - 1
    return _largest(lambda c: float(betainc(c + 1, n - c, share)) >= sure, n)


def _enough(kept: float, sure: float | None) -> int:
    """The rows without which no threshold meets the demand."""
    share = 1.0 - kept
    return ceil(1.0 / share - _SLACK) - 1 if sure is None else ceil(log(1.0 - sure) / log(kept))


def _by_capacity(scores: Array, capacity: tuple[int, int], sure: float | None) -> float:
    try:
        most, size = capacity
    except (TypeError, ValueError):
        raise ValueError(
            f"capacity must be two numbers, (rows to flag, rows of a list), got {capacity!r}."
        ) from None
    most, size = check_count("capacity[0]", most), check_count("capacity[1]", size)
    if most > size:
        raise ValueError(f"capacity must not be more than the list has rows, got {capacity!r}.")
    n, descending = len(scores), np.sort(scores)[::-1]
    if sure is None:
        place = floor(most / size * (n + 1) + _SLACK) - 1
    else:
        place = _largest(lambda c: upper_quantile(n, size, c, round(1.0 - sure, 12)) <= most, n)
    return _at(descending, place, "rows", f"capacity={most} of {size}", ceil(size / most))


def _by_precision(
    positive: NDArray[np.bool_], scores: Array, share: float, sure: float | None
) -> float:
    order = np.argsort(-scores, kind="stable")
    scores, hits, n = scores[order], np.cumsum(positive[order]), len(scores)
    lengths = np.arange(1, n) if sure is None else _lengths(n)
    lengths = lengths[scores[lengths] < scores[lengths - 1]]  # whole groups of ties
    found = hits[lengths - 1]
    if sure is None:
        good = found >= share * lengths
    else:
        tail = (1.0 - sure) / max(len(_lengths(n)), 1)
        least = betaincinv(np.maximum(found, 1), lengths - found + 1, tail)
        good = (found > 0) & (least >= share)
    if not good.any():
        with_it = "" if sure is None else f" with a confidence of {sure:g}"
        raise ValueError(
            f"No threshold has a precision of {share:g} on these {n} rows{with_it}. Ask for less, "
            "or pass more rows."
        )
    return float(scores[lengths[good][-1]])


def _lengths(n: int) -> NDArray[np.int64]:
    """Lengths of heads, fewer the longer they are."""
    lengths, length = [], 10.0
    while length < n:
        lengths.append(int(length))
        length *= 1.3
    return np.array(lengths, dtype=np.int64)


def _by_cost(positive: NDArray[np.bool_], scores: Array, cost: tuple[float, float]) -> float:
    try:
        false_alarm, missed = cost
    except (TypeError, ValueError):
        raise ValueError(
            f"cost must be two numbers, (of a false alarm, of a missed positive), got {cost!r}."
        ) from None
    false_alarm = check_number("cost[0]", false_alarm, 0.0)
    missed = check_number("cost[1]", missed, 0.0)
    order = np.argsort(-scores, kind="stable")
    scores, found = scores[order], np.concatenate([[0], np.cumsum(positive[order])])
    n = len(scores)
    total = false_alarm * (np.arange(n + 1) - found) + missed * (found[-1] - found)
    ends = np.concatenate([[True], scores[1:] < scores[:-1], [True]])
    flagged = int(np.argmin(np.where(ends, total, inf)))
    if flagged in (0, n):
        return inf if flagged == 0 else -inf
    return float(scores[flagged])


def _largest(holds: Callable[[int], bool], n: int) -> int:
    """The largest c below n for which it holds, or -1: it holds up to some c."""
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _at(ordered: Array, place: int, kind: str, demand: str, enough: int) -> float:
    if place < 0:
        raise ValueError(
            f"{len(ordered)} {kind} are too few for {demand}: about {enough} or more are needed. "
            "Ask for less, or pass more rows."
        )
    return float(ordered[min(place, len(ordered) - 1)])


__all__ = ["choose_threshold"]
