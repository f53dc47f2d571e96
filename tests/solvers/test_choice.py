"""The choice between Newton's method and dual descent."""

from __future__ import annotations

import numpy as np

from toprank.problem import Problem, Solution
from toprank.solvers import solve
from truth import reference as truth


def by_shape(problem: Problem) -> Solution:
    return solve(problem, max_iter=10_000)


def test_auto_takes_newton_for_narrow_data_and_descent_for_wide() -> None:
    narrow, positive = truth.rows_of_two_classes(18, m=10, n=30, d=90)
    wide, _ = truth.rows_of_two_classes(18, m=10, n=30, d=1_600)
    assert by_shape(truth.make_problem(narrow, positive, alpha=0.1)).solver == "active-set-newton"
    assert by_shape(truth.make_problem(wide, positive, alpha=1e-6)).solver == "dual-descent"


def test_between_the_two_descent_begins_and_hands_over_where_it_is_slow() -> None:
    positive = np.arange(700) < 200
    X = np.random.default_rng(19).standard_normal((700, 200)) * np.geomspace(1.0, 0.01, 200)
    X[positive] += 0.02
    easy, hard = (truth.make_problem(X, positive, alpha=alpha) for alpha in (1.0, 1e-7))
    assert by_shape(easy).solver == "dual-descent"
    solution = by_shape(hard)
    assert solution.solver == "active-set-newton"
    assert hard.certify(solution.w, solution.dual).holds(1e-4)
