"""Newton's method for a smooth sum over rows, with a free threshold or without one.

Solves   min over w, b  alpha/2 |w|^2 + sum_r f_r(w.x_r + b)
by       Newton steps in w, with b eliminated, and a line search on the scores. The linear system
         is solved by Cholesky's method where that is cheap, else by conjugate gradients.
Given    a Problem with a RowSum, smooth and finite everywhere.
Returns  a Solution; its dual is v_r = f_r'(s_r + b), b the best for the scores if it is free, so
         that v sums to zero.

With those duals the gap is |g|^2 / (2 alpha), g the gradient in w. For piecewise quadratic losses
the last step lands on the solution itself. But such losses have no curvature left once most rows
are where they should be, and a step goes astray. There it follows rough solutions at decreasing
alphas; on wide data from the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ..designs import Design
from ..losses import RowSum
from ..problems import Problem, Solution
from .cost import factor_is_cheap
from .linalg import cholesky, conjugate_gradient, descend, one_blas_thread
from .loop import Progress, within
from .row_hessians import Hessian
from .starts import better_than_zero
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]

#: Steps in which the gap must fall.
_PATIENCE = 30
#: By this share.
_FALLS = 1e-3
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1
#: The most conjugate gradient iterations for a step.
_MAX_CG = 250
#: The share of the gradient that they may always leave.
_CG_RESIDUAL = 0.3
#: The alpha that an easier way begins with, as a share of a row's squared length.
_EASED = 1e-3
#: By how much that alpha is lowered at a time.
_LOWERED = 4.0
#: The relative gap to reach before it is lowered.
_EASED_TOL = 0.1
#: A step of which less than this is left went astray.
_ASTRAY = 0.1
#: A share of a step that is none.
_NO_STEP = 1e-30
#: Within this share of F(0) the rise above it is computed for itself: rounding would drown it.
_NEAR_ZERO = 1e-3


def newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a smooth sum over rows by Newton's method."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return _Newton(problem, start, tol, max_iter, watch or Watch(problem.design)).run()


@dataclass
class _Point:
    """Weights, the best threshold for them, and the scores in the loss's own order."""

    w: Array
    b: float
    s: Array


