"""Tests by ranks, against the figures of Demsar (2006), SciPy and their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from toprank.selection import critical_difference, friedman, holm, ranks

# Table 6 of Demsar (2006): ranks of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 sets.
DEMSAR = [3.143, 2.000, 2.893, 1.964]
# His Table 5: q for 2 to 10 classifiers.
Q = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}


def test_friedman_and_iman_davenport_as_in_demsar() -> None:
    found = friedman(np.array([44, 28, 40.5, 27.5]) / 14, 14)
    assert found.chi2 == pytest.approx(9.28, abs=0.005)
    assert found.f == pytest.approx(3.69, abs=0.005)
    assert found.p_f < 0.05 < 2 * found.p_chi2


@pytest.mark.parametrize(("n_sets", "n_methods"), [(5, 3), (12, 4), (30, 7)])
def test_friedman_as_in_scipy(n_sets: int, n_methods: int) -> None:
    figures = np.random.default_rng(0).normal(size=(n_sets, n_methods)) + np.arange(n_methods) / 4
    found = friedman(ranks(figures).mean(axis=0), n_sets)
    theirs = stats.friedmanchisquare(*figures.T)
    assert found.chi2 == pytest.approx(theirs.statistic)
    assert found.p_chi2 == pytest.approx(theirs.pvalue)


def test_holm_as_in_demsar() -> None:
    adjusted = holm(DEMSAR, 14, control=0)
    # p of .016, .019 and .607: three times the first, which the second may not fall below
    assert adjusted == pytest.approx([1, 0.047, 0.607, 0.047], abs=2e-3)


def test_holm_rejects_step_by_step() -> None:
    """The definition: from the smallest p on, until one is above the level over those left."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        average = ranks(rng.normal(size=(20, 6)) + np.arange(6) / 3).mean(axis=0)
        adjusted = holm(average, 20, control=2)
        z = np.abs(average - average[2]) / np.sqrt(6 * 7 / (6 * 20))
        p = {i: 2 * stats.norm.sf(z[i]) for i in range(6) if i != 2}
        rejected = set()
        for left, i in zip(range(5, 0, -1), sorted(p, key=p.__getitem__), strict=True):
            if p[i] > 0.05 / left:
                break
            rejected.add(i)
        assert set(np.flatnonzero(adjusted <= 0.05)) == rejected


@pytest.mark.parametrize("level", Q)
def test_nemenyi_as_in_demsar(level: float) -> None:
    for k, q in zip(range(2, 11), Q[level], strict=True):
        found = critical_difference(k, 14, level)
        assert found == pytest.approx(q * np.sqrt(k * (k + 1) / 84), rel=5e-4)


def test_equal_figures_share_the_mean_of_their_ranks() -> None:
    assert ranks([[0.3, 0.1, 0.3, 0.5]]).tolist() == [[2.5, 4, 2.5, 1]]


def test_methods_that_every_set_orders_alike_differ_for_sure() -> None:
    found = friedman([1, 2, 3], 5)
    assert found.f == np.inf
    assert found.p_f == 0


WRONG: list[tuple[Any, tuple[Any, ...], str]] = [
    (ranks, ([0.1, 0.2],), "figures must have a row for each set"),
    (ranks, ([[0.1, 0.2], [0.3, np.nan]],), "NaN at set 1, method 1"),
    (friedman, ([[1, 2]], 5), "average_ranks must be one number"),
    (friedman, ([1.0], 5), "average_ranks must be one number"),
    (friedman, ([0.9, 0.8, 0.7], 5), r"average_ranks\[0\] is 0.9, no mean of ranks"),
    (friedman, ([1, 2], 1), "n_sets must be"),
    (holm, ([1, 2], 5, 2), "control=2 is none of the 2 methods"),
    (holm, ([1, 2], 0, 1), "n_sets must be"),
    (critical_difference, (1, 5), "n_methods must be"),
    (critical_difference, (3, 5, 1.0), "level must be"),
]


@pytest.mark.parametrize(("test", "arguments", "message"), WRONG)
def test_wrong_arguments_are_named(test: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        test(*arguments)
