"""Soft margins over all stumps, against programs with every stump written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from support.toy_rows import overlapping
from toprank import LPPair, SoftMarginRank, TrivialSolutionWarning
from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.losses import PairTailLoss
from toprank.methods.soft_margin.column_generation import generate_columns
from toprank.methods.soft_margin.listed_tail import solve_tail
from toprank.weak_learners import make_learners

X, Y = overlapping(25, 50, 4, shift=1.2)
methods = pytest.mark.parametrize("method", [LPPair, SoftMarginRank])


def written_out(data: np.ndarray) -> np.ndarray:
    """Every stump as a column of +-1."""
    columns = []
    for x in data.T:
        levels = np.unique(x)
        columns += [np.where(x > low, 1.0, -1.0) for low in levels[:-1]]
    return np.column_stack(columns)


@methods
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.6])
def test_the_margin_is_that_of_all_stumps_written_out(method: Any, epsilon: float) -> None:
    H = written_out(X)
    every = method(epsilon, weak_learners="precomputed", tol=1e-7).fit(H, Y)
    ranker = method(epsilon, weak_learners="stumps", tol=1e-6).fit(X, Y)
    assert ranker.epsilon_ == every.epsilon_ == epsilon
    assert_allclose(ranker.certificate_.primal, every.certificate_.primal, rtol=3e-6)
    assert ranker.certificate_.holds(1e-6)
    # No dual value is above the minimum, and no primal one below.
    assert ranker.certificate_.dual <= every.certificate_.primal + 1e-12
    assert ranker.certificate_.primal >= every.certificate_.dual - 1e-12
    assert ranker.pairs_guaranteed_ == every.pairs_guaranteed_
    assert_allclose(np.abs(ranker.ranker_weights_).sum(), 1.0)
    stumps = np.where(X[:, ranker.features_] > ranker.thresholds_, 1.0, -1.0)
    scores = stumps @ ranker.ranker_weights_
    assert_allclose(ranker.decision_function(X), scores + ranker.intercept_, atol=1e-12)
    assert not hasattr(ranker, "coef_")


def test_the_margins_of_the_pairs_themselves() -> None:
    ranker = LPPair(0.2, weak_learners="stumps").fit(X, Y)
    s = ranker.decision_function(X)
    margins = np.sort(np.subtract.outer(s[Y == 1], s[Y == 0]).ravel()) / 2
    nu = int(0.2 * len(margins))
    assert_allclose(margins[:nu].mean(), ranker.gamma_lower_, atol=1e-9)
    assert ranker.gamma_upper_ - ranker.gamma_lower_ <= 1e-5
    assert (margins > ranker.rho_ + 1e-9).sum() <= ranker.pairs_above_rho_
    assert (margins >= ranker.rho_ - 1e-9).sum() >= ranker.pairs_above_rho_
    assert ranker.pairs_above_rho_ >= ranker.pairs_guaranteed_


def test_the_upper_bound_is_the_largest_edge_of_any_stump() -> None:
    split = Split.of(Y == 1)
    stumps, loss = make_learners("stumps", as_design(X), split), PairTailLoss(split, 0.3)
    found = generate_columns(
        stumps,
        loss,
        len(Y),
        lambda problem, tol, start: solve_tail(problem, tol=tol, start=start),
        tol=1e-5,
    )
    edges = 0.5 * np.abs(found.dual @ written_out(X))
    assert found.converged
    assert_allclose(found.upper, edges.max(), rtol=1e-9)
    assert loss.conjugate(found.dual) == 0.0
    assert len(found.picks) == len(found.w) < found.most < stumps.n_learners
    stopped = generate_columns(
        stumps,
        loss,
        len(Y),
        lambda problem, tol, start: solve_tail(problem, tol=tol, start=start),
        look=lambda found: found.n_iter == 2,
    )
    assert stopped.n_iter == 2
    assert not stopped.converged
    assert stopped.lower <= found.upper
    assert found.lower <= stopped.upper


@methods
def test_sparse_rows_and_weights(method: Any) -> None:
    data = np.where(np.random.default_rng(0).random(X.shape) < 0.6, X, 0.0)
    ranker = method(0.3, weak_learners="stumps")
    dense, thin = clone(ranker).fit(data, Y), clone(ranker).fit(sparse.csr_array(data), Y)
    assert_allclose(thin.certificate_.primal, dense.certificate_.primal, rtol=3e-5)
    assert_array_equal(thin.predict(sparse.csr_array(data)), thin.predict(data))
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    weighted = clone(ranker).fit(data, Y, sample_weight=weight)
    repeated = clone(ranker).fit(np.repeat(data, weight, axis=0), np.repeat(Y, weight))
    assert_allclose(weighted.certificate_.primal, repeated.certificate_.primal, rtol=3e-5)
    assert abs(weighted.certificate_.primal - dense.certificate_.primal) > 1e-3


def test_a_search_for_nu_plus_lowers_the_reduced_margin() -> None:
    values = [
        SoftMarginRank(0.2, weak_learners="stumps", nu_plus=kind).fit(X, Y).reduced_gamma_
        for kind in ("corollary", "search", "paper")
    ]
    assert values[1] <= values[0] + 1e-6
    assert values[2] <= values[0] + 1e-6
    fixed = SoftMarginRank(0.2, weak_learners="stumps", nu_plus=10.0).fit(X, Y)
    assert fixed.nu_plus_ == pytest.approx(10.0)


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")  # of scores that tie
def test_positive_weights_and_trivial_data() -> None:
    with pytest.raises(ValueError, match="nonnegative=True"):
        LPPair(weak_learners="stumps", nonnegative=True).fit(X, Y)
    same = np.repeat(np.arange(6.0)[:, np.newaxis], 2, axis=0)
    labels = np.tile([0, 1], 6)
    for data in (same, np.ones((12, 2))):
        with pytest.warns(TrivialSolutionWarning):
            ranker = LPPair(0.2, weak_learners="stumps").fit(data, labels)
        assert ranker.trivial_
        assert np.ptp(ranker.decision_function(data)) == 0.0


def test_a_fit_with_other_rankers_leaves_nothing_of_the_last() -> None:
    ranker = LPPair(0.5).fit(X, Y)
    assert not hasattr(ranker.set_params(weak_learners="stumps").fit(X, Y), "coef_")
    assert not hasattr(ranker.set_params(weak_learners="linear").fit(X, Y), "thresholds_")


def test_a_master_that_comes_no_closer_is_not_asked_again() -> None:
    data, y = X[::4], Y[::4]
    split = Split.of(y == 1)
    stumps, loss = make_learners("stumps", as_design(data), split), PairTailLoss(split, 0.3)

    def always_short(problem: Any, tol: float, start: Any) -> Any:
        solution = solve_tail(problem, tol=tol)
        solution.w *= 1.0 - 1e-3
        return solution

    found = generate_columns(stumps, loss, len(y), always_short, tol=1e-2 / 60, max_iter=200)
    assert not found.converged
    assert found.n_iter < 20
