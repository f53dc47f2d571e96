"""A smooth sum over wide rows in few passes: exact gradients, Newton's steps of few rows.

Solves   min over w, b  alpha/2 |w|^2 + sum_r f_r(w.x_r + b)
by       Newton's steps whose Hessian is that of a few rows, those kept in proportion to what they
         add to it, solved by conjugate gradients on a small copy. A row that adds less than alpha
         does is kept by chance. A pass scores the step, finds how far to go with the best b, by
         scores alone, and sums the gradient there. It begins at an easier alpha, which is lowered
         as the gap allows; where alpha is small beside a row, after sweeps of dual descent, as long
         as these come nearer fast.
Given    a Problem with a RowSum that compiled kernels know, of a matrix in memory.
Returns  a Solution without a dual vector: its w and b vouch for themselves, by `certify_at`. Where
         sweeps end the fit it may have theirs, which prove a gap before the slopes at w do.

Rows of a sparse matrix are computed with in float32 until the gap is that of the tolerance; then
the certificate, which is computed in float64, decides, and where it does not hold the rest is
float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import WideDescent
from ..designs import Design, MemoryDesign, Sums
from ..losses import RowSum
from ..problems import Certificate, Problem, Solution
from ..problems.solution import OfTheseRows
from ._passes import SINGLE, begin, end, keep, near
from ._trail import Trail
from .linalg import one_blas_thread
from .watch import Watch

Array = NDArray[np.float64]

#: The alpha to begin with, as a share of a row's squared length.
_EASED = 1e-3
#: By how much that alpha is lowered at a time.
_LOWERED = 4.0
#: The relative gap at which it is.
_EASED_GAP = 0.3
#: What conjugate gradients aim for until alpha is reached.
_EASED_AIM = 0.15
#: The share of the gradient that they may always leave.
_RESIDUAL = 0.2
#: The share of the gap that is asked for that their residual may be.
_ENOUGH = 0.1
#: Their iterations, at the most: many are lost where the step then meets a kink and ends short.
_ITERATIONS = 30
#: So many more for every step since the gap has fallen: it may take them.
_MORE_ITERATIONS = 20
#: But no more than these.
_MOST_ITERATIONS = 250
#: Rows that stand for the Hessian, at the least.
_LEAST_ROWS = 64.0
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.02
#: Dual descent is for alphas less than so many times what a row adds to the Hessian at w = 0, and
#: less than that where rows are more than columns: their duals then pull at each other.
_DESCENT = 10.0
#: For losses with kinks, whose steps are short after it, it is for alphas less than what a row
#: adds, and goes no lower than to this share of that.
_DESCENT_LOWEST = 0.1
#: Its sweeps, at the most, where that is alpha itself, and where it is not.
_SWEEPS, _EASED_SWEEPS = 20, 3
#: The share of the tolerance that the gap it expects of its duals must be below for it to end.
_SWEPT = 0.4
#: That of the slopes at w, which grows from smaller errors, for these to be looked at instead.
_SWEPT_SLOPES = 0.2
#: A step is likely the last one where what it leaves is this share of the tolerance.
_LIKELY = 0.5
#: A gain over w = 0 below this share of its loss may be rounding, of float32 and of float64.
_SINGLE_GAIN, _LEAST_GAIN = 1e-5, 1e-11
#: The share by which the gap must fall, if not in every step.
_FALLS = 0.1


def wide_passes(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a problem with a smooth sum over wide rows, in few passes over them."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        watch = watch or Watch(problem.design)
        return _WidePasses(problem, start, tol, max_iter, watch, seed).run(start)


@dataclass(frozen=True)
class _Last(OfTheseRows):
    """Where a fit ended: a fit of the same rows at another alpha goes on from there."""

    design: Design
    loss: RowSum
    single: bool
    descent: WideDescent
    trail: Trail


class _WidePasses:
    def __init__(
        self,
        problem: Problem,
        start: Solution | None,
        tol: float,
        max_iter: int,
        watch: Watch,
        seed: int,
    ) -> None:
        self.problem, self.tol, self.seed = problem, tol, seed
        self.loss, self.design = cast(RowSum, problem.loss), cast(MemoryDesign, problem.design)
        self.alpha, self.at_zero = problem.alpha, problem.loss.at_zero
        assert self.loss.compiled is not None
        self.terms = self.loss.compiled
        self.single = tol >= SINGLE
        self.trail = Trail()
        last = start.kept if start is not None else None
        if isinstance(last, _Last) and last.loss is self.loss and last.design is self.design:
            self.trail, self.single = last.trail, self.single and last.single
            self.descent = last.descent if last.single == self.single else self._descent()
        else:
            self.descent = self._descent()
        #: The alpha of the next step.
        self.eased = max(self.alpha, _EASED * self.descent.typical)
        self.w = np.zeros(self.design.shape[1])
        #: |w|^2.
        self.square = 0.0
        self.enough = _ENOUGH
        #: Whether the point is likely the last one: then its certificate tells the gradient too.
        self.likely = False
        self.examined: tuple[Array, Certificate, Sums] | None = None
        #: Whether the next look is at the same point, in float64.
        self.again = False
        #: Whether the duals of sweeps prove the gap.
        self.proved = False
        self.progress = begin(problem, self._close, watch, max_iter, _FALLS)

    def _descent(self) -> WideDescent:
        terms, design = self.terms, self.design
        design.entries_read += design.n_entries  # for the lengths of the rows
        return WideDescent(
            design.matrix,
            terms.tilt,
            terms.positives,
            terms.negatives,
            self.loss.free_bias,
            self.single,
            design.n_threads,
        )

    def run(self, start: Solution | None) -> Solution:
        if start is None or not self._continue(start):
            self._begin()
            if self.proved and self.progress.over():
                return self._end()
        while True:
            gradient, gap = self._gradient()
            if self.progress.over(gap):
                return self._end()
            if self.again:
                self.again = False
                continue
            self.progress.stuck = not self._advance(gradient)

    def _continue(self, start: Solution) -> bool:
        """Stand where an earlier fit ended, if that is better than w = 0."""
        if len(start.w) != len(self.w) or not start.w.any():
            return False
        if not (self._follow() if self.trail.points else self._stand(start.w, start.b)):
            return False
        if not self.descent.value + 0.5 * self.alpha * float(self.w @ self.w) < self.at_zero:
            return False
        self.eased = max(self.alpha, min(self.eased, start.alpha))
        return True

    def _follow(self) -> bool:
        """Go to the point that the path so far points to; False where its loss is no number."""
        w, b, c = self.trail.best(
            self.terms,
            self.alpha,
            self.tol,
            self.design.n_threads,
            free_bias=self.loss.free_bias,
        )
        self.w = w
        return self.descent.place(self.trail.scores(c), b)

    def _stand(self, w: Array, b: float) -> bool:
        """Go to a point; False where its loss is no number."""
        self.design.entries_read += self.design.n_entries
        self.w = np.array(w)
        return self.descent.begin(self.w, b)

    def _begin(self) -> None:
        """Stand at w = 0, or where sweeps of dual descent lead."""
        tilt, zero_bias = self.terms.tilt, self.loss.zero_bias
        # What a row adds to the Hessian, for a loss that bends by one.
        n, d = int(np.count_nonzero(tilt)), self.design.shape[1]
        a_row = self.descent.typical * float(np.abs(tilt).sum()) / n
        below, lowest = a_row, _DESCENT_LOWEST * a_row
        if not self.terms.kinked:
            below = _DESCENT * self.descent.typical * self.terms.bend / n * min(1.0, d / n)
            lowest = 0.0
        if self.alpha < below:
            alpha = max(self.alpha, lowest)
            most = _SWEEPS if alpha == self.alpha else _EASED_SWEEPS
            found = self.descent.sweep(alpha, zero_bias, most, _SWEPT * self.tol, self.seed + 1)
            if found is not None:
                w, slopes, b, entries, of_slopes, of_duals = found
                self.design.entries_read += 2 * entries
                ends = alpha == self.alpha
                self.likely = ends and of_slopes <= _SWEPT_SLOPES * self.tol
                by_duals = ends and not self.likely and of_duals <= _SWEPT * self.tol
                if by_duals and self._prove(w, b, slopes):
                    return
                finite = self._stand(w, b)
                value = self.descent.value + 0.5 * alpha * float(self.w @ self.w)
                if finite and value < self.at_zero:
                    self.eased = alpha
                    return
                self.likely = False
        self.w = np.zeros(len(self.w))
        self.descent.begin(None, zero_bias)

    def _prove(self, w: Array, b: float, slopes: Array) -> bool:
        """Whether duals, as slopes of the losses, prove the gap of w; then that is the solution."""
        self.loss.guess_bias(b)
        swept = Solution(w, self.loss.dual_near(slopes), b, alpha=self.alpha)
        certificate = self.problem.vouch(swept)
        primal, gap = certificate.primal, certificate.gap
        if not (certificate.holds(self.tol) and near(self.problem, primal, gap, 2.0 * self.tol)):
            return False
        assert swept.scores is not None
        self.progress.lower(primal, w, b)
        self.progress.lift(certificate.dual, swept.dual)
        self.trail = self.trail.with_point(w, b, swept.scores + b, single=self.tol >= SINGLE)
        self.proved = True
        return True

    def _gradient(self) -> tuple[Array, float]:
        """The gradient at the alpha of the next step, and the gap there.

        The alpha is lowered as far as this point allows, which takes no pass.
        """
        w, alpha, value = self.w, self.alpha, self.descent.value
        square = self.square = float(w @ w)
        gradient = np.zeros(len(w) + 1)  # that of b, the best one, is zero
        g = gradient[:-1]
        np.multiply(w, alpha, out=g)
        g += self._pull()
        length = float(g @ g)
        self._note(value + 0.5 * alpha * square, length / (2.0 * alpha))
        if self.eased > alpha:
            if length <= 2.0 * alpha * _EASED_GAP * (value + 0.5 * alpha * square):
                self.eased = alpha  # a path led here
                self.progress.least_gap = np.inf  # that of another problem
            along = float(g @ w)
            while self.eased > alpha:
                more = self.eased - alpha
                here = length + more * (2.0 * along + more * square)
                if here > 2.0 * self.eased * _EASED_GAP * (value + 0.5 * self.eased * square):
                    break
                self.eased = max(self.eased / _LOWERED, alpha)
                self.progress.least_gap = np.inf  # that of another problem
            if self.eased > alpha:
                g += (self.eased - alpha) * w
                length = float(g @ g)
        return gradient, length / (2.0 * self.eased)

    def _pull(self) -> Array:
        """X'v, v the slopes; of a point that is likely the last one as its certificate has it."""
        if not self.likely:
            self.design.entries_read += self.design.n_entries
            return self.descent.pull()
        certificate, sums = self.problem.examine(self.w, self.descent.b, scores=True)
        self.examined = (self.w, certificate, sums)
        return sums.pull

    def _note(self, value: float, gap: float) -> None:
        """Keep the point with the least gap: it alone vouches for itself."""
        progress = self.progress
        least = _SINGLE_GAIN if self.single else _LEAST_GAIN
        if np.isfinite(gap) and gap < progress.gap and value < (1.0 - least) * self.at_zero:
            keep(progress, value, gap, self.w, self.descent.b, self.loss.infimum)

    def _close(self, primal: float, dual: float) -> bool:
        """Whether the gap is what it should be, and the certificate says so too."""
        best = self.progress.best
        if self.proved:
            return True
        if not best.w.any() or not near(self.problem, primal, primal - dual, self.tol):
            return False
        if self.examined is not None and self.examined[0] is best.w:
            _, certificate, sums = self.examined
        else:
            certificate, sums = self.problem.examine(best.w, best.b, scores=True)
        if certificate.holds(self.tol):
            assert sums.scores is not None
            w, b, single = best.w, best.b, self.tol >= SINGLE
            self.trail = self.trail.with_point(w, b, sums.scores, single=single)
            return True
        self.enough *= _ENOUGH
        if self.single:  # near enough, but for rounding
            self.single, self.again = False, True
            self.progress.lift(self.loss.infimum, best.dual)
            self.descent = self._descent()
            self._stand(best.w, best.b)
        return False

    def _end(self) -> Solution:
        best = end(self.progress)
        best.kept = _Last(self.design, self.loss, self.single, self.descent, self.trail)
        return best

    def _advance(self, gradient: Array) -> bool:
        """Take a step as far as it descends; False where it does not."""
        descent, design, eased = self.descent, self.design, self.eased
        descent.thin(eased, _LEAST_ROWS, self.seed + self.progress.best.n_iter)
        tol = self.tol if eased == self.alpha else _EASED_AIM
        # The gap is |g|^2 / (2 alpha): a residual well within tol needs no more.
        enough = self.enough * 2.0 * eased * tol * (descent.value + 0.5 * eased * self.square)
        most = min(_ITERATIONS + _MORE_ITERATIONS * self.progress.waited, _MOST_ITERATIONS)
        step, used, left = descent.step(gradient, eased, _RESIDUAL, enough, most)
        design.entries_read += design.n_entries + 2 * used * descent.thinned_entries
        dw = step[:-1]
        slope = float(gradient[:-1] @ dw)
        if not slope < 0:
            return False
        linear, square = eased * float(self.w @ dw), eased * float(dw @ dw)
        theta = descent.advance(step, linear, square, slope, _LINE_SEARCH)
        if not theta > 0:
            return False
        value = descent.value + 0.5 * eased * self.square
        self.likely = eased == self.alpha and left <= _LIKELY * 2.0 * eased * tol * value
        self.w = self.w + dw if theta == 1.0 else self.w + theta * dw
        return True
