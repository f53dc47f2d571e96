"""Newton's method on the hinge of all pairs, its kink rounded off less and less.

Solves   min over w  alpha/2 |w|^2 + sum_i sum_j p_i q_j [1 - w.x_i + w.x_j]_+
by       Newton steps: products with X, a sort of the scores, and linear scans. Where a Hessian is
         cheap it is summed over the pairs near the margin of a sample of rows and factored, else
         the system is solved by conjugate gradients.
Given    a Problem with a PairLoss; that of the squared hinge goes to `pair_square`.
Returns  a Solution; its dual vector holds the sums of the pairs' duals over rows and columns.

m n terms share N scores, so that even the hinge is almost smooth: near its kink there are many
pairs. With the kink rounded off over a width, c clip(u / width, 0, 1) are duals of the hinge
itself. The bend is where it is rounded off, 0 < u < width; at the smooth optimum the gap is
sum c u (1 - u / width) over the pairs on it, and falls with the square of the width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from .._core import PairScan
from ..designs import Windows
from ..losses import PairLoss
from ..problems import Problem, Solution
from ._pair_step import conjugate_step
from .cost import PAIR_HESSIAN_ROWS, pair_factor_is_cheap
from .linalg import cholesky, descend, one_blas_thread
from .loop import Progress, within
from .pair_square import of_samples, pair_square
from .starts import proven
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]

#: The width a cold start begins with.
_COLD_WIDTH = 1.0
#: The width a warm start begins with.
_WARM_WIDTH = 0.02
#: The width falls once the step has less to gain than this share of what the bend costs.
_SHARE = 0.3
#: What is left of the width at the least, each time it falls.
_MOST = 0.15
#: What is left of it at the most.
_LEAST = 0.5
#: The narrowest width, as a share of the scores: below it the duals would be all rounding.
_NARROWEST = 1e-10
#: Within this of F(0) the rise above it is computed for itself: rounding would drown it.
_NEAR_ZERO = 1e-3
#: Steps in which the gap must fall.
_PATIENCE = 30
#: By this share.
_FALLS = 1e-3
#: The Hessian counts the pairs on a bend at least so wide.
_HESSIAN_WIDTH = 0.2
#: And so many times as wide as the loss's, for pairs come on it on the way.
_BROADER = 2.0
#: The Hessian is refined, by more rows and a narrower bend, after a step cut to less.
_TOO_SHORT = 0.3
#: And where so many steps have not halved the gap.
_SLOW = 4
#: By this factor.
_REFINEMENT = 4
#: After so many times it is the whole Hessian.
_MOST_REFINED = 4
#: A sample is solved in so many steps, at the most.
_SAMPLE_STEPS = 15
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.3
#: A step is short where so little of it is left.
_SHORT = 0.125
#: So many short ones, others taken off, show that single pairs matter, on wide data.
_MOST_SHORT = 3


def pair_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
    finisher: bool = False,
) -> Solution:
    """Solve a problem with a loss of all pairs by Newton's method.

    With a finisher at hand it gives up where single pairs come to matter; without one only where
    the gap falls no more.
    """
    watch = watch or Watch(problem.design)
    with one_blas_thread():
        if problem.loss.smooth:
            return pair_square(problem, start=start, tol=tol, max_iter=max_iter, watch=watch)
        if start is None:
            start = of_samples(problem, tol, _of_sample)
        return _PairNewton(problem, start, tol, max_iter, watch).run(finisher)


def _of_sample(part: Problem, found: Solution | None, tol: float) -> Solution:
    """The solution of a sample, as far as it goes without a list of pairs."""
    watch = Watch(part.design)
    return _PairNewton(part, found, tol, _SAMPLE_STEPS, watch).run(finisher=True)


@dataclass
class _Point:
    """Weights, their scores, both classes sorted by them, and the loss there."""

    w: Array
    s: Array
    scan: PairScan
    #: The slope of the loss, its value, the hinge's, the sum of the duals, what the bend costs.
    v: Array
    sums: tuple[float, float, float, float]


class _PairNewton:
    def __init__(
        self, problem: Problem, start: Solution | None, tol: float, max_iter: int, watch: Watch
    ) -> None:
        self.problem, self.design = problem, problem.design
        self.loss = cast(PairLoss, problem.loss)
        self.split, self.alpha = self.loss.split, problem.alpha
        self.tol = tol
        self.spare, self.width = self.loss.scan(), _WARM_WIDTH
        w = np.zeros(self.design.shape[1])
        begin = self._started(start)
        if begin is None:
            self.width = _COLD_WIDTH
            begin = self._point(w, np.zeros(self.split.n_rows), self.loss.scan())
        self.at = begin
        w = begin.w
        v, dual = proven(problem, start)
        # The best so far is w = 0: the first bound finds a start better.
        self.rise = 0.0
        self.progress = Progress(
            Solution(0.0 * w if w.any() else w, v, solver="pair-newton", alpha=self.alpha),
            self.loss.at_zero,
            dual,
            close=within(tol),
            zero=ZeroTest(problem).holds,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=_FALLS,
        )
        self.row_weights = np.zeros(self.split.n_rows)
        self.row_weights[self.split.pos] = self.split.p
        self.row_weights[self.split.neg] = self.split.q
        self.factors = pair_factor_is_cheap(self.design)
        #: How often the Hessian has been refined, and short steps, others taken off.
        self.refined, self.n_short = 0, 0

    def _started(self, start: Solution | None) -> _Point | None:
        """The point of an earlier solution, where that is better than w = 0."""
        if start is None or len(start.w) != self.design.shape[1] or not start.w.any():
            return None
        at = self._point(start.w.copy(), self.design.scores(start.w), self.loss.scan())
        value = at.sums[1] + self.problem.penalty(at.w)
        return at if value < self.loss.at_zero else None

    def _point(self, w: Array, s: Array, scan: PairScan) -> _Point:
        scan.sort(s)
        return _Point(w, s, scan, *scan.slope(self.width))

    def run(self, finisher: bool) -> Solution:
        progress, best = self.progress, self.progress.best
        halved, halved_at = np.inf, 0
        while True:
            gradient = self._bound()
            over = progress.over()
            if (fast := progress.least_gap < 0.5 * halved) or best.n_iter - halved_at >= _SLOW:
                self.refined += not fast
                halved, halved_at = progress.least_gap, best.n_iter
            single_pairs = finisher and self.n_short >= _MOST_SHORT and not self.factors
            if over or single_pairs or not self._advance(gradient):
                best.gave_up = single_pairs or progress.stuck
                return best

    def _bound(self) -> Array:
        """Better bounds from this point; the gradient there."""
        w, v, alpha = self.at.w, self.at.v, self.alpha
        _, hinge, total, _ = self.at.sums
        u = self.design.pull_back(v)
        penalty = 0.5 * alpha * float(w @ w)
        rise = penalty + hinge - self.loss.at_zero
        if abs(rise) < _NEAR_ZERO:
            rise = penalty + self.loss.rise(self.at.s)
        if rise < self.rise:
            self.rise = rise
            self.progress.lower(self.loss.at_zero + rise, w)
        square = float(u @ u) / (2.0 * alpha)
        theta = min(total / (2.0 * square), 1.0) if square > 0 else 1.0  # the best multiple
        if (dual := theta * total - theta**2 * square) > self.progress.dual:
            self.progress.lift(dual, theta * v)
        return alpha * w + u

    def _advance(self, gradient: Array) -> bool:
        """Take a step, on a narrower bend where this one has no more to give; False if none."""
        at = self.at
        factored = self._factored_step(gradient) if self.factors else None
        if factored is None and at.w.any():
            step, moved = self._conjugate_step(gradient)
        else:  # from w = 0 the gradient is as good as a few conjugate gradients, and for nothing
            step = -gradient if factored is None else factored
            moved = self.design.scores(step)
        slope, bend = float(gradient @ step), at.sums[3]
        enough = _SHARE * self.tol * self.progress.primal  # the bend may cost that much in the end
        narrower = bend > max(enough, -0.5 * slope / _SHARE)
        if narrower:
            wanted = np.sqrt(enough / bend)
            sides = (at.s[self.split.pos], at.s[self.split.neg])
            least = _NARROWEST * max(1.0, *(float(np.abs(side).max()) for side in sides))
            self.width = max(self.width * float(np.clip(wanted, _MOST, _LEAST)), least)
            at.v, at.sums = at.scan.slope(self.width)
            slope = self.alpha * float(at.w @ step) + float(at.v @ moved)
        return self._search(step, moved, slope) or narrower

    def _search(self, step: Array, moved: Array, slope: float) -> bool:
        """Go along a step for as long as it descends."""
        at, found = self.at, self.at
        linear, square = self.alpha * float(at.w @ step), self.alpha * float(step @ step)

        def slope_at(theta: float) -> float:
            nonlocal found
            found = self._point(at.w + theta * step, at.s + theta * moved, self.spare)
            rise = theta * (linear + 0.5 * theta * square) + found.sums[0] - at.sums[0]
            turned = linear + theta * square + float(found.v @ moved)
            return np.inf if rise > 0 and turned > 0 else turned

        theta = descend(slope_at, slope, _LINE_SEARCH, np.inf)
        if theta == 0.0 or found is at:
            return False
        if not np.array_equal(found.w, w := at.w + theta * step):  # not the last that was tried
            found = self._point(w, at.s + theta * moved, self.spare)
        self.at, self.spare = found, at.scan
        self.n_short = self.n_short + 1 if theta <= _SHORT else max(self.n_short - 1, 0)
        self.refined += theta < _TOO_SHORT
        return True

    def _factored_step(self, gradient: Array) -> Array | None:
        """The Newton step by Cholesky's method; None where the Hessian is nothing but rounding."""
        matrix = np.asfortranarray(self._hessian())
        np.einsum("ii->i", matrix)[:] += self.alpha
        factor = cholesky(matrix, float(matrix.diagonal().max()))
        return None if factor is None else np.asarray(dpotrs(factor, -gradient, lower=1)[0])

    def _hessian(self) -> Array:
        """The sum over the pairs near the margin, of every so many rows in the order of scores."""
        scan, split = self.at.scan, self.split
        truth = _REFINEMENT**self.refined if self.refined < _MOST_REFINED else np.inf
        most = min(PAIR_HESSIAN_ROWS * truth, float(split.n_rows))
        rows, bad = scan.positives(math.ceil(len(split.pos) / most))
        others, other_bad = scan.negatives(math.ceil(len(split.neg) / most))
        if len(others) < len(rows):
            rows, bad, others, other_bad = others, other_bad, rows, bad
        rows, margin = rows[::-1].copy(), 1.0 + bad[::-1]
        weights, other_weights = self.row_weights[rows], self.row_weights[others]
        broader = _BROADER if self.refined < _MOST_REFINED else 1.0
        reach = max(broader * self.width, _HESSIAN_WIDTH / truth)
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

    def _conjugate_step(self, gradient: Array) -> tuple[Array, Array]:
        """The Newton step by conjugate gradients, and the scores it adds."""
        scan = self.at.scan
        return conjugate_step(self.problem, scan.curvature, scan.bent_rows(), gradient)
