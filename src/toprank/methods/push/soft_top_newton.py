"""Newton's method for the mean over the highest negatives, with smoothed weights.

Solves   min over w  alpha/2 |w|^2 + F(X w),  F(s) = max over d of F_d(s): a `TopFractionLoss`
by       the proximal method of multipliers: Newton steps on F smoothed over a width around earlier
         weights d; these are renewed and the width is narrowed once the steps converge. The system
         is solved by Cholesky's method for few features, else by conjugate gradients.
Given    a Problem whose loss is a soft top.
Returns  a Solution; its dual is the weights d of the negatives, on their rows.

The weights of the smoothed problem are dual themselves: they bound the minimum by that of
alpha/2 |w|^2 + F_d, a problem of pairs, and so by P_d(w) - |g|^2 / (2 alpha), g its gradient. With
g = 0 the gap is at most half a width, and vanishes as the weights stop changing.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ...losses import TopFractionLoss
from ...problems import Problem, Solution
from ...solvers.cost import factor_is_cheap
from ...solvers.linalg import cholesky, conjugate_gradient, descend, one_blas_thread
from ...solvers.loop import Progress, within
from ...solvers.starts import better_start
from ...solvers.watch import Watch
from ...solvers.zero_test import ZeroTest
from .soft_top import SoftTop

Array = NDArray[np.float64]

#: The first width, as a share of F(0).
_WIDEST = 0.3
#: By how much it is narrowed at a time.
_NARROWED = 5.0
#: Narrower than this share of F(0) rounding rules.
_NARROWEST = 1e-13
#: The weights are renewed once the gradient adds no more than this share to the gap they leave.
_SOLVED = 0.5
#: Steps in which the gap must fall.
_PATIENCE = 40
#: By this share.
_FALLS = 1e-3
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1
#: The most conjugate gradient iterations for a step.
_MAX_CG = 200
#: The most features for which the Hessian is formed.
_HESSIAN_FEATURES = 500
#: The Hessian is summed over this many negatives between the bounds of their weights.
_HESSIAN_ROWS = 1000.0
#: Over more of them after a step that is cut to less,
_TOO_SHORT = 0.3
#: by this factor.
_REFINEMENT = 4.0


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
        #: The weights that the smoothing starts from, as shares of their caps.
        self.centre = np.zeros(len(self.loss.caps))
        self.hessian_rows = _HESSIAN_ROWS
        self.factors = d <= _HESSIAN_FEATURES and factor_is_cheap(self.design)
        self.least = np.inf  # the smallest gap so far

    def run(self) -> Solution:
        while True:
            top = self._top(self.s)
            gradient = self.alpha * self.w + self.design.pull_back(top.slope)
            lacks = self._note(top, gradient)
            # What has to fall, step by step, is the gap or the width.
            if self.progress.over(min(self.least, self.progress.gap) + self.width):
                self.progress.best.gave_up = not self.progress.best.converged
                return self.progress.best
            if float(gradient @ gradient) <= _SOLVED * lacks * 2.0 * self.alpha:
                if self.width <= _NARROWEST * self.loss.at_zero:
                    self.progress.stuck = True
                    continue
                self.centre = top.d / self.loss.caps
                self.width /= _NARROWED
                top = self._top(self.s)
                gradient = self.alpha * self.w + self.design.pull_back(top.slope)
            self.progress.stuck = not self._advance(top, gradient, lacks)

    def _top(self, s: Array) -> SoftTop:
        return SoftTop(self.loss, s, self.width, self.centre)

    def _note(self, top: SoftTop, gradient: Array) -> float:
        """Keep the point, or w = 0 in its place, and the weights, where their gap is the least.

        Return how far the weights are below the worst case; the width where that is not known.
        """
        loss, design, progress = self.loss, self.design, self.progress
        v = np.zeros(design.shape[0])
        v[loss.split.neg] = top.d
        penalty = self.problem.penalty(self.w)
        weighed = loss.weighing(loss.highest(self.s))
        if self.w.any() and penalty + weighed.rise(self.s) < 0.0:
            worst = weighed.value(self.s)
            lacks = max(worst - loss.weighing(top.d).value(self.s), 0.0)
            value = penalty + worst
            gap = float(gradient @ gradient) / (2.0 * self.alpha) + lacks
            w = self.w.copy()
        else:
            at_zero = 2.0 * v
            at_zero[loss.split.pos] = -2.0 * loss.split.p
            pull = design.pull_back(at_zero)
            value, gap, w = loss.at_zero, float(pull @ pull) / (2.0 * self.alpha), 0.0 * self.w
            lacks = self.width
        if gap < self.least or (w.any() and not progress.best.w.any()):
            self.least = gap
            progress.lower(value, w)
            progress.lift(max(value - gap, 0.0), v)
        return lacks

    def _advance(self, top: SoftTop, gradient: Array, lacks: float) -> bool:
        """Take a Newton step as far as it descends; False where it does not."""
        dw = self._step(top, gradient, lacks)
        ds = self.design.scores(dw)
        linear, square = self.alpha * float(self.w @ dw), self.alpha * float(dw @ dw)

        def slope_at(theta: float) -> float:
            moved = self._top(self.s + theta * ds)
            return linear + theta * square + float(moved.slope @ ds)

        theta = descend(slope_at, float(gradient @ dw), _LINE_SEARCH, np.inf)
        if not theta > 0.0 or not np.isfinite(dw).all():
            return False
        self.hessian_rows *= _REFINEMENT if theta < _TOO_SHORT else 1.0
        self.w = self.w + theta * dw
        self.s = self.design.scores(self.w)
        return True

    def _step(self, top: SoftTop, gradient: Array, lacks: float) -> Array:
        if self.factors:
            hessian = np.asfortranarray(top.hessian(self.design, self.hessian_rows))
            lift = np.maximum(hessian.diagonal(), 0.0) + self.alpha
            np.einsum("ii->i", hessian)[:] += self.alpha
            factor = cholesky(hessian, lift)
            if factor is not None:
                return np.asarray(dpotrs(factor, -gradient, lower=1)[0])

        def product(direction: Array) -> tuple[Array, float]:
            pulled = self.design.pull_back(top.bend(self.design.scores(direction))[:, 0])
            return self.alpha * direction + pulled, 0.0

        size = float(np.linalg.norm(gradient))
        enough = max(0.05 * size, 0.3 * np.sqrt(2.0 * self.alpha * _SOLVED * lacks))
        return conjugate_gradient(product, -gradient, enough=enough, max_iter=_MAX_CG)[0]
