"""The hinge by Newton's method, its kink rounded off less and less.

Solves   min over w  alpha/2 |w|^2 + sum_i p_i [1 + t - w.x_i]_+,   t = max_j w.x_j
by       the active-set Newton method on `SmoothedHinge` losses of falling width, each begun
         where the last one ended. Weights and duals of the smoothed problems are piecewise
         linear in the width: two of them in a line point at those of the hinge.
Given    a Problem with a TopLoss of the hinge.
Returns  a Solution whose dual vector vouches for the hinge itself.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..losses import TopLoss
from ..problems import Certificate, Problem, Solution
from ..surrogates import SmoothedHinge
from .ceiling import ceiling
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]

_FIRST_WIDTH = 0.5
#: How much narrower the bend gets from one problem to the next.
_NARROWING = 0.1
#: Below this width the model's curvature is all rounding.
_LEAST_WIDTH = 1e-9
#: The smoothed problem is solved to this share of what the bend itself costs, and of `tol`.
_INNER_SHARE = 0.1


def smoothed_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a TopPush problem with the hinge; an iteration is a Newton step.

    It gives up where arithmetic ends a smoothed problem short of its tolerance.
    """
    loss, design, alpha = cast(TopLoss, problem.loss), problem.design, problem.alpha
    watch = watch or Watch(design)
    zero = ZeroTest(problem)
    primal, dual = loss.at_zero, 0.0
    best = Solution(np.zeros(design.shape[1]), np.zeros(loss.split.n_rows), alpha=alpha)
    best.solver = "smoothed-newton"
    last, width = start, _FIRST_WIDTH
    stopped = False
    while not (best.converged or stopped or best.gave_up or best.n_iter >= max_iter):
        smooth = Problem(design, TopLoss(loss.split, SmoothedHinge(width)), alpha)
        now = ceiling(
            smooth,
            start=last,
            tol=max(_INNER_SHARE * min(width, tol), 1e-14),
            max_iter=max_iter - best.n_iter,
            watch=Watch(design),
        )
        best.n_iter += now.n_iter
        for w, v in _guesses(loss, now, last if width < _FIRST_WIDTH else None):
            reached = problem.certify(w, v)
            if reached.primal < primal:
                primal, best.w = reached.primal, w
            if reached.dual > dual:
                dual, best.dual = reached.dual, v
        settled = bool(best.w.any()) or zero.holds(best.dual)
        best.converged = Certificate(primal, dual).holds(tol) and settled
        stopped = watch(best.n_iter, primal, dual, partial(np.copy, best.w))
        last, width = now, _NARROWING * width
        # Where arithmetic has ended a smoothed problem, narrower ones are no easier.
        best.gave_up = not (best.converged or now.converged) or width < _LEAST_WIDTH
    best.b = last.b if last is not None else 0.0
    return best


def _guesses(loss: TopLoss, now: Solution, last: Solution | None) -> list[tuple[Array, Array]]:
    """Weights and duals of this width, and those of none that this one and the last point at."""
    guesses = [(now.w, now.dual)]
    if last is not None and now.w.any():
        beyond = _NARROWING / (1.0 - _NARROWING)
        a, delta = loss.parts(now.dual + beyond * (now.dual - last.dual))
        v = loss.join(np.clip(a, 0.0, loss.split.p), np.maximum(delta, 0.0))
        guesses.append((now.w + beyond * (now.w - last.w), v))
    return guesses
