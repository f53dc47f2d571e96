"""Dual coordinate descent for a hinge on pairs and points.

Solves   min over w  alpha/2 |w|^2 + sum_q c_q [1 - w.z_q]_+,   z_q = x_first - x_second
by       exact steps on one dual a_q in [0, c_q / alpha] at a time, in random order, with
         w = sum_q a_q z_q at hand; duals that are sure to stay at an end are left out, until a
         look at all pairs finds the gap too wide.
Given    a Problem of a PairDesign, over a matrix in memory, with a PointLoss.
Returns  a Solution whose dual vector is v = -alpha a.

The epochs are those of the compiled `PairDescent`, from one look at the gap to the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._core import PairDescent
from ..designs import MemoryDesign, PairDesign
from ..losses import PointLoss
from ..problem import Problem, Solution
from ..watch import Watch

Array = NDArray[np.float64]

#: A dual this near to its bound, relatively, is at it: the scale of alpha came and went.
_AT_BOUND = 1e-12


def pair_descent(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a problem of pairs and points with a hinge; an iteration is an epoch."""
    design, loss, alpha = problem.design, problem.loss, problem.alpha
    if not isinstance(design, PairDesign) or not isinstance(loss, PointLoss):
        raise TypeError("This solver needs pairs with a hinge: a PairDesign and a PointLoss.")
    if not isinstance(design.base, MemoryDesign):
        raise TypeError("Coordinate descent reads rows at random: the matrix must be in memory.")
    watch = watch or Watch(design)
    core = PairDescent(design.base.by_rows(), seed)
    core.add(design.first, design.second, loss.weight / alpha, _first_duals(problem, loss, start))
    epochs = read = 0
    converged = stopped = False
    while not (converged or stopped) and epochs < max_iter:
        more, primal, dual = core.solve(tol, max_iter - epochs, max_checks=1)
        epochs += more
        design.entries_read += core.entries_read - read
        read = core.entries_read
        converged = primal - dual <= tol * primal
        stopped = watch(epochs, alpha * primal, alpha * dual, lambda: core.weights)
    return Solution(
        w=core.weights,
        # alpha times what was divided by it may be a rounding too much
        dual=np.maximum(-alpha * core.duals, -loss.weight),
        n_iter=epochs,
        converged=converged,
        solver="pair-descent",
        alpha=alpha,
    )


def _first_duals(problem: Problem, loss: PointLoss, start: Solution | None) -> Array:
    """The duals of an earlier solution, those at their bound moved to the new one; else zeros."""
    if start is None or len(start.dual) != len(loss.weight):
        return np.zeros(len(loss.weight))
    at_bound = -start.dual >= (1.0 - _AT_BOUND) * loss.weight
    with np.errstate(over="ignore"):
        duals = np.where(at_bound, loss.weight / problem.alpha, -start.dual / start.alpha)
    return np.clip(duals, 0.0, loss.weight / problem.alpha)
