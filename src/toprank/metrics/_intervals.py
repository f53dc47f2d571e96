"""Intervals of metrics, and of the difference of two models by a metric.

The target is the value in the population that the test rows come from, where the number of
positives is as random as the rest: k is the share k / N of the list.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from ..exceptions import warn_few_positives
from ..inputs.arguments import check_choice, check_number
from ._at_k import lift_at_k, precision_at_k, recall_at_k
from ._checks import check_rows, check_scores
from ._discounted import dcg
from ._precision_recall import average_precision
from ._resampling import (
    OF_RANKING,
    SortedRows,
    average_precision_error,
    partial_auc_error,
    precision_error,
    recall_error,
    resample,
    reweighted,
)
from ._roc import auc, partial_auc, positives_at_top
from ._scorers import metric_of

Metric = Callable[..., float]

#: With fewer positives than this no interval is worth its name.
_FEWEST = 5
#: With fewer than this coverage was measured at .90 to .99 for a nominal .95.
_FEW = 20
#: The metrics that have a formula.
_ANALYTIC: tuple[Metric, ...] = (
    auc,
    average_precision,
    lift_at_k,
    partial_auc,
    positives_at_top,
    precision_at_k,
    recall_at_k,
)


class Interval(NamedTuple):
    """The value of a metric on the test rows, and where it is in the population."""

    value: float
    """On the test rows."""
    low: float
    """The lower end."""
    high: float
    """The upper end."""
    method: str
    """"analytic" or "bootstrap"."""


class Difference(NamedTuple):
    """How far two models differ by a metric, on the same test rows."""

    value: float
    """The metric of the first less that of the second."""
    low: float
    """The lower end of its interval."""
    high: float
    """The upper end."""
    p: float
    """How likely a difference as large is between models that are equally good."""


def interval(
    name: str,
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    method: str = "auto",
    n_resamples: int = 2000,
    random_state: Any = None,
    pos_label: Any = None,
    force: bool = False,
) -> Interval:
    """How well a metric of test rows is known: an interval for its value in the population.

    Precision and average precision have Wilson's interval, with as many trials as their standard
    error is worth; recall and lift likewise; AUC and partial AUC a normal one on the logit scale.
    The positives at the top have that of the share of positives above this very negative. Other
    metrics are resampled.

    Parameters
    ----------
    name : str
        As for `get_scorer`: "precision_at_0.1", "average_precision", "partial_auc_0.05", ...
    y_true, scores, pos_label
        As in `auc`.
    confidence : float in (0, 1), default=0.95
        How often intervals like this one are to hold the value.
    method : {"auto", "analytic", "bootstrap"}, default="auto"
        "analytic" is a formula, from one sort. "bootstrap" draws rows with replacement and takes
        the spread of the metric, on the logit scale where it is a share. "auto" takes the formula
        where there is one.
    n_resamples : int, default=2000
        For the bootstrap.
    random_state : int, RandomState instance or None, default=None
        Decides the resamples.
    force : bool, default=False
        Whether to go on with fewer than 5 positives.

    Returns
    -------
    Interval
        `value`, `low`, `high` and `method`.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.metrics import interval
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.1
    >>> found = interval("precision_at_0.1", y, rng.normal(size=1000) + 2 * y)
    >>> print(f"{found.value:.2f}, between {found.low:.2f} and {found.high:.2f}")
    0.61, between 0.49 and 0.72
    """
    metric, parameters = metric_of(name)
    sure = check_number("confidence", confidence, 0.0, 1.0, ends="()")
    check_choice("method", method, ("auto", "analytic", "bootstrap"))
    positive, values, _, _ = check_rows(y_true, scores, None, pos_label)
    _check_positives(int(positive.sum()), force)
    value = metric(positive, values, **parameters)
    rows = SortedRows(positive, values.astype(np.float64))
    if method == "analytic" and metric not in _ANALYTIC:
        raise ValueError(f'There is no formula for {name}; pass method="bootstrap".')
    if method != "bootstrap" and metric in _ANALYTIC:
        return Interval(value, *_analytic(metric, parameters, value, rows, sure), "analytic")
    of = OF_RANKING[metric]
    draws = resample(positive, n_resamples, random_state)
    figures = [of(reweighted(rows, counts), **parameters) for counts in draws]
    error = float(np.std(figures, ddof=1))
    if metric in (dcg, lift_at_k):  # no share
        reach = _normal(sure) * error
        return Interval(value, value - reach, value + reach, "bootstrap")
    return Interval(value, *logit_interval(value, error, sure, rows.m), "bootstrap")


def paired_difference(
    y_true: ArrayLike,
    scores: ArrayLike,
    other_scores: ArrayLike,
    name: str,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = None,
    pos_label: Any = None,
    force: bool = False,
) -> Difference:
    """Compare two models on the same test rows, by rows that are drawn for both alike.

    The interval is the difference and so many standard deviations of it over resamples. Average
    precision and partial AUC find a true difference more often than precision at k does.

    Parameters
    ----------
    y_true, pos_label
        As in `auc`.
    scores, other_scores : array-like of shape (n_rows,)
        Of the two models.
    name : str
        The metric, as for `get_scorer`.
    confidence : float in (0, 1), default=0.95
        Of the interval.
    n_resamples : int, default=2000
        How often rows are drawn.
    random_state : int, RandomState instance or None, default=None
        Decides the draws.
    force : bool, default=False
        Whether to go on with fewer than 5 positives.

    Returns
    -------
    Difference
        `value`, `low`, `high` and `p`.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.metrics import paired_difference
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.1
    >>> good, poor = rng.normal(size=1000) + 2 * y, rng.normal(size=1000) + y
    >>> paired_difference(y, good, poor, "average_precision", random_state=0).p < 0.001
    True
    """
    metric, parameters = metric_of(name)
    sure = check_number("confidence", confidence, 0.0, 1.0, ends="()")
    positive, values, _, _ = check_rows(y_true, scores, None, pos_label)
    others = check_scores(other_scores, len(values), "other_scores")
    _check_positives(int(positive.sum()), force)
    of = OF_RANKING[metric]
    one, other = (SortedRows(positive, each.astype(np.float64)) for each in (values, others))
    differences = [
        of(reweighted(one, counts), **parameters) - of(reweighted(other, counts), **parameters)
        for counts in resample(positive, n_resamples, random_state)
    ]
    value = metric(positive, values, **parameters) - metric(positive, others, **parameters)
    error = float(np.std(differences, ddof=1))
    reach = _normal(sure) * error
    p = 1.0 if error == 0 else float(2.0 * ndtr(-abs(value) / error))
    return Difference(value, value - reach, value + reach, p)


def _check_positives(count: int, force: bool) -> None:
    if count < _FEWEST and not force:
        raise ValueError(
            f"There are {count} positives, and an interval needs {_FEWEST} or more to mean "
            "anything. Pass more rows, or force=True."
        )
    if count < _FEW:
        warn_few_positives(count, _FEW)


def _analytic(
    metric: Metric, parameters: dict[str, float], value: float, rows: SortedRows, sure: float
) -> tuple[float, float]:
    """The formula of each metric."""
    if metric is positives_at_top:
        return wilson(value * rows.m, rows.m, sure)
    if metric in (auc, partial_auc):
        error = partial_auc_error(rows, parameters.get("max_fpr", 1.0))
        return logit_interval(value, error, sure, rows.m)
    if metric is average_precision:
        return _effective(value, average_precision_error(rows), rows.m, rows.m, sure)
    k = parameters["k"]
    share = k / rows.n if k >= 1 else k
    if metric is precision_at_k:
        return _effective(value, precision_error(rows, share), share * rows.n, rows.n, sure)
    recall = value * share if metric is lift_at_k else value
    low, high = _effective(recall, recall_error(rows, share), rows.m, rows.n, sure)
    return (low / share, high / share) if metric is lift_at_k else (low, high)


def _effective(
    value: float, error: float, at_the_edge: float, most: float, sure: float
) -> tuple[float, float]:
    """Wilson's interval with as many trials as the standard error is worth."""
    trials = at_the_edge
    if 0.0 < value < 1.0 and error > 0.0:
        trials = min(max(value * (1.0 - value) / error**2, 1.0), most)
    return wilson(value * trials, trials, sure)


