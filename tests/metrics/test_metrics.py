"""The values of the metrics: against truths, against scikit-learn, under weights and ties."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from support.examples import examples
from toprank import metrics
from truth import metric_truths as truth

many_examples = examples(80)

Rows = tuple[list[int], list[int], list[int]]

METRICS: dict[str, Callable[..., float]] = {
    "auc": metrics.auc,
    "average_precision": metrics.average_precision,
    "average_precision, expected": partial(metrics.average_precision, ties="expected"),
    "average_reciprocal_rank": metrics.average_reciprocal_rank,
    "dcg": metrics.dcg,
    "dcg, k=2": partial(metrics.dcg, k=2),
    "lift_at_k, k=2": partial(metrics.lift_at_k, k=2),
    "lift_at_k, k=0.4": partial(metrics.lift_at_k, k=0.4),
    "ndcg": metrics.ndcg,
    "ndcg, k=2": partial(metrics.ndcg, k=2),
    "ndcg, k=0.3": partial(metrics.ndcg, k=0.3),
    "partial_auc, max_fpr=0.3": partial(metrics.partial_auc, max_fpr=0.3),
    "partial_auc, range": partial(metrics.partial_auc, fpr_range=(0.2, 0.7), normalize=None),
    "partial_auc, mcclish": partial(metrics.partial_auc, max_fpr=0.5, normalize="mcclish"),
    "positives_at_top": metrics.positives_at_top,
    "positives_at_top, half": partial(metrics.positives_at_top, ties="half"),
    "precision_at_k, k=2": partial(metrics.precision_at_k, k=2),
    "precision_at_k, k=0.7": partial(metrics.precision_at_k, k=0.7),
    "recall_at_k, k=2": partial(metrics.recall_at_k, k=2),
    "recall_at_precision": partial(metrics.recall_at_precision, min_precision=0.6),
    "tpr_at_fpr, 0.3": partial(metrics.tpr_at_fpr, fpr=0.3),
    "tpr_at_fpr, block": partial(metrics.tpr_at_fpr, fpr=0.5, ties="block"),
}
UNBOUNDED = {"dcg", "dcg, k=2", "lift_at_k, k=2", "lift_at_k, k=0.4"}
# What does not change when all weights are multiplied by the same number.
SCALE_FREE = [
    name for name in METRICS if not any(word in name for word in ("cg", "reciprocal", "k=2", "exp"))
]


@st.composite
def tied_rows(draw: st.DrawFn, max_rows: int = 30) -> Rows:
    """Labels of both classes, scores of few values, whole-number weights."""
    n = draw(st.integers(2, max_rows))
    columns = (st.integers(0, 1), st.integers(-2, 2), st.integers(1, 3))
    y, s, w = (draw(st.lists(column, min_size=n, max_size=n)) for column in columns)
    return [0, 1, *y[2:]], s, w


def close(actual: float, desired: float, name: str = "") -> None:
    """Assert equality up to rounding."""
    np.testing.assert_allclose(actual, desired, rtol=1e-11, atol=1e-13, err_msg=name)


@many_examples
@given(tied_rows(max_rows=6))
def test_expected_over_all_orders_of_tied_rows(rows: Rows) -> None:
    y, s, _ = rows
    m, n = sum(y), len(y)
    close(metrics.dcg(y, s), truth.expected(truth.dcg, y, s))
    close(metrics.ndcg(y, s), truth.expected(truth.ndcg, y, s))
    arr = truth.expected(truth.average_reciprocal_rank, y, s)
    close(metrics.average_reciprocal_rank(y, s), arr)
    expected_ap = truth.expected(truth.average_precision, y, s)
    close(metrics.average_precision(y, s, ties="expected"), expected_ap)
    for k in (*range(1, n + 1), 0.25, 0.5, 0.9):
        units = k if k >= 1 else k * n
        hits = truth.expected(partial(truth.hits, k=units), y, s)
        close(metrics.precision_at_k(y, s, k=k), hits / units)
        close(metrics.recall_at_k(y, s, k=k), hits / m)
        close(metrics.lift_at_k(y, s, k=k), hits / units / (m / n))
    for k in (1, 2, n, 0.4):
        units = k if k >= 1 else k * n
        close(metrics.dcg(y, s, k=k), truth.expected(partial(truth.dcg, k=units), y, s))
        close(metrics.ndcg(y, s, k=k), truth.expected(partial(truth.ndcg, k=units), y, s))


@many_examples
@given(tied_rows(), st.sampled_from([1.0, 0.37]))
def test_weighted_metrics_equal_their_definitions(rows: Rows, scale: float) -> None:
    y, s, counts = rows
    w = [scale * count for count in counts]
    close(metrics.auc(y, s, sample_weight=w), truth.auc(y, s, w))
    top, half = (
        metrics.positives_at_top(y, s, sample_weight=w, ties=t) for t in ("strict", "half")
    )
    close(top, truth.positives_at_top(y, s, w))
    close(half, truth.positives_at_top(y, s, w, tied=0.5))
    close(metrics.average_precision(y, s, sample_weight=w), truth.block_average_precision(y, s, w))
    # No ratio of such weights comes near 0.631, so rounding decides nothing.
    recall = metrics.recall_at_precision(y, s, sample_weight=w, min_precision=0.631)
    close(recall, truth.recall_at_precision(y, s, w, 0.631))


@many_examples
@given(tied_rows(), st.sampled_from([(0.0, 0.05), (0.0, 1.0), (0.13, 0.4), (0.5, 1.0)]))
def test_partial_auc_equals_the_mean_height_of_the_curve(
    rows: Rows, fpr_range: tuple[float, float]
) -> None:
    y, s, w = rows
    mean = metrics.partial_auc(y, s, sample_weight=w, fpr_range=fpr_range)
    np.testing.assert_allclose(mean, truth.partial_auc(y, s, w, *fpr_range), atol=1e-3)
    area = metrics.partial_auc(y, s, sample_weight=w, fpr_range=fpr_range, normalize=None)
    close(area, mean * (fpr_range[1] - fpr_range[0]))


@many_examples
@given(tied_rows(), st.sampled_from([0.0, 0.05, 0.31, 0.5, 0.77, 1.0]))
def test_tpr_at_fpr_equals_its_definitions(rows: Rows, fpr: float) -> None:
    y, s, w = rows
    block = metrics.tpr_at_fpr(y, s, fpr, sample_weight=w, ties="block")
    close(block, truth.tpr_at_fpr(y, s, w, fpr))
    curve = metrics.tpr_at_fpr(y, s, fpr, sample_weight=w)
    assert curve >= block - 1e-12
    # The area below the curve has the curve's height as its slope, right of fpr: at the upper end.
    if fpr < 1.0:
        near = metrics.partial_auc(y, s, sample_weight=w, fpr_range=(fpr, fpr + 1e-9))
        np.testing.assert_allclose(curve, near, atol=1e-6)
    close(metrics.tpr_at_fpr(y, s, 0, sample_weight=w), truth.positives_at_top(y, s, w))
    assert metrics.tpr_at_fpr(y, s, 1, sample_weight=w) == 1.0


@many_examples
@given(tied_rows(), st.integers(0, 4))
def test_without_ties_tpr_is_a_staircase(rows: Rows, allowed: int) -> None:
    y = rows[0]
    s = list(range(len(y), 0, -1))
    fpr = min(1.0, allowed / y.count(0))
    close(metrics.tpr_at_fpr(y, s, fpr), truth.staircase(y, fpr))


SCORES = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.6, 0.7, 0.9, -0.1, 1e-17, 1e16])


@many_examples
@given(st.data(), st.sampled_from([0.1, 0.2, 0.3, 0.6, 1e-17, 1e16, 5e-324]))
def test_auc_at_a_margin_equals_its_definition(data: st.DataObject, margin: float) -> None:
    """To the pair: scores and margins whose differences round to either side."""
    n = data.draw(st.integers(2, 30))
    y = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    s = data.draw(st.lists(SCORES, min_size=n, max_size=n))
    w = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    close(metrics.auc(y, s, margin=margin), truth.auc_at_margin(y, s, np.ones(n), margin))
    weighted = metrics.auc(y, s, margin=margin, sample_weight=w)
    close(weighted, truth.auc_at_margin(y, s, w, margin))
    repeated = metrics.auc(np.repeat(y, w), np.repeat(s, w), margin=margin)
    close(weighted, repeated)
    zero = metrics.auc([*y, 0], [*s, -9.0], margin=margin, sample_weight=[*w, 0])
    close(weighted, zero)
    turned = metrics.auc(1 - np.array(y), s, margin=margin, pos_label=0)
    close(turned, truth.auc_at_margin(y, s, np.ones(n), margin))


@many_examples
@given(tied_rows(), st.sampled_from([0.03, 0.3, 1 / 3, 0.5, 1.0]))
def test_equal_to_scikit_learn(rows: Rows, max_fpr: float) -> None:
    y, s, counts = rows
    w = np.asarray(counts) * 0.7
    for weight in (None, w):
        close(metrics.auc(y, s, sample_weight=weight), roc_auc_score(y, s, sample_weight=weight))
        close(
            metrics.partial_auc(y, s, max_fpr=max_fpr, normalize="mcclish", sample_weight=weight),
            roc_auc_score(y, s, max_fpr=max_fpr, sample_weight=weight),
        )
        close(
            metrics.average_precision(y, s, sample_weight=weight),
            average_precision_score(y, s, sample_weight=weight),
        )
    for k in (None, 1, 3, len(y), len(y) + 5):
        close(metrics.ndcg(y, s, k=k), ndcg_score([y], [s], k=k))


@many_examples
@given(tied_rows())
def test_whole_weights_equal_repeated_rows(rows: Rows) -> None:
    y, s, w = rows
    for name, metric in METRICS.items():
        weighted = metric(y, s, sample_weight=w)
        close(weighted, metric(np.repeat(y, w), np.repeat(s, w)), name)


@many_examples
@given(tied_rows(), st.sampled_from([0, 1, 7]), st.integers(-3, 3), st.floats(0, 1))
def test_a_row_of_weight_zero_is_as_if_absent(
    rows: Rows, label: int, score: int, place: float
) -> None:
    at = round(place * len(rows[0]))
    y, s, w = (np.insert(rows[i], at, new) for i, new in enumerate((label, score, 0)))
    for name, metric in METRICS.items():
        without = metric(rows[0], rows[1], sample_weight=rows[2])
        close(metric(y, s, sample_weight=w), without, name)


@many_examples
@given(tied_rows(), st.randoms(use_true_random=False))
def test_only_the_order_of_the_scores_counts(rows: Rows, random: Random) -> None:
    y, s, w = (np.asarray(column) for column in rows)
    shuffled = random.sample(range(len(y)), len(y))
    with np.errstate(divide="ignore"):
        to_infinity = np.arctanh(s / 2.0)
    for name, metric in METRICS.items():
        value = metric(y, s, sample_weight=w)
        close(metric(y[shuffled], s[shuffled], sample_weight=w[shuffled]), value, name)
        for increasing in (s.astype(np.float32), np.exp(s), s + 2**62, to_infinity):
            close(metric(y, increasing, sample_weight=w), value, name)


@many_examples
@given(tied_rows())
def test_bounds(rows: Rows) -> None:
    y, s, w = rows
    fractional = [weight / 3 + 0.7 for weight in w]
    for name, metric in METRICS.items():
        for weight in (None, w) if "expected" in name else (None, w, fractional):
            value = metric(y, s, sample_weight=weight)
            assert type(value) is float, name
            assert value >= 0, name
            assert name in UNBOUNDED or value <= 1, name


@many_examples
@given(tied_rows())
def test_the_scale_of_weights_cancels(rows: Rows) -> None:
    y, s, w = rows
    for name in SCALE_FREE:
        value = METRICS[name](y, s, sample_weight=w)
        for scale in (2.0**-1000, 2.0**-30, 2.0**1000):
            close(METRICS[name](y, s, sample_weight=np.multiply(w, scale)), value, name)


@many_examples
@given(tied_rows())
def test_a_row_split_into_tied_parts_counts_the_same(rows: Rows) -> None:
    y, s, w = rows
    parts = np.append(np.multiply(w, 0.25), np.multiply(w, 0.75))
    for name, metric in METRICS.items():
        close(metric(y * 2, s * 2, sample_weight=parts), metric(y, s, sample_weight=w), name)


def test_discounts_run_straight_between_whole_ranks() -> None:
    # The positive takes up the ranks (0.5, 2.25]: half of the first, the second, 1/4 of the third.
    y, s, w = [0, 1], [2, 1], [0.5, 1.75]
    third = 1 / np.log2(3)
    close(metrics.dcg(y, s, sample_weight=w), 0.5 + third + 0.25 / 2)
    close(metrics.dcg(y, s, sample_weight=w, k=2), 0.5 + third)
    close(metrics.ndcg(y, s, sample_weight=w, k=1), 0.5)
    arr = metrics.average_reciprocal_rank(y, s, sample_weight=w)
    close(arr, (0.5 + 1 / 2 + 0.25 / 3) / 1.75)


def test_so_many_ranks_are_looked_at_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toprank.metrics._ranking._MOST_UNITS", 6)
    y, s = [1, 0, 1], [3, 2, 1]
    close(metrics.average_reciprocal_rank(y, s, sample_weight=[1, 4, 1]), (1 + 1 / 6) / 2)
    with pytest.raises(ValueError, match="adds up to 7"):
        metrics.average_reciprocal_rank(y, s, sample_weight=[1, 4, 2])


def test_perfect_and_reversed_orders() -> None:
    y = [1, 1, 0, 0, 0]
    best = metrics.ranking_report(y, [5, 4, 3, 2, 1], k=2)
    assert best["auc"] == best["average_precision"] == best["ndcg"] == best["precision_at_2"] == 1
    assert best["positives_at_top"] == best["recall_at_2"] == best["partial_auc_0.05"] == 1
    assert best["lift_at_2"] == 2.5
    assert best["average_reciprocal_rank"] == 0.75
    worst = metrics.ranking_report(y, [1, 2, 3, 4, 5], k=2)
    assert worst["auc"] == worst["positives_at_top"] == worst["lift_at_2"] == 0
    close(worst["average_precision"], (1 / 4 + 2 / 5) / 2)


def test_positives_at_top_counts_ties_as_documented() -> None:
    y, s = [1, 1, 1, 0, 0], [9, 5, 5, 5, 1]
    close(metrics.positives_at_top(y, s), 1 / 3)
    close(metrics.positives_at_top(y, s, ties="half"), 2 / 3)


def test_average_precision_of_ties_as_documented() -> None:
    cases = [([1, 0], [5, 5], 1 / 2, 3 / 4), ([0, 1, 1], [6, 5, 5], 2 / 3, 7 / 12)]
    for y, s, block, expected in cases:
        close(metrics.average_precision(y, s), block)
        close(metrics.average_precision(y, s, ties="expected"), expected)


def test_a_precision_just_reached_is_enough() -> None:
    y, s = [0] + [1] * 9, list(range(10, 0, -1))
    assert metrics.recall_at_precision(y, s, min_precision=0.9) == 1
    assert metrics.recall_at_precision(y[:9], s[:9], min_precision=0.9) == 0


@pytest.mark.parametrize("fpr_range", [(-0.5, 0.5), (0.5, 1.5), (0.5, 2.0), (0.7, 0.2)])
def test_a_range_of_rates_is_within_zero_and_one(fpr_range: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="fpr_range must be"):
        metrics.partial_auc([0, 1], [0, 1], fpr_range=fpr_range)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.2, 0.7), (0.4, 1.0)])
def test_mcclish_puts_random_scores_at_one_half(fpr_range: tuple[float, float]) -> None:
    mcclish = partial(metrics.partial_auc, fpr_range=fpr_range, normalize="mcclish")
    close(mcclish([0, 1, 0], [0, 0, 0]), 0.5)
    close(mcclish([0, 1, 0], [0, 1, 0]), 1.0)


def test_k_may_miss_the_total_weight_by_rounding() -> None:
    w = np.full(10, 0.1)
    assert np.cumsum(w)[-1] < 1
    close(metrics.precision_at_k([1] * 9 + [0], range(10, 0, -1), k=1, sample_weight=w), 0.9)
    with pytest.raises(ValueError, match="exceeds"):
        metrics.precision_at_k([1] * 9 + [0], range(10, 0, -1), k=1, sample_weight=w * 0.99)


def test_rounding_lifts_nothing_above_one() -> None:
    rng = np.random.default_rng(0)
    for n in range(3, 60):
        y = [1] * (n - 1) + [0]
        report = metrics.ranking_report(y, range(n, 0, -1), sample_weight=rng.random(n))
        bounded = [value for name, value in report.items() if name[:4] not in ("dcg", "lift")]
        assert max(bounded) == 1


@pytest.mark.parametrize("share", [0.5, 0.02, 0.98])
def test_many_rows_against_scikit_learn(share: float) -> None:
    rng = np.random.default_rng(0)
    y, s = rng.random(20_000) < share, rng.normal(size=20_000).round(2)
    close(metrics.auc(y, s), roc_auc_score(y, s))
    close(metrics.average_precision(y, s), average_precision_score(y, s))
    np.testing.assert_allclose(metrics.ndcg(y, s), ndcg_score([y], [s]), rtol=1e-9)


LABELS: list[Any] = [
    [False, True, True],
    [-1, 1, 1],
    [0.0, 1.0, 1.0],
    [3, 8, 8],
    ["no", "yes", "yes"],
    np.array(["no", "yes", "yes"], dtype=object),
]


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
@pytest.mark.parametrize("y", LABELS)
def test_the_greater_label_is_positive_unless_named(y: Any) -> None:
    s = [2.0, 3.0, 1.0]
    assert metrics.positives_at_top(y, s) == 0.5
    assert metrics.positives_at_top(y, s, pos_label=y[2]) == 0.5
    assert metrics.positives_at_top(y, s, pos_label=y[0]) == 0
