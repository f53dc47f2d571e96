"""Intervals by resamples and at the edges, against draws by hand and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from toprank.exceptions import GuaranteeWarning
from toprank.metrics import auc, dcg, interval, lift_at_k, paired_difference, tpr_at_fpr
from toprank.metrics._intervals import _effective, logit_interval, wilson
from toprank.metrics._resampling import resample

RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.2
A = RNG.normal(size=300) + 1.5 * Y
B = A + 0.3 * RNG.normal(size=300)  # alike: their difference varies less than each


def spread(figure, times=200):
    """The standard deviation of a figure of rows drawn with replacement."""
    rng = np.random.default_rng(1)
    return np.std([figure(rng.integers(300, size=300)) for _ in range(times)], ddof=1)


@pytest.mark.parametrize("confidence", [0.95, 0.6])
@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("dcg_at_20", lambda rows: dcg(Y[rows], A[rows], k=20)),
        ("lift_at_0.1", lambda rows: lift_at_k(Y[rows], A[rows], 0.1)),
    ],
)
def test_what_is_no_share_reaches_as_far_to_both_sides(name, figure, confidence):
    options = {"method": "bootstrap", "n_resamples": 200, "random_state": 0}
    found = interval(name, Y, A, confidence=confidence, **options)
    assert found.value == pytest.approx(figure(np.arange(300)))
    reach = stats.norm.ppf(0.5 + confidence / 2) * spread(figure)
    assert found.value - found.low == pytest.approx(reach, rel=0.2)
    assert found.high - found.value == pytest.approx(reach, rel=0.2)


def test_a_share_that_is_resampled_has_its_interval_on_the_logit_scale():
    found = interval("tpr_at_fpr_0.1", Y, A, n_resamples=200, random_state=0)
    value, error = found.value, spread(lambda rows: tpr_at_fpr(Y[rows], A[rows], 0.1))
    logit = np.log(value / (1 - value))
    for end, sign in ((found.low, -1), (found.high, 1)):
        there = np.log(end / (1 - end)) - logit
        assert there == pytest.approx(sign * 1.96 * error / (value * (1 - value)), rel=0.2)


@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_differences_reach_as_far_as_they_vary(confidence):
    found = paired_difference(
        Y, A, B, "auc", confidence=confidence, n_resamples=200, random_state=0
    )
    error = spread(lambda rows: auc(Y[rows], A[rows]) - auc(Y[rows], B[rows]))
    assert found.value == pytest.approx(auc(Y, A) - auc(Y, B))
    reach = stats.norm.ppf(0.5 + confidence / 2) * error
    assert found.high - found.value == pytest.approx(reach, rel=0.2)
    assert found.value - found.low == pytest.approx(reach, rel=0.2)


def test_resamples_hold_both_classes_and_as_many_rows():
    for positive in ([True, False], [True, False, False], [False, True, True]):
        flags = np.array(positive)
        seen = set()
        for counts in resample(flags, 200, 0):
            assert counts.sum() == len(flags)
            assert 0 < counts[flags].sum() < len(flags)
            seen.add(tuple(counts))
        assert len(seen) == (1 if len(flags) == 2 else 5)  # all that there are
    assert len(list(resample(np.array([True, False]), 2, 0))) == 2


def test_the_edges_of_a_share():
    """Clopper and Pearson's, one half of the error on the open side, whatever the spread."""
    for trials in (1, 7, 20):
        most = stats.beta.ppf(0.975, 1, trials)  # of no hit
        for error in (0.0, 0.1):
            assert logit_interval(0.0, error, 0.95, trials) == pytest.approx((0.0, most))
            assert logit_interval(1.0, error, 0.95, trials) == pytest.approx((1 - most, 1.0))
        # Of what does not vary, as much as was not seen may be all 0 or all 1.
        ends = logit_interval(0.3, 0.0, 0.95, trials)
        assert ends == pytest.approx(((1 - most) * 0.3, (1 - most) * 0.3 + most))
    assert logit_interval(0.0, 0.0, 0.95, 0) == pytest.approx((0.0, 0.975))


