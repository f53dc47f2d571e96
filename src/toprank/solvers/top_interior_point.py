"""An interior-point method for TopPush with the hinge, however ill-conditioned.

Solves   min over w, t  alpha/2 |w|^2 + sum_i p_i [1 + t - w.x_i]_+   s.t.  w.x_j <= t
by       steps between the bounds of its duals: 0 <= a_i <= p_i / alpha and delta_j >= 0, which
         sum to the same. Each delta_j is bounded by twice the sum of the bounds of a, which it
         never reaches.
Given    a Problem with a TopLoss of the hinge, of few enough features for a matrix of their square.
Returns  a Solution; its dual is alpha a on positives and alpha delta on negatives.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..inputs.class_split import Split
from ..losses import TopLoss
from ..problems import Certificate, Problem, Solution
from ._inner_path import InnerPath, follow
from .loop import Progress
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]


def top_interior_point(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 200,
    watch: Watch | None = None,
) -> Solution:
    """Solve, or better a solution that fell short; an iteration is a step inside the bounds."""
    loss, alpha = cast(TopLoss, problem.loss), problem.alpha
    first = start or Solution(np.zeros(problem.design.shape[1]), np.zeros(loss.split.n_rows))
    split, (m, n) = loss.split, (len(loss.split.pos), len(loss.split.neg))
    before = problem.certify(first.w, first.dual)
    bound = np.concatenate([split.p, np.full(n, 2.0)]) / alpha
    a = 0.5 * bound
    a[m:] = a[:m].sum() / n

    def bounds(path: InnerPath, progress: Progress) -> None:
        w = path.u[:-1]
        v = loss.join(np.minimum(alpha * path.a[:m], split.p), alpha * path.a[m:])
        reached = problem.certify(w, v)
        if reached.primal < progress.primal:
            progress.lower(reached.primal, w, -float(path.u[-1]))
        if reached.dual > progress.dual:
            progress.lift(reached.dual, v)

    rows, target = _Rows(problem.design, split), np.repeat([1.0, 0.0], [m, n])
    return follow(
        lambda: InnerPath(rows, bound, target, a),
        bounds,
        Solution(first.w, first.dual, b=first.b, solver="interior-point", alpha=alpha),
        before.primal,
        before.dual,
        close=lambda primal, dual: Certificate(primal, dual).holds(tol),
        zero=ZeroTest(problem).holds,
        watch=watch or Watch(problem.design),
        max_iter=max_iter,
    )


class _Rows:
    """(x_i, -1) of the positives, then -(x_j, -1) of the negatives; the last weight is t, free."""

    def __init__(self, design: Design, split: Split) -> None:
        self._design = design
        self._places = np.concatenate([split.pos, split.neg])
        self._sign = np.repeat([1.0, -1.0], [len(split.pos), len(split.neg)])

    def scores(self, u: Array) -> Array:
        """Z u."""
        return np.asarray(self._sign * (self._design.scores(u[:-1], self._places) - u[-1]))

    def pull_back(self, a: Array) -> Array:
        """Z'a."""
        signed = self._sign * a
        return np.append(self._design.pull_back(signed, self._places), -signed.sum())

    def matrix(self, give: Array) -> Array:
        """Z' diag(give) Z, and one for every weight but t."""
        d = self._design.shape[1]
        matrix = np.empty((d + 1, d + 1))
        matrix[:d, :d] = self._design.gram(give, self._places)
        matrix[:d, d] = matrix[d, :d] = -self._design.pull_back(give, self._places)
        matrix[d, d] = give.sum()
        np.einsum("ii->i", matrix)[:d] += 1.0
        return matrix
