"""ASCRC: what is its own. What it shares with ASRankSVM is in test_active_sampling.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binomtest

from support.toy_rows import overlapping
from toprank import ASCRC
from truth.pairs_by_cvxpy import all_points, differences, optimum, value

X, Y = overlapping(120, 200, 4)


def fit(**options: Any) -> ASCRC:
    given = {"alpha": 0.02, "n_pairs": 300, "batch_size": 50, "random_state": 0, **options}
    return ASCRC(**given).fit(X, Y)


def real(ranker: ASCRC) -> Any:
    return ranker.pairs_.min(axis=1) >= 0


@pytest.mark.parametrize("gamma", [0.2, 0.5, 0.9])
def test_gamma_is_the_share_of_real_pairs_among_proposals(gamma: float) -> None:
    ranker = fit(gamma=gamma, strategy="random", batch_size=300)
    # Points are soon used up, and then are proposed in vain: the first hundred tell.
    n_real = int(real(ranker)[:100].sum())
    assert binomtest(n_real, 100, gamma).pvalue > 1e-4


@pytest.mark.parametrize("strategy", ["hard-close", "hard-correct"])
def test_hard_strategies_share_out_each_round(strategy: str) -> None:
    ranker = fit(gamma=0.7, strategy=strategy)
    for begin in range(50, 300, 50):
        assert real(ranker)[begin : begin + 50].sum() == 35


def test_uniform_makes_all_pairs_and_points_alike() -> None:
    m, n = 120, 200
    ranker = fit(gamma="uniform", strategy="random", n_pairs=4000)
    n_points = int((~real(ranker)).sum())
    assert binomtest(n_points, 4000, (m + n) / (m * n + m + n)).pvalue > 1e-4
    explicit = fit(gamma=m * n / (m * n + m + n), strategy="random", n_pairs=4000)
    assert (explicit.pairs_ == ranker.pairs_).all()


def test_without_real_pairs_it_is_the_point_wise_machine() -> None:
    ranker = fit(gamma=0.0, strategy="soft-close", weighting="none", n_pairs=10**6, tol=1e-6)
    assert ranker.n_pairs_ == len(Y)
    assert not real(ranker).any()
    z, c = differences(X, all_points(Y)), np.full(len(Y), 1 / len(Y))
    assert value(z, c, 0.02, ranker.coef_[0]) == pytest.approx(optimum(z, c, 0.02), rel=1e-6)


@pytest.mark.parametrize("strategy", ["random", "soft-close", "hard-close"])
def test_when_the_points_are_used_up_pairs_are_taken(strategy: str) -> None:
    ranker = fit(gamma=0.1, strategy=strategy, n_pairs=1000)
    assert (~real(ranker)).sum() == len(Y)
    assert ranker.n_pairs_ == 1000


def test_the_papers_weights_are_less_than_one_together() -> None:
    ranker = fit(gamma=0.7, weighting="paper", strategy="random")
    share = np.where(real(ranker), 0.7, 0.3)
    np.testing.assert_allclose(ranker.pair_weight_, share / 300)
    assert ranker.pair_weight_.sum() < 0.75
    assert fit(gamma=0.7, weighting="plain").pair_weight_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_far_from_the_origin_are_solved_all_the_same(form: Any) -> None:
    # Descent on points alone would take some ten thousand epochs.
    far = X + 100.0
    ranker = ASCRC(0.002, n_pairs=300, batch_size=50, random_state=0).fit(form(far), Y)
    z, c = differences(far, ranker.pairs_), ranker.pair_weight_
    assert ranker.certificate_.holds(1e-3)
    assert ranker.certificate_.primal == pytest.approx(value(z, c, 0.002, ranker.coef_[0]))
    assert ranker.certificate_.primal == pytest.approx(optimum(z, c, 0.002), rel=1.1e-3)


@pytest.mark.parametrize("gamma", [-0.1, 1.5, "half", None])
def test_a_gamma_that_is_no_share_is_refused(gamma: Any) -> None:
    with pytest.raises(ValueError, match=r"'gamma' parameter of ASCRC must be a float in"):
        fit(gamma=gamma)
