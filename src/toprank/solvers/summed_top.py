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

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..designs import Sums, Thinning
from ..inputs.class_split import Split
from ..losses import ThresholdLoss
from ..problems import Certificate, Problem, Solution
from ._candidates import Listed
from ._ceiling import block_of, factored, model_step, tolerance_at, worth_of
from .cost import rows_a_round
from .linalg import one_blas_thread
from .loop import Progress, within
from .row_hessians import sample
from .watch import Watch

Array = NDArray[np.float64]

#: Steps in which the gap must fall.
_PATIENCE = 20
#: By this share.
_FALLS = 0.01
#: The share of what a step promises that it must gain.
_GAIN = 1e-4
#: Times that a step is shortened.
_SHORTENED = 30
#: What rounding may add to a value.
_ROUNDING = 1e-13
#: A gain over w = 0 that is none.
_NOTHING = 1e-12
#: Rows of the sample that a fit begins with,
_SAMPLED = 10_000
#: where there are so many times as many,
_SAMPLED_OF = 5
#: and the gap of its solution: chance is more.
_SAMPLED_TOL = 1e-3
#: Rows of a Hessian for every column, until steps by it do not do.
_HESSIAN_ROWS = 500.0
#: A step is likely the last where it promises no more than so many times the tolerance.
_LAST = 3.0
#: The mean positive is in the hull of the negatives if it is as near to it as this share of a row.
_HULL_DISTANCE = 1e-4


