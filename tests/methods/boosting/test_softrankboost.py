"""SoftRankBoost: the pairs that it guarantees, counted one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from support.toy_rows import overlapping
from toprank import SoftRankBoost, TrivialSolutionWarning
from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.weak_learners import Pick, Stumps

X, Y = overlapping(20, 60, 6)
kinds = pytest.mark.parametrize("kind", ["stumps", "thresholds", "linear", "precomputed"])


def in_the_box(data: np.ndarray) -> np.ndarray:
    return np.asarray(data / np.abs(data).max(axis=0))


def margins(ranker: SoftRankBoost, data: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(f(x_i) - f(x_j)) / 2 of every pair."""
    s = ranker.decision_function(data)
    return np.subtract.outer(s[y == 1], s[y == 0]) / 2


@kinds
@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.5])
def test_the_guarantee_counted_by_pairs(kind: str, epsilon: float) -> None:
    for seed in range(3):
        data, y = overlapping(20, 50, 6, seed=seed, shift=1.5)
        data = in_the_box(data)
        ranker = SoftRankBoost(epsilon, weak_learners=kind, delta=0.05).fit(data, y)
        assert ranker.converged_
        assert ranker.theta_ > 0
        # {0, 1} thresholds have twice the weight of +-1 stumps, and so the same margins.
        share = (margins(ranker, data, y) >= ranker.theta_ - 1e-9).mean()
        assert share >= (1 - np.sqrt(epsilon)) ** 2
        assert_allclose(ranker.share_above_theta_, share, atol=1e-9)
        assert_allclose(ranker.share_guaranteed_, (1 - np.sqrt(epsilon)) ** 2)
        total = 2.0 if kind == "thresholds" else 1.0
        assert_allclose(np.abs(ranker.ranker_weights_).sum(), total, rtol=1e-12)


def reduced_margin(H: np.ndarray, y: np.ndarray, epsilon: float) -> float:
    """The least largest |edge| over products of distributions capped at 1 / (sqrt(eps) m)."""
    P, Q = H[y == 1], H[y == 0]
    p, n, N = len(P), len(Q), H.shape[1]
    Z = np.concatenate([P, -Q]) / 2
    rows = np.vstack([np.column_stack([Z.T, -np.ones(N)]), np.column_stack([-Z.T, -np.ones(N)])])
    sums = np.zeros((2, p + n + 1))
    sums[0, :p] = sums[1, p : p + n] = 1.0
    root = np.sqrt(epsilon)
    bounds = [(0, 1 / (root * p))] * p + [(0, 1 / (root * n))] * n + [(None, None)]
    cost = np.append(np.zeros(p + n), 1.0)
    found = linprog(cost, rows, np.zeros(2 * N), sums, [1, 1], bounds)
    return float(found.fun)


@pytest.mark.parametrize("epsilon", [0.1, 0.4])
def test_theta_is_near_the_best_soft_margin(epsilon: float) -> None:
    data, y = overlapping(15, 30, 4, shift=1.5)
    ranker = SoftRankBoost(epsilon, delta=0.02).fit(data, y)
    stumps = Stumps(as_design(data), Split.of(np.ones(45, dtype=bool), one_class=True))
    every = [
        stumps.column(Pick(k, cut, False, 0.0))
        for k in range(4)
        for cut in range(len(np.unique(data[:, k])) - 1)
    ]
    best = reduced_margin(np.column_stack(every), y, epsilon)
    assert ranker.theta_ >= best - 0.02 - 1e-9
    assert ranker.gamma_upper_ >= best - 1e-9
    assert_allclose(ranker.gamma_upper_, ranker.theta_ + 0.02, rtol=1e-12)


@pytest.mark.parametrize("kind", ["stumps", "linear"])
def test_weights_are_repeated_rows(kind: str) -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    ranker = SoftRankBoost(0.4, weak_learners=kind, delta=0.05)
    weighted = clone(ranker).fit(X, Y, sample_weight=weight)
    repeated = clone(ranker).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert weighted.n_iter_ == repeated.n_iter_
    assert_allclose(weighted.theta_, repeated.theta_, rtol=1e-6)
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)
    assert_allclose(weighted.share_above_theta_, repeated.share_above_theta_, atol=1e-9)
    assert abs(clone(ranker).fit(X, Y).theta_ - weighted.theta_) > 1e-4


@kinds
def test_stages_end_at_the_scores_and_sparse_is_dense(kind: str) -> None:
    data = in_the_box(np.where(np.random.default_rng(0).random(X.shape) < 0.6, X, 0.0))
    ranker = SoftRankBoost(0.5, weak_learners=kind, delta=0.05).fit(data, Y)
    *_, last = ranker.staged_decision_function(data)
    assert_allclose(last, ranker.decision_function(data), atol=1e-12)
    other = SoftRankBoost(0.5, weak_learners=kind, delta=0.05).fit(sparse.csr_array(data), Y)
    assert_array_equal(other.features_, ranker.features_)
    scores = other.decision_function(sparse.csr_array(data))
    assert_allclose(scores, ranker.decision_function(data), atol=1e-8)


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")  # of scores that tie
def test_it_says_when_there_is_no_margin_or_no_time() -> None:
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(200, 2)), np.arange(200) % 2
    with pytest.warns(TrivialSolutionWarning, match="no margin"):
        ranker = SoftRankBoost(0.05, weak_learners="linear", delta=0.1, n_estimators=50).fit(
            noise, labels
        )
    assert ranker.theta_ <= 0
    with pytest.warns(ConvergenceWarning, match="stopped after 2 rounds"):
        short = SoftRankBoost(0.1, n_estimators=2).fit(X, Y)
    assert not short.converged_
    with pytest.warns(TrivialSolutionWarning):
        same = SoftRankBoost().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert same.n_iter_ == 0
    assert np.ptp(same.decision_function(np.ones((3, 2)))) == 0.0


def test_a_perfect_ranker_is_enough() -> None:
    data: Any = [[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]
    ranker = SoftRankBoost(0.1).fit(data, [0, 0, 1, 1])
    assert_allclose(ranker.theta_, 0.98)
    assert ranker.share_above_theta_ == 1.0
    assert_array_equal(ranker.predict(data), [0, 0, 1, 1])


def test_rankers_outside_the_box_are_refused() -> None:
    with pytest.raises(ValueError, match=r"within \[-1, 1\], but X holds"):
        SoftRankBoost(weak_learners="precomputed").fit(3 * X, Y)
