"""A smooth sum over rows under a ceiling, in few passes: TopPush and RectPush on many narrow rows.

Solves   min over w, b  alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j h(w.x_j + b)
         s.t.  w.x_j + b <= 0  for every negative j.
by       quadratic models with exact gradients and the curvature of few rows, as in `few_passes`,
         under the constraints of a pool of negatives: those of a sample, and the highest ones of
         every point so far. One pass over the rows tries a step: it gives gradient, value and the
         negatives that are highest there, which join the pool.
Given    a Problem with a ThresholdLoss that compiled kernels know but for its ceiling.
Returns  a Solution; its dual are the slopes of the rows and the multipliers of the last model.

A point may be above the ceiling for negatives that no model knew of. What it proves holds all the
same: slopes at any point, with multipliers that make up for their sum, are a dual vector. The
objective there is that of the highest threshold, or of a multiple of w that is better than zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import row_losses_along, row_terms, rows_of_places
from ..inputs.class_split import Split
from ..losses import CompiledRows, ThresholdLoss
from ..problems import Problem, Solution
from ..rounding import STEPS, UNIT, gamma
from ._candidates import Candidates, largest
from ._ceiling import factored, pooled_step, tolerance_at, worth_of
from ._passes import single_will_do
from ._row_points import LARGEST_SUM, DoubtfulEntries, Floats
from ._top_points import TopPoint, TopPoints
from .active_set_newton import active_set_newton
from .linalg import one_blas_thread, step_length
from .loop import Progress
from .row_hessians import bfgs_update, reweight_to_totals, sample_positions, thinned_rows
from .starts import beyond_ceiling, restart_duals
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]

#: Rows of the sample, for every feature that alpha leaves free.
_FIRST_ROWS = 50
#: And at the least.
_LEAST_ROWS = 500
#: The share of all rows that it may be.
_MOST_OF_ALL = 1.0 / 3.0
#: To what relative gap it is solved.
_SAMPLE_TOL = 1e-2
#: In how many steps at the most.
_SAMPLE_STEPS = 8
#: Highest negatives of a point that join the pool: so many, and so many for each feature.
_HIGHEST, _HIGHEST_A_FEATURE = 200, 2
#: Steps in which the gap must fall.
_PATIENCE = 8
#: By this share.
_FALLS = 0.2
#: A step is taken where its slope is this share of the first, at the most.
_WHOLE = 0.9
#: Or where the first is so little of the tolerance: it is rounding, and the model's best as well.
_NO_SLOPE = 0.1
#: Curvature is summed anew where a step leaves more of its slope than this.
_ASTRAY = 0.3
#: By so many times as many rows as the last time.
_MORE_ROWS = 4.0
#: What a point must gain over w = 0, as a share of that: less may be rounding.
_GAIN, _GAIN_SINGLE = 1e-12, 2e-6


def top_passes(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a TopPush or RectPush problem in few passes over its rows."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return _TopPasses(problem, tol, max_iter, watch or Watch(problem.design), seed).run(start)


@dataclass(frozen=True)
class _Proof:
    """A dual vector, as long as it is not needed: the slopes at scores, and the multipliers."""

    scores: Floats
    rows: NDArray[np.int64]
    multiplier: Array
    scale: float


class _TopPasses:
    def __init__(
        self, problem: Problem, tol: float, max_iter: int, watch: Watch, seed: int
    ) -> None:
        self.problem, self.tol, self.seed = problem, tol, seed
        self.loss = cast(ThresholdLoss, problem.loss)
        self.design, self.alpha, self.split = problem.design, problem.alpha, self.loss.split
        self.points = TopPoints(self.design, self.loss, self.alpha)
        n, d = self.design.shape
        some = np.linspace(0, n - 1, min(n, 256)).astype(np.int64)
        self.typical = max(float(self.design.squared_norms(some).mean()), 1e-300)
        self.points.typical = self.typical
        self.points.single = single_will_do(tol, self.typical)
        self.free = max(min(d, self.points.terms.bend * self.typical / self.alpha), 1.0)
        self.n_highest = _HIGHEST + _HIGHEST_A_FEATURE * d
        self.known = Candidates(self.design, np.empty(0, dtype=np.int64))
        #: The slope of the positives' loss at zero: what a violation costs, roughly.
        self.steep = self.loss.shares[0] * float(self.loss.surrogate.slope(np.zeros(1))[0])
        self.proof: _Proof | None = None
        self.best: TopPoint | None = None
        #: How many times as many rows the next thinned Hessian is to have.
        self.more = 1.0
        best = Solution(np.zeros(d), np.zeros(n), solver="top-passes", alpha=self.alpha)
        self.progress = Progress(
            best,
            self.loss.at_zero,
            0.0,
            close=self._close,
            zero=ZeroTest(problem).holds,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=_FALLS,
        )

    def run(self, start: Solution | None) -> Solution:
        progress = self.progress
        point = self.points.top_at(self._begin(start), self.n_highest)
        self._join(point)
        hessian = self._hessian(point)
        self._bound(point)
        while not progress.over():
            factor = factored(hessian.copy(order="F"), self.alpha, self.known.longest)
            if factor is None:
                break
            step = self._model(point, factor)
            trial, length, left, small = self._try(point, step)
            if trial is None:
                progress.stuck = True
                continue
            self._join(trial)
            self._bound(trial)
            if (left > _ASTRAY or length < 1.0) and not small:
                hessian = self._hessian(trial)
            else:
                bfgs_update(hessian, trial.x - point.x, trial.gradient - point.gradient)
            point = trial
        best = progress.best
        best.gave_up = not best.converged
        if best.gave_up:
            best.dual = self._dual()
        return best

    def _begin(self, start: Solution | None) -> Array:
        """The last point of an earlier solution, or the solution of a sample."""
        d = self.design.shape[1]
        if start is None or len(start.w) != d or not start.w.any():
            return self._of_a_sample()
        duals = restart_duals(self.problem, start)
        if duals is not None:
            self._bind(self.split.neg, beyond_ceiling(self.loss, duals[1]))
        return np.append(start.w, start.b)

    def _bind(self, rows: NDArray[np.int64], multiplier: Array) -> None:
        """Take the heaviest of these negatives for those that bind."""
        most = min(len(rows), 2 * self.design.shape[1])
        heaviest = largest(multiplier, most)
        heaviest = heaviest[multiplier[heaviest] > 0.0]
        self.known.widen(rows[heaviest])
        self.known.add(np.arange(len(heaviest)))
        self.known.multiplier = multiplier[heaviest]

    def _of_a_sample(self) -> Array:
        """The solution of a sample, whose negatives are the first of the pool."""
        n = self.design.shape[0]
        size = max(int(_FIRST_ROWS * self.free), _LEAST_ROWS)
        size = min(size, int(_MOST_OF_ALL * n))
        terms, rng = self.points.terms, np.random.default_rng(self.seed)
        both = CompiledRows(self.split, terms.positives, terms.negatives)
        rows = rows_of_places(self.loss.tilt, *sample_positions(both, size, rng))
        weights = reweight_to_totals(both, self.loss.tilt[rows])
        positive = weights > 0.0
        negatives = rows[~positive]
        loss = self.loss.of(Split.of(positive, np.abs(weights)))
        part = Problem(self.design.subset(rows), loss, self.alpha)
        if self.design.entries_in_doubt and not part.design.squared_norms().max() <= LARGEST_SUM:
            raise DoubtfulEntries
        found = active_set_newton(part, tol=max(self.tol, _SAMPLE_TOL), max_iter=_SAMPLE_STEPS)
        self._bind(negatives, beyond_ceiling(loss, loss.parts(found.dual)[1]))
        self.known.widen(negatives)
        return np.append(found.w, found.b)

    def _join(self, point: TopPoint) -> None:
        """The highest negatives of a point join the pool, and the very highest the list."""
        known = self.known
        known.widen(point.highest)
        z = point.z[known.negatives].astype(np.float64)
        if len(known.members) == 0:
            known.add(largest(z, min(len(z), self.n_highest)))
        known.prune(z)

    def _hessian(self, point: TopPoint) -> Array:
        """That of few rows, with alpha: as many as the shape, and what alpha leaves free, need."""
        wanted = thinned_rows(self.design, point.curvature, self.free, self.typical, self.alpha)
        wanted, self.more = self.more * wanted, _MORE_ROWS * self.more
        matrix = self.points.thin_gram(point, wanted, self.seed + 1)
        np.einsum("ii->i", matrix)[:-1] += self.alpha
        return matrix

    def _model(self, point: TopPoint, factor: Array) -> Array:
        """The step to the minimum of the model, under the constraints of the pool."""
        known, gradient, progress = self.known, point.gradient, self.progress
        least = 0.1 * self.tol * progress.primal

        def worth(step: Array) -> float:
            return worth_of(progress.gap, -float(gradient @ step), least, self.steep)

        return pooled_step(
            known,
            factor,
            gradient,
            point.z[known.negatives].astype(np.float64),
            tolerance=tolerance_at(known, gradient, self.alpha, float(point.x[-1])),
            scores=lambda w: self.design.scores(w, known.negatives),
            worth=worth,
        )[0]

    def _try(self, at: TopPoint, step: Array) -> tuple[TopPoint | None, float, float, bool]:
        """Where a step leads, its length, what it leaves of the slope, and if that is rounding.

        The slope is the Lagrangian's.
        """
        known, points = self.known, self.points
        extra = float((known.multiplier @ known.rows) @ step)
        before = float(at.gradient @ step) + extra
        if not before < 0.0:
            return None, 0.0, 1.0, False
        trial = points.top_at(at.x + step, self.n_highest)
        left = abs((float(trial.gradient @ step) + extra) / before)
        small = -before <= _NO_SLOPE * self.tol * self.progress.primal
        if trial.finite and (left <= _WHOLE or small):
            return trial, 1.0, left, small
        ds = cast(Floats, (trial.z - at.z).astype(at.z.dtype, copy=False))
        if not np.isfinite(ds).all():
            return None, 0.0, 1.0, False
        self._join(trial)
        dw = step[:-1]
        linear = self.alpha * float(at.x[:-1] @ dw) + extra
        square = self.alpha * float(dw @ dw)

        def line(theta: float) -> tuple[float, float]:
            _, slope, curvature = row_losses_along(
                at.z, ds, theta, *points.kernel, self.design.n_threads
            )
            return slope + linear + theta * square, curvature + square

        theta = step_length(line, before)
        trial = points.top_at(at.x + theta * step, self.n_highest)
        return (trial if trial.finite else None), theta, 1.0, False

    def _bound(self, point: TopPoint) -> None:
        """Better bounds from a point: its value, and its slopes with the multipliers."""
        progress, known = self.progress, self.known
        gain = _GAIN_SINGLE if self.points.single else _GAIN
        if point.primal < min(progress.primal, (1.0 - gain) * self.loss.at_zero):
            progress.lower(point.primal, point.w.copy(), point.b)
            self.best = point
        mu, need = known.multiplier, max(-float(point.gradient[-1]), 0.0)
        if not (0.0 < need < np.inf and mu.any()):
            return
        mu = mu * (need / mu.sum())
        pull = point.sums.pull + mu @ known.rows[:, :-1]
        square = float(pull @ pull) / (2.0 * self.alpha)
        w, b = point.x[:-1], float(point.x[-1])
        conjugate = float(point.sums.pull @ w) + b * point.sums.slope - point.sums.value
        dual, scale = -square - conjugate, 1.0
        if self.loss.only_top and self.loss.surrogate.quadratic:  # the best multiple: S^2 / (4 q)
            q = square + conjugate + need
            scale = need / (2.0 * q) if q > 0.0 else 1.0
            dual = scale * need - scale * scale * q
        if dual > progress.dual:
            bind = np.flatnonzero(mu)
            rows = known.negatives[known.members[bind]]
            self.proof = _Proof(point.z, rows, mu[bind], scale)
            progress.lift(dual, progress.best.dual)

    def _dual(self) -> Array:
        """The dual vector of the best proof."""
        proof = self.proof
        if proof is None:
            return np.zeros(self.split.n_rows)
        z = proof.scores.astype(np.float64)
        v = cast(Array, row_terms(z, *self.points.kernel, self.design.n_threads)[1])
        v[proof.rows] += proof.multiplier
        up, down = float(v.sum(where=v > 0.0)), -float(v.sum(where=v < 0.0))
        v[v > 0.0] *= proof.scale * min(up, down) / up
        v[v < 0.0] *= proof.scale * min(up, down) / down
        return v

    def _close(self, primal: float, dual: float) -> bool:
        """Whether the gap is what it should be, and the certificate says so too."""
        best = self.progress.best
        if not primal - dual <= self.tol * abs(primal):
            return False
        best.dual = self._dual()
        if not best.w.any():  # the best, or as near to it as rounding tells: Newton's method knows
            self.progress.stuck = True
            return True
        if self._certify_at_once():
            return True
        return self.problem.vouch(best).holds(self.tol)

    def _certify_at_once(self) -> bool:
        """Whether w, the highest b and the multipliers are enough, which takes one pass."""
        best, proof, point = self.progress.best, self.proof, self.best
        if proof is None or point is None or proof.scores is not point.z:
            return False
        rows, length = point.highest, float(np.linalg.norm(best.w))
        highest = float(self.design.scores(best.w, rows).max())
        far = float(np.sqrt(self.design.squared_norms(rows).max()))
        margin = 4.0 * gamma(len(best.w) + STEPS) * length * far + 16.0 * UNIT * abs(highest)
        best.b = min(best.b, -highest - margin)
        best.held = proof.rows, proof.multiplier
        found = self.problem.certify_held(best.w, best.b, *best.held)
        if found is not None and found.holds(self.tol):
            return True
        best.held = None
        return False


__all__ = ["top_passes"]
