"""Intervals of metrics and of differences: reference cases, coverage, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from toprank.exceptions import GuaranteeWarning
from toprank.metrics import auc, average_precision, interval, paired_difference, precision_at_k
from toprank.metrics._intervals import logit_interval, wilson
from toprank.metrics._resampling import SortedRows, reweighted
from toprank.metrics._roc import auc_of
from truth.guarantees import guarantee_arrays, guarantee_case

NAMES = {
    "precision": "precision_at_0.1",
    "recall": "recall_at_0.1",
    "lift": "lift_at_0.1",
    "pauc": "partial_auc_0.05",
    "ap": "average_precision",
    "pos_at_top": "positives_at_top",
}
Y, A, B = guarantee_arrays("int", "y", "a", "b")


@pytest.mark.parametrize("case", NAMES)
def test_the_reference_cases(case):
    expected = guarantee_case("intervals")[case]
    found = interval(NAMES[case], Y, A)
    assert found.value == pytest.approx(expected["value"], abs=1e-9)
    assert (found.low, found.high) == pytest.approx(expected["interval"], abs=1e-9)
    assert found.method == "analytic"


def test_the_formulas_of_the_reference_cases():
    hits = [(33, 50), (0, 10), (10, 10)]
    for (of, trials), expected in zip(hits, guarantee_case("formulas")["wilson"], strict=True):
        assert wilson(of, trials, 0.95) == pytest.approx(expected, abs=1e-9)
    cases = [(0.3, 0.05, 1), (0.0, 0.0, 20), (1.0, 0.0, 20)]
    for (value, error, n), expected in zip(cases, guarantee_case("formulas")["logit"], strict=True):
        assert logit_interval(value, error, 0.95, n) == pytest.approx(expected, abs=1e-9)


def sample(rng, n=400, ties=False):
    y = rng.random(n) < 0.1
    scores = rng.normal(size=n) + 2 * y
    return y, np.round(2 * scores) if ties else scores


@pytest.mark.parametrize(
    "name", ["precision_at_0.1", "recall_at_0.1", "partial_auc_0.1", "auc", "average_precision"]
)
@pytest.mark.parametrize("ties", [False, True])
def test_intervals_hold_the_value_as_often_as_they_say(name, ties):
    rng = np.random.default_rng(0)
    big, scores = sample(rng, 400_000, ties)
    truth = interval(name, big, scores).value
    held = 0
    for _ in range(150):
        found = interval(name, *sample(rng, 500, ties))
        held += found.low <= truth <= found.high
    assert held >= 134  # of 142.5 on average; fewer come once in a thousand


def test_the_bootstrap_agrees_with_the_formula():
    for name in ("auc", "average_precision", "precision_at_0.1"):
        formula = interval(name, Y, A)
        drawn = interval(name, Y, A, method="bootstrap", n_resamples=400, random_state=0)
        assert drawn.value == formula.value
        assert drawn.high - drawn.low == pytest.approx(formula.high - formula.low, rel=0.2)


def test_resampled_rows_are_repeated_rows():
    rng = np.random.default_rng(1)
    y, scores = sample(rng, 60, ties=True)
    counts = rng.integers(0, 3, 60).astype(float)
    rows = np.repeat(np.arange(60), counts.astype(int))
    found = auc_of(reweighted(SortedRows(y, scores), counts))
    assert found == pytest.approx(auc(y[rows], scores[rows]))


def test_metrics_without_a_formula_are_resampled():
    found = interval("ndcg", Y, A, n_resamples=100, random_state=0)
    assert found.method == "bootstrap"
    assert found.low < found.value < found.high
    assert found == interval("ndcg", Y, A, n_resamples=100, random_state=0)
    with pytest.raises(ValueError, match="no formula"):
        interval("ndcg", Y, A, method="analytic")
    dcg = interval("dcg_at_20", Y, A, n_resamples=100, random_state=0)
    assert dcg.low < dcg.value < dcg.high


def test_a_whole_k_is_a_share_of_the_rows():
    assert interval("precision_at_40", Y, A) == interval("precision_at_0.1", Y, A)
    assert interval("recall_at_1", Y, A) == interval("recall_at_0.0025", Y, A)


def test_few_positives():
    y = np.zeros(100, dtype=int)
    y[:4] = 1
    with pytest.raises(ValueError, match="needs 5 or more"):
        interval("auc", y, A[:100])
    with pytest.warns(GuaranteeWarning, match="4 positives"):
        interval("auc", y, A[:100], force=True)
    y[:10] = 1
    with pytest.warns(GuaranteeWarning, match="fewer than 20"):
        interval("average_precision", y, A[:100])


def test_perfect_and_useless_scores():
    y = np.arange(200) < 40
    for name in NAMES.values():
        found = interval(name, y, y.astype(float))
        assert found.low < found.high
        assert found.low <= found.value <= found.high + 1e-12
        assert np.isfinite([found.low, found.high]).all()
        tied = interval(name, y, np.zeros(200))
        assert tied.low <= tied.value <= tied.high


def test_models_that_are_alike_are_rarely_told_apart():
    rng, found = np.random.default_rng(2), 0
    for _ in range(40):
        y = rng.random(300) < 0.15
        common = rng.normal(size=300) + 2 * y
        a, b = common + 0.5 * rng.normal(size=300), common + 0.5 * rng.normal(size=300)
        found += (
            paired_difference(y, a, b, "average_precision", n_resamples=100, random_state=0).p
            < 0.05
        )
    assert found <= 7


def test_a_difference_and_its_interval():
    rng = np.random.default_rng(3)
    y = rng.random(1000) < 0.1
    good, poor = rng.normal(size=1000) + 2 * y, rng.normal(size=1000) + y
    found = paired_difference(y, good, poor, "average_precision", n_resamples=300, random_state=0)
    assert found.value == pytest.approx(average_precision(y, good) - average_precision(y, poor))
    assert 0 < found.low < found.value < found.high
    turned = paired_difference(y, poor, good, "average_precision", n_resamples=300, random_state=0)
    assert turned.value == -found.value
    assert turned.p == pytest.approx(found.p)
    error = (found.high - found.value) / stats.norm.ppf(0.975)
    assert found.p == pytest.approx(2 * stats.norm.sf(found.value / error))
    same = paired_difference(y, good, good, "precision_at_50", n_resamples=50, random_state=0)
    assert (same.value, same.p) == (0.0, 1.0)


def test_wrong_arguments():
    for wrong in (
        {"confidence": 1.5},
        {"method": "exact"},
        {"n_resamples": 1, "method": "bootstrap"},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            interval("auc", Y, A, **wrong)
    with pytest.raises(ValueError, match="no scorer"):
        interval("accuracy", Y, A)
    with pytest.raises(ValueError, match="rows"):
        paired_difference(Y, A, B[:-1], "auc")


def test_string_labels():
    named = np.where(Y, "fraud", "ok")
    assert interval("auc", named, A, pos_label="fraud") == interval("auc", Y, A)
    value = paired_difference(
        named, A, B, "precision_at_50", n_resamples=20, random_state=0, pos_label="fraud"
    )
    assert value.value == pytest.approx(precision_at_k(Y, A, 50) - precision_at_k(Y, B, 50))
