"""InfinitePush: the loss over all pairs, its identity with TopPush, the hinge."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from support.toy_rows import inside_out, overlapping
from toprank import InfinitePush, TopPush, TrivialSolutionWarning
from toprank.inputs.class_split import Split
from truth import reference as truth

X, Y = overlapping()
SPLIT = Split.of(Y == 1)
LOSSES = ["hinge", *truth.SMOOTH]

solvers = pytest.mark.parametrize("solver", ["newton", "dual-descent"])


def all_pairs_optimum(X: Any, y: Any, alpha: float) -> float:
    """The minimum of the objective as the paper writes it: m n hinges, by CVXPY."""
    w = cp.Variable(X.shape[1])
    s = X @ w
    worst = cp.max(
        cp.hstack(
            [cp.sum(cp.pos(1 + s[j] - s[y == 1])) / sum(y == 1) for j in np.flatnonzero(y == 0)]
        )
    )
    problem = cp.Problem(cp.Minimize(0.5 * alpha * cp.sum_squares(w) + worst))
    return float(problem.solve(solver=cp.CLARABEL))


@solvers
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_the_hinge_over_all_pairs(solver: str, form: Any) -> None:
    X, y = overlapping(8, 14, 4, shift=1.2)
    for alpha in (1e-1, 1e-2, 1e-3):
        options = {"solver": solver, "tol": 1e-7, "random_state": 0, "max_iter": 10**5}
        ranker = InfinitePush(alpha, **options).fit(form(X), y)
        assert ranker.certificate_.holds(1e-7)
        best = all_pairs_optimum(X, y, alpha)
        assert ranker.certificate_.primal == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_primal_is_the_worst_negatives_loss(loss: str) -> None:
    ranker = InfinitePush(1e-2, loss=loss).fit(X, Y)
    w = ranker.coef_[0]
    value = 0.005 * w @ w + truth.infinite_push(X @ w, SPLIT, loss)
    assert ranker.certificate_.primal == pytest.approx(value, rel=1e-10)
    assert ranker.certificate_.holds(1e-4)
    assert ranker.predict(X)[Y == 0].sum() == 0


@solvers
@pytest.mark.parametrize("loss", truth.SMOOTH)
def test_with_a_smooth_loss_it_is_toppush(loss: str, solver: str) -> None:
    options = {"loss": loss, "solver": solver, "random_state": 0}
    assert_array_equal(
        InfinitePush(1e-2, **options).fit(X, Y).coef_, TopPush(1e-2, **options).fit(X, Y).coef_
    )


@solvers
@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_trivial_with_toppush(loss: str, solver: str) -> None:
    with pytest.warns(TrivialSolutionWarning, match="InfinitePush"):
        ranker = InfinitePush(loss=loss, solver=solver, random_state=0).fit(*inside_out())
    assert ranker.trivial_
    assert not ranker.coef_.any()


def test_newton_goes_below_any_smoothing() -> None:
    ranker = InfinitePush(1e-3, tol=1e-10).fit(X, Y)
    assert ranker.certificate_.relative_gap < 1e-10
    assert ranker.solver_ == "smoothed-newton"
    assert (np.diff(ranker.history_["primal"]) <= 0).all()
    assert (np.diff(ranker.history_["dual"]) >= 0).all()


@solvers
def test_a_warm_path_ends_where_cold_fits_end(solver: str) -> None:
    options = {"solver": solver, "tol": 1e-6, "random_state": 0, "max_iter": 10**5}
    path = InfinitePush(warm_start=True, **options)
    for alpha in (1e-1, 1e-2, 1e-3):
        path.set_params(alpha=alpha).fit(X, Y)
        cold = InfinitePush(alpha, **options).fit(X, Y)
        assert path.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-6)


def test_weights_are_repeated_rows() -> None:
    weight = np.random.default_rng(4).integers(0, 4, len(Y))
    weighted = InfinitePush(1e-2, tol=1e-10).fit(X, Y, sample_weight=weight)
    repeated = InfinitePush(1e-2, tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4, atol=1e-5)
