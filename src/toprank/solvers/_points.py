"""What the solvers of a hinge on pairs and points share."""

from __future__ import annotations

import numpy as np

from ..designs import PairDesign
from ..losses import PointLoss
from ..problem import Problem, Solution

#: The pull of all pairs on w = 0 vanishes if it is this share of what a middling one has.
_NO_PULL = 1e-12


def points_of(problem: Problem) -> tuple[PairDesign, PointLoss]:
    """The problem's parts, which must be pairs and a hinge."""
    if not isinstance(problem.design, PairDesign) or not isinstance(problem.loss, PointLoss):
        raise TypeError("This solver needs pairs with a hinge: a PairDesign and a PointLoss.")
    return problem.design, problem.loss


def settle(problem: Problem, solution: Solution, tol: float, dual: float) -> Solution:
    """Put w = 0 in place of a solution, of that dual value, if w = 0 is the optimum.

    Where the dual value says that w = 0 may be as good as any, only a proof tells a trivial
    optimum from a fit that has hardly begun.
    """
    design, loss = points_of(problem)
    zero = not solution.w.any()
    if zero or dual >= (1.0 - tol) * loss.at_zero:
        solution.converged = solution.converged and not zero
        if _no_pull(design, loss):
            solution.w, solution.dual = np.zeros(design.shape[1]), -loss.weight
            solution.converged = True
    return solution


def _no_pull(design: PairDesign, loss: PointLoss) -> bool:
    """Whether sum_q c_q z_q = 0, but for rounding: then w = 0 is the optimum at any alpha."""
    rows = np.flatnonzero(loss.weight)
    norms = np.sqrt(np.append(design.base.squared_norms(), 0.0))  # -1 is the last place
    lengths = norms[design.first[rows]] + norms[design.second[rows]]
    if not lengths.any():
        return True
    pull = design.pull_back(loss.weight[rows], rows)
    # A single huge row says nothing of how far apart the others are, but its rounding counts.
    middling = float(np.median(lengths[lengths > 0]))
    rounding = 4.0 * np.finfo(np.float64).eps * float(loss.weight[rows] @ lengths)
    return bool(np.linalg.norm(pull) <= _NO_PULL * loss.at_zero * middling + rounding)
