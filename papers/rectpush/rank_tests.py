"""Tests of whether methods differ, by their ranks over data sets.

J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Friedman:
    """Friedman's statistic and that of Iman and Davenport, with their p values."""

    chi2: float
    p_chi2: float
    f: float
    p_f: float


def ranks(figures: ArrayLike) -> Array:
    """Ranks by row, 1 for the largest figure; equal figures share the mean of their ranks."""
    return np.asarray(stats.rankdata(-np.asarray(figures), axis=1))


def friedman(average_ranks: ArrayLike, n_sets: int) -> Friedman:
    """Test that all methods are alike. Without a correction for ties, which is conservative."""
    average = np.asarray(average_ranks)
    k, n = len(average), n_sets
    chi2 = 12 * n / (k * (k + 1)) * float(((average - (k + 1) / 2) ** 2).sum())
    left = n * (k - 1) - chi2  # zero where every set orders the methods alike
    f = (n - 1) * chi2 / left if left > 1e-9 * n else np.inf
    return Friedman(
        chi2,
        float(stats.chi2.sf(chi2, k - 1)),
        f,
        float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
    )


def standard_error(k: int, n_sets: int) -> float:
    """That of a difference of two average ranks."""
    return float(np.sqrt(k * (k + 1) / (6 * n_sets)))


def holm(average_ranks: ArrayLike, n_sets: int, control: int) -> Array:
    """Holm's adjusted p values of the differences to the control, itself 1."""
    average = np.asarray(average_ranks)
    k = len(average)
    z = np.abs(average - average[control]) / standard_error(k, n_sets)
    p = 2 * stats.norm.sf(z)
    others = np.delete(np.arange(k), control)
    order = others[np.argsort(p[others])]
    adjusted = np.ones(k)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(k - 1, 0, -1)), 1)
    return adjusted


def critical_difference(k: int, n_sets: int, level: float = 0.05) -> float:
    """Nemenyi's: two average ranks that differ by more differ significantly."""
    quantile = stats.studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2)
    return float(quantile) * standard_error(k, n_sets)