def wilson(hits: float, trials: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share; hits and trials need not be whole."""
    z, p = _normal(confidence), hits / trials
    middle = (p + z * z / (2.0 * trials)) / (1.0 + z * z / trials)
    spread = sqrt(max(p * (1.0 - p), 0.0) / trials + z * z / (4.0 * trials**2))
    reach = z / (1.0 + z * z / trials) * spread
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def logit_interval(
    value: float, error: float, confidence: float, trials: int
) -> tuple[float, float]:
    """A normal interval of the logit; at 0 and 1 Clopper and Pearson's, of so many trials.

    Where nothing varied between them, as with scores that are all tied, what such an interval
    leaves for trials that were not seen may be all 0 or all 1.
    """
    if not 0.0 < value < 1.0 or not error > 0.0:
        unseen = 1.0 - (0.5 - confidence / 2.0) ** (1.0 / max(trials, 1))
        return value - unseen * value, value + unseen * (1.0 - value)
    logit = log(value / (1.0 - value))
    reach = _normal(confidence) * error / (value * (1.0 - value))
    return 1.0 / (1.0 + exp(reach - logit)), 1.0 / (1.0 + exp(-reach - logit))


def _normal(confidence: float) -> float:
    """How many standard deviations hold so much of the normal distribution."""
    return float(ndtri(0.5 + confidence / 2.0))


__all__ = ["Difference", "Interval", "interval", "logit_interval", "paired_difference", "wilson"]
