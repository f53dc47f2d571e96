"""Smooth sums over rows, with a free threshold or without one.

Solves   min over w, b  alpha/2 |w|^2 + sum_r f_r(w.x_r + b)
by       Newton's method with a line search. `newton` takes the Hessian of all rows; `row_passes`
         takes that of few rows, and exact gradients. It begins with the solution of a sample or,
         on wide rows, with sweeps of dual descent.
Given    a Problem with a RowSum, smooth and finite everywhere; for `row_passes` one that compiled
         kernels know.
Returns  a Solution. That of `newton` has a dual vector. That of `row_passes` has none, for slopes
         at w and b prove its gap, unless the duals of sweeps proved it before.

For piecewise quadratic losses Newton's last step lands on the solution itself. But they have no
curvature left once most rows are where they should be, and a step goes astray. Then the steps are
for a larger alpha, which is lowered as the gap allows: see `ScorePoints`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import WideDescent
from ..designs import Design, MemoryDesign
from ..losses import CompiledRows, RowSum
from ..problems import Problem, Solution
from ..problems.solution import OfTheseRows
from .cost import factor_is_cheap, factors_few_rows
from .hessian_products import SampledHessian, ThinnedByCG, WholeByCG
from .linalg import one_blas_thread
from .loop import Progress, within
from .row_hessians import Gram, RowHessian, ThinnedHessian, WholeHessian, sample, typical_square
from .row_points import GAIN, SINGLE, Floats, RowPoint, SumPoints, single_will_do
from .row_starts import Path, newton_on_sample, swept
from .score_points import LossScores, ScorePoints
from .starts import better_than_zero
from .watch import Watch
from .zero_test import ZeroTest, settle_by_sums

Array = NDArray[np.float64]

#: Rows of the sample for every feature that alpha leaves free, and at least.
_SAMPLE_ROWS, _LEAST_ROWS = 50, 500
#: A second sample has this many times the rows of the first: each step saves one on all rows.
_LARGER = 6
#: Entries of the sample of many features: some tens of megabytes.
_SAMPLE_ENTRIES = 3_000_000
#: Gap at which the solution of a sample of many features is good enough, as a share of F(0).
_SAMPLE_GAP = 1e-3
#: A sample is solved up to this share of what chance leaves uncertain.
_CHANCE = 0.3
#: Iterations in which the gap must fall, with few rows and with all.
_PATIENCE, _LONG_PATIENCE = 12, 30
#: A kept Hessian is improved after a step shorter than this share of a whole one.
_ASTRAY = 0.3
#: And where that costs fewer passes than the steps to come, but never more than these passes.
_MOST_PASSES = 60.0


def _descend(
    points: SumPoints | ScorePoints,
    hessian: RowHessian,
    point: RowPoint,
    progress: Progress,
    tol: float,
) -> RowPoint:
    """Take Newton steps until the fit is over; return the last point."""
    gaps, length, alpha = [np.inf], 1.0, points.alpha
    while True:
        points.note(point, progress)
        if points.alpha < alpha:  # an easier problem is solved, and the next one begins
            progress.least_gap = np.inf
        alpha = points.alpha
        if progress.over(point.eased_gap):
            return point
        if isinstance(points, SumPoints) and points.single and points.is_near(point):
            point = points.in_double(point)  # what is left of the gap may be rounding
            continue
        gaps.append(point.gap)
        left = point.gap / (tol * points.size(point))
        if _pays(gaps, length, left, hessian.cost) and hessian.improve(point):
            gaps, length = [point.gap], 1.0
        hessian.at(point)
        moved, length = points.step(point, -hessian.inverse(point.gradient))
        if moved is not None:
            hessian.learn(point, moved)
            point = moved
        elif hessian.cost <= _MOST_PASSES and hessian.improve(point):
            gaps, length = [np.inf], 1.0
        else:
            progress.stuck = True


def _pays(gaps: list[float], length: float, left: float, cost: float) -> bool:
    """Return whether a better Hessian costs fewer passes than it saves.

    `left` is the gap in units of the one asked for.
    """
    if cost > _MOST_PASSES or len(gaps) < 3:
        return False
    if length < _ASTRAY:
        return True
    if len(gaps) < 4 or not 0.0 < gaps[-1] < np.inf or not 0.0 < gaps[-3] < np.inf:
        return False
    rate = min(np.sqrt(gaps[-1] / gaps[-3]), 0.97)
    return bool(np.log(max(left, 1.0)) / -np.log(rate) > cost + 1.5)


def newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a smooth sum over rows by Newton's method.

    The linear system is solved by Cholesky's method where that is cheap, else by conjugate
    gradients.
    """
    loss, design = cast(RowSum, problem.loss), problem.design
    n, d = design.shape
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        zero, scores, factored = ZeroTest(problem), LossScores(problem), factor_is_cheap(design)
        points = ScorePoints(problem, scores, zero.typical**2)
        hessian: RowHessian
        if factored:
            hessian = WholeHessian(points, strict=True)
            points.alpha, points.was_eased = problem.alpha, False
        else:
            hessian = WholeByCG(points, tol)
        progress = Progress(
            Solution(np.zeros(d), np.zeros(n), solver="newton", alpha=problem.alpha),
            loss.at_zero,
            loss.infimum,
            close=within(tol, loss.unit),
            zero=zero.holds,
            watch=watch or Watch(design),
            max_iter=max_iter,
            patience=_LONG_PATIENCE,
            falls=1e-3,
        )
        w = np.zeros(d)
        if start is not None and len(start.w) == d and start.w.any():
            scores.begin(start.w, start.b)
            if better_than_zero(problem, start.w, scores.s, scores.b):
                w = start.w.copy()
                points.alpha = max(problem.alpha, min(points.alpha, start.alpha))
            else:
                scores = points.line = LossScores(problem)
        _descend(points, hessian, points.at(w), progress, tol)
        return progress.best


