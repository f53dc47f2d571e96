"""Newton's method on the loss of all pairs, the hinge's kink rounded off less and less.

Solves   min over w  alpha/2 |w|^2 + sum_i sum_j p_i q_j l(w.x_j - w.x_i), l the hinge or its square
by       Newton steps: products with X, a sort of the scores, and linear scans. Where a Hessian is
         cheap it is summed over the pairs near the margin of a sample of rows and factored, else
         the system is solved by conjugate gradients.
Given    a Problem with a PairLoss.
Returns  a Solution; its dual vector holds the sums of the pairs' duals over rows and columns.

m n terms share N scores, so that even the hinge is almost smooth: near its kink there are many
pairs. With the kink rounded off over a width, c clip(u / width, 0, 1) are duals of the hinge
itself, and at the smooth optimum the gap is sum c u (1 - u / width) over the bend: it falls with
the square of the width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from .._core import PairScan
from ..designs import Windows
from ..losses import PairLoss
from ..problem import Problem, Solution
from ..split import Split
from ..watch import Watch
from ._common import one_blas_thread

Array = NDArray[np.float64]

#: The width a cold start begins with, and a warm one.
_COLD_WIDTH, _WARM_WIDTH = 1.0, 0.05
#: The width falls once the step has less to gain than this share of what the bend costs.
_SHARE = 0.3
#: By how much the width falls at a time, at the most and at the least.
_MOST, _LEAST = 0.15, 0.5
#: The Hessian counts pairs as far as this from the middle of the bend, twice; how many rows of a
#: class it looks at, at the most.
_HESSIAN_WIDTH, _HESSIAN_ROWS = 0.2, 2000
#: Conjugate gradients leave this share of the gradient, and take this many steps at the most.
_CG_RESIDUAL, _MAX_CG = 0.3, 50
#: Many rows are first solved for a sample of about this many, where that is so many times fewer;
#: of a class at least this many are in it. To what relative gap it is solved.
_SAMPLE_ROWS, _WORTH_SAMPLING, _FEWEST, _SAMPLE_TOL = 5000, 3, 1000, 1e-2
#: What a step must gain, as a share of what its slope promises; the shortest step.
_ARMIJO, _SHORTEST = 1e-4, 1e-10


def pair_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a loss of all pairs by Newton's method."""
    with one_blas_thread():
        if start is None:
            start = _of_a_sample(problem, tol, max_iter)
        return _PairNewton(problem, start, tol, watch or Watch(problem.design)).run(max_iter)


def _pair_loss(problem: Problem) -> PairLoss:
    if not isinstance(problem.loss, PairLoss):
        raise TypeError(
            f"This solver needs a PairLoss; {type(problem.loss).__name__} is another loss."
        )
    return problem.loss


