"""An interior-point method for a hinge on rows of few features, however ill-conditioned.

Solves   min over w  alpha/2 |w|^2 + sum_q c_q [1 - w.z_q]_+
by       steps between the bounds of its duals, 0 <= a <= c / alpha.
Given    a Problem with a PointLoss, of few enough features for that matrix.
Returns  a Solution whose dual vector is v = -alpha a.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..losses import PointLoss
from ..problem import Problem, Solution
from ..watch import Watch
from ._common import one_blas_thread
from ._inner_path import InnerPath

Array = NDArray[np.float64]

#: Steps in which the products must fall: arithmetic may have no more digits to give.
PATIENCE = 10


def interior_point(
    problem: Problem, *, tol: float = 1e-3, max_iter: int = 200, watch: Watch | None = None
) -> Solution:
    """Solve a problem with a hinge on every row; an iteration is a step inside the bounds."""
    loss, alpha = problem.loss, problem.alpha
    if not isinstance(loss, PointLoss):
        raise TypeError(f"This solver needs a PointLoss; {type(loss).__name__} is another loss.")
    watch = watch or Watch(problem.design)
    best = Solution(np.zeros(problem.design.shape[1]), np.zeros(len(loss.weight)), alpha=alpha)
    best.solver = "interior-point"
    rows = np.flatnonzero(loss.weight)
    points, bound = _Points(problem.design, rows), loss.weight[rows] / alpha
    primal, dual, gap, moved = loss.at_zero / alpha, 0.0, np.inf, 0
    with one_blas_thread(), np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        path = InnerPath(points, bound, np.ones(len(rows)), 0.5 * bound)
        for best.n_iter in range(max_iter + 1):
            path.look()
            w, pull = path.u, points.pull_back(path.a)
            reached = 0.5 * float(w @ w) + float(bound @ np.maximum(1.0 - path.margin, 0.0))
            if reached < primal:
                primal, best.w = reached, w
            proven = float(path.a.sum()) - 0.5 * float(pull @ pull)
            if proven > dual:
                dual, best.dual = proven, np.zeros(len(loss.weight))
                best.dual[rows] = np.maximum(-alpha * path.a, -loss.weight[rows])
            best.converged = primal - dual <= tol * primal
            if watch(best.n_iter, alpha * primal, alpha * dual, lambda: best.w):
                break
            if path.gap < 0.99 * gap:
                gap, moved = path.gap, best.n_iter
            stuck = best.n_iter - moved >= PATIENCE
            if best.converged or stuck or best.n_iter == max_iter or not path.step():
                break
    return best


class _Points:
    """The rows that weigh something."""

    def __init__(self, design: Design, rows: NDArray[np.int64]) -> None:
        self._design, self._rows = design, rows

    def scores(self, u: Array) -> Array:
        """Z u."""
        return self._design.scores(u, self._rows)

    def pull_back(self, a: Array) -> Array:
        """Z'a."""
        return self._design.pull_back(a, self._rows)

    def matrix(self, give: Array) -> Array:
        """I + Z' diag(give) Z."""
        matrix = self._design.gram(give, self._rows)
        np.einsum("ii->i", matrix)[:] += 1.0
        return matrix
