"""Newton's method under a ceiling on the negatives, by rounds of sums over rows.

Solves   min over w, b  alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j h(w.x_j + b)
         s.t.  w.x_j + b <= 0  for every negative j: RectPush where h = l, TopPush where h = 0.
by       quadratic models with exact curvature; each model's few binding negatives are found by
         a dual active-set method on a growing list, priced by rounds that ask every part of the
         rows for its highest negatives.
Given    a Problem with a ThresholdLoss that compiled kernels know below its ceiling, of a matrix
         that need not be here: nothing as long as it is kept.
Returns  a Solution whose dual vector is the slopes at w, and the multipliers of `held` negatives.

A step is a round or more for the highest negatives at the new w, which tell b, and one for all
sums there, its Hessian among them. `active_set_newton` is the same for rows in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm, dtrsv

from .._core import ActiveSet
from ..designs import Design, Sums
from ..history import Watch
from ..losses import ThresholdLoss
from ..problem import Certificate, Problem, Solution
from .blas import one_blas_thread
from .cholesky import cholesky
from .loop import Progress, within

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Rounds in which a model finds the negatives it has to carry.
_ROUNDS = 14
#: Steps of the active-set method in a round, at the most.
_MAX_STEPS = 20_000
#: Steps in which the gap must fall.
_PATIENCE = 20
#: By this share.
_FALLS = 0.01
#: A violated negative matters once it costs this share of what is at stake.
_VIOLATION_SHARE = 0.02
#: The least curvature of a model in b, in units of that in w.
_LEAST_BEND = 1e-4
#: The share of what a step promises that it must gain.
_GAIN = 1e-4
#: Times that a step is shortened.
_SHORTENED = 30
#: What rounding may add to a value.
_ROUNDING = 1e-13
#: A gain over w = 0 that is none.
_NOTHING = 1e-12
#: The mean positive is in the hull of the negatives if it is as near to it as this share of a row.
_HULL_DISTANCE = 1e-4


def summed_top(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a TopPush or RectPush problem by Newton steps from sums over rows."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return _Newton(problem, tol, max_iter, watch or Watch(problem.design)).run(start)


class _Listed:
    """The negatives that a model carries, by their row numbers, with rows and multipliers."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self.places = np.empty(0, dtype=np.int64)
        self.multiplier = np.empty(0)
        self.rows = np.empty((0, design.shape[1] + 1))  # with a last column of ones, for b

    def add(self, places: Indices) -> Array:
        """List more negatives; returns their rows."""
        rows = np.ones((len(places), self._design.shape[1] + 1))
        if len(places):
            rows[:, :-1] = self._design.take(places)
        self.places = np.concatenate([self.places, places])
        self.multiplier = np.concatenate([self.multiplier, np.zeros(len(places))])
        self.rows = np.concatenate([self.rows, rows])
        return rows

    def prune(self, w: Array) -> None:
        """Keep the list short."""
        d = self._design.shape[1]
        if len(self.places) <= 4 * d + 200:
            return
        scores = self.rows[:, :-1] @ w
        floor = np.partition(scores, -(2 * d + 100))[-(2 * d + 100)]
        kept = (self.multiplier > 0) | (scores >= floor)
        self.places, self.multiplier = self.places[kept], self.multiplier[kept]
        self.rows = self.rows[kept]


@dataclass
class _Point:
    """Weights and a threshold that no negative is above, and the sums there."""

    w: Array
    b: float
    sums: Sums
    value: float


