"""Standard errors of metrics, against derivatives by weights and against loops over rows."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
import pytest

from toprank.metrics import average_precision
from toprank.metrics._resampling import (
    SortedRows,
    average_precision_error,
    partial_auc_error,
    precision_error,
    recall_error,
)

RNG = np.random.default_rng(5)


def drawn(n: int = 60, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    positive = RNG.random(n) < 0.4
    scores = RNG.normal(size=n) + positive
    return positive, np.round(scores, 1) if ties else scores


def spread(influence: list[float]) -> float:
    return float(np.std(influence, ddof=1)) / sqrt(len(influence))


@pytest.mark.parametrize("ties", [False, True])
def test_of_average_precision_by_the_derivative_of_every_weight(ties: bool) -> None:
    positive, scores = drawn(ties=ties)
    n, step, influence = len(scores), 1e-5, []
    for row in range(n):
        up, down = np.ones(n), np.ones(n)
        up[row] += step
        down[row] -= step
        rise = average_precision(positive, scores, sample_weight=up) - average_precision(
            positive, scores, sample_weight=down
        )
        influence.append(n * rise / (2 * step))
    found = average_precision_error(SortedRows(positive, scores))
    assert found == pytest.approx(spread(influence), rel=1e-6)


def test_of_the_whole_auc_by_placements() -> None:
    """DeLong's: how often each row is on the right side of those of the other class."""
    rng = np.random.default_rng(1)
    positive, scores = rng.random(40) < 0.5, rng.normal(size=40)
    right = scores[positive][:, None] > scores[~positive]
    expected = sum(right.mean(axis=k).var(ddof=1) / right.shape[1 - k] for k in (0, 1))
    found = partial_auc_error(SortedRows(positive, scores), 1.0)
    assert found == pytest.approx(sqrt(expected), rel=1e-12)


def near_the_cut(y: np.ndarray, k: int) -> float:
    reach = max(5, int(sqrt(len(y))) // 2)
    return float(np.mean([y[i] for i in range(len(y)) if k - reach <= i < k + reach]))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_of_precision_and_recall_at_the_top_by_loops(share: float) -> None:
    positive, scores = drawn(300)
    y = positive[np.argsort(-scores)]
    n, k, m = len(y), round(share * len(y)), y.sum()
    near, f, recall = near_the_cut(y, k), k / n, y[:k].sum() / m
    of_precision = [((i < k) * (y[i] - near) + near * f) / f for i in range(n)]
    of_recall = [(y[i] * ((i < k) - recall) - near * ((i < k) - f)) / (m / n) for i in range(n)]
    rows = SortedRows(positive, scores)
    assert precision_error(rows, share) == pytest.approx(spread(of_precision), rel=1e-12)
    assert recall_error(rows, share) == pytest.approx(spread(of_recall), rel=1e-12)


def test_a_share_of_less_than_a_row_is_one_row() -> None:
    y = np.arange(40) % 3 == 0
    near, rows = near_the_cut(y, 0), SortedRows(y, -np.arange(40.0))
    expected = spread([((i < 1) * (y[i] - near) + near / 40) * 40 for i in range(40)])
    assert precision_error(rows, 0.001) == pytest.approx(expected)


@pytest.mark.parametrize("max_fpr", [1.0, 0.3, 0.05])
@pytest.mark.parametrize("ties", [False, True])
def test_of_partial_auc_by_loops(max_fpr: float, ties: bool) -> None:
    positive, scores = drawn(80, ties)
    above, below = scores[positive], scores[~positive]
    m, n = len(above), len(below)
    over = [sum((z > x) + 0.5 * (z == x) for z in below) for x in above]
    of_positives = [max(0.0, max_fpr - count / n) / max_fpr for count in over]
    # The lowest negative that does not count: as many are above it as the rate allows.
    cut = sorted(below)[max(ceil(n * (1 - max_fpr)) - 1, 0)]
    of_negatives = [
        (np.mean(above > cut) - np.mean(above >= z)) / max_fpr if z > cut else 0.0 for z in below
    ]
    expected = np.var(of_positives, ddof=1) / m + np.var(of_negatives, ddof=1) / n
    found = partial_auc_error(SortedRows(positive, scores), max_fpr)
    assert found == pytest.approx(sqrt(expected), rel=1e-12)
