"""The hinge on points: coordinate descent, and what takes over where it crawls.

Descent needs some ten passes on most data, and any number on ill-conditioned ones: features that
are not centred, a small alpha. An interior-point method needs some thirty steps, whatever the data,
each with a matrix of d^2 entries. Descent is given the work of those steps; then they are taken,
if d allows for them. So neither costs more than twice the better one.
"""

from __future__ import annotations

from ..problem import Problem, Solution
from ..watch import Watch
from ._points import points_of, settle
from .interior_point import interior_point
from .pair_descent import pair_descent

#: Above this many features the matrix is out of the race.
MOST_FEATURES = 1500
#: Steps of the interior-point method, the products of each, and what costs as much as reading an
#: entry: terms of a Gram matrix, operations of a factorisation.
STEPS, PRODUCTS, GRAM_TERMS, FACTOR_OPERATIONS = 30, 7, 5, 20
#: Less work than this is not worth another method.
LITTLE_WORK = 2e6


def solve_points(
    problem: Problem,
    *,
    start: Solution | None,
    tol: float,
    max_iter: int,
    watch: Watch,
    seed: int,
) -> Solution:
    """Solve by coordinate descent, and by an interior-point method if that gets nowhere."""
    design, _ = points_of(problem)
    (n, d), entries, read = design.base.shape, float(design.n_entries), design.entries_read
    gram = 0.5 * entries * (entries / n) / GRAM_TERMS + float(d) ** 3 / 3.0 / FACTOR_OPERATIONS
    patience = max(STEPS * (PRODUCTS * entries + gram), LITTLE_WORK)

    def give_up(epochs: int) -> bool:
        return design.entries_read - read > patience

    narrow = d <= MOST_FEATURES
    first = pair_descent(
        problem,
        start=start,
        tol=tol,
        max_iter=(max_iter + 1) // 2 if narrow else max_iter,  # half is for what takes over
        watch=watch,
        seed=seed,
        give_up=give_up if narrow else None,
    )
    if first.converged or watch.asked_to_stop or first.n_iter == max_iter:
        return first
    return from_inside(problem, first, tol=tol, max_iter=max_iter, watch=watch)


def from_inside(
    problem: Problem, first: Solution, *, tol: float, max_iter: int, watch: Watch
) -> Solution:
    """Take over from a descent that has come to `first`: its iterations count."""
    watch.iterations_before = first.n_iter
    second = interior_point(problem, tol=tol, max_iter=max_iter - first.n_iter, watch=watch)
    second.n_iter += first.n_iter
    # Where rounding ended the second method, each may have the better one of the two bounds.
    reached = problem.certify(second.w, second.dual)
    dual = reached.dual
    if not reached.holds(tol):
        before = problem.certify(first.w, first.dual)
        if before.primal < reached.primal:
            second.w = first.w
        if before.dual > dual:
            second.dual, dual = first.dual, before.dual
    return settle(problem, second, tol, dual)
