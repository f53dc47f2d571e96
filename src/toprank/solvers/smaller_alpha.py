"""Where alpha is so large that rounding hides what the best w gains over w = 0.

At a large alpha the loss is all but linear between w = 0 and the optimum. So alpha w hardly depends
on alpha, nor do the duals, and whether w = 0 is the optimum does not depend on it at all. A smaller
alpha, at which the gain can be seen, tells both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from ..problems import Problem, Solution
from .loop import hand_over
from .watch import Watch

Solver = Callable[..., Solution]

#: A gain over w = 0, as a share of what that costs, that every solver sees.
_SEEN = 1e-6


def or_by_smaller_alpha(solver: Solver) -> Solver:
    """Let a solver that ends at w = 0 without a proof begin again with what it finds there."""

    @wraps(solver)
    def solve(problem: Problem, *, start: Solution | None, **options: Any) -> Solution:
        first = solver(problem, start=start, **options)
        left = options["max_iter"] - first.n_iter
        stopped = first.converged or left <= 0 or options["watch"].asked_to_stop
        if stopped or first.w.any() or len(first.dual) != problem.design.shape[0]:
            return first
        begun = _solved_nearer(solver, problem, first, options)
        if begun is None:
            return first
        begun.n_iter += first.n_iter
        # Without weights it is a proof that there are none, at any alpha.
        return begun if not begun.w.any() else hand_over(solver, problem, begun, **options)

    return solve


def _solved_nearer(
    solver: Solver, problem: Problem, first: Solution, options: dict[str, Any]
) -> Solution | None:
    """The solution at the alpha where the gain may be as much as is seen, in terms of this one."""
    at_zero = problem.loss.at_zero
    share = (at_zero - problem.dual_value(first.dual)) / (_SEEN * at_zero)
    if not 0.0 < share < 1.0:
        return None
    nearer = problem.at_alpha(share * problem.alpha)
    # What is bounded there is another minimum, and no part of the history.
    found = solver(nearer, start=None, **options | {"watch": Watch(problem.design)})
    if not found.converged:
        return None
    w, b = share * found.w, share * found.b
    return replace(found, w=w, b=b, alpha=problem.alpha, scores=None, kept=None)


__all__ = ["or_by_smaller_alpha"]
