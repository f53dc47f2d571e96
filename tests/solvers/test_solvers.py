"""Every solver on every loss it takes: certified, and in agreement with the others and CVXPY."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from support.special_rows import CASES, all_rows_equal, duplicate_rows_and_a_zero_feature
from toprank.losses import Loss
from toprank.methods.push.accelerated_gradient import accelerated_gradient
from toprank.problems import Problem, Solution
from toprank.solvers import cost, dual_descent, solve
from toprank.solvers.watch import Watch
from truth import reference as truth

Array = NDArray[np.float64]
TOL = 1e-7


SOLVERS: dict[str, Callable[..., Solution]] = {
    **{
        solver: partial(solve, solver=solver, max_iter=10_000)
        for solver in ("newton", "dual-descent", "auto")
    },
    "paper": accelerated_gradient,
}
LOSSES = [*truth.SMOOTH, *truth.RECTIFIED, "hinge"]
#: Every solver with every loss it takes.
PAIRS = [
    (solver, name)
    for solver in SOLVERS
    for name in LOSSES
    if solver != "paper" or name == "squared_hinge"
]
pairs = pytest.mark.parametrize(("solver", "name"), PAIRS)
exact_pairs = pytest.mark.parametrize(("solver", "name"), [p for p in PAIRS if p[0] != "paper"])
top_pairs = pytest.mark.parametrize(
    ("solver", "name"), [p for p in PAIRS if p[1] not in truth.RECTIFIED]
)
smooth_pairs = pytest.mark.parametrize(("solver", "name"), [p for p in PAIRS if p[1] != "hinge"])
storages = pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def solved(problem: Problem, solver: str, **options: Any) -> Solution:
    """A solution whose certificate, computed afresh, holds."""
    options = {"tol": TOL, **options}
    solution = SOLVERS[solver](problem, **options)
    certificate = problem.certify(solution)
    assert solution.converged
    assert certificate.holds(options["tol"]), str(certificate)
    assert certificate.gap >= -1e-12 * certificate.primal
    return solution


@storages
@pairs
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(("seed", "alpha"), [(0, 0.1), (1, 0.01)])
def test_the_minimum_is_that_of_cvxpy(
    solver: str, name: str, storage: Any, weighted: bool, seed: int, alpha: float
) -> None:
    X, positive = truth.rows_of_two_classes(seed, m=8, n=25, d=6)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, len(X)) if weighted else None
    problem = truth.make_problem(storage(X), positive, name, alpha, weight)
    solution = solved(problem, solver)
    best = truth.optimum(X, problem.loss.split, name, alpha)
    assert problem.value(solution.w) == pytest.approx(best, rel=1e-6)
    assert solution.alpha == alpha
    assert solution.w.any()


@storages
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("shape", [(40, 300, 10), (6, 20, 60)], ids=["narrow", "wide"])
def test_solvers_agree_within_their_gaps(
    name: str, storage: Any, shape: tuple[int, int, int]
) -> None:
    X, positive = truth.rows_of_two_classes(3, *shape)
    problem = truth.make_problem(storage(X), positive, name, 0.02)
    certificates = []
    for solver, takes in PAIRS:
        if takes == name:  # the paper's method takes thousands of steps for what is asked of it
            solution = solved(problem, solver, tol=1e-3 if solver == "paper" else 1e-6)
            certificates.append(problem.certify(solution))
    assert len(certificates) >= 3
    for one in certificates:
        for other in certificates:
            assert one.dual <= other.primal * (1 + 1e-13)
            assert abs(one.primal - other.primal) <= max(one.gap, other.gap) + 1e-13 * one.primal


def test_newton_lands_on_the_solution_itself() -> None:
    X, positive = truth.rows_of_two_classes(4, m=30, n=200, d=8)
    problem = truth.make_problem(X, positive, "squared_hinge", 0.01)
    solution = solved(problem, "newton", tol=1e-12)
    assert solution.n_iter <= 30


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pairs
@storages
def test_special_cases(solver: str, name: str, storage: Any, case: Any) -> None:
    X, positive = case()
    problem = truth.make_problem(storage(X), positive, name, 0.05)
    solution = solved(problem, solver, tol=1e-6)
    best = truth.optimum(X, problem.loss.split, name, 0.05)
    assert problem.value(solution.w) == pytest.approx(best, rel=2e-6)
    if case is all_rows_equal:
        assert not solution.w.any()
        assert problem.value(solution.w) == pytest.approx(truth.at_zero(name), rel=1e-15)
    if case is duplicate_rows_and_a_zero_feature:
        assert solution.w[-1] == 0.0


@exact_pairs
@pytest.mark.parametrize("alpha", [2.0**15, 2.0**-20], ids=["2^15", "2^-20"])
def test_huge_and_tiny_alpha(solver: str, name: str, alpha: float) -> None:
    X, positive = truth.rows_of_two_classes(11, m=8, n=25, d=6)
    problem = truth.make_problem(X, positive, name, alpha)
    solution = solved(problem, solver, tol=1e-6, max_iter=200_000)
    best = truth.optimum(X, problem.loss.split, name, alpha)
    value = problem.value(solution.w)
    # At 2^-20 the weights are large, and CLARABEL's answer is good to about 1e-5 only.
    assert value <= best * (1 + 2e-6)
    assert value == pytest.approx(best, rel=2e-6 if alpha > 1 else 1e-4)
    if alpha > 1:  # w is about 1 / alpha, and ranks all the same
        assert 0 < np.abs(solution.w).max() < 10 / alpha


@top_pairs
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_zero_is_optimal_just_when_the_positives_mean_is_in_the_negatives_hull(
    solver: str, name: str, dimensions: int
) -> None:
    seen = set()
    for seed in range(8):
        X, positive = truth.rows_of_two_classes(seed, m=3, n=4 * dimensions, d=dimensions)
        inside = truth.in_hull(X[positive].mean(axis=0), X[~positive])
        problem = truth.make_problem(X, positive, name, 0.01)
        solution = solved(problem, solver, tol=1e-5, max_iter=50_000)
        assert inside == (not solution.w.any()), seed
        if inside:
            assert problem.value(solution.w) == problem.loss.at_zero
        seen.add(inside)
    assert seen == {True, False}


@top_pairs
@pytest.mark.parametrize("beyond", [0.03, -0.03], ids=["outside", "inside"])
def test_a_loose_tolerance_does_not_make_zero_optimal(
    solver: str, name: str, beyond: float
) -> None:
    # A hair outside the hull the best w gains far less than the tolerance, and still ranks.
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([circle, [[1.0 + beyond, 0.3], [1.0 + beyond, -0.3]]])
    problem = truth.make_problem(X, np.arange(26) >= 24, name, 1.0)
    solution = solved(problem, solver, tol=0.05)
    assert solution.w.any() == (beyond > 0)


def test_the_hull_is_that_of_the_weighted_mean() -> None:
    X, positive = np.array([[0.0], [3.0], [-1.0], [1.0]]), np.array([True, True, False, False])
    for weight, trivial in (([1.0, 1.0], False), ([9.0, 1.0], True)):
        problem = truth.make_problem(X, positive, "logistic", 0.1, np.array([*weight, 1.0, 1.0]))
        for solver in ("newton", "dual-descent"):
            assert solved(problem, solver).w.any() == (not trivial)


@smooth_pairs
@storages
def test_history_counts_passes_and_never_loses_a_bound(
    solver: str, name: str, storage: Any
) -> None:
    X, positive = truth.rows_of_two_classes(12, m=20, n=120, d=8)
    problem = truth.make_problem(storage(X), positive, name, 0.1)
    watch, tol = Watch(problem.design), 1e-5
    solution = solved(problem, solver, tol=tol, watch=watch)
    history = watch.history
    assert len(history) >= 2
    assert (np.diff(history["passes"]) > 0).all()
    assert (np.diff(history["iteration"]) > 0).all()
    assert (np.diff(history["seconds"]) >= 0).all()
    assert (np.diff(history["primal"]) <= 0).all()
    assert (np.diff(history["dual"]) >= 0).all()
    assert (
        history["relative_gap"] == (history["primal"] - history["dual"]) / history["primal"]
    ).all()
    assert history["iteration"][-1] == solution.n_iter
    assert history["relative_gap"][-1] <= tol
    assert (history["relative_gap"][:-1] > tol).all()
    assert problem.value(solution.w) == pytest.approx(history["primal"][-1], rel=1e-10)
    assert history["passes"][0] > 0


@pairs
@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_max_iter_is_respected(solver: str, name: str, max_iter: int) -> None:
    X, positive = truth.rows_of_two_classes(13, m=30, n=300, d=12, shift=0.8)
    problem = truth.make_problem(X, positive, name, 1e-4)
    watch = Watch(problem.design)
    solution = SOLVERS[solver](problem, tol=1e-14, max_iter=max_iter, watch=watch)
    assert solution.n_iter == max_iter
    assert watch.history["iteration"][-1] == max_iter  # the last iteration's bounds are known
    assert not solution.converged
    certificate = problem.certify(solution)  # valid, stopped short or not
    assert 0 <= certificate.dual <= certificate.primal
    assert certificate.primal <= problem.loss.at_zero * (1 + 1e-15)


@pairs
def test_whoever_watches_can_stop_a_solver(solver: str, name: str) -> None:
    X, positive = truth.rows_of_two_classes(13, m=30, n=300, d=12, shift=0.8)
    problem = truth.make_problem(X, positive, name, 1e-4)
    seen: list[Array] = []

    def stop(fitted: dict[str, Any]) -> bool:
        seen.append(fitted["coef_"][0].copy())
        return len(seen) == 2

    watch = Watch(problem.design, report=stop)
    solution = SOLVERS[solver](problem, tol=1e-14, watch=watch)
    assert len(seen) == len(watch.history) == 2
    assert not solution.converged
    assert (solution.w == seen[-1]).all()
    assert problem.value(solution.w) == pytest.approx(watch.history["primal"][-1], rel=1e-10)


@pairs
def test_warm_starts_reach_the_same_optimum_with_no_more_work(solver: str, name: str) -> None:
    cold_total = warm_total = 0
    # The epochs that descent takes for one set of rows are chance.
    for seed in (14, 15) if solver == "dual-descent" else (14,):
        X, positive = truth.rows_of_two_classes(seed, m=40, n=300, d=10)
        last: Solution | None = None
        for alpha in (0.3, 0.2, 0.1, 0.05, 0.03):
            problem = truth.make_problem(X, positive, name, alpha)
            cold, warm = (
                solved(problem, solver, tol=1e-5),
                solved(problem, solver, tol=1e-5, start=last),
            )
            values = problem.value(cold.w), problem.value(warm.w)
            assert abs(values[0] - values[1]) <= 1e-5 * max(values)
            cold_total, warm_total, last = cold_total + cold.n_iter, warm_total + warm.n_iter, warm
    # Descent gains little from a start, and looks at its gap only every few epochs.
    slack = 1.1 if solver == "dual-descent" else 1.0
    assert warm_total <= slack * cold_total


@pairs
def test_a_start_from_other_data_or_from_zero_does_no_harm(solver: str, name: str) -> None:
    X, positive = truth.rows_of_two_classes(15, m=10, n=40, d=6)
    other = truth.make_problem(*truth.rows_of_two_classes(16, m=12, n=50, d=4), name, 0.1)
    problem = truth.make_problem(X, positive, name, 0.1)
    value = problem.value(solved(problem, solver).w)
    strange = Solution(w=np.full(6, 7.0), proof=np.random.default_rng(0).standard_normal(50), b=3.0)
    for start in (solved(other, solver), Solution(w=np.zeros(6), proof=np.zeros(50)), strange):
        again = solved(problem, solver, start=start)
        assert problem.value(again.w) == pytest.approx(value, rel=2 * TOL)


def test_dual_descent_gives_up_beyond_its_budget() -> None:
    X, positive = truth.rows_of_two_classes(13, m=30, n=300, d=12, shift=0.8)
    problem = truth.make_problem(X, positive, "squared_hinge", 1e-4)
    watch, budget = Watch(problem.design), 120.0 * problem.design.n_entries
    solution = dual_descent(problem, tol=1e-10, watch=watch, budget=budget)
    assert solution.gave_up
    assert not solution.converged
    assert len(watch.history) > 1  # it is tried for a share of the budget
    assert cost.DESCENT_TRIAL * budget < problem.design.entries_read < budget
    certificate = problem.certify(solution)
    assert 0 < certificate.dual < certificate.primal < 1.0
    # A fit that has converged does not give up.
    easy = truth.make_problem(X, positive, "squared_hinge", 100.0)
    ended = dual_descent(easy, tol=0.5, budget=0.0)
    assert ended.converged
    assert not ended.gave_up


@pytest.mark.parametrize("name", LOSSES)
def test_dual_descent_is_deterministic_for_a_seed(name: str) -> None:
    X, positive = truth.rows_of_two_classes(17, m=20, n=80, d=15)
    problem = truth.make_problem(X, positive, name, 0.02)
    one, same, other = (dual_descent(problem, seed=seed) for seed in (5, 5, 6))
    assert one.w.tobytes() == same.w.tobytes()
    assert one.dual.tobytes() == same.dual.tobytes()
    assert one.w.tobytes() != other.w.tobytes()


@dataclass
class Linear(Loss):
    """A loss that no solver knows."""

    @property
    def at_zero(self) -> float:
        return 0.0

    def value(self, s: Array) -> float:
        return float(s.sum())

    def slope(self, s: Array) -> Array:
        return np.ones_like(s)

    def conjugate(self, v: Array) -> float:
        return 0.0 if (v == 1).all() else np.inf

    def worse(self, s: Array, by: Array) -> Array:
        return s + by


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "paper"])
def test_a_loss_that_a_solver_cannot_take_is_named(solver: str) -> None:
    X, positive = truth.rows_of_two_classes(0, m=4, n=6, d=2)
    hinge = truth.make_problem(X, positive, "rectified hinge")
    with pytest.raises(ValueError, match=r"solve a ThresholdLoss of the hinge loss: .* needs "):
        SOLVERS[solver](hinge)
    with pytest.raises(ValueError, match=r"solve a Linear: .* needs "):
        SOLVERS[solver](Problem(hinge.design, Linear(), 1.0))


def test_two_solvers_are_for_some_losses_only() -> None:
    X, positive = truth.rows_of_two_classes(0, m=4, n=6, d=2)
    with pytest.raises(ValueError, match="active-set-newton needs a loss without kinks below"):
        solve(truth.make_problem(X, positive, "hinge"), "active-set-newton")
    with pytest.raises(ValueError, match="smoothed-newton needs the hinge"):
        solve(truth.make_problem(X, positive, "logistic"), "smoothed-newton")
    with pytest.raises(ValueError, match="There is no solver 'simplex'; there are "):
        solve(truth.make_problem(X, positive, "logistic"), "simplex")


@exact_pairs
def test_classes_of_the_same_mean_are_trivial_for_all(solver: str, name: str) -> None:
    X, positive = truth.rows_of_two_classes(18, m=10, n=40, d=3, shift=0.0)
    X[positive] += X[~positive].mean(axis=0) - X[positive].mean(axis=0)
    problem = truth.make_problem(X, positive, name, 0.01)
    solution = solved(problem, solver, tol=1e-5)
    assert not solution.w.any()
    assert problem.value(solution.w) == pytest.approx(truth.at_zero(name), rel=1e-14)
