"""Newton's method for a smooth loss with a threshold of its own.

Solves   min over w, b  alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j h(w.x_j + b)
by       Newton steps in w, with b eliminated, and a line search on the scores. The linear system
         is solved by Cholesky's method where that is cheap, else by conjugate gradients.
Given    a Problem with a ThresholdLoss, l and h smooth and finite everywhere.
Returns  a Solution; its dual is a_i = p_i l'(-(s_i + b)) on positives, delta_j = q_j h'(s_j + b)
         on negatives, b the best for the scores, so that their sums agree.

With those duals the gap is |g|^2 / (2 alpha), g the gradient in w. For piecewise quadratic losses
the last step lands on the solution itself. But such losses have no curvature left once most rows
are where they should be, and a step goes astray. There it follows rough solutions at decreasing
alphas; on wide data from the beginning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ..designs import Design
from ..losses import ThresholdLoss
from ..problem import Problem, Solution
from ..watch import Watch
from ._common import Point, ZeroTest, better_than_zero, cholesky, descend, one_blas_thread
from ._hessian import Hessian

Array = NDArray[np.float64]

#: Steps in which the gap must fall: arithmetic may have no more digits to give.
_PATIENCE = 30
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1
#: The most conjugate gradient iterations for a step, and the residual they may always leave.
_MAX_CG, _CG_RESIDUAL = 250, 0.3
#: Cholesky's method is used up to this many features, and up to the work of these many passes.
_MOST_FEATURES, _MOST_PASSES = 3000, 120
#: What costs as much as reading an entry: terms of a Gram matrix, operations of a factorisation.
_GRAM_TERMS, _FACTOR_OPERATIONS = 5, 20
#: The alpha that way begins with, as a share of a row's squared length; how much it is lowered at
#: a time, and the relative gap to reach first; the share of a step that shows it went astray.
_EASED, _LOWERED, _EASED_TOL, _ASTRAY = 1e-3, 4.0, 0.1, 0.1
#: A share of a step that is none.
_NO_STEP = 1e-30
#: Within this share of F(0) the rise above it is computed for itself: rounding would drown it.
_NEAR_ZERO = 1e-3
#: Below this much work a factorisation always beats a Python loop.
_LITTLE_WORK = 3e6


def newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a smooth threshold loss by Newton's method."""
    with one_blas_thread():
        return _Newton(problem, start, tol, watch or Watch(problem.design)).run(max_iter)


def smooth_loss(problem: Problem) -> ThresholdLoss:
    """The problem's loss, which must be smooth and without a wall."""
    loss = problem.loss
    if not isinstance(loss, ThresholdLoss):
        raise TypeError(f"This solver needs a ThresholdLoss; {type(loss).__name__} is another.")
    for side in (loss.surrogate, loss.negatives):
        if not (side.smooth and np.isinf(side.ceiling)):
            raise TypeError(
                f"This solver needs smooth losses, finite everywhere; {side.name} is not."
            )
    return loss