def summed_top(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
    inner: Callable[..., Solution] | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a TopPush or RectPush problem by Newton steps from sums over rows.

    `inner` solves the problem of a sample of them in memory, to begin with.
    """
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        newton = _Newton(problem, tol, max_iter, watch or Watch(problem.design), seed)
        return newton.run(start, inner)


@dataclass
class _Point:
    """Weights and a threshold that no negative is above, and the sums there."""

    w: Array
    b: float
    sums: Sums
    value: float


class _Newton:
    def __init__(
        self, problem: Problem, tol: float, max_iter: int, watch: Watch, seed: int
    ) -> None:
        self.problem, self.tol, self.alpha, self.seed = problem, tol, problem.alpha, seed
        self.loss, self.design = cast(ThresholdLoss, problem.loss), problem.design
        self.listed = Listed(self.design)
        d = self.design.shape[1]
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
        #: How many rows the Hessian is of; more, once steps by it do not do.
        self.hessian_rows = _HESSIAN_ROWS * (d + 1.0)
        self.typical, self.bend = 1.0, 0.0

    def run(self, start: Solution | None, inner: Callable[..., Solution] | None) -> Solution:
        at = self._begin(start if start is not None or inner is None else self._sampled(inner))
        while True:
            self._note(at)
            if self.progress.over():
                return self.progress.best
            factor, gradient = self._model(at)
            step = self._model_step(at, factor, gradient)
            moved = self._advance(at, step, float(gradient @ step))
            if moved is None and self.hessian_rows < np.inf:
                self.hessian_rows, at.sums.thinned = np.inf, None
                continue
            self.progress.stuck = moved is None
            at = at if moved is None else moved

    def _sampled(self, inner: Callable[..., Solution]) -> Solution | None:
        """The solution of a sample, where all negatives lose; of few rows there is none."""
        terms, (n, _) = self.loss.under_ceiling.compiled, self.design.shape
        if self.loss.only_top or terms is None or n < _SAMPLED_OF * _SAMPLED:
            return None
        drawn, tilt = sample(self.design, terms, _SAMPLED, np.random.default_rng(self.seed))
        squares = drawn.squared_norms()
        self.typical = max(float(np.abs(tilt) @ squares / np.abs(tilt).sum()), 1e-300)
        pos, neg = np.flatnonzero(tilt > 0), np.flatnonzero(tilt < 0)
        p, q = tilt[pos] / tilt[pos].sum(), tilt[neg] / tilt[neg].sum()
        loss = self.loss.of(Split(len(tilt), pos, neg, p, q))
        few = Problem(drawn, loss, self.alpha)
        return inner(few, tol=max(self.tol, _SAMPLED_TOL), seed=self.seed)

    def _begin(self, start: Solution | None) -> _Point:
        """The earlier solution where it is better than w = 0, else that."""
        d = self.design.shape[1]
        first = max(50, min(2 * d, 300), self._block())
        self.zero = zero = self._at(np.zeros(d), self.loss.highest_from(0.0))
        if start is not None and len(start.w) == d and start.w.any():
            highest, top = self.problem.highest_negatives(start.w, first)
            at = self._at(start.w.copy(), min(start.b, self.loss.highest_from(top)), model=True)
            if at.value < zero.value:
                self.listed.add(np.sort(highest.rows))
                return at
        # Towards the positives: for the first model those are the negatives to look at.
        highest, _ = self.problem.highest_negatives(-zero.sums.pull, first)
        self.listed.add(np.sort(highest.rows))
        return zero

    def _at(self, w: Array, b: float, *, model: bool = False) -> _Point:
        """The sums at a point, with the Hessian for a model if that is wanted at once."""
        sums = self.problem.sums_below(w, b, thin=self._thinning() if model else None)
        self.bend = sums.curvature or self.bend
        return _Point(w, b, sums, sums.value + self.problem.penalty(w))

    def _block(self) -> int:
        """How many negatives may join the list in a round: more where a round is a journey."""
        more = rows_a_round(self.design) if self.design.elsewhere else 0
        return max(block_of(self.design.shape[1]), more)

    def _thinning(self) -> Thinning:
        """The rows that the Hessian is of: all, or so many that stand for them."""
        known = self.bend > 0.0 and self.hessian_rows < 0.5 * self.design.shape[0]
        rate = self.hessian_rows / self.bend if known else np.inf
        return Thinning(rate, self.typical, self.seed + 1)

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
            self.progress.best.held = known.members[used], known.multiplier[used]

    def _certificate(self, at: _Point) -> Certificate:
        known = self.listed
        if not known.multiplier.any() and len(known.members):  # the highest has to carry it all
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
        if at.sums.thinned is None:
            at.sums = self.problem.sums_below(at.w, at.b, thin=self._thinning())
        assert at.sums.thinned is not None
        hessian = np.array(at.sums.thinned, order="F")
        diagonal = np.arange(d)
        hessian[diagonal, diagonal] += self.alpha
        factor = factored(hessian, self.alpha, self.listed.longest)
        if factor is None:
            raise FloatingPointError("The Hessian overflowed: scale the features, or raise alpha.")
        return factor, np.append(self.alpha * at.w + at.sums.pull, at.sums.slope)

    def _model_step(self, at: _Point, factor: Array, gradient: Array) -> Array:
        """The minimum of the quadratic model under every negative's constraint, by rounds."""
        known, progress = self.listed, self.progress
        tolerance = tolerance_at(known, gradient, self.alpha, at.b)
        assert at.sums.bounds is not None
        total = max(at.sums.bounds.size, 1e-300)
        least = 0.1 * self.tol * self.problem.size_of(progress.primal)

        def heights(rows: Array) -> Array:
            return np.asarray(rows[:, :-1] @ at.w + at.b)

        def more(step: Array) -> tuple[Array, Array, bool]:
            w = at.w + step[:-1]
            highest, top = self.problem.highest_negatives(w, self._block())
            self.priced = w, top
            violation = highest.scores + (at.b + float(step[-1]))
            worth = worth_of(progress.gap, -float(gradient @ step), least, total)
            found = highest.rows[violation > 0.1 * (worth + tolerance)]
            rows = known.add(np.sort(found[~np.isin(found, known.members)]))
            return rows, heights(rows), bool((violation <= worth).all())

        return model_step(
            known, heights(known.rows), factor, gradient, tolerance=tolerance, more=more
        )

    def _advance(self, at: _Point, step: Array, slope: float) -> _Point | None:
        """The whole step, or as much of it as gains something; None where nothing does."""
        theta, loss, best = 1.0, self.loss, None
        # A step that promises so little is likely the last: no model follows it.
        last = -slope <= _LAST * self.tol * self.problem.size_of(self.progress.primal)
        for _ in range(_SHORTENED):
            w, b = at.w + theta * step[:-1], at.b + theta * float(step[-1])
            known, top = self.priced  # the whole step has been looked at
            if not np.array_equal(known, w):
                _, top = self.problem.highest_negatives(w, 1)
            ceiling = loss.highest_from(top)
            # The model keeps b below the negatives it knows of only.
            trial = self._at(w, ceiling if loss.only_top else min(b, ceiling), model=not last)
            most = at.value + _GAIN * theta * min(slope, 0.0)
            if trial.value <= most + _ROUNDING * abs(at.value):
                best = trial
                break
            fall = trial.value - at.value - theta * slope
            part = -0.5 * theta * slope / fall if np.isfinite(fall) and fall > 0 else 0.1
            theta *= min(max(part, 0.1), 0.5)
        if best is not None:
            self.listed.shorten(self.listed.rows[:, :-1] @ best.w)
        return best


__all__ = ["summed_top"]
