"""The hinge by Newton's method, its kink rounded off less and less.

Solves   min over w  alpha/2 |w|^2 + sum_i p_i [1 + t - w.x_i]_+,   t = max_j w.x_j
by       the active-set Newton method on `SmoothedHinge` losses of falling width, each begun
         where the last one ended; the loss lies within half its width below the hinge, and its
         dual points are dual points of the hinge.
Given    a Problem with a TopLoss of the hinge.
Returns  a Solution whose dual vector vouches for the hinge itself.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..losses import TopLoss
from ..problem import Problem, Solution
from ..surrogates import SmoothedHinge
from ..watch import Watch
from ._common import ZeroTest
from .active_set_newton import active_set_newton

_FIRST_WIDTH = 0.5
#: How much narrower the bend gets from one problem to the next.
_NARROWING = 0.1
#: Below this width the model's curvature is all rounding.
_LEAST_WIDTH = 1e-12
#: The smoothed problem is solved to this share of what the bend itself costs.
_INNER_SHARE = 0.1


def smoothed_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a TopPush problem with the hinge; an iteration is a Newton step."""
    loss, design, alpha = problem.loss, problem.design, problem.alpha
    if not (isinstance(loss, TopLoss) and loss.surrogate.name == "hinge"):
        raise TypeError("This solver is for the loss of TopPush with the hinge.")
    watch = watch or Watch(design)
    zero = ZeroTest(problem)
    best, certificate, n_iter, width = start, None, 0, _FIRST_WIDTH
    while True:
        smooth = Problem(design, TopLoss(loss.split, SmoothedHinge(width)), alpha)
        inner_tol = max(_INNER_SHARE * min(width, tol), 1e-14)
        solution = active_set_newton(
            smooth, start=best, tol=inner_tol, max_iter=max_iter - n_iter, watch=Watch(design)
        )
        n_iter += solution.n_iter
        solution.n_iter, solution.solver = n_iter, "newton"
        reached = problem.certify(solution.w, solution.dual)
        if certificate is None or reached.gap < certificate.gap:
            best, certificate = solution, reached
        assert best is not None
        stopped = watch(n_iter, certificate.primal, certificate.dual, partial(np.copy, best.w))
        settled = bool(best.w.any()) or zero.holds(loss.parts(best.dual)[1])
        best.converged = certificate.holds(tol) and settled
        width *= _NARROWING
        if best.converged or stopped or n_iter >= max_iter or width < _LEAST_WIDTH:
            best.n_iter = n_iter
            return best
