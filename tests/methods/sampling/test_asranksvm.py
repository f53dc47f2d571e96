"""ASRankSVM: what is its own. What it shares with ASCRC is in test_active_sampling.py."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from support.toy_rows import overlapping
from toprank import ASCRC, ASRankSVM
from toprank._core import Matrix, PairDescent
from truth.pairs_by_cvxpy import all_real_pairs, differences

X, Y = overlapping(25, 60, 4)


@pytest.mark.parametrize("strategy", ["random", "soft-close", "soft-correct", "hard-close"])
def test_it_is_ascrc_with_real_pairs_only(strategy: str) -> None:
    options = {"n_pairs": 300, "strategy": strategy, "random_state": 3}
    one, other = ASRankSVM(0.01, **options).fit(X, Y), ASCRC(0.01, gamma=1.0, **options).fit(X, Y)
    assert_array_equal(one.pairs_, other.pairs_)
    assert_array_equal(one.coef_, other.coef_)


def test_the_papers_c_is_one_over_alpha_and_the_budget() -> None:
    C, budget = 0.1, 200
    ranker = ASRankSVM(
        1 / (C * budget), n_pairs=budget, weighting="none", tol=1e-6, max_iter=10**5, random_state=0
    ).fit(X, Y)
    z = differences(X, ranker.pairs_)
    sign = np.where(np.arange(budget) % 2, 1.0, -1.0)  # the program wants two classes
    peer = LinearSVC(
        loss="hinge", C=C, fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0
    ).fit(sign[:, np.newaxis] * z, sign)
    assert_allclose(ranker.coef_, peer.coef_, atol=2e-3 * np.abs(peer.coef_).max())


@pytest.mark.parametrize("strategy", ["hard-close", "hard-correct"])
def test_every_round_takes_the_first_pairs_at_the_weights_of_the_last(strategy: str) -> None:
    alpha, budget, batch = 0.02, 150, 30
    ranker = ASRankSVM(
        alpha, n_pairs=budget, batch_size=batch, strategy=strategy, random_state=5
    ).fit(X, Y)
    everything = all_real_pairs(Y)
    z = differences(X, everything)
    place = {tuple(pair): k for k, pair in enumerate(everything.tolist())}
    drawn = np.array([place[tuple(pair)] for pair in ranker.pairs_.tolist()])

    svm = PairDescent(Matrix.dense(X), 5)
    for begin in range(0, budget - batch, batch):
        new = ranker.pairs_[begin : begin + batch]
        seen = begin + batch
        bounds = np.full(seen, 1 / (alpha * budget))
        svm.add(new[:, 0].copy(), new[:, 1].copy(), bounds[begin:], np.zeros(batch))
        svm.set_bounds(bounds)
        for _ in range(1000 // seen):
            svm.epoch()
        margin = z @ svm.weights
        key = np.abs(margin) if strategy == "hard-close" else margin
        key[drawn[:seen]] = np.inf
        assert_array_equal(np.sort(np.argsort(key)[:batch]), np.sort(drawn[seen : seen + batch]))


def test_pairs_with_a_large_loss_are_drawn_more_often() -> None:
    # With all pairs alike in weight, a larger share of losses is a larger objective.
    X, y = overlapping(200, 300, 5)
    options = {"n_pairs": 1000, "weighting": "none", "random_state": 0}
    primal = {
        strategy: ASRankSVM(0.01, strategy=strategy, **options).fit(X, y).certificate_.primal
        for strategy in ("random", "soft-correct", "hard-correct")
    }
    assert 1.5 * primal["random"] < primal["soft-correct"] < primal["hard-correct"]


def test_weighting_by_rate_undoes_the_choice() -> None:
    # Its weighted loss estimates the mean over all pairs, where the plain mean does not.
    X, y = overlapping(200, 300, 5)
    everything = differences(X, all_real_pairs(y))
    for strategy in ("soft-close", "soft-correct"):
        ranker = ASRankSVM(0.05, n_pairs=4000, strategy=strategy, random_state=0).fit(X, y)
        w = ranker.coef_[0]
        loss = np.maximum(1 - differences(X, ranker.pairs_) @ w, 0)
        truth = np.maximum(1 - everything @ w, 0)
        if strategy == "soft-correct":  # which knows of those with a loss only
            truth = truth[truth > 0]
            loss, weight = loss[loss > 0], ranker.pair_weight_[loss > 0]
        else:
            weight = ranker.pair_weight_
        corrected = weight @ loss / weight.sum()
        assert corrected == pytest.approx(truth.mean(), rel=0.15)
        assert abs(loss.mean() - truth.mean()) > 1.5 * abs(corrected - truth.mean())


def test_a_fit_that_ends_early_looks_once_more_from_the_optimum() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = rng.uniform(size=(400, 3)) + 1.5 * y[:, np.newaxis]
    ranker = ASRankSVM(1e-4, random_state=0).fit(X, y)
    assert ranker.stopped_early_
    assert ranker.n_pairs_ < 2000
    assert ranker.certificate_.holds(1e-3)
    rows = ranker.rounds_
    assert rows["n_pairs"][-1] == rows["n_pairs"][-2] == ranker.n_pairs_
    margins = differences(X, all_real_pairs(y)) @ ranker.coef_[0]
    assert (margins < 1 - 1e-9).sum() <= ranker.n_pairs_
