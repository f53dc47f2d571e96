"""Many problems of a few rows: ties, dependent rows and exact zeros are the rule there."""

from __future__ import annotations

import numpy as np
import pytest

from toprank.problems import Problem
from toprank.solvers import ceiling, dual_descent
from truth import reference as truth

SOLVERS = {"newton": ceiling, "dual-descent": dual_descent}


def tiny_problem(seed: int, name: str, alpha: float, whole: bool) -> Problem:
    """Up to 6 positives, 8 negatives and 4 features; whole numbers make ties."""
    rng = np.random.default_rng(seed)
    m, n, d = rng.integers(1, 7), rng.integers(1, 9), rng.integers(1, 5)
    X, positive = truth.rows_of_two_classes(seed, m, n, d)
    return truth.make_problem(np.round(2 * X) if whole else X, positive, name, alpha)


@pytest.mark.parametrize("whole", [False, True], ids=["normal", "whole numbers"])
@pytest.mark.parametrize("name", truth.SMOOTH)
@pytest.mark.parametrize("solver", SOLVERS)
def test_what_a_solver_calls_converged_is_certified(solver: str, name: str, whole: bool) -> None:
    tol = 1e-6
    for seed in range(50):
        for alpha in (1.0, 0.05, 1e-3):
            problem = tiny_problem(seed, name, alpha, whole)
            solution = SOLVERS[solver](problem, tol=tol)
            certificate = problem.certify(solution)
            assert solution.converged, (seed, alpha)
            assert certificate.holds(tol), (seed, alpha, str(certificate))


@pytest.mark.parametrize("whole", [False, True], ids=["normal", "whole numbers"])
@pytest.mark.parametrize("name", truth.SMOOTH)
def test_the_solvers_find_the_same_minimum(name: str, whole: bool) -> None:
    for seed in range(50, 80):
        problem = tiny_problem(seed, name, 0.05, whole)
        one, other = (solver(problem, tol=1e-7).w for solver in SOLVERS.values())
        assert problem.value(one) == pytest.approx(problem.value(other), rel=1.01e-7), seed
