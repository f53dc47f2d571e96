"""A smooth sum over rows in few passes: exact gradients, Hessians of few rows.

Solves   min over w, b  alpha/2 |w|^2 + sum_r f_r(w.x_r + b)
by       steps of L-BFGS whose inverse Hessian is that of a few rows, those kept in proportion to
         what they add to it. It begins with the solution of a sample. A pass over the rows gives
         scores, slopes and gradient in one reading, and a bound of the gap that needs no best b.
Given    a Problem with a RowSum that compiled kernels know, of a matrix in memory.
Returns  a Solution without a dual vector: its w and b vouch for themselves, by `certify_at`.

Rows are computed with in float32 until the gap is that of the tolerance; then the certificate,
which is computed in float64, decides, and where it does not hold the rest is float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..losses import RowSum
from ..problems import Problem, Solution
from ..problems.solution import OfTheseRows
from ._passes import begin, end, keep, near, single_will_do
from ._row_points import Factor, Floats, RowPoint, RowPoints
from ._row_steps import Steps, newton_steps, search
from ._trail import Trail
from .linalg import one_blas_thread
from .row_hessians import gram_passes, sample, thinned_rows, typical_square
from .watch import Watch

Array = NDArray[np.float64]

#: Rows of the first sample, for every feature that alpha leaves free.
_FIRST_ROWS = 50
#: And at the least.
_LEAST_ROWS = 500
#: How many times as many the second sample has.
_SECOND = 6
#: Steps on the second.
_SECOND_STEPS = 4
#: A sample is solved as well as chance lets it be: up to this share of what that is.
_CHANCE = 0.3
#: Passes that the sum of a thinned Hessian may cost.
_THINNED_PASSES = 2.0
#: That of an earlier alpha does where the sum bends by no more than this share less, or more.
_SAME_CURVATURE = 0.1
#: A path is likely to begin at its next solution where it did so at the last alpha: where the gap
#: was so many times the tolerance, of dense rows and of sparse ones, which cost less to certify.
_LIKELY_LAST, _LIKELY_LAST_SPARSE = 1.5, 5.0
#: The share by which the gap must fall, if not in every pass.
_FALLS = 0.5


def few_passes(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a problem with a smooth sum over rows, in few passes over them."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        watch = watch or Watch(problem.design)
        return _FewPasses(problem, start, tol, max_iter, watch, seed).run(start)


@dataclass(frozen=True)
class _Gram:
    """The Hessian of few rows, without alpha."""

    matrix: Array
    n_rows: float
    #: How the sum bent along b where it was made.
    curvature: float

    def does(self, n_rows: float, curvature: float) -> bool:
        """Whether it will do where so many rows are called for, and the sum bends like this."""
        return n_rows <= self.n_rows and (
            abs(self.curvature - curvature) <= _SAME_CURVATURE * curvature
        )


@dataclass(frozen=True)
class _Last(OfTheseRows):
    """Where a fit ended: a fit of the same rows at another alpha goes on without a pass."""

    design: Design
    loss: RowSum
    #: |x|^2 of a row.
    typical: float
    point: RowPoint
    #: Whether float32 had been good enough.
    single: bool
    squares: Floats | None
    gram: _Gram | None
    trail: Trail
    #: What was left of the gap, beside the tolerance, where it began.
    began: float


class _FewPasses:
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
        loss, design = cast(RowSum, problem.loss), problem.design
        self.loss, self.design, self.alpha = loss, design, problem.alpha
        terms = loss.compiled
        assert terms is not None
        self.all = RowPoints(design, terms, problem.alpha, loss.free_bias)
        kept, last = design.keeps_scores, start.kept if start is not None else None
        same = isinstance(last, _Last) and last.loss is loss and last.design is design
        #: Where a fit of the same rows ended.
        self.last = cast(_Last, last) if same else None
        self.all.certify = lambda w, b, first: problem.examine(w, b, scores=kept, squares=first)[1]
        self.typical = typical_square(design) if self.last is None else self.last.typical
        self.all.typical, self.all.unit = self.typical, loss.unit
        self.all.single = single_will_do(tol, self.typical)
        self.free = max(min(design.shape[1], terms.bend * self.typical / self.alpha), 1.0)
        self.cost_of_gram = gram_passes(design)
        self.least_gap = np.inf
        self.gram: _Gram | None = None
        self.trail, self.began = Trail(), np.inf
        self.progress = begin(problem, self._close, watch, max_iter, _FALLS)

    def run(self, start: Solution | None) -> Solution:
        point = self._begin(start)
        if not point.finite or point.value >= self.loss.at_zero:
            point = self._towards(point)
        self.began = point.gap / (self.tol * self.all.size(point))
        steps = None
        while True:
            self._note(point)
            if self.progress.over():
                return self._end(point)
            near_enough = near(self.problem, point.value, point.gap, self.tol)
            if near_enough and self.all.single:  # but for rounding
                self.all.single, self.least_gap = False, np.inf
                point = self.all.at(point.x)
                continue
            if steps is None:
                steps = Steps(self.all, self.tol, self._hessian(point), self.cost_of_gram)
            moved = steps.next(point)
            self.progress.stuck = moved is None
            point = point if moved is None else moved

    def _begin(self, start: Solution | None) -> RowPoint:
        """The last point of an earlier solution, or the solution of a sample."""
        if start is None or len(start.w) != self.all.d or not start.w.any():
            zero = self._join(np.zeros(self.all.d), self.loss.zero_bias)
            x, curvature = self._from_samples(zero)
            if self.design.keeps_scores or curvature is None:
                return self.all.at(x)
            # The Hessian of few rows in the same pass: the sample tells how the sum will bend.
            thin = self.all.thinning(self._wanted_rows(curvature), curvature, self.seed + 1)
            return self.all.at(x, thin=thin)
        if self.last is not None:
            self.all.squares, self.gram = self.last.squares, self.last.gram
            self.all.single = self.all.single and self.last.single
            return self._follow(self.last)
        return self.all.at(self._join(start.w, start.b))

    def _follow(self, last: _Last) -> RowPoint:
        """The point that the path so far points to, or its last one where that is no worse."""
        self.trail = last.trail
        here = self.all.known(last.point.x, last.point.sums)
        if not self.trail.points or near(self.problem, here.value, here.gap, self.tol):
            return here
        w, b, _ = self.trail.best(
            self.all.terms,
            self.alpha,
            self.tol,
            self.design.n_threads,
            free_bias=self.loss.free_bias,
            pull=(here.sums.pull, here.sums.slope),
        )
        likely = _LIKELY_LAST_SPARSE if self.all.sparse else _LIKELY_LAST
        there = self.all.at(self._join(w, b), last=last.began < likely)
        return there if there.finite and there.value < here.value else here

    def _towards(self, point: RowPoint) -> RowPoint:
        """w = 0, which is better than the point, or the best on the way there.

        The point may be of other data, or of a sample that lacks rows which lose a lot.
        """
        zero = self.all.at(self._join(np.zeros(self.all.d), self.loss.zero_bias))
        found, _ = search(self.all, zero, point.x - zero.x, trial=point)
        return zero if found is None else found

    def _join(self, w: Array, b: float) -> Array:
        return np.append(w, b) if self.loss.free_bias else w.copy()

    def _note(self, point: RowPoint) -> None:
        """Keep the point with the least gap: it alone vouches for itself."""
        d = self.all.d
        if point.finite and point.gap < self.least_gap:
            self.least_gap = point.gap
            b = float(point.x[d]) if self.loss.free_bias else 0.0
            w, infimum = point.x[:d].copy(), self.loss.infimum
            keep(self.progress, point.value, point.gap, w, b, infimum)

    def _close(self, primal: float, dual: float) -> bool:
        """Whether the gap is what it should be, and the certificate says so too."""
        best = self.progress.best
        if not best.w.any() or not near(self.problem, primal, primal - dual, self.tol):
            return False
        return self.problem.certify_at(best.w, best.b).holds(self.tol)

    def _end(self, point: RowPoint) -> Solution:
        best, d, trail = end(self.progress), self.all.d, self.trail
        if point.scores is not None and point.finite:
            b = float(point.x[d]) if self.loss.free_bias else 0.0
            trail = trail.with_point(
                point.x[:d], b, point.scores, single=single_will_do(self.tol, self.typical)
            )
        if self.all.whole is not None:  # the few rows had missed something
            matrix, curvature = self.all.whole
            self.gram = _Gram(matrix, float(self.all.n_rows), curvature)
        best.kept = _Last(
            self.design,
            self.loss,
            self.typical,
            point,
            self.all.single,
            self.all.squares,
            self.gram,
            trail,
            self.began,
        )
        return best

    def _hessian(self, point: RowPoint) -> Factor:
        """That of few rows: as many as the shape, and what alpha leaves free, call for."""
        wanted, curvature = self._wanted_rows(point.curvature), point.curvature
        if self.gram is None or not self.gram.does(wanted, curvature):
            matrix = self.all.thin_gram(point, wanted, self.seed + 1)
            self.gram = _Gram(matrix, wanted, curvature)
        return self.all.factor(self.gram.matrix)

    def _wanted_rows(self, curvature: float) -> float:
        return thinned_rows(self.design, curvature, self.free, self.typical, self.alpha)

    def _from_samples(self, x: Array) -> tuple[Array, float | None]:
        """The solution of a sample and, from there, a better one of a larger sample.

        And how the sum bends there, if that was looked at.
        """
        rng, n = np.random.default_rng(self.seed), self.all.n_rows
        first = max(int(_FIRST_ROWS * self.free), _LEAST_ROWS)
        if first >= n // 3:
            return x, None
        points = self._sample(first, rng)
        x, inverse = newton_steps(points, x, _CHANCE * self.free / first * self.all.terms.bend)
        second = _SECOND * first
        if second >= n // 3 or inverse is None:
            return x, None
        points = self._sample(second, rng)
        enough = _CHANCE * self.free / second * self.all.terms.bend
        wanted = max(2.0 * self.free, _THINNED_PASSES * n / self.cost_of_gram)
        point = points.at(x)
        inverse = points.thin_hessian(point, min(wanted, second), self.seed + 9)
        steps = Steps(points, self.tol, inverse, np.inf)
        for _ in range(_SECOND_STEPS):
            decrement = float(point.gradient @ inverse(point.gradient))
            if decrement <= enough or point.gap <= 0.1 * self.tol * points.size(point):
                break
            moved = steps.next(point)
            if moved is None:
                break
            point = moved
        return point.x, point.curvature

    def _sample(self, size: int, rng: np.random.Generator) -> RowPoints:
        """Rows of each class, weighted to be the same problem in expectation."""
        design, tilt = sample(self.design, self.all.terms, size, rng)
        points = RowPoints(design, self.all.terms.weighted(tilt), self.alpha, self.loss.free_bias)
        points.single, points.typical = self.all.single, self.typical
        points.unit = self.all.unit
        return points


def a_row(problem: Problem) -> float:
    """What a row adds to the Hessian of a sum over rows, for a loss that bends by one."""
    terms = cast(RowSum, problem.loss).compiled
    assert terms is not None
    n_pos, n_neg, above, below = terms.sides
    return typical_square(problem.design) * (above - below) / (n_pos + n_neg)
