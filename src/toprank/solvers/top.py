"""The choice between the two solvers of TopPush."""

from __future__ import annotations

from ..problem import Problem, Solution
from ..watch import Watch
from .active_set_newton import active_set_newton
from .dual_descent import dual_descent


def solve_top(
    problem: Problem,
    *,
    start: Solution | None,
    tol: float,
    max_iter: int,
    watch: Watch,
    seed: int,
) -> Solution:
    """Newton's method for narrow data, dual coordinate descent for wide."""
    if problem.design.shape[1] <= 1000:
        return active_set_newton(problem, start=start, tol=tol, max_iter=max_iter, watch=watch)
    return dual_descent(problem, start=start, tol=tol, max_iter=max_iter, watch=watch, seed=seed)
