"""The parts of HeadRanker against truths: blends, curves, explanations, alphas, measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss

from toprank import HeadRanker
from toprank.estimators.sklearn_api import sigmoid
from toprank.inputs.class_split import Split
from toprank.selection.head.ensemble import Stretch, knots, stretched
from toprank.selection.head.explain import by_columns
from toprank.selection.head.linear import decreasing_alphas
from toprank.selection.head.setup import capacity_of, scoring_for

RNG = np.random.default_rng(8)
X = RNG.normal(size=(300, 4))
Y = (RNG.random(300) < 1 / (1 + np.exp(2 + 2 * np.abs(X[:, 0]) - 2 * X[:, 1] * X[:, 2]))).astype(
    int
)


def test_the_stretched_place_is_the_formula() -> None:
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    expected = [-np.log(1 - rank / 5) for rank in (4, 1, 2.5, 2.5)]
    assert_allclose(stretched(scores), expected)


def test_new_scores_find_their_places_and_keep_their_order() -> None:
    known = RNG.standard_t(3, 500)
    curve = Stretch(known)
    assert_allclose(curve(known), stretched(known), rtol=1e-12)
    new = np.sort(np.concatenate([known, known + 1e-3, [-1e3, -50.0, 50.0, 1e3]]))
    assert (np.diff(curve(new)) >= 0).all()
    assert (np.diff(curve(np.array([10.0, 50.0, 1e3]) + known.max())) > 0).all()
    assert np.ptp(Stretch(np.ones(5))(np.ones(3))) == 0.0


@pytest.mark.parametrize("n", [1, 2, 1000, 1001, 5000, 1_000_000])
def test_a_curve_keeps_the_highest_scores_and_others_a_percent_apart(n: int) -> None:
    ranks = n - knots(n)[::-1]
    assert_array_equal(ranks[:200], np.arange(1, min(n, 200) + 1))
    assert n > 1000 or len(ranks) == n
    assert ranks[-1] == n
    assert (np.diff(ranks) <= 0.01 * ranks[:-1] + 1).all()
    assert len(ranks) < 1100


def test_a_curve_of_many_scores_is_near_that_of_all() -> None:
    known = np.random.default_rng(0).standard_t(3, 50_000).round(3)
    curve, expected = Stretch(known), stretched(known)
    assert len(curve.scores) < 1000 < len(np.unique(known))
    assert_allclose(curve(known), expected, atol=1e-2)
    highest = known > np.unique(known)[-200]
    assert_allclose(curve(known[highest]), expected[highest], rtol=1e-12)


@pytest.mark.parametrize("features", ["columns", "squashed", "bins"])
def test_contributions_sum_to_the_score(features: str) -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    ranker = HeadRanker(candidates=[features], trees=False, cv=3).fit(table, Y)
    told = ranker.explain(table)
    scores = ranker.decision_function(table)
    assert_allclose(told.remainder, 0.0, atol=1e-8 * np.abs(scores).max())
    assert_allclose(told.baseline + told.contributions.sum(axis=1), scores, rtol=1e-7, atol=1e-8)
    name, value = told.top(0, 1)[0]
    assert abs(value) == np.abs(told.contributions[0]).max()
    assert list(told.names) == list(table.columns)
    assert name in told.names


def test_contributions_to_a_line_are_its_terms() -> None:
    ranker = HeadRanker(candidates=["columns"], trees=False, cv=3).fit(X, Y)
    scaler, linear = ranker.best_estimator_["features"], ranker.best_estimator_["ranker"]
    expected = linear.coef_[0] * (X - np.median(X, axis=0)) / scaler.scale_
    assert_allclose(ranker.explain(X).contributions, expected, atol=1e-10)


def test_pairs_are_shared_by_halves_and_triples_remain() -> None:
    rows, zeros = RNG.normal(size=(20, 3)), np.zeros(3)
    added, baseline, left = by_columns(lambda x: 1 + x[:, 0] * x[:, 1] + x[:, 2], rows, zeros)
    half = 0.5 * rows[:, 0] * rows[:, 1]
    assert_allclose(added, np.column_stack([half, half, rows[:, 2]]), atol=1e-12)
    assert baseline == 1.0
    assert_allclose(left, 0.0, atol=1e-12)
    added, _, left = by_columns(lambda x: x.prod(axis=1), rows, zeros)
    assert_allclose(added, 0.5 * rows.prod(axis=1)[:, None] * np.ones(3), atol=1e-12)
    assert_allclose(left, -0.5 * rows.prod(axis=1), atol=1e-12)


def test_blends_and_kernels_tell_what_no_column_can_be_given() -> None:
    ranker = HeadRanker(candidates=["nystroem"], trees=False, cv=3, random_state=0).fit(X, Y)
    told = ranker.explain(X[:30])
    total = told.baseline + told.contributions.sum(axis=1) + told.remainder
    assert_allclose(total, ranker.decision_function(X[:30]), atol=1e-9)


@pytest.mark.parametrize(
    ("scored", "count"),
    [
        ([0.5, 0.7, 0.8, 0.9, 0.6], 5),  # fallen
        ([0.5, 0.7, 0.6, 0.6], 4),  # fallen, but there are four at least
        ([0.5, 0.4, 0.3, 0.6, 0.5], 5),  # risen after a fall among the first
        ([0.5, 0.7, 0.699, 0.698], 4),  # two without a gain
        ([0.5, 0.7, 0.7001, 0.7002], 4),  # too little of one
        ([0.5, 0.7, 0.698, 0.71, 0.6], 5),
        ([0.1 * k for k in range(9)], 8),
        ([0.0] * 9, 4),
        ([-0.5, -0.3, -0.4, -0.4], 4),
    ],
)
def test_alphas_fall_until_the_scores_do_or_bring_no_gain(scored: list[float], count: int) -> None:
    scores: list[float] = []
    taken = []
    for alpha in decreasing_alphas(2.0, scores):
        taken.append(alpha)
        scores.append(scored[len(taken) - 1])
    assert_allclose(taken, 0.2 * 0.1 ** np.arange(count))
    assert len(list(decreasing_alphas(0.0, []))) == 8


@pytest.mark.parametrize(
    ("capacity", "positives", "negatives", "expected"),
    [
        (None, 10, 990, "average_precision"),
        (0.05, 10, 990, "precision_at_0.05"),
        (0.001, 100, 900, "partial_auc_0.01"),  # 180 negatives a fold: no smaller rate
        (0.045, 100, 900, "partial_auc_0.05"),
        (0.001, 10_000, 90_000, "partial_auc_0.0028"),  # 50 of the 18 000 of a fold
        (0.009, 10_000, 90_000, "partial_auc_0.01"),
    ],
)
def test_the_measure_follows_from_the_capacity(
    capacity: float | None, positives: int, negatives: int, expected: str
) -> None:
    split = Split.of(np.arange(positives + negatives) < positives)
    assert scoring_for(capacity_of(capacity, None, 1000), split, 5) == expected


def test_the_sigmoid_is_the_best_of_its_kind() -> None:
    scores = RNG.normal(size=2000) * 3 + 5
    positive = RNG.random(2000) < 1 / (1 + np.exp(-(0.7 * scores - 4)))
    for weight in (None, RNG.integers(1, 9, 2000).astype(float)):
        slope, offset = sigmoid(scores, positive, weight)

        def loss(a: float, b: float, weight: Any = weight) -> float:
            chances = 1 / (1 + np.exp(-(a * scores + b)))
            return float(log_loss(positive, chances, sample_weight=weight))

        best = loss(slope, offset)
        for a, b in ((0.97, 1.0), (1.03, 1.0), (1.0, 0.97), (1.0, 1.03)):
            assert loss(a * slope, b * offset) > best
    assert_array_equal(sigmoid(-scores, positive, None)[0], 0.0)
