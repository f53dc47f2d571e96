"""Newton's method for the mean over the highest negatives, by ever narrower bends.

Solves   min over w  alpha/2 |w|^2 + F(X w),  F(s) = max over d of F_d(s): a `TopFractionLoss`
by       Newton steps on F rounded off over a width, which is narrowed as the steps get near. The
         system is solved by Cholesky's method for few features, else by conjugate gradients.
Given    a Problem whose loss is a soft top.
Returns  a Solution; its dual is the weights d of the negatives, on their rows.

The weights of the rounded-off problem are dual themselves: they bound the minimum by that of
alpha/2 |w|^2 + F_d, a problem of pairs, and so by P_d(w) - |g|^2 / (2 alpha), g its gradient. With
g = 0 no more than half a width is missing.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ..history import Watch
from ..losses import TopFractionLoss
from ..problem import Problem, Solution
from ._soft_top import SoftTop
from .blas import one_blas_thread
from .cholesky import cholesky
from .conjugate_gradient import conjugate_gradient
from .line_search import descend
from .loop import Progress, within
from .starts import better_start
from .zero_test import ZeroTest

Array = NDArray[np.float64]

#: The first width, as a share of F(0).
_WIDEST = 0.3
#: By how much it is narrowed at a time.
_NARROWED = 5.0
#: Narrower than this share of F(0) rounding rules.
_NARROWEST = 1e-13
#: The rounded-off problem is solved to this share of its width before that is narrowed.
_SOLVED = 0.1
#: Steps in which the gap must fall.
_PATIENCE = 40
#: By this share.
_FALLS = 1e-3
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1
#: Entries of the matrix, and features, up to which the Hessian is formed.
_DENSE_ENTRIES, _DENSE_FEATURES = 2_000_000, 300
#: The most conjugate gradient iterations for a step.
_MAX_CG = 200


def soft_top_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a soft top by Newton's method."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return _SoftTopNewton(problem, start, tol, max_iter, watch or Watch(problem.design)).run()


class _SoftTopNewton:
    def __init__(
        self, problem: Problem, start: Solution | None, tol: float, max_iter: int, watch: Watch
    ) -> None:
        self.problem, self.design, self.alpha = problem, problem.design, problem.alpha
        self.loss = cast(TopFractionLoss, problem.loss)
        self.zero = ZeroTest(problem)
        n, d = self.design.shape
        self.tol = tol
        self.progress = Progress(
            Solution(np.zeros(d), np.zeros(n), solver="soft-top-newton", alpha=self.alpha),
            self.loss.at_zero,
            0.0,
            close=within(tol),
            zero=self.zero.holds,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=_FALLS,
        )
        begin = better_start(problem, start)
        self.w, self.s = (np.zeros(d), np.zeros(n)) if begin is None else begin
        self.width = _WIDEST * self.loss.at_zero
        if begin is not None:
            self.width = max(tol, 1e-3) * self.loss.at_zero
        dense = n * d <= _DENSE_ENTRIES and d <= _DENSE_FEATURES
        self.rows = self.design.take(np.arange(n)) if dense else None
        self.least = np.inf  # the smallest gap so far

    def run(self) -> Solution:
        while True:
            top = SoftTop(self.loss, self.s, self.width)
            gradient = self.alpha * self.w + self.design.pull_back(top.slope)
            self._note(top, gradient)
            # What has to fall, step by step, is the gap or the width.
            if self.progress.over(min(self.least, self.progress.gap) + self.width):
                self.progress.best.gave_up = not self.progress.best.converged
                return self.progress.best
            if float(gradient @ gradient) <= _SOLVED * self.width * 2.0 * self.alpha:
                if self.width <= _NARROWEST * self.loss.at_zero:
                    self.progress.stuck = True
                    continue
                self.width /= _NARROWED
                top = SoftTop(self.loss, self.s, self.width)
                gradient = self.alpha * self.w + self.design.pull_back(top.slope)
            self.progress.stuck = not self._advance(top, gradient)

    def _note(self, top: SoftTop, gradient: Array) -> None:
        """Keep the point, or w = 0 in its place, and the weights, where their gap is the least."""
        loss, design, progress = self.loss, self.design, self.progress
        v = np.zeros(design.shape[0])
        v[loss.split.neg] = top.d
        penalty = self.problem.penalty(self.w)
        weighed = loss.weighing(loss.highest(self.s))
        if self.w.any() and penalty + weighed.rise(self.s) < 0.0:
            value = penalty + weighed.value(self.s)
            gap = float(gradient @ gradient) / (2.0 * self.alpha)
            gap += max(weighed.value(self.s) - loss.weighing(top.d).value(self.s), 0.0)
            w = self.w.copy()
        else:
            at_zero = 2.0 * v
            at_zero[loss.split.pos] = -2.0 * loss.split.p
            pull = design.pull_back(at_zero)
            value, gap, w = loss.at_zero, float(pull @ pull) / (2.0 * self.alpha), 0.0 * self.w
        if gap < self.least or (w.any() and not progress.best.w.any()):
            self.least = gap
            progress.lower(value, w)
            progress.lift(max(value - gap, 0.0), v)

    def _advance(self, top: SoftTop, gradient: Array) -> bool:
        """Take a Newton step as far as it descends; False where it does not."""
        dw = self._step(top, gradient)
        ds = self.design.scores(dw)
        linear, square = self.alpha * float(self.w @ dw), self.alpha * float(dw @ dw)

        def slope_at(theta: float) -> float:
            moved = SoftTop(self.loss, self.s + theta * ds, self.width)
            return linear + theta * square + float(moved.slope @ ds)

        theta = descend(slope_at, float(gradient @ dw), _LINE_SEARCH, np.inf)
        if not theta > 0.0 or not np.isfinite(dw).all():
            return False
        self.w = self.w + theta * dw
        self.s = self.design.scores(self.w)
        return True

    def _step(self, top: SoftTop, gradient: Array) -> Array:
        if self.rows is not None:
            hessian = np.asfortranarray(self.rows.T @ top.bend(self.rows))
            lift = np.maximum(hessian.diagonal(), 0.0) + self.alpha
            np.einsum("ii->i", hessian)[:] += self.alpha
            factor = cholesky(hessian, lift)
            if factor is not None:
                return np.asarray(dpotrs(factor, -gradient, lower=1)[0])

        def product(direction: Array) -> tuple[Array, float]:
            pulled = self.design.pull_back(top.bend(self.design.scores(direction))[:, 0])
            return self.alpha * direction + pulled, 0.0

        size = float(np.linalg.norm(gradient))
        enough = max(0.05 * size, 0.3 * np.sqrt(2.0 * self.alpha * _SOLVED * self.width))
        return conjugate_gradient(product, -gradient, enough=enough, max_iter=_MAX_CG)[0]