class _Newton:
    def __init__(self, problem: Problem, start: Solution | None, tol: float, watch: Watch) -> None:
        self.problem, self.tol, self.watch = problem, tol, watch
        self.loss, self.design, self.alpha = smooth_loss(problem), problem.design, problem.alpha
        self.split = self.loss.split
        self.primal, self.rise, self.dual = self.loss.at_zero, 0.0, self.loss.infimum
        self.best_w, self.best_b = np.zeros(self.design.shape[1]), 0.0
        self.best_v = np.zeros(self.split.n_rows)
        self.hessian = Hessian(self.design) if _factor_is_cheap(self.design) else None
        self.zero = ZeroTest(problem)
        #: The alpha of the next step.
        self.eased = self.alpha if self.hessian is not None else self._easy
        self.was_eased = self.hessian is None
        self.at = self._begin(start)
        self.steepest = 0.0  # the largest gradient so far

    def _begin(self, start: Solution | None) -> Point:
        """The earlier solution where it is better than w = 0, else that."""
        pos, neg = self.split.pos, self.split.neg
        if start is not None and len(start.w) == self.design.shape[1] and start.w.any():
            s_pos, s_neg = self.design.scores(start.w, pos), self.design.scores(start.w, neg)
            at = Point(start.w.copy(), self.loss.best_bias(s_pos, s_neg, start.b), s_pos, s_neg)
            if better_than_zero(self.problem, at):
                self.eased = max(self.alpha, min(self.eased, start.alpha))
                return at
        return Point(np.zeros(self.design.shape[1]), 0.0, np.zeros(len(pos)), np.zeros(len(neg)))

    def run(self, max_iter: int) -> Solution:
        converged = stuck = False
        gap, moved = np.inf, 0
        for iteration in range(max_iter + 1):
            gradient = self._bound(self.at)
            stopped = self.watch(iteration, self.primal, self.dual, lambda: self.best_w)
            converged = self.primal - self.dual <= self.tol * self.primal and (
                bool(self.best_w.any()) or self.zero.holds()
            )
            if self.primal - self.dual < (1.0 - 1e-3) * gap:
                gap, moved = self.primal - self.dual, iteration
            stuck = stuck or iteration - moved >= _PATIENCE
            if converged or stopped or stuck or iteration == max_iter:
                break
            stuck = not self._advance(gradient)
        return Solution(
            w=self.best_w,
            dual=self.best_v,
            b=self.best_b,
            n_iter=iteration,
            converged=converged,
            solver="newton",
            alpha=self.alpha,
        )

    def _bound(self, at: Point) -> Array:
        """Better bounds from this point, its b the best; returns the gradient in w."""
        penalty = 0.5 * self.alpha * float(at.w @ at.w)
        primal = penalty + self.loss.level(at.s_pos, at.s_neg, at.b)
        rise, error = primal - self.loss.at_zero, 0.0
        if near_zero := abs(rise) < _NEAR_ZERO * self.loss.at_zero:
            rise, error = self.loss.rise(at.s_pos, at.s_neg, at.b)
            rise += penalty
            primal = self.loss.at_zero + rise
        if rise < -error and (rise < self.rise if near_zero else primal < self.primal):
            self.rise, self.primal, self.best_w, self.best_b = rise, primal, at.w, at.b
        v = self.loss.join(
            self.split.p * self.loss.surrogate.slope(-(at.s_pos + at.b)),
            self.split.q * self.loss.negatives.slope(at.s_neg + at.b),
        )
        gradient = self.alpha * at.w + _pull_back(self.design, v)
        dual = primal - float(gradient @ gradient) / (2.0 * self.alpha)
        if dual > self.dual:
            self.dual, self.best_v = dual, v
        return gradient

    def _advance(self, gradient: Array) -> bool:
        """Take a Newton step as far as it descends; False where it does not."""
        at, split = self.at, self.split
        gradient = self._ease(gradient)
        curvature = self.loss.curvature(at.s_pos, at.s_neg, at.b)
        if self.hessian is not None:
            gram, border = self.hessian.at(curvature)
            dw, db = self._factored_step(gram, border, float(curvature.sum()), gradient)
        else:
            dw, db = self._conjugate_step(curvature, gradient)
        ds_pos, ds_neg = self.design.scores(dw, split.pos), self.design.scores(dw, split.neg)
        linear, square = self.eased * float(at.w @ dw), self.eased * float(dw @ dw)

        # With the best b at every point: a b that only followed the line would hold w back. Most
        # steps need no search, and are taken whole without looking for it.
        def slope_at(theta: float, turn: float = 0.0) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                s_pos, s_neg = at.s_pos + theta * ds_pos, at.s_neg + theta * ds_neg
                b = at.b + theta * turn if turn else self.loss.best_bias(s_pos, s_neg, at.b)
                a = split.p * self.loss.surrogate.slope(-(s_pos + b))
                delta = split.q * self.loss.negatives.slope(s_neg + b)
                rise = float(delta @ (ds_neg + turn)) - float(a @ (ds_pos + turn))
            return linear + theta * square + rise

        slope = float(gradient @ dw)
        whole = db != 0 and abs(slope_at(1.0, db)) <= _LINE_SEARCH * abs(slope)
        theta = 1.0 if whole and slope < 0 else descend(slope_at, slope, _LINE_SEARCH, np.inf)
        if theta < _ASTRAY and not self.was_eased:
            self.eased, self.was_eased = self._easy, True
        while theta > _NO_STEP:
            s_pos, s_neg = at.s_pos + theta * ds_pos, at.s_neg + theta * ds_neg
            b = self.loss.best_bias(s_pos, s_neg, at.b + theta * db)
            if np.isfinite(self.loss.level(s_pos, s_neg, b)):
                self.at = Point(at.w + theta * dw, b, s_pos, s_neg)
                return True
            # An exponential overflowed, of a row that weighs so little that no slope told of it.
            theta *= 0.1
        return False

    @property
    def _easy(self) -> float:
        """An alpha at which a step from anywhere is a good one."""
        return max(self.alpha, _EASED * self.zero.middling**2)

    def _ease(self, gradient: Array) -> Array:
        """Lower the alpha of the next step as far as this point allows; the gradient with it."""
        at, alpha = self.at, self.alpha
        while self.eased > alpha:
            eased = gradient + (self.eased - alpha) * at.w
            value = 0.5 * self.eased * float(at.w @ at.w) + self.loss.level(
                at.s_pos, at.s_neg, at.b
            )
            if float(eased @ eased) > 2.0 * self.eased * _EASED_TOL * value:
                return eased
            self.eased = max(self.eased / _LOWERED, alpha)
        return gradient

    def _factored_step(
        self, gram: Array, border: Array, total: float, gradient: Array
    ) -> tuple[Array, float]:
        """The Newton step by a Cholesky factor of the Hessian in w that is left without b."""
        total = max(total, 1e-300)
        with np.errstate(invalid="ignore", over="ignore"):  # then there is no factor
            matrix = gram - np.outer(border, border / total)
            np.einsum("ii->i", matrix)[:] += self.eased
            factor = cholesky(matrix.T, gram.diagonal())
        if factor is None:
            raise FloatingPointError("The Hessian overflowed: scale the features, or raise alpha.")
        dw = dpotrs(factor, -gradient, lower=1)[0]
        return dw, -float(border @ dw) / total

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
        enough = max(share * size, 0.3 * np.sqrt(2.0 * self.eased * tol * self.primal))
        dw, mean = np.zeros_like(gradient), 0.0
        residual = -gradient
        direction = residual / scale
        norm = float(residual @ direction)
        for _ in range(_MAX_CG):
            t = self.design.scores(direction, rows)
            center = float(c @ t) / total
            image = self.eased * direction + self.design.pull_back(c * (t - center), rows)
            bend = float(direction @ image)
            if not (norm > 0 and bend > 0):  # underflow: no more digits to give
                break
            length = norm / bend
            dw += length * direction
            mean += length * center
            residual -= length * image
            if float(np.linalg.norm(residual)) <= enough:
                break
            scaled = residual / scale
            last, norm = norm, float(residual @ scaled)
            direction = scaled + (norm / last) * direction
        return dw, -mean


def _factor_is_cheap(design: Design) -> bool:
    """Whether a step by Cholesky's method costs less than one by conjugate gradients might."""
    (n, d), entries = design.shape, float(design.n_entries)
    work = 0.5 * entries * (entries / n) / _GRAM_TERMS + float(d) ** 3 / 3.0 / _FACTOR_OPERATIONS
    return d <= _MOST_FEATURES and work <= _MOST_PASSES * entries + _LITTLE_WORK


def _pull_back(design: Design, v: Array) -> Array:
    """X'v, reading no row where v is zero."""
    rows = np.flatnonzero(v)
    return design.pull_back(v) if len(rows) == len(v) else design.pull_back(v[rows], rows)