def _of_a_sample(problem: Problem, tol: float, max_iter: int) -> Solution | None:
    """The solution of every so many rows of each class, to begin with where there are many."""
    loss = _pair_loss(problem)
    split = loss.split
    step = split.n_rows // _SAMPLE_ROWS
    if step < _WORTH_SAMPLING:
        return None
    pos, neg = (rows[:: max(1, min(step, len(rows) // _FEWEST))] for rows in (split.pos, split.neg))
    rows = np.concatenate([pos, neg])
    weights = np.concatenate([np.full(len(pos), 1.0), np.full(len(neg), 1.0)])
    sample = Split.of(np.arange(len(rows)) < len(pos), weights)
    part = Problem(problem.design.subset(rows), PairLoss(sample, loss.surrogate), problem.alpha)
    return pair_newton(part, tol=max(tol, _SAMPLE_TOL), max_iter=max_iter)


@dataclass
class _Point:
    """Weights, their scores, and both classes sorted by them."""

    w: Array
    s: Array
    scan: PairScan


class _PairNewton:
    def __init__(self, problem: Problem, start: Solution | None, tol: float, watch: Watch) -> None:
        self.problem, self.loss, self.design = problem, _pair_loss(problem), problem.design
        self.split, self.alpha = self.loss.split, problem.alpha
        self.tol, self.watch = tol, watch
        self.squared = self.loss.surrogate.quadratic
        self.width = np.inf if self.squared else _COLD_WIDTH
        d = self.design.shape[1]
        self.at = _Point(np.zeros(d), np.zeros(self.split.n_rows), self.loss.scan())
        self.spare = self.loss.scan()
        if start is not None and len(start.w) == d and start.w.any():
            self.at.w, self.at.s = start.w.copy(), self.design.scores(start.w)
            self.width = np.inf if self.squared else _WARM_WIDTH
        self.at.scan.sort(self.at.s)
        self.best_w, self.primal, self.dual = self.at.w, np.inf, 0.0
        self.best_v = np.zeros(self.split.n_rows)
        self.row_weights = np.zeros(self.split.n_rows)
        self.row_weights[self.split.pos] = self.split.p
        self.row_weights[self.split.neg] = self.split.q

    def run(self, max_iter: int) -> Solution:
        converged = False
        for iteration in range(max_iter + 1):
            gradient, bend = self._bound()
            stopped = self.watch(iteration, self.primal, self.dual, lambda: self.best_w)
            converged = self.primal - self.dual <= self.tol * self.primal
            if converged or stopped or iteration == max_iter:
                break
            if not self._advance(gradient, bend):
                break
        return Solution(
            w=self.best_w,
            dual=self.best_v,
            n_iter=iteration,
            converged=converged,
            solver="newton",
            alpha=self.alpha,
        )

    def _bound(self) -> tuple[Array, float]:
        """Better bounds from this point; the gradient, and what rounding off costs."""
        w, alpha = self.at.w, self.alpha
        v, (value, hinge, total, bend) = self.at.scan.slope(self.width)
        u = self.design.pull_back(v)
        primal = 0.5 * alpha * float(w @ w) + (value if self.squared else hinge)
        if primal < self.primal:
            self.primal, self.best_w = primal, w
        # The best multiple of the duals: theta total - theta^2 square.
        square = float(u @ u) / (2.0 * alpha) + (value if self.squared else 0.0)
        theta = total / (2.0 * square) if square > 0 else 1.0
        theta = theta if self.squared else min(theta, 1.0)
        if (dual := theta * total - theta**2 * square) > self.dual:
            self.dual, self.best_v = dual, theta * v
        return alpha * w + u, bend

    def _advance(self, gradient: Array, bend: float) -> bool:
        """Take a step, on a narrower bend where this one has no more to give; False if none."""
        at = self.at
        step = self._direction(gradient)
        moved = self.design.scores(step)
        gain = -0.5 * float(gradient @ step)
        slope = float(gradient @ step)
        narrowed = False
        if not self.squared and gain < _SHARE * bend:
            wanted = np.sqrt(_SHARE * self.tol * self.primal / bend)
            self.width *= float(np.clip(wanted, _MOST, _LEAST))
            narrowed = True
            v, _ = at.scan.slope(self.width)
            slope = self.alpha * float(at.w @ step) + float(v @ moved)
        if slope >= 0:
            return narrowed
        return self._search(step, moved, slope) or narrowed

    def _search(self, step: Array, moved: Array, slope: float) -> bool:
        """Go along a step as far as it descends, halving it."""
        at = self.at
        before = self._value(at.scan, at.w)
        theta = 1.0
        while theta > _SHORTEST:
            w, s = at.w + theta * step, at.s + theta * moved
            self.spare.sort(s)
            if self._value(self.spare, w) <= before + _ARMIJO * theta * slope:
                self.at, self.spare = _Point(w, s, self.spare), at.scan
                return True
            theta *= 0.5
        return False

    def _value(self, scan: PairScan, w: Array) -> float:
        return 0.5 * self.alpha * float(w @ w) + scan.value(self.width)[0]

    def _direction(self, gradient: Array) -> Array:
        if self.design.shape[1] <= 400:
            return self._factored_step(gradient)
        return self._conjugate_step(gradient)

    def _factored_step(self, gradient: Array) -> Array:
        """The Newton step by Cholesky's method."""
        matrix = self._hessian()
        diagonal = np.einsum("ii->i", matrix)
        size = diagonal.max()
        diagonal += self.alpha
        for ridge in np.append(0.0, np.geomspace(1e-15, 1.0, 16)):
            diagonal += ridge * size
            factor, failed = dpotrf(matrix.T, lower=1, clean=0)
            if not failed:
                return np.asarray(dpotrs(factor, -gradient, lower=1)[0])
        raise FloatingPointError("The Hessian overflowed: scale the features, or raise alpha.")

    def _hessian(self) -> Array:
        """The sum over the pairs near the margin, of every so many rows in the order of scores."""
        scan, split = self.at.scan, self.split
        rows, bad = scan.positives(-(-len(split.pos) // _HESSIAN_ROWS))
        others, other_bad = scan.negatives(-(-len(split.neg) // _HESSIAN_ROWS))
        if len(others) < len(rows):
            rows, bad, others, other_bad = others, other_bad, rows, bad
        rows, margin = rows[::-1].copy(), 1.0 + bad[::-1]
        weights, other_weights = self.row_weights[rows], self.row_weights[others]
        low, high, bent = 0.0, np.inf, 2.0
        if not self.squared:
            reach = max(self.width, _HESSIAN_WIDTH)
            low, high = 0.5 * (self.width - reach), 0.5 * (self.width + reach)
            bent = 1.0 / reach
        windows = Windows(
            rows,
            weights * (bent / weights.sum()),
            np.searchsorted(-other_bad, margin - high, side="left"),
            np.searchsorted(-other_bad, margin - low, side="left"),
            others,
            other_weights / other_weights.sum(),
        )
        return self.design.window_gram(windows)

    def _conjugate_step(self, gradient: Array) -> Array:
        """The Newton step by conjugate gradients."""
        rows: NDArray[np.int64] | None = self.at.scan.bent_rows()
        assert rows is not None
        r = np.zeros(self.split.n_rows)
        step = np.zeros_like(gradient)
        residual = -gradient
        direction = residual.copy()
        norm = float(residual @ residual)
        enough = _CG_RESIDUAL**2 * norm
        for _ in range(_MAX_CG):
            r[rows] = self.design.scores(direction, rows)
            bent = self.at.scan.curvature(r)[rows]
            image = self.alpha * direction + self.design.pull_back(bent, rows)
            length = norm / float(direction @ image)
            step += length * direction
            residual -= length * image
            last, norm = norm, float(residual @ residual)
            if norm <= enough:
                break
            direction = residual + (norm / last) * direction
        return step
