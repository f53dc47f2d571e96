"""Losses of all pairs: Newton's method and, for the hinge, lists of the pairs that remain.

Solves   min over w  alpha/2 |w|^2 + sum_i sum_j p_i q_j l(w.x_j - w.x_i)
by       `pair_newton`. Where the hinge of wide rows rests on single pairs, Newton's steps get
         short: dual coordinate descent on the few pairs near the margin ends the fit. Both begin
         with the optimum of the squared hinge, which takes a few passes.
Given    a Problem with a PairLoss: l is the hinge or its square.
Returns  a Solution of the solver that finished.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..losses import PairLoss
from ..problems import Problem, Solution
from ..surrogates import SURROGATES
from .cost import pair_factor_is_cheap
from .listed_pairs import listed_pairs
from .loop import hand_over
from .needs import HINGE, IN_MEMORY, first_missing
from .pair_newton import pair_newton
from .watch import Watch

#: The most steps that the squared hinge is given: the hinge starts from wherever they end.
_SQUARED_STEPS = 50


def all_pairs(problem: Problem, *, seed: int, start: Solution | None, **options: Any) -> Solution:
    """Solve a problem with a loss of all pairs."""
    max_iter, watch = options["max_iter"], options["watch"]
    hinge = first_missing(problem, (HINGE, IN_MEMORY)) is None
    if start is None and hinge and not pair_factor_is_cheap(problem.design):
        start = _of_squares(problem, options["tol"], max_iter)
    first = pair_newton(problem, start=start, finisher=hinge, **options)
    done = first.converged or not (first.gave_up and hinge) or watch.asked_to_stop
    if done or first.n_iter >= max_iter:
        return first
    if start is None or start.solver != _SQUARES or start.alpha != problem.alpha:
        start = _of_squares(problem, options["tol"], max_iter)
    second = hand_over(listed_pairs, problem, first, seed=seed, squares=start, **options)
    if second.gave_up:  # too many pairs to list
        return hand_over(pair_newton, problem, second, **options)
    return second


#: The name of a start that is the optimum of the squared hinge.
_SQUARES = "squared hinge"


def _of_squares(problem: Problem, tol: float, max_iter: int) -> Solution:
    """Solve the same problem with the squared hinge, for its weights."""
    loss = cast(PairLoss, problem.loss)
    squares = PairLoss(loss.split, SURROGATES["squared_hinge"])
    found = pair_newton(
        Problem(problem.design, squares, problem.alpha),
        tol=tol,
        max_iter=min(_SQUARED_STEPS, max_iter),
        watch=Watch(problem.design),
    )
    return Solution(found.w, np.zeros(0), solver=_SQUARES, alpha=problem.alpha)


__all__ = ["all_pairs"]
