"""The paper's t-tests at 95 %: who beats whom on a set."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]


def greater(one: Array, other: Array, level: float = 0.05) -> bool:
    """Whether one's mean is significantly above the other's; a single figure is taken as sure."""
    if len(one) == 1 and len(other) == 1:
        return False
    if np.ptp(one) == 0.0 and np.ptp(other) == 0.0:
        return bool(one.mean() > other.mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # figures that are nearly equal
        if len(other) == 1:
            test = stats.ttest_1samp(one, other[0], alternative="greater")
        elif len(one) == 1:
            test = stats.ttest_1samp(other, one[0], alternative="less")
        else:
            test = stats.ttest_ind(one, other, equal_var=False, alternative="greater")
    return bool(test.pvalue < level)


def verdict(one: Array, other: Array) -> str:
    """Win, loss or tie of one against the other."""
    if greater(one, other):
        return "win"
    return "loss" if greater(other, one) else "tie"


def verdict_of_moments(
    one: tuple[float, float], other: tuple[float, float], n: int, sure: bool
) -> str:
    """The same from printed means and deviations over n pools; `sure` if other is one figure."""
    difference = one[0] - other[0]
    variance = one[1] ** 2 / n + (0.0 if sure else other[1] ** 2 / n)
    if variance == 0.0:
        return "win" if difference > 0 else "loss" if difference < 0 else "tie"
    parts = [one[1] ** 2 / n] + ([] if sure else [other[1] ** 2 / n])
    freedom = variance**2 / sum(part**2 / (n - 1) for part in parts)
    tail = stats.t.sf(abs(difference) / np.sqrt(variance), freedom)
    if tail >= 0.05:
        return "tie"
    return "win" if difference > 0 else "loss"


def tally(verdicts: Iterable[str]) -> str:
    """Wins, losses and ties as win/loss/tie."""
    found = list(verdicts)
    return "/".join(str(found.count(one)) for one in ("win", "loss", "tie"))
