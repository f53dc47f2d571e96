"""The interior-point method: optima against CVXPY and on data no descent gets through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from toprank.designs import PairDesign, as_design
from toprank.inputs.class_split import Split
from toprank.losses import PairLoss, RowLoss
from toprank.problems import Problem
from toprank.solvers import interior_point, pair_descent, solve
from toprank.solvers.watch import Watch
from toprank.surrogates import SURROGATES
from truth import reference as truth


def points(X: Any, positive: Any, alpha: float, weight: Any = None) -> Problem:
    rows = np.arange(X.shape[0])
    design = PairDesign(as_design(X, 1), np.where(positive, rows, -1), np.where(positive, -1, rows))
    weight = np.full(len(rows), 1.0 / len(rows)) if weight is None else weight
    return Problem(design, RowLoss(weight, SURROGATES["hinge"]), alpha)


def far_from_the_origin(n: int = 60, d: int = 3) -> tuple[Any, Any]:
    """Rows whose mean is a hundred times as long as what they differ by."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    positive = X[:, 0] + 0.5 * rng.normal(size=n) > 0
    return X + 100.0, positive


def optimum(problem: Problem) -> float:
    Z = problem.design.take(np.arange(problem.design.shape[0]))
    return truth.hinge_optimum(Z, problem.loss.weight, problem.alpha)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
def test_the_optimum_is_that_of_another_solver(form: Any, alpha: float) -> None:
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(40, 5)), np.arange(40) < 15
    X[positive] += 0.5
    weight = rng.exponential(size=40) * (rng.random(40) < 0.9) / 40  # some rows weigh nothing
    problem = points(form(X), positive, alpha, weight)
    solution = interior_point(problem, tol=1e-9)
    assert solution.converged
    assert problem.certify(solution).holds(1e-9)
    assert problem.value(solution.w) == pytest.approx(optimum(problem), rel=1e-7)


@pytest.mark.parametrize("alpha", [1e-6, 1e-3])
def test_data_far_from_the_origin_take_no_more_steps(alpha: float) -> None:
    problem = points(*far_from_the_origin(), alpha)
    assert not pair_descent(problem, max_iter=1000).converged
    solution = interior_point(problem, tol=1e-6)
    assert solution.converged
    assert solution.n_iter <= 40
    assert problem.value(solution.w) == pytest.approx(optimum(problem), rel=1e-5)


def test_pairs_are_as_good_as_points() -> None:
    rng = np.random.default_rng(2)
    first, second = (side.ravel() for side in np.meshgrid(np.arange(8), np.arange(8, 20)))
    base = as_design(rng.normal(size=(20, 4)) + 10.0, 1)
    problem = Problem(
        PairDesign(base, first, second), RowLoss(np.full(96, 1 / 96), SURROGATES["hinge"]), 1e-3
    )
    solution = interior_point(problem, tol=1e-8)
    assert solution.converged
    assert problem.value(solution.w) == pytest.approx(optimum(problem), rel=1e-7)


def test_it_stops_when_asked_out_of_steps_or_of_digits() -> None:
    problem = points(*far_from_the_origin(), 1e-3)
    asked = Watch(problem.design, report=lambda _: len(asked.history) == 3)
    assert not interior_point(problem, watch=asked).converged
    assert len(asked.history) == 3
    short = interior_point(problem, max_iter=4)
    assert (short.n_iter, short.converged) == (4, False)
    assert problem.certify(short).gap > 0
    exact = interior_point(problem, tol=1e-17, max_iter=1000)
    assert exact.n_iter < 100
    assert problem.certify(exact).holds(1e-8)


def test_the_history_is_certified() -> None:
    problem = points(*far_from_the_origin(), 1e-2)
    watch = Watch(problem.design)
    solution = interior_point(problem, watch=watch)
    last = problem.certify(solution)
    assert watch.history["primal"][-1] == pytest.approx(last.primal, rel=1e-9)
    assert watch.history["dual"][-1] == pytest.approx(last.dual, rel=1e-9)
    assert (np.diff(watch.history["dual"]) >= 0).all()


def test_descent_hands_over_where_it_crawls_and_only_there() -> None:
    X, positive = far_from_the_origin()
    crawls, runs = points(X, positive, 1e-3), points(X - 100.0, positive, 1e-2)
    slow, fast = solve(crawls, tol=1e-3), solve(runs, tol=1e-3)
    assert (slow.solver, fast.solver) == ("interior-point", "pair-descent")
    assert crawls.certify(slow).holds(1e-3)


@pytest.mark.parametrize(("seed", "max_iter"), [(4, 10_000), (11, 437), (19, 1000), (56, 1000)])
def test_half_of_max_iter_is_left_for_the_second_method(seed: int, max_iter: int) -> None:
    # Columns that are multiples of one, and a long row: descent needs thousands of epochs.
    rng = np.random.default_rng(seed)
    one = rng.normal(size=(29, 1))
    one[0] *= 30.0
    problem = points(one @ rng.normal(size=(1, 8)), np.arange(29) % 4 == 0, 1e-3)
    solution = solve(problem, max_iter=max_iter, tol=1e-9)
    assert solution.n_iter <= max_iter
    assert problem.certify(solution).holds(1e-9)


def test_features_without_number_are_left_to_descent() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 1600)) + 10.0
    assert solve(points(X, np.arange(30) < 10, 1e-6), tol=1e-12, max_iter=9).n_iter == 9


def test_where_neither_ends_the_better_of_both_is_kept() -> None:
    problem = points(*far_from_the_origin(), 1e-3)
    short = solve(problem, max_iter=10, tol=1e-3)
    assert (short.n_iter, short.solver, short.converged) == (10, "interior-point", False)
    reached = problem.certify(short)
    for other in (pair_descent(problem, max_iter=5), interior_point(problem, max_iter=5)):
        alone = problem.certify(other)
        assert reached.primal <= alone.primal
        assert reached.dual >= alone.dual


def test_problems_of_another_kind_are_refused() -> None:
    X, positive = far_from_the_origin()
    problem = points(X, positive, 1e-3)
    problem.loss = RowLoss(problem.loss.weight, SURROGATES["logistic"])
    with pytest.raises(ValueError, match="RowLoss of the logistic loss: interior-point needs the"):
        solve(problem, "interior-point")
    problem.loss = PairLoss(Split.of(positive), SURROGATES["hinge"])
    with pytest.raises(ValueError, match="interior-point needs a loss of the highest negative"):
        solve(problem, "interior-point")


@pytest.mark.parametrize("size", [1e3, 1e5, 1e7])
def test_a_long_constant_column_costs_no_digits(size: float) -> None:
    # It is an intercept that costs next to nothing: the duals of the classes sum to the same but
    # for 1 / size^2, which is less than the digits of their sums.
    rng = np.random.default_rng(2)
    x = rng.normal(size=20)
    positive = np.arange(20) % 3 == 0
    x[positive] += 1.0
    problem = points(np.column_stack([np.full(20, size), x]), positive, 1e-4)
    solution = interior_point(problem, tol=1e-6)
    assert problem.certify(solution).holds(1e-6)
    free = points(np.column_stack([np.full(20, 1e3), x]), positive, 1e-4)
    exact = interior_point(free, tol=1e-8)
    assert_allclose(problem.value(solution.w), free.value(exact.w), rtol=1e-5)
