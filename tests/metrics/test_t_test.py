"""The paired t test, plain and corrected for splits that share rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from toprank.metrics import corrected_t_test
from truth.guarantees import guarantee_case

RNG = np.random.default_rng(0)
ONE = RNG.normal(0.61, 0.02, 30)
OTHER = ONE - RNG.normal(0.005, 0.01, 30)


def test_without_a_share_it_is_the_paired_test() -> None:
    found, theirs = corrected_t_test(ONE, OTHER), stats.ttest_rel(ONE, OTHER)
    assert found.t == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.difference == pytest.approx(np.mean(ONE) - np.mean(OTHER))
    turned = corrected_t_test(OTHER, ONE)
    assert turned.t == pytest.approx(-found.t)
    assert turned.p == pytest.approx(found.p)


def test_the_correction() -> None:
    plain, found = corrected_t_test(ONE, OTHER), corrected_t_test(ONE, OTHER, test_share=1 / 3)
    assert found.t == pytest.approx(plain.t / np.sqrt(1 + 30 * 0.5))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.t), 29))


def test_on_overlapping_splits_only_the_corrected_one_keeps_its_level() -> None:
    """Two constant methods, judged on random thirds of the same rows by two fair coins."""
    rng = np.random.default_rng(0)
    plain, corrected = 0, 0
    for _ in range(300):
        gain = rng.normal(size=90)  # of one over the other, row by row; zero on average
        figures = np.array([gain[rng.permutation(90)[:30]].mean() for _ in range(15)])
        plain += corrected_t_test(figures, np.zeros(15)).p < 0.05
        corrected += corrected_t_test(figures, np.zeros(15), test_share=1 / 3).p < 0.05
    assert plain > 60  # of 15 that it promises
    assert corrected <= 30


def test_differences_that_do_not_vary() -> None:
    assert corrected_t_test([0.5, 0.6], [0.5, 0.6]) == (0.0, 0.0, 1.0, 0.0, 0.0)
    better = corrected_t_test([0.5, 0.6, 0.7], [0.25, 0.35, 0.45], test_share=0.2)
    assert (better.t, better.p) == (np.inf, 0.0)
    worse = corrected_t_test([0.25, 0.35], [0.5, 0.6])
    assert (worse.t, worse.p) == (-np.inf, 0.0)
    assert corrected_t_test([0.0, 0.0], [0.0, 0.0]).p == 1.0


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_the_unit_of_the_figures_does_not_matter(unit: float) -> None:
    plain, found = corrected_t_test(ONE, OTHER), corrected_t_test(unit * ONE, unit * OTHER)
    assert (found.t, found.p) == pytest.approx((plain.t, plain.p))
    np.testing.assert_allclose([found.low, found.high], [unit * plain.low, unit * plain.high])


WRONG: list[tuple[Any, Any, Any, str]] = [
    ([0.1], [0.2], None, "one must hold one figure for each of two splits"),
    ([[0.1, 0.2]], [0.1, 0.2], None, "one must hold"),
    ([0.1, 0.2], [0.1, 0.2, 0.3], None, "one has 2 figures and other 3"),
    ([0.1, 0.2], [0.1, np.nan], None, r"other\[1\] is nan"),
    ([0.1, 0.2], [0.1, 0.3], 1.0, "test_share must be"),
    ([0.1, 0.2], [0.1, 0.3], 0.0, "test_share must be"),
]


@pytest.mark.parametrize(("one", "other", "share", "message"), WRONG)
def test_wrong_arguments_are_named(one: Any, other: Any, share: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corrected_t_test(one, other, test_share=share)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1.5])
def test_a_confidence_is_between_zero_and_one(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        corrected_t_test(ONE, OTHER, confidence=confidence)


def test_the_interval_is_that_of_the_reference_case() -> None:
    case = guarantee_case("formulas")["nadeau_bengio"]
    figures, overlap, (mean, (low, high), p) = case
    found = corrected_t_test(figures, np.zeros(10), test_share=overlap / (1 + overlap))
    assert found.difference == pytest.approx(mean, abs=1e-9)
    assert (found.low, found.high, found.p) == pytest.approx((low, high, p), abs=1e-9)
    narrow = corrected_t_test(figures, np.zeros(10), confidence=0.5)
    assert found.low < narrow.low < mean < narrow.high < found.high
