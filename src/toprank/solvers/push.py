"""The choice between the two solvers of TopPush and RectPush.

Newton's method costs what its linear algebra costs, some d^3 operations and a few dozen passes,
whatever alpha; coordinate descent costs as many passes as the problem is ill-conditioned. So:
Newton at once where d^3 is little beside the data; coordinate descent alone where d is large;
between the two coordinate descent begins, and hands over to Newton, from where it stands, once
the work it predicts for itself is more than Newton's.
"""

from __future__ import annotations

from ..problem import Problem, Solution
from ..watch import Watch
from ._common import push_loss
from .active_set_newton import active_set_newton
from .dual_descent import dual_descent
from .smoothed_newton import smoothed_newton
from .top_interior_point import top_interior_point

#: Above this many features the model's factors leave the cache, and Newton is out of the race.
NEWTON_MOST_FEATURES = 1500
#: Passes that coordinate descent needs at the least, with its checks; twice as many where a step
#: has to find the root of a transcendental equation and no row ever leaves the list, or where
#: all negatives lose and most of them stay on it.
DESCENT_FEWEST_PASSES = 20
#: Below this many operations the rest of a fit costs more than any solver.
NEWTON_ALWAYS = 1e6
#: Passes of a Newton fit: scans of the negatives, gradients, Hessians.
NEWTON_PASSES = 20
#: Coordinate descent is given this share of Newton's work before it is judged by its progress,
#: which at a small alpha begins late.
TRIAL_SHARE = 0.1


def newton_push(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Solve by Newton's method, at once or, for the hinge, by way of smoothed hinges.

    Where those come to no end, as with features of very different sizes, from inside the bounds.
    """
    watch = watch or Watch(problem.design)
    if push_loss(problem, kinks=True).surrogate.smooth:
        return active_set_newton(problem, start=start, tol=tol, max_iter=max_iter, watch=watch)
    first = smoothed_newton(problem, start=start, tol=tol, max_iter=max_iter, watch=watch)
    if first.converged or not first.gave_up or first.n_iter >= max_iter or watch.asked_to_stop:
        return first
    before = watch.iterations_before
    watch.iterations_before += first.n_iter
    second = top_interior_point(
        problem, first, tol=tol, max_iter=max_iter - first.n_iter, watch=watch
    )
    watch.iterations_before = before
    second.n_iter += first.n_iter
    return second


def solve_push(
    problem: Problem,
    *,
    start: Solution | None,
    tol: float,
    max_iter: int,
    watch: Watch,
    seed: int,
) -> Solution:
    """Solve by Newton's method, by dual coordinate descent, or by the one and then the other."""
    design = problem.design
    d, entries = design.shape[1], design.n_entries
    algebra = float(d) ** 3
    loss = push_loss(problem, kinks=True)
    fewest = DESCENT_FEWEST_PASSES * (1 if loss.surrogate.quadratic and loss.only_top else 2)
    narrow = algebra <= max(fewest * entries, NEWTON_ALWAYS)
    # Newton ended the fit this one starts from: a path of alphas only gets harder.
    narrow = narrow or (start is not None and start.solver in ("newton", "interior-point"))
    if narrow and d <= NEWTON_MOST_FEATURES:
        return newton_push(problem, start=start, tol=tol, max_iter=max_iter, watch=watch)
    newton = algebra + NEWTON_PASSES * entries if d <= NEWTON_MOST_FEATURES else float("inf")
    solution = dual_descent(
        problem,
        start=start,
        tol=tol,
        max_iter=max_iter,
        watch=watch,
        seed=seed,
        give_up=lambda left: left > newton and design.entries_read > TRIAL_SHARE * newton,
    )
    if not solution.gave_up:
        return solution
    watch.iterations_before = before = solution.n_iter
    solution = newton_push(
        problem, start=solution, tol=tol, max_iter=max(max_iter - before, 1), watch=watch
    )
    solution.n_iter += before
    return solution
