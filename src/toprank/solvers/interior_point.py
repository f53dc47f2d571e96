"""An interior-point method for a hinge on rows of few features, however ill-conditioned.

Solves   min over w  alpha/2 |w|^2 + sum_q c_q [1 - w.z_q]_+
by       steps between the bounds of its duals, 0 <= a <= c / alpha.
Given    a Problem with a RowLoss of the hinge, of few enough features for a matrix of their square;
         z_q is x_q, or -x_q where the row is to score low.
Returns  a Solution whose dual vector is v_q = -alpha a_q, or alpha a_q.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..losses import RowLoss
from ..problems import Problem, Solution
from ._inner_path import InnerPath, follow
from .loop import Progress, within
from .watch import Watch
from .zero_test import settle

Array = NDArray[np.float64]


def interior_point(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 200,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a hinge on every row; an iteration is a step inside the bounds.

    Where rounding ends it early, `start` may have the better weights, or the better dual vector.
    """
    best = _from_inside(problem, tol, max_iter, watch or Watch(problem.design))
    reached = problem.certify(best.w, best.dual)
    dual = reached.dual
    if start is not None and not reached.holds(tol):
        before = problem.certify(start.w, start.dual)
        if before.primal < reached.primal:
            best.w = start.w
        if before.dual > dual:
            best.dual, dual = start.dual, before.dual
    return settle(problem, best, tol, dual)


def _from_inside(problem: Problem, tol: float, max_iter: int, watch: Watch) -> Solution:
    loss, alpha = cast(RowLoss, problem.loss), problem.alpha
    rows = np.flatnonzero(loss.weight)
    sign = None if loss.sign is None else loss.sign[rows]
    points, bound = _Points(problem.design, rows, sign), loss.weight[rows] / alpha
    n, d = problem.design.shape

    def bounds(path: InnerPath, progress: Progress) -> None:
        w, pull = path.u, points.pull_back(path.a)
        primal = 0.5 * float(w @ w) + float(bound @ np.maximum(1.0 - path.margin, 0.0))
        if alpha * primal < progress.primal:
            progress.lower(alpha * primal, w)
        dual = float(path.a.sum()) - 0.5 * float(pull @ pull)
        if alpha * dual > progress.dual:
            v = np.zeros(n)
            v[rows] = points.signed(np.maximum(-alpha * path.a, -loss.weight[rows]))
            progress.lift(alpha * dual, v)

    return follow(
        lambda: InnerPath(points, bound, np.ones(len(rows)), 0.5 * bound),
        bounds,
        Solution(np.zeros(d), np.zeros(n), solver="interior-point", alpha=alpha),
        loss.at_zero,
        0.0,
        close=within(tol),
        watch=watch,
        max_iter=max_iter,
    )


class _Points:
    """The rows that weigh something, those that are to score low turned round."""

    def __init__(self, design: Design, rows: NDArray[np.int64], sign: Array | None) -> None:
        self._design, self._rows, self._sign = design, rows, sign

    def signed(self, x: Array) -> Array:
        """x, turned round with the rows."""
        return x if self._sign is None else self._sign * x

    def scores(self, u: Array) -> Array:
        """Z u."""
        return self.signed(self._design.scores(u, self._rows))

    def pull_back(self, a: Array) -> Array:
        """Z'a."""
        return self._design.pull_back(self.signed(a), self._rows)

    def matrix(self, give: Array) -> Array:
        """I + Z' diag(give) Z."""
        matrix = self._design.gram(give, self._rows)
        np.einsum("ii->i", matrix)[:] += 1.0
        return matrix