@pytest.mark.parametrize("name", ["auc", "partial_auc_0.5", "partial_auc_0.9", "tpr_at_fpr_0.7"])
def test_the_interval_of_scores_that_are_all_tied_holds_their_value(name):
    found = interval(name, Y, np.zeros(300), n_resamples=20, random_state=0)
    assert 0.0 < found.low < found.value < found.high < 1.0
    assert found.high - found.low < 0.1


@pytest.mark.parametrize("n_resamples", [2, 3])
def test_few_resamples_against_rows_that_are_repeated(n_resamples):
    """The divisor of a variance is one less than the figures."""
    drawn = [
        np.repeat(np.arange(300), counts.astype(int)) for counts in resample(Y, n_resamples, 0)
    ]
    options = {"n_resamples": n_resamples, "random_state": 0}
    found = interval("dcg", Y, A, method="bootstrap", **options)
    error = stats.tstd([dcg(Y[rows], A[rows]) for rows in drawn])
    assert found.high - found.value == pytest.approx(stats.norm.ppf(0.975) * error)
    found = paired_difference(Y, A, B, "auc", **options)
    error = stats.tstd([auc(Y[rows], A[rows]) - auc(Y[rows], B[rows]) for rows in drawn])
    assert found.high - found.value == pytest.approx(stats.norm.ppf(0.975) * error)
    np.testing.assert_allclose(found.p, 2 * stats.norm.sf(abs(found.value) / error))


@pytest.mark.parametrize(("error", "trials"), [(2.0, 1.0), (0.1, 21.0), (0.01, 30.0)])
def test_a_standard_error_is_worth_one_trial_at_least_and_no_more_than_there_are(error, trials):
    found = _effective(0.3, error, 40.0, 30.0, 0.95)
    assert found == pytest.approx(wilson(0.3 * trials, trials, 0.95))


def test_wilson_is_scipys_and_stays_a_share():
    for trials in (1, 2, 3, 7, 14, 25, 33):  # at some, rounding leads out of 0 to 1
        for hits in {0, 1, trials // 2, trials}:
            theirs = stats.binomtest(hits, trials).proportion_ci(0.9, method="wilson")
            low, high = wilson(hits, trials, 0.9)
            assert (low, high) == pytest.approx(tuple(theirs))
            assert 0 <= low < high <= 1


def test_a_head_of_one_class_is_as_many_trials_as_rows():
    """Though the other class right below the cut makes its error more than zero."""
    place = np.arange(200)
    found = interval("precision_at_10", (place >= 10) & (place < 40), -place)
    theirs = stats.binomtest(0, 10).proportion_ci(0.95, method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((0.0, *theirs))
    found = interval("precision_at_10", (place < 10) | (place >= 180), -place)
    theirs = stats.binomtest(10, 10).proportion_ci(0.95, method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((1.0, *theirs))


def test_wrong_arguments_of_a_comparison():
    for confidence in (0.0, 1.0, 1.5):
        with pytest.raises(ValueError, match="confidence"):
            paired_difference(Y, A, B, "auc", confidence=confidence)
        with pytest.raises(ValueError, match="confidence"):
            interval("auc", Y, A, confidence=confidence)
    few = np.arange(300) < 4
    with pytest.raises(ValueError, match="needs 5 or more"):
        paired_difference(few, A, B, "auc")
    with pytest.warns(GuaranteeWarning, match="4 positives"):
        paired_difference(few, A, B, "auc", n_resamples=20, force=True)


@pytest.mark.filterwarnings("error")
def test_twenty_positives_are_enough_and_five_will_do():
    interval("auc", np.arange(300) < 20, A)
    with pytest.warns(GuaranteeWarning, match="19 positives"):
        interval("auc", np.arange(300) < 19, A)
    with pytest.warns(GuaranteeWarning, match="5 positives"):
        interval("auc", np.arange(300) < 5, A)
