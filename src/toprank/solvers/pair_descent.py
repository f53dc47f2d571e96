"""Dual coordinate descent for a hinge on every row, or on differences of rows.

Solves   min over w  alpha/2 |w|^2 + sum_q c_q [1 - w.z_q]_+,   z_q = x_first - x_second
by       exact steps on one dual a_q in [0, c_q / alpha] at a time, in random order, with
         w = sum_q a_q z_q at hand; duals that are sure to stay at an end are left out, until a
         look at all pairs finds the gap too wide.
Given    a Problem with a RowLoss of the hinge and a matrix in memory, or differences of its rows.
         z_q is a row, or minus a row where that is to score low.
Returns  a Solution with the dual vector -alpha a, or alpha a, and the best multiple of sum a z.

The epochs are those of the compiled `PairDescent`, from one look at the gap to the next.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import Matrix, PairDescent
from ..designs import Design
from ..losses import RowLoss
from ..problems import Problem, Solution
from .watch import Watch
from .zero_test import settle

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: A dual this near to its bound, relatively, is at it: the scale of alpha came and went.
_AT_BOUND = 1e-12
#: Where the method may be given up, the gap is looked at after so many epochs at the latest; later
#: after twice as many, and so on.
_FIRST_LOOK = 50


def pair_descent(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
    budget: float = math.inf,
) -> Solution:
    """Solve a problem of pairs and points with a hinge; an iteration is an epoch.

    `budget` is the work, in entries read, for which another solver ends the fit. The solution so
    far is returned, not converged, after that work or half of the iterations.
    """
    design, loss, alpha = problem.design, cast(RowLoss, problem.loss), problem.alpha
    watch = watch or Watch(design)
    matrix, first, second = _pairs(design, loss)
    core = PairDescent(matrix, seed)
    core.add(first, second, loss.weight / alpha, _first_duals(problem, loss, start))
    epochs = read = 0
    converged = stopped = gave_up = False
    begun, most = design.entries_read, max_iter
    if budget < math.inf:
        max_iter, most = (max_iter + 1) // 2, _FIRST_LOOK
    while not (converged or stopped or gave_up) and epochs < max_iter:
        more, primal, dual = core.solve(tol, min(most, max_iter - epochs), max_checks=1)
        epochs, most = epochs + more, 2 * most
        design.entries_read += core.entries_read - read
        read = core.entries_read
        converged = primal - dual <= tol * primal
        stopped = watch(epochs, alpha * primal, alpha * dual, lambda: core.weights)
        gave_up = not (converged or stopped) and design.entries_read - begun > budget
    solution = Solution(
        w=core.weights,
        # alpha times what was divided by it may be a rounding too much
        proof=_turned(np.maximum(-alpha * core.duals, -loss.weight), loss),
        n_iter=epochs,
        converged=converged,
        gave_up=gave_up,
        solver="pair-descent",
        alpha=alpha,
    )
    return settle(problem, solution, tol, alpha * dual)


def _pairs(design: Design, loss: RowLoss) -> tuple[Matrix, Rows, Rows]:
    """The matrix, and for every term the row that is to score high and the one that is not."""
    base, first, second = design.differences()
    if loss.sign is not None:
        low = loss.sign < 0
        first, second = np.where(low, second, first), np.where(low, first, second)
    return base.by_rows(), first, second


def _turned(v: Array, loss: RowLoss) -> Array:
    """Duals of rows that are to score low have the other sign."""
    return v if loss.sign is None else loss.sign * v


def _first_duals(problem: Problem, loss: RowLoss, start: Solution | None) -> Array:
    """The duals of an earlier solution, those at their bound moved to the new one; else zeros."""
    if start is None or len(start.dual) != len(loss.weight):
        return np.zeros(len(loss.weight))
    before = -_turned(start.dual, loss)
    at_bound = before >= (1.0 - _AT_BOUND) * loss.weight
    with np.errstate(over="ignore"):
        duals = np.where(at_bound, loss.weight / problem.alpha, before / start.alpha)
    return np.clip(duals, 0.0, loss.weight / problem.alpha)
