"""The rules of "auto", and the choice between Newton's method and dual descent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from toprank.problems import Problem, Solution
from toprank.solvers import TABLE, solve
from toprank.solvers.choose import RULES, Entry
from truth import reference as truth


def by_shape(problem: Problem) -> Solution:
    return solve(problem, max_iter=10_000)


def test_rules_name_solvers_of_the_table() -> None:
    names = {row.name for row in TABLE} | {row.kind for row in TABLE}
    assert {rule.first for rule in RULES if not isinstance(rule.first, Entry)} <= names
    assert {rule.then for rule in RULES} | {row.then for row in TABLE} <= names


def test_auto_takes_newton_for_narrow_data_and_descent_for_wide() -> None:
    narrow, positive = truth.rows_of_two_classes(18, m=10, n=30, d=90)
    wide, _ = truth.rows_of_two_classes(18, m=10, n=30, d=1_600)
    assert by_shape(truth.make_problem(narrow, positive, alpha=0.1)).solver == "active-set-newton"
    assert by_shape(truth.make_problem(wide, positive, alpha=1e-6)).solver == "dual-descent"


def test_between_the_two_descent_begins_and_hands_over_where_it_is_slow() -> None:
    positive = np.arange(700) < 200
    X = np.random.default_rng(19).standard_normal((700, 200)) * np.geomspace(1.0, 0.01, 200)
    X[positive] += 0.05
    easy, hard = (truth.make_problem(X, positive, alpha=alpha) for alpha in (1.0, 1e-7))
    assert by_shape(easy).solver == "dual-descent"
    solution = by_shape(hard)
    assert solution.solver == "active-set-newton"
    assert hard.certify(solution).holds(1e-4)


@pytest.mark.parametrize(("seed", "moved"), [(1, 0.0), (2, 0.0), (3, 0.2), (4, 0.2)])
def test_newton_settles_what_is_almost_trivial(seed: int, moved: float) -> None:
    # Integers in columns of their own: descent finds neither a w nor a proof for a long time.
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, (2_000, 40)) + 6 * np.arange(40)
    X = np.zeros((2_000, 240))
    np.put_along_axis(X, codes, 1.0, axis=1)
    positive = np.arange(2_000) < 100
    X[positive, 0] += moved
    problem = truth.make_problem(X, positive, alpha=0.01)
    solution = by_shape(problem)
    assert solution.solver == "active-set-newton"
    assert solution.converged
    assert problem.certify(solution).holds(1e-4)
    # By linear programming: is the mean positive among the averages of the negatives?
    mean, negatives = X[positive].mean(axis=0), X[~positive]
    found = linprog(
        np.zeros(len(negatives)),
        A_eq=np.vstack([negatives.T, np.ones(len(negatives))]),
        b_eq=np.append(mean, 1.0),
    )
    assert (found.status == 0) == (not solution.w.any())