class _Newton:
    def __init__(
        self, problem: Problem, start: Solution | None, tol: float, max_iter: int, watch: Watch
    ) -> None:
        self.problem, self.tol = problem, tol
        self.loss, self.design = cast(RowSum, problem.loss), problem.design
        self.order, self.alpha = self.loss.order, problem.alpha
        self.hessian = Hessian(self.design) if factor_is_cheap(self.design) else None
        self.zero = ZeroTest(problem)
        n, d = self.design.shape
        self.progress = Progress(
            Solution(np.zeros(d), np.zeros(n), solver="newton", alpha=self.alpha),
            self.loss.at_zero,
            self.loss.infimum,
            close=within(tol, self.loss.unit),
            zero=self.zero.holds,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=_FALLS,
        )
        self.rise = 0.0  # what the best point is above w = 0
        #: The alpha of the next step.
        self.eased = self.alpha if self.hessian is not None else self._easy
        self.was_eased = self.hessian is None
        self.at = self._begin(start)
        self.steepest = 0.0  # the largest gradient so far

    def _begin(self, start: Solution | None) -> _Point:
        """The earlier solution where it is better than w = 0, else that."""
        n, d = self.design.shape
        if start is not None and len(start.w) == d and start.w.any():
            s = self.design.scores(start.w, self.order)
            b = self.loss.best_bias_at(s, start.b)
            if better_than_zero(self.problem, start.w, s, b):
                self.eased = max(self.alpha, min(self.eased, start.alpha))
                return _Point(start.w.copy(), b, s)
        s = np.zeros(n if self.order is None else len(self.order))
        return _Point(np.zeros(d), self.loss.zero_bias, s)

    def run(self) -> Solution:
        while True:
            gradient = self._bound(self.at)
            if self.progress.over():
                return self.progress.best
            self.progress.stuck = not self._advance(gradient)

    def _bound(self, at: _Point) -> Array:
        """Better bounds from this point, its b the best; returns the gradient in w."""
        penalty = 0.5 * self.alpha * float(at.w @ at.w)
        primal = penalty + self.loss.value_at(at.s, at.b)
        rise, error = primal - self.loss.at_zero, 0.0
        if near_zero := abs(rise) < _NEAR_ZERO * max(self.loss.at_zero, self.loss.unit):
            rise, error = self.loss.rise_at(at.s, at.b)
            rise += penalty
            primal = self.loss.at_zero + rise
        better = rise < self.rise if near_zero else primal < self.progress.primal
        if rise < -error and better:
            self.rise = rise
            self.progress.lower(primal, at.w, at.b)
        v = self.loss.dual_at(at.s, at.b)
        gradient = self.alpha * at.w + _pull_back(self.design, v)
        dual = primal - float(gradient @ gradient) / (2.0 * self.alpha)
        if dual > self.progress.dual:
            self.progress.lift(dual, v)
        return gradient

    def _advance(self, gradient: Array) -> bool:
        """Take a Newton step as far as it descends; False where it does not."""
        at, loss = self.at, self.loss
        gradient = self._ease(gradient)
        curvature = self._by_rows(loss.curvature_at(at.s, at.b))
        if self.hessian is not None:
            gram, border = self.hessian.at(curvature)
            dw, db = self._factored_step(gram, border, float(curvature.sum()), gradient)
        else:
            dw, db = self._conjugate_step(curvature, gradient)
        ds = self.design.scores(dw, self.order)
        linear, square = self.eased * float(at.w @ dw), self.eased * float(dw @ dw)

        # With the best b at every point: a b that only followed the line would hold w back. Most
        # steps need no search, and are taken whole without looking for it.
        def slope_at(theta: float, turn: float = 0.0) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                s = at.s + theta * ds
                b = at.b + theta * turn if turn else loss.best_bias_at(s, at.b)
                v = loss.slope_at(s, b)
                rise = float(v @ ds) + (turn * float(v.sum()) if turn else 0.0)
            return linear + theta * square + rise

        slope = float(gradient @ dw)
        whole = db != 0 and abs(slope_at(1.0, db)) <= _LINE_SEARCH * abs(slope)
        theta = 1.0 if whole and slope < 0 else descend(slope_at, slope, _LINE_SEARCH, np.inf)
        if theta < _ASTRAY and not self.was_eased:
            self.eased, self.was_eased = self._easy, True
        while theta > _NO_STEP:
            s = at.s + theta * ds
            b = loss.best_bias_at(s, at.b + theta * db)
            if np.isfinite(loss.value_at(s, b)):
                self.at = _Point(at.w + theta * dw, b, s)
                return True
            # An exponential overflowed, of a row that weighs so little that no slope told of it.
            theta *= 0.1
        return False

    def _by_rows(self, x: Array) -> Array:
        """What the loss has in its own order, one entry for every row of the matrix."""
        if self.order is None:
            return x
        full = np.zeros(self.design.shape[0])
        full[self.order] = x
        return full

    @property
    def _easy(self) -> float:
        """An alpha at which a step from anywhere is a good one."""
        return max(self.alpha, _EASED * self.zero.typical**2)

    def _ease(self, gradient: Array) -> Array:
        """Lower the alpha of the next step as far as this point allows; the gradient with it."""
        at, alpha = self.at, self.alpha
        while self.eased > alpha:
            eased = gradient + (self.eased - alpha) * at.w
            value = 0.5 * self.eased * float(at.w @ at.w) + self.loss.value_at(at.s, at.b)
            if float(eased @ eased) > 2.0 * self.eased * _EASED_TOL * self.problem.size_of(value):
                return eased
            self.eased = max(self.eased / _LOWERED, alpha)
        return gradient

    def _factored_step(
        self, gram: Array, border: Array, total: float, gradient: Array
    ) -> tuple[Array, float]:
        """The Newton step by a Cholesky factor of the Hessian in w that is left without b."""
        total = max(total, 1e-300)
        with np.errstate(invalid="ignore", over="ignore"):  # then there is no factor
            matrix = gram - np.outer(border, border / total) if self.loss.free_bias else gram.copy()
            np.einsum("ii->i", matrix)[:] += self.eased
            factor = cholesky(matrix.T, gram.diagonal())
        if factor is None:
            raise FloatingPointError("The Hessian overflowed: scale the features, or raise alpha.")
        dw = dpotrs(factor, -gradient, lower=1)[0]
        return dw, -float(border @ dw) / total if self.loss.free_bias else 0.0

    def _conjugate_step(self, curvature: Array, gradient: Array) -> tuple[Array, float]:
        """The Newton step by conjugate gradients, as near as the gradient calls for."""
        rows = np.flatnonzero(curvature)
        c, total = curvature[rows], max(float(curvature.sum()), 1e-300)
        # Halfway, in logarithms, between the diagonal, which helps features of unlike units, and
        # none, which is better where columns differ by their number of entries.
        diagonal = self.design.gram_diagonal(c, rows)
        scale = self.eased + np.sqrt(diagonal * diagonal.max())
        size = float(np.linalg.norm(gradient))
        self.steepest = max(self.steepest, size)
        share = min(_CG_RESIDUAL, np.sqrt(size / self.steepest))
        # The gap is |g|^2 / (2 alpha): a residual well within tol needs no more.
        tol = self.tol if self.eased == self.alpha else _EASED_TOL
        least = 2.0 * self.eased * tol * self.problem.size_of(self.progress.primal)
        enough = max(share * size, 0.3 * np.sqrt(least))

        def product(direction: Array) -> tuple[Array, float]:
            t = self.design.scores(direction, rows)
            center = float(c @ t) / total if self.loss.free_bias else 0.0
            pulled = self.design.pull_back(c * (t - center), rows)
            return self.eased * direction + pulled, center

        dw, mean = conjugate_gradient(
            product, -gradient, enough=enough, max_iter=_MAX_CG, scale=scale
        )
        return dw, -mean


def _pull_back(design: Design, v: Array) -> Array:
    """X'v, reading no row where v is zero."""
    rows = np.flatnonzero(v)
    return design.pull_back(v) if len(rows) == len(v) else design.pull_back(v[rows], rows)
