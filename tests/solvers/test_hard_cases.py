"""Scales, ties and weights that arithmetic makes hard."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from toprank import RectPush, ReverseRectPush, TopPush, TrivialSolutionWarning
from toprank.methods.push.accelerated_gradient import accelerated_gradient
from toprank.solvers import ceiling, dual_descent
from truth import reference as truth

Array = NDArray[np.float64]

both = pytest.mark.parametrize("solver", ["newton", "dual-descent"])


def separable(seed: int, scale: float = 1.0) -> tuple[Array, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 5))
    X[:, 0] += 6.0 * y
    return scale * X, y


@both
@pytest.mark.parametrize("alpha", [1e-6, 1e-8, 1e-10])
def test_the_certificate_keeps_its_digits_where_the_minimum_is_tiny(
    solver: str, alpha: float
) -> None:
    X, y = separable(0, scale=1e3)
    with warnings.catch_warnings():
        if alpha < 1e-6:  # |x|^2 / alpha is 1e14 and more: it may stop short, and say so
            warnings.simplefilter("ignore", ConvergenceWarning)
        ranker = TopPush(alpha, solver=solver, random_state=0).fit(X, y)
    w, z = ranker.coef_[0].astype(np.longdouble), X.astype(np.longdouble)
    s = z @ w
    margins = np.maximum(1.0 + s[y == 0].max() - s[y == 1], 0.0)
    primal = float(0.5 * alpha * (w @ w) + (margins**2).mean())
    assert ranker.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert primal < 1e-9
    assert ranker.certificate_.relative_gap >= -1e-9
    assert ranker.n_iter_ < 1000


@both
@pytest.mark.parametrize(("scale", "alpha"), [(1e-6, 1e-3), (1e-8, 1e-3), (1.0, 1e8), (1.0, 1e12)])
def test_small_features_and_large_alphas_are_ranked(
    solver: str, scale: float, alpha: float
) -> None:
    X, y = separable(1, scale)
    ranker = TopPush(alpha, solver=solver, random_state=0).fit(X, y)
    assert ranker.coef_.any()
    assert not ranker.trivial_
    # So strongly regularised, w points from some point of the negatives' hull to the mean positive.
    assert ranker.score(X, y) > 0.9


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("copies", [300, 1500])
def test_descent_gets_past_many_tied_rows(loss: str, copies: int) -> None:
    rng = np.random.default_rng(2)
    negatives = rng.standard_normal((60, 8))
    X = np.vstack(
        [rng.standard_normal((40, 8)) + 0.6, negatives, np.repeat(negatives[:1], copies, 0)]
    )
    y = np.arange(len(X)) < 40
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        descent, newton = (
            TopPush(1e-3, loss=loss, solver=solver, max_iter=3000, random_state=0).fit(X, y)
            for solver in ("dual-descent", "newton")
        )
    assert descent.certificate_.holds(1e-4)
    assert descent.certificate_.primal == pytest.approx(newton.certificate_.primal, rel=2e-4)


def test_one_huge_row_makes_nothing_trivial() -> None:
    for seed in range(10):
        X, y = separable(seed)
        X = np.vstack([X, [-1e4, 1e4, 0.0, 0.0, 0.0]])
        y = np.append(y, 0)
        ranker = TopPush(1e4, solver="dual-descent", random_state=0).fit(X, y)
        assert not ranker.trivial_


@both
def test_rows_without_an_entry_are_trivial(solver: str) -> None:
    with pytest.warns(TrivialSolutionWarning):
        ranker = TopPush(solver=solver).fit(sparse.csr_array((6, 2000)), [0, 1, 0, 1, 0, 1])
    assert ranker.trivial_


@pytest.mark.parametrize("solve", [ceiling, dual_descent, accelerated_gradient])
def test_weights_over_hundreds_of_orders_end(solve: object) -> None:
    X, y = separable(3)
    weight = np.geomspace(1e-250, 1.0, len(y))
    problem = truth.make_problem(X, y == 1, "squared_hinge", 1e-2, weight)
    solution = solve(problem, max_iter=50)  # type: ignore[operator]
    assert np.isfinite(solution.w).all()


def test_duplicate_entries_that_overflow_in_a_sum_are_refused() -> None:
    data = np.array([3e38, 3e38, 1.0, 2.0], dtype=np.float32)
    X = sparse.csr_matrix((data, [0, 0, 0, 1], [0, 2, 3, 4]), shape=(3, 2))
    with pytest.raises(ValueError, match="infinity: row 0, column 0"):
        TopPush().fit(X, [0, 1, 0])


def test_fits_that_overlap_leave_blas_as_it_was() -> None:
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    X, y = separable(4)
    before = threads()
    team = [
        threading.Thread(target=lambda: [TopPush().fit(X, y) for _ in range(5)]) for _ in range(4)
    ]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    assert threads() == before


def test_a_hand_over_stays_within_max_iter() -> None:
    rng = np.random.default_rng(19)
    y = np.arange(700) < 200
    X = rng.standard_normal((700, 200)) * np.geomspace(1.0, 0.01, 200) + 0.02 * y[:, np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = TopPush(1e-7, max_iter=12, random_state=0).fit(X, y)
    assert ranker.solver_ == "active-set-newton"
    assert ranker.n_iter_ <= 12
    assert (np.diff(ranker.history_["iteration"]) >= 0).all()


@pytest.mark.parametrize("solver", ["newton", "few-passes"])
def test_an_exponential_loss_that_falls_without_end_is_given_up_where_no_gap_is_left(
    solver: str,
) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (48, 14)) * 10.0 ** rng.uniform(-2, 2, 14) * 1e38
    y = np.ones(48, dtype=int)
    y[0] = 0
    # Without a ConvergenceWarning: what is left is nothing beside what w = 0 costs.
    ranker = RectPush(4e-3, loss="exponential", tol=1e-13, solver=solver).fit(X, y)
    assert len(ranker.history_) < 500
    assert ranker.certificate_.primal < 1e-12


def test_almost_equal_columns_do_not_make_steps_short() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((55, 8))
    y = (np.arange(55) != 0).astype(int)
    X[1] *= 6e4
    X[:, 1] = X[:, 0] * (1.0 + 3e-8 * rng.standard_normal(55))
    ranker = ReverseRectPush(5.0, solver="newton").fit(1e10 * X, y)
    assert len(ranker.history_) < 500


@pytest.mark.parametrize("seed", [27, 29, 44, 50])
def test_slopes_whose_squares_rounding_lost_are_bounded_as_they_are(seed: int) -> None:
    rng, y = np.random.default_rng(seed), (np.arange(24) > 0).astype(int)
    X = np.where(rng.random((24, 3)) < 0.8, 0.0, rng.standard_normal((24, 3)))
    X = 1e6 * np.column_stack([X, y])
    weights = np.where(rng.random(24) < 0.5, 1.0, 1e-20)
    weights[0] = 1.0
    ranker = TopPush(1e-5, solver="newton").fit(X, y, sample_weight=weights)
    assert ranker.certificate_.dual <= ranker.certificate_.primal < 1e-12