@dataclass(frozen=True)
class _Last(OfTheseRows):
    """Where a fit ended: one of the same rows at another alpha goes on without a pass."""

    design: Design
    loss: RowSum
    #: |x|^2 of a row.
    typical: float
    path: Path
    #: The fit's points, with |x|^2 of every row, and the last of them.
    points: SumPoints | None = None
    point: RowPoint | None = None
    gram: Gram | None = None
    #: Of wide rows.
    descent: WideDescent | None = None


def row_passes(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a problem with a smooth sum over rows in few passes over them."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        fit = _RowPasses(problem, start, tol, max_iter, watch or Watch(problem.design), seed)
        wide = fit.wide if problem.design.stores_scores else fit.summed
        solution = fit.narrow() if factors_few_rows(problem.design) else wide()
        if solution.converged or problem.design.stores_scores:
            return solution
        return settle_by_sums(problem, solution)  # no other solver goes on


class _RowPasses:
    """A fit in few passes: where it begins, and with which Hessian."""

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
        self.loss, self.design = cast(RowSum, problem.loss), problem.design
        assert self.loss.compiled is not None
        self.terms: CompiledRows = self.loss.compiled
        d = self.design.shape[1]
        usable = start is not None and len(start.w) == d and start.w.any()
        self.start = start if usable else None
        last = self.start.kept if self.start is not None else None
        same = isinstance(last, _Last) and last.loss is self.loss and last.design is self.design
        #: Where a fit of the same rows ended.
        self.last = cast(_Last, last) if same else None
        self.path = Path() if self.last is None else self.last.path
        #: The scores of the best point, from its certificate where the points have none.
        self.scores: Floats | None = None
        self.needs_scores = False
        best = Solution(np.zeros(d), None, self.loss.zero_bias, solver="few-passes")
        best.alpha = problem.alpha
        self.progress = Progress(
            best,
            self.loss.at_zero,
            self.loss.infimum,
            close=self._close,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=0.1,
        )

    def _close(self, primal: float, dual: float) -> bool:
        """Return whether the gap is within the tolerance, and the certificate agrees."""
        best, gain = self.progress.best, self.loss.at_zero - primal
        near = primal - dual <= min(self.tol * self.problem.size_of(primal), GAIN * gain)
        if not best.w.any() or not near:
            return False
        if best.proof is not None:
            return True
        if not self.needs_scores:
            return self.problem.certify(best).holds(self.tol)
        certificate, sums = self.problem.examine(best.w, best.b, scores=True)
        self.scores = sums.scores
        return certificate.holds(self.tol)

    def narrow(self) -> Solution:
        """Fit few features, with a factor of the thinned Hessian."""
        design, last = self.design, self.last
        points = self._points(design, self.terms)
        gram = None
        if last is not None and last.points is not None:
            points.squares, gram = last.points.squares, last.gram
            points.single = points.single and last.points.single
        free = max(min(design.shape[1], self.terms.bend * points.typical / self.problem.alpha), 1.0)
        hessian = ThinnedHessian(points, free, self.seed + 1, gram)
        if self.start is None:
            point = self._from_sample(points, hessian, free)
        elif last is not None and last.point is not None:
            point = self._follow(points, last.point)
        else:
            point = points.at(points.join(self.start.w, self.start.b))
        point = self._better_than_zero(points, point)
        point = _descend(points, hessian, point, self.progress, self.tol)
        if point.scores is not None and point.finite:
            single = single_will_do(self.tol, points.typical)
            self.path = self.path.with_point(*points.parts(point.x), point.scores, single=single)
        return self._end(points.typical, points=points, point=point, gram=hessian.gram)

    def summed(self) -> Solution:
        """Fit many features of rows that are only summed over."""
        design, terms, n = self.design, self.terms, self.design.shape[0]
        points = self._points(design, terms)
        points.single = False
        size = int(_SAMPLE_ENTRIES / max(design.n_entries / max(n, 1), 1.0)) + 1
        drawn, tilt = sample(design, terms, min(size, n), np.random.default_rng(self.seed))
        few = SumPoints(drawn, terms.weighted(tilt), self.problem.alpha, self.loss.free_bias)
        few.single, few.unit = False, self.loss.unit
        if self.start is None:
            zero = points.join(np.zeros(points.d), self.loss.zero_bias)
            x = newton_on_sample(few, WholeByCG(few, _SAMPLE_GAP), zero, _SAMPLE_GAP).x
        else:
            x = points.join(self.start.w, self.start.b)
        point = self._better_than_zero(points, points.at(x))
        _descend(points, SampledHessian(points, few), point, self.progress, self.tol)
        return self._end(points.typical)

    def _points(self, design: Design, terms: CompiledRows) -> SumPoints:
        points = SumPoints(design, terms, self.problem.alpha, self.loss.free_bias, self.problem)
        points.typical = typical_square(design) if self.last is None else self.last.typical
        points.unit, points.tol = self.loss.unit, self.tol
        points.single = single_will_do(self.tol, points.typical)
        return points

    def _from_sample(self, points: SumPoints, hessian: ThinnedHessian, free: float) -> RowPoint:
        """Return the solution of a sample as a point of all rows."""
        x = points.join(np.zeros(points.d), self.loss.zero_bias)
        size = max(int(_SAMPLE_ROWS * free), _LEAST_ROWS)
        rng, thin = np.random.default_rng(self.seed), None
        for rows, steps in ((size, 30), (_LARGER * size, 4)):
            if rows >= self.design.shape[0] // 3:
                break
            design, tilt = sample(self.design, self.terms, rows, rng)
            few = SumPoints(design, self.terms.weighted(tilt), points.alpha, points.free_bias)
            few.single, few.typical, few.unit = points.single, points.typical, points.unit
            enough = _CHANCE * free / rows * self.terms.bend
            model: RowHessian = WholeHessian(few)
            if rows > size:
                model = ThinnedHessian(few, np.inf, self.seed)  # of all its rows
            solved = newton_on_sample(few, model, x, enough, steps)
            x = solved.x
            if not self.design.stores_scores and solved.sums is not None:
                # A Hessian of few rows in the same pass: the sample predicts the curvature.
                thin = hessian.thinning(solved.sums.curvature)
        return points.at(x, thin=thin)

    def _follow(self, points: SumPoints, last: RowPoint) -> RowPoint:
        """Return the point that the path leads to, or its last one where that is better."""
        assert last.sums is not None
        here = points.known(last.x, last.sums)
        if not self.path.points or points.is_near(here):
            return here
        w, b, _ = self.path.best(
            self.terms,
            self.problem.alpha,
            self.tol,
            self.design.n_threads,
            free_bias=self.loss.free_bias,
            pull=(last.sums.pull, last.sums.slope),
        )
        there = points.at(points.join(w, b))
        return there if there.finite and there.value < here.value else here

    def _better_than_zero(self, points: SumPoints, point: RowPoint) -> RowPoint:
        """Return the point or, where w = 0 is better, the best one on the way there.

        It may be of other data, or of a sample that lacks rows which lose a lot.
        """
        if point.finite and point.value < self.loss.at_zero:
            return point
        zero = points.at(points.join(np.zeros(points.d), self.loss.zero_bias))
        moved, _ = points.step(zero, point.x - zero.x, trial=point)
        return zero if moved is None else moved

    def wide(self) -> Solution:
        """Fit many features, with the thinned Hessian by conjugate gradients."""
        design, last = cast(MemoryDesign, self.design), self.last
        self.needs_scores = True
        if last is not None and last.descent is not None:
            descent = last.descent
        else:
            design.entries_read += design.n_entries  # for the lengths of the rows
            descent = WideDescent(
                design.matrix,
                *self.terms.kernel,
                self.loss.free_bias,
                False,
                design.n_threads,
            )
        points = ScorePoints(self.problem, descent, descent.typical)
        w = self._continued(points, descent)
        if w is None:
            w = self._swept(points, descent)
        if self.progress.best.proof is None:
            hessian = ThinnedByCG(points, descent, self.tol, self.seed)
            _descend(points, hessian, points.at(w), self.progress, self.tol)
        else:
            self.progress.over()
        return self._end(descent.typical, descent=descent)

    def _continued(self, points: ScorePoints, descent: WideDescent) -> Array | None:
        """Return the w of an earlier fit or of its path, if it is better than w = 0."""
        if self.start is None:
            return None
        if self.path.points:
            w, b, c = self.path.best(
                self.terms,
                self.problem.alpha,
                self.tol,
                self.design.n_threads,
                free_bias=self.loss.free_bias,
            )
            finite = descent.place(self.path.scores(c), b)
        else:
            w = self.start.w.copy()
            self.design.entries_read += self.design.n_entries
            finite = descent.begin(w, self.start.b)
        if not (finite and descent.value + self.problem.penalty(w) < self.loss.at_zero):
            return None
        points.alpha = max(self.problem.alpha, min(points.alpha, self.start.alpha))
        return w

    def _swept(self, points: ScorePoints, descent: WideDescent) -> Array:
        """Return where sweeps of dual descent lead, or w = 0; their duals may prove the gap."""
        problem, loss = self.problem, self.loss
        found = swept(problem, descent, self.tol, self.seed + 1)
        if found is not None:
            w, b, alpha = found.w, found.b, found.alpha
            if found.proof is not None:
                certificate = problem.certify(found)
                gain = loss.at_zero - certificate.primal
                if certificate.holds(self.tol) and certificate.gap <= GAIN * gain:
                    assert found.scores is not None
                    self.progress.lower(certificate.primal, w, b)
                    self.progress.lift(certificate.dual, found.proof)
                    self.scores = found.scores + b
                    return w
            self.design.entries_read += self.design.n_entries
            finite = descent.begin(w, b)
            if finite and descent.value + 0.5 * alpha * float(w @ w) < loss.at_zero:
                points.alpha = alpha
                return w
        descent.begin(None, loss.zero_bias)
        return np.zeros(self.design.shape[1])

    def _end(self, typical: float, **kept: object) -> Solution:
        """Return the best point; where it is short of the tolerance, another solver may go on."""
        best = self.progress.best
        best.gave_up = not best.converged
        if self.scores is not None and best.converged:
            single = self.tol >= SINGLE
            self.path = self.path.with_point(best.w, best.b, self.scores, single=single)
        best.kept = _Last(self.design, self.loss, typical, self.path, **kept)  # type: ignore[arg-type]
        return best


__all__ = ["newton", "row_passes"]
