"""Pair descent: optima against references and CVXPY, warm starts, what it tells on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from toprank.designs import PairDesign, ScaledDesign, as_design
from toprank.losses import RowLoss
from toprank.problems import Problem
from toprank.solvers import pair_descent, solve
from toprank.solvers.watch import Watch
from toprank.surrogates import SURROGATES
from truth import reference as truth
from truth.reference_files import reference_file

forms = pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])


def a_problem(alpha: float = 0.1, seed: int = 0, form: Any = np.asarray) -> Problem:
    """Every pair of 8 positives and 12 negatives, and every row for itself."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 4))
    X[:8] += rng.normal(size=4)
    i, j = (side.ravel() for side in np.meshgrid(np.arange(8), np.arange(8, 20)))
    first = np.concatenate([i, np.arange(8), np.full(12, -1)])
    second = np.concatenate([j, np.full(8, -1), np.arange(8, 20)])
    weight = rng.exponential(size=len(first)) / len(first)
    return Problem(
        PairDesign(as_design(form(X), 1), first, second),
        RowLoss(weight, SURROGATES["hinge"]),
        alpha,
    )


def optimum(problem: Problem) -> float:
    Z = problem.design.take(np.arange(problem.design.shape[0]))
    return truth.hinge_optimum(Z, problem.loss.weight, problem.alpha)


@forms
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
def test_the_optimum_is_that_of_another_solver(form: Any, alpha: float) -> None:
    problem = a_problem(alpha, form=form)
    solution = pair_descent(problem, tol=1e-8, max_iter=100_000)
    certificate = problem.certify(solution)
    assert solution.converged
    assert certificate.holds(1e-8)
    assert certificate.primal == pytest.approx(optimum(problem), rel=1e-7)


@forms
@pytest.mark.parametrize("alpha", [1.0, 0.25])
def test_reference_case_of_chosen_pairs(form: Any, alpha: float) -> None:
    with np.load(reference_file("pairs-and-points")) as case:
        X, best, w = case["X"], case["c6_obj"], case["c6_w"]
        first, second = case["c6_i"].astype(np.int64), case["c6_j"].astype(np.int64)
        loss = RowLoss(alpha * case["c6_C"], SURROGATES["hinge"])
    problem = Problem(PairDesign(as_design(form(X)), first, second), loss, alpha)
    solution = pair_descent(problem, tol=1e-10, max_iter=10_000)
    assert problem.value(solution.w) == pytest.approx(alpha * best, rel=1e-8)
    assert solution.w == pytest.approx(w, abs=1e-5)


def test_reference_case_of_points() -> None:
    with np.load(reference_file("pairs-and-points")) as case:
        X, y, best = case["X"], case["y"], case["c7_wsvm_obj"]
    positive = np.flatnonzero(y > 0)
    first, second = np.full(len(y), -1), np.arange(len(y))
    first[positive], second[positive] = positive, -1
    weight = np.where(y > 0, 4 / 2 / (y > 0).sum(), 4 / 2 / (y < 0).sum())
    problem = Problem(
        PairDesign(as_design(X), first, second), RowLoss(weight, SURROGATES["hinge"]), 1.0
    )
    solution = pair_descent(problem, tol=1e-10, max_iter=10_000)
    assert problem.value(solution.w) == pytest.approx(float(best), rel=1e-8)


def test_history_is_certified_and_counts_passes() -> None:
    problem = a_problem(1e-2)
    watch = Watch(problem.design)
    solution = pair_descent(problem, tol=1e-6, watch=watch)
    last = watch.history[-1]
    certificate = problem.certify(solution)
    assert len(watch.history) > 1
    assert last["iteration"] == solution.n_iter
    assert last["primal"] == pytest.approx(certificate.primal, rel=1e-12)
    assert last["dual"] == pytest.approx(certificate.dual, rel=1e-12)
    assert last["passes"] >= solution.n_iter
    assert (np.diff(watch.history["passes"]) > 0).all()


@pytest.mark.parametrize("alpha", [0.3, 0.1, 0.02])
def test_warm_starts_at_any_alpha_reach_the_same(alpha: float) -> None:
    before = pair_descent(a_problem(0.1), tol=1e-6)
    problem = a_problem(alpha)
    warm = pair_descent(problem, start=before, tol=1e-6)
    assert problem.value(warm.w) == pytest.approx(optimum(problem), rel=2e-6)


def test_a_warm_start_at_the_solution_has_nothing_left_to_do() -> None:
    problem = a_problem(0.1)
    before = pair_descent(problem, tol=1e-8)
    again = pair_descent(problem, start=before, tol=1e-7)
    assert again.n_iter == 1
    assert again.converged


def test_a_start_of_other_pairs_is_left_alone() -> None:
    problem, other = a_problem(0.1), a_problem(0.1)
    other.design = PairDesign(other.design.base, other.design.first[:9], other.design.second[:9])
    other.loss = RowLoss(other.loss.weight[:9], SURROGATES["hinge"])
    start = pair_descent(other, tol=1e-3)
    cold, warm = (pair_descent(problem, start=at, tol=1e-3) for at in (None, start))
    assert cold.w.tolist() == warm.w.tolist()


def test_it_stops_when_asked_and_when_out_of_iterations() -> None:
    problem = a_problem(1e-4)
    asked = Watch(problem.design, report=lambda _: True)
    assert not pair_descent(problem, tol=1e-9, watch=asked).converged
    assert len(asked.history) == 1
    short = pair_descent(problem, tol=1e-9, max_iter=3)
    assert short.n_iter == 3
    assert not short.converged
    assert problem.certify(short).gap > 0


def test_the_seed_decides() -> None:
    runs = [pair_descent(a_problem(), tol=1e-2, seed=seed).w.tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_problems_of_another_kind_are_refused() -> None:
    problem = a_problem()
    pairs = problem.design
    columns = ScaledDesign(pairs.base, np.arange(4), np.ones(4))  # holds no rows in memory
    problem.design = PairDesign(columns, pairs.first, pairs.second)
    with pytest.raises(ValueError, match="pair-descent needs a matrix in memory"):
        solve(problem, "pair-descent")


def test_rows_that_are_to_score_low_are_rows_turned_round() -> None:
    rng = np.random.default_rng(5)
    X, sign, weight = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], 30), rng.random(30) / 30
    of_rows = Problem(as_design(X), RowLoss(weight, SURROGATES["hinge"], sign), 0.05)
    turned = Problem(as_design(sign[:, np.newaxis] * X), RowLoss(weight, SURROGATES["hinge"]), 0.05)
    for solver in ("pair-descent", "interior-point", "auto"):
        found = solve(of_rows, solver, tol=1e-9, max_iter=100_000)
        assert of_rows.certify(found).holds(1e-9)
        assert of_rows.value(found.w) == pytest.approx(optimum(turned), rel=1e-7)
