"""Tests of whether methods differ, by their ranks over data sets.

J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006. The sets
are taken as independent, and a set counts once, however many splits its figure is the mean of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ..inputs.arguments import check_count, check_share

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Friedman:
    """Friedman's statistic and that of Iman and Davenport, with their p values."""

    chi2: float
    p_chi2: float
    f: float
    p_f: float


def ranks(figures: ArrayLike) -> Array:
    """Ranks of the methods on every set, 1 for the largest figure.

    Parameters
    ----------
    figures : array-like of shape (n_sets, n_methods)
        A measure of every method on every set; larger is better. Negate a loss.

    Returns
    -------
    ndarray of shape (n_sets, n_methods)
        The ranks; equal figures share the mean of theirs. ``ranks(figures).mean(axis=0)`` are the
        average ranks that the tests take.

    Examples
    --------
    >>> from toprank.selection import ranks
    >>> ranks([[0.3, 0.1, 0.3, 0.5]])
    array([[2.5, 4. , 2.5, 1. ]])
    """
    table = np.asarray(figures, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"figures must have a row for each set, got shape {table.shape}.")
    if np.isnan(table).any():
        row, column = (int(place[0]) for place in np.nonzero(np.isnan(table)))
        raise ValueError(
            f"figures is NaN at set {row}, method {column}: leave out sets on which a method "
            "failed, or give it the figure of a list in random order."
        )
    return np.asarray(stats.rankdata(-table, axis=1), dtype=np.float64)


def friedman(average_ranks: ArrayLike, n_sets: int) -> Friedman:
    r"""Test that all methods are alike, from their average ranks.

    .. math:: \chi^2 = \frac{12 n}{k (k + 1)} \sum_i \Big(R_i - \frac{k + 1}{2}\Big)^2, \quad
        F = \frac{(n - 1) \chi^2}{n (k - 1) - \chi^2}

    There is no correction for ties, which is conservative.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        R, the mean of every method's ranks; at least two.
    n_sets : int
        n, the sets they are means over, at least two.

    Returns
    -------
    Friedman
        `chi2` and Iman and Davenport's `f`, which is less conservative, with `p_chi2` and `p_f`.

    Examples
    --------
    >>> from toprank.selection import friedman
    >>> test = friedman([3.143, 2.000, 2.893, 1.964], n_sets=14)  # Demsar's example
    >>> round(test.chi2, 2), round(test.f, 2), round(test.p_f, 3)
    (9.28, 3.69, 0.02)
    """
    average, n = _average_ranks(average_ranks), check_count("n_sets", n_sets, 2)
    k = len(average)
    chi2 = 12 * n / (k * (k + 1)) * float(((average - (k + 1) / 2) ** 2).sum())
    left = n * (k - 1) - chi2  # zero where every set orders the methods alike
    f = (n - 1) * chi2 / left if left > 1e-9 * n else np.inf
    return Friedman(
        chi2,
        float(stats.chi2.sf(chi2, k - 1)),
        f,
        float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
    )


def holm(average_ranks: ArrayLike, n_sets: int, control: int) -> Array:
    r"""Compare every method with one: Holm's adjusted p values.

    .. math:: z_i = |R_i - R_c| \Big/ \sqrt{k (k + 1) / (6 n)}

    The smallest p value is multiplied by k - 1, the next by k - 2, and so on; none is below one
    before it.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        R, the mean of every method's ranks.
    n_sets : int
        n, the sets they are means over.
    control : int
        c, the number of the method that the others are compared with. Name it beforehand: the best
        of a table, chosen after a look at it, makes the p values too small.

    Returns
    -------
    ndarray of shape (n_methods,)
        Adjusted p values; that of the control is 1.

    Examples
    --------
    >>> from toprank.selection import holm
    >>> holm([3.143, 2.000, 2.893, 1.964], n_sets=14, control=0).round(3)
    array([1.   , 0.047, 0.608, 0.047])
    """
    average = _average_ranks(average_ranks)
    k = len(average)
    if check_count("control", control, 0) >= k:
        raise ValueError(f"control={control} is none of the {k} methods; they count from 0.")
    z = np.abs(average - average[control]) / _standard_error(k, n_sets)
    p = 2 * stats.norm.sf(z)
    others = np.delete(np.arange(k), control)
    adjusted = np.ones(k)
    adjusted[others] = holm_adjusted(p[others])
    return adjusted


def holm_adjusted(p: Array) -> Array:
    """Holm's adjusted p values: the smallest times their number, the next times one less, ..."""
    order = np.argsort(p, kind="stable")
    adjusted = np.ones(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return adjusted


def critical_difference(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    r"""Nemenyi's test: two average ranks that differ by more differ significantly.

    .. math:: q_\alpha \sqrt{k (k + 1) / (6 n)}

    with q the quantile of the Studentised range, over the square root of two.

    Parameters
    ----------
    n_methods : int
        k, the methods that are ranked, at least two.
    n_sets : int
        n, the sets they are ranked on.
    level : float, default=0.05
        alpha, how likely any two methods may seem to differ that do not.

    Returns
    -------
    float
        The difference.

    Examples
    --------
    >>> from toprank.selection import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    k = check_count("n_methods", n_methods, 2)
    check_share(level=level)
    quantile = stats.studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2)
    return float(quantile) * _standard_error(k, n_sets)


def _standard_error(k: int, n_sets: int) -> float:
    """That of a difference of two average ranks."""
    return float(np.sqrt(k * (k + 1) / (6 * check_count("n_sets", n_sets))))


def _average_ranks(average_ranks: ArrayLike) -> Array:
    """The average ranks of two methods or more, which lie between 1 and their number."""
    average = np.asarray(average_ranks, dtype=np.float64)
    if average.ndim != 1 or len(average) < 2:
        raise ValueError(
            f"average_ranks must be one number for each of two methods or more, got shape "
            f"{average.shape}; of a table it is ranks(figures).mean(axis=0)."
        )
    if not ((average >= 1) & (average <= len(average))).all():
        wrong = int(np.argmin((average >= 1) & (average <= len(average))))
        raise ValueError(
            f"average_ranks[{wrong}] is {average[wrong]:g}, no mean of ranks from 1 to "
            f"{len(average)}. Pass ranks(figures).mean(axis=0), not the figures."
        )
    return average
