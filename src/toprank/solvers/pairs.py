"""Which solver for the loss of all pairs: by its shape, and by progress."""

from __future__ import annotations

from ..problem import Problem, Solution
from ..watch import Watch
from .listed_pairs import listed_pairs
from .pair_newton import pair_loss, pair_newton


def solve_pairs(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a problem with a loss of all pairs: by Newton's method, and what it leaves by descent.

    Where the hinge rests on single pairs, Newton's steps get short. The pairs near the margin
    are few then, and dual coordinate descent on them ends the fit.
    """
    loss, watch = pair_loss(problem), watch or Watch(problem.design)
    hinge = not loss.surrogate.quadratic
    newton = pair_newton(
        problem, start=start, tol=tol, max_iter=max_iter, watch=watch, finisher=hinge
    )
    left = max_iter - newton.n_iter
    if newton.converged or not (newton.gave_up and hinge) or watch.asked_to_stop or left <= 0:
        return newton
    watch.iterations_before = newton.n_iter
    solution = listed_pairs(problem, start=newton, tol=tol, max_iter=left, watch=watch, seed=seed)
    before = newton.n_iter
    if solution.gave_up:  # too many pairs to list
        before += solution.n_iter
        left = max_iter - before
        watch.iterations_before = before
        solution = pair_newton(problem, start=solution, tol=tol, max_iter=left, watch=watch)
    solution.n_iter += before
    return solution