class _Newton:
    def __init__(self, problem: Problem, tol: float, max_iter: int, watch: Watch) -> None:
        self.problem, self.tol, self.alpha = problem, tol, problem.alpha
        self.loss, self.design = cast(ThresholdLoss, problem.loss), problem.design
        self.listed = _Listed(self.design)
        d = self.design.shape[1]
        self.block = min(max(50, d // 2), 150)
        best = Solution(np.zeros(d), np.zeros(0), solver="summed-newton", alpha=self.alpha)
        best.held = np.empty(0, dtype=np.int64), np.empty(0)
        self.progress = Progress(
            best,
            self.loss.at_zero,
            self.loss.infimum,
            close=within(tol, self.loss.unit),
            zero=self._hull_holds,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=_FALLS,
        )
        self.zero: _Point | None = None
        self.least_gap = np.inf
        #: Where the highest negatives were last asked for, and what none is above there.
        self.priced: tuple[Array, float] = best.w, 0.0

    def run(self, start: Solution | None) -> Solution:
        at = self._begin(start)
        while True:
            self._note(at)
            if self.progress.over():
                return self.progress.best
            factor, gradient = self._model(at)
            step = self._model_step(at, factor, gradient)
            moved = self._advance(at, step, float(gradient @ step))
            self.progress.stuck = moved is None
            at = at if moved is None else moved

    def _begin(self, start: Solution | None) -> _Point:
        """The earlier solution where it is better than w = 0, else that."""
        d, first = self.design.shape[1], max(50, min(2 * self.design.shape[1], 300))
        self.zero = zero = self._at(np.zeros(d), self.loss.highest_from(0.0))
        if start is not None and len(start.w) == d and start.w.any():
            highest, top = self.problem.highest_negatives(start.w, first)
            at = self._at(start.w.copy(), min(start.b, self.loss.highest_from(top)))
            if at.value < zero.value:
                self.listed.add(np.sort(highest.rows))
                return at
        # Towards the positives: for the first model those are the negatives to look at.
        highest, _ = self.problem.highest_negatives(-zero.sums.pull, first)
        self.listed.add(np.sort(highest.rows))
        return zero

    def _at(self, w: Array, b: float) -> _Point:
        sums = self.problem.sums_below(w, b, gram=True)
        return _Point(w, b, sums, sums.value + self.problem.penalty(w))

    def _note(self, at: _Point) -> None:
        """Keep the point that proves most of itself; w = 0 where that is as good as any."""
        zero = self.zero
        assert zero is not None
        if at.value >= zero.value * (1.0 - _NOTHING) and self._hull_holds(at.w):
            at = zero
        known, found = self.listed, self._certificate(at)
        gap = found.primal - found.dual
        if gap < self.least_gap:
            self.least_gap, used = gap, np.flatnonzero(known.multiplier)
            self.progress.lower(found.primal, at.w, at.b)
            self.progress.lift(found.dual, self.progress.best.dual)
            self.progress.best.held = known.places[used], known.multiplier[used]

    def _certificate(self, at: _Point) -> Certificate:
        known = self.listed
        if not known.multiplier.any() and len(known.places):  # the highest has to carry it all
            known.multiplier[np.argmax(known.rows[:, :-1] @ at.w)] = 1.0
        return self.problem.certificate_below(at.w, at.sums, known.rows[:, :-1], known.multiplier)

    def _hull_holds(self, _: Array) -> bool:
        """Whether the mean positive is in the hull of the negatives: w = 0 is the optimum then."""
        assert self.zero is not None
        assert self.zero.sums.bounds is not None
        pull, size = self.zero.sums.pull, self.zero.sums.bounds.pull_size
        held, total = self.listed.multiplier, float(self.listed.multiplier.sum())
        if not self.loss.only_top:
            return bool(np.linalg.norm(pull) <= 1e-12 * size)
        if not total > 0.0:
            return False
        steepness = float(self.loss.surrogate.slope(np.zeros(1))[0])
        hull = (held * (steepness / total)) @ self.listed.rows[:, :-1]
        return bool(np.linalg.norm(pull + hull) <= _HULL_DISTANCE * size)

    def _model(self, at: _Point) -> tuple[Array, Array]:
        """The lower Cholesky factor of the Hessian in (w, b), and the gradient."""
        d = self.design.shape[1]
        assert at.sums.thinned is not None
        hessian = np.array(at.sums.thinned, order="F")
        # Where no row bends, b costs the model nothing: as much as keeps its rows apart.
        least = _LEAST_BEND * self.alpha / max(self._longest() ** 2, 1e-300)
        hessian[d, d] = max(hessian[d, d] * (1.0 + 1e-10), least, 1e-16)
        diagonal = np.arange(d)
        hessian[diagonal, diagonal] += self.alpha
        factor = cholesky(hessian, hessian.diagonal().copy())
        if factor is None:
            raise FloatingPointError("The Hessian overflowed: scale the features, or raise alpha.")
        return factor, np.append(self.alpha * at.w + at.sums.pull, at.sums.slope)

    def _longest(self) -> float:
        rows = self.listed.rows[:, :-1]
        return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max(initial=0.0)))

    def _model_step(self, at: _Point, factor: Array, gradient: Array) -> Array:
        """The minimum of the quadratic model under every negative's constraint, by rounds."""
        known = self.listed
        free = -dtrsv(factor, gradient, lower=1)
        reach = float(self._longest() * np.linalg.norm(gradient[:-1])) / self.alpha
        tolerance = 1e-9 * max(min(1.0, reach), abs(at.b))
        model = ActiveSet(free)
        model.append(_whiten(factor, known.rows), known.rows[:, :-1] @ at.w + at.b)
        guess = np.flatnonzero(known.multiplier)
        guess = guess[np.argsort(-known.multiplier[guess], kind="stable")]
        model.warm(guess if len(guess) < len(free) else guess[: len(free) // 2])
        assert at.sums.bounds is not None
        total = max(at.sums.bounds.size, 1e-300)
        for _ in range(_ROUNDS):
            model.solve(tolerance, _MAX_STEPS)
            step = dtrsv(factor, model.y, lower=1, trans=1)
            w = at.w + step[:-1]
            highest, top = self.problem.highest_negatives(w, self.block)
            self.priced = w, top
            violation = highest.scores + (at.b + float(step[-1]))
            stake = min(self.progress.gap, max(-float(gradient @ step), 0.0))
            least = 0.1 * self.tol * self.problem.size_of(self.progress.primal)
            worth = _VIOLATION_SHARE * max(stake, least) / total
            found = highest.rows[violation > 0.1 * (worth + tolerance)]
            found = np.sort(found[~np.isin(found, known.places)])
            if len(found) == 0:
                break
            rows = known.add(found)
            model.append(_whiten(factor, rows), rows[:, :-1] @ at.w + at.b)
            if violation.max() <= worth:
                break
        known.multiplier = model.multipliers
        return np.asarray(step)

    def _advance(self, at: _Point, step: Array, slope: float) -> _Point | None:
        """The whole step, or as much of it as gains something; None where nothing does."""
        theta, loss, best = 1.0, self.loss, None
        for _ in range(_SHORTENED):
            w, b = at.w + theta * step[:-1], at.b + theta * float(step[-1])
            known, top = self.priced  # the whole step has been looked at
            if not np.array_equal(known, w):
                _, top = self.problem.highest_negatives(w, 1)
            ceiling = loss.highest_from(top)
            # The model keeps b below the negatives it knows of only.
            trial = self._at(w, ceiling if loss.only_top else min(b, ceiling))
            most = at.value + _GAIN * theta * min(slope, 0.0)
            if trial.value <= most + _ROUNDING * abs(at.value):
                best = trial
                break
            fall = trial.value - at.value - theta * slope
            part = -0.5 * theta * slope / fall if np.isfinite(fall) and fall > 0 else 0.1
            theta *= min(max(part, 0.1), 0.5)
        if best is not None:
            self.listed.prune(best.w)
        return best


def _whiten(factor: Array, rows: Array) -> Array:
    """L^-1 applied to every row."""
    return np.asarray(dtrsm(1.0, factor, rows.T, lower=1)).T


__all__ = ["summed_top"]
