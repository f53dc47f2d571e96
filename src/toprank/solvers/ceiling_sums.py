"""Newton's method under a ceiling, with one pass over the rows per step.

Solves   what `ceiling` solves, for rows in memory, in files, and on clusters
by       the same loop. A pass over the rows tries a step: it gives the value, the gradient and the
         highest negatives there, which join the pool that models look at. The Hessian is that of
         few rows, and is updated by the steps.
Given    a Problem with a ThresholdLoss that compiled kernels know below its ceiling.
Returns  a Solution. In memory its dual vector is the slopes of the rows and the multipliers of the
         last model; of other rows these are the slopes at w, and the proof is the multipliers.

A point may be above the ceiling for negatives that no model knew of. Its bound holds all the
same: slopes at any point, with multipliers that make up for their sum, are a dual vector. The
objective there is that of the highest threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from .._core import highest_rows, row_losses_along, row_terms, rows_of_places, thin_rows
from ..designs import Ask, Highest, Sums, Thinning
from ..inputs.class_split import Split
from ..losses import CompiledRows
from ..problems import Multipliers, Problem, Proof, Solution
from ..problems.solution import NO_GAP
from ..rounding import STEPS, UNIT, gamma
from .ceiling import Ceiling, Point, ceiling
from .linalg import one_blas_thread, step_length
from .row_hessians import (
    bfgs_update,
    reweight_to_totals,
    sample,
    sample_positions,
    thinned_rows,
    typical_square,
)
from .starts import beyond_ceiling, restart_duals
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]
Floats = NDArray[np.float32] | NDArray[np.float64]
Rows = NDArray[np.int64]

#: Rows of the first sample for every feature that alpha leaves free, of which ten are assumed.
_SAMPLE_ROWS = 50
#: The most rows of the sample: beyond them it costs more than the passes it saves.
_MOST_SAMPLE = 20_000
#: The relative gap to which the sample is solved. Chance is more.
_SAMPLE_TOL = 1e-2
#: The share of its slope that a whole step may leave; else a part of the step is taken.
_TAKEN = 0.9
#: The share of its slope from which a step shows that the Hessian is wrong, and is summed anew.
_ASTRAY = 0.3
#: Times that a step is shortened before a Hessian of all rows is summed.
_SHORTENED = 10
#: The tolerance from which rows are computed with in float32.
_SINGLE = 3e-6
#: The share of the objective at w = 0 by which rounding in float32 may be off.
_SINGLE_ROUNDING = 2e-6


def ceiling_by_sums(
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
        return _Summed(problem, tol, max_iter, watch or Watch(problem.design), seed).run(start)


@dataclass
class _Pass(Point):
    """A point and its pass; negatives may be above the ceiling.

    Attributes
    ----------
    sums : Sums
        The sums of the pass.
    z : ndarray or None
        The scores of the rows, threshold included, where they are kept.
    highest, top : ndarray, float
        The numbers of the highest negatives, and the score of the highest one.
    primal, best_b : float
        The objective with a threshold that no negative is above, and that threshold.
    sure : bool
        Whether the objective is more than an estimate.
    """

    sums: Sums
    z: Floats | None
    highest: Rows
    top: float
    primal: float
    best_b: float
    sure: bool

    @property
    def x(self) -> Array:
        """(w, b)."""
        return np.append(self.w, self.b)


@dataclass(frozen=True)
class _Proof:
    """A dual vector before it is needed: the slopes at a point, and the multipliers."""

    at: _Pass
    rows: Rows
    multiplier: Array
    scale: float


class _Summed(Ceiling[_Pass]):
    def __init__(
        self, problem: Problem, tol: float, max_iter: int, watch: Watch, seed: int
    ) -> None:
        design = problem.design
        #: Whether vectors with an entry per row are affordable.
        self.stores_scores = self.ends_on_overflow = design.stores_scores
        self.solver = "top-passes" if self.stores_scores else "summed-newton"
        self.patience, self.falls = (8, 0.2) if self.stores_scores else (20, 0.01)
        super().__init__(problem, tol, max_iter, watch)
        self.seed, terms = seed, self.loss.under_ceiling.compiled
        assert terms is not None
        self.terms, d = terms, design.shape[1]
        self.typical = typical_square(design)
        self.single = self.stores_scores and tol >= _SINGLE and 1e-30 < self.typical < 1e30
        self.free = max(min(d, terms.bend * self.typical / self.alpha), 1.0)
        self.n_highest = 200 + 2 * d
        if not self.stores_scores:
            self.n_highest = self.block = max(min(self.n_highest, design.rows_per_round), 50)
        self.pool = np.empty(0, dtype=np.int64)
        #: Whether the highest negatives take a round of their own: TopPush's sums leave them out.
        self.apart = self.loss.only_top and not self.stores_scores
        #: The highest negatives that were last asked for, and the weights.
        self.looked: tuple[Array, Highest, float] | None = None
        self.proof: _Proof | None = None
        self.best: _Pass | None = None
        self.squares: Floats | None = None
        #: The Hessian, until steps go astray by it, and how many more rows the next one has.
        self.matrix: Array | None = None
        self.more = 1.0
        #: The sum of the curvatures at the last point.
        self.curvature = terms.bend

    def no_proof(self) -> Proof:
        if self.stores_scores:
            return np.zeros(self.design.shape[0])
        return Multipliers(np.empty(0, dtype=np.int64), np.empty(0))

    def ends(self) -> dict[str, Any]:
        return {"close": self._close, "zero": self._zero_holds}

    def begin(self, start: Solution | None) -> _Pass:
        d = self.design.shape[1]
        if start is not None and len(start.w) == d and start.w.any():
            w, b, duals = start.w.copy(), start.b, restart_duals(self.problem, start)
            if duals is not None:
                self.listed.bind(self.split.neg, beyond_ceiling(self.loss, duals[1]))
        elif self.stores_scores or not self.loss.only_top:
            w, b = self._of_a_sample()
        else:  # the highest negatives of a sample say little, and the pool begins without them
            w, b = np.zeros(d), 0.0
        if w.any():
            at = self._at(w, b)
            if at.sums.value + self.problem.penalty(w) < self.loss.at_zero:
                return at
        self.curvature, self.matrix = self.terms.bend, None
        zero = self._at(np.zeros(d), self.loss.highest_from(0.0))
        if not self.stores_scores or not len(
            self.listed.members
        ):  # the negatives most like the positives
            towards = Ask(self.loss, -zero.pull, highest=self.n_highest, only_top=True)
            highest = self.design.reduce(towards).highest
            assert highest is not None
            self._join(highest.rows)
        return zero

    def _of_a_sample(self) -> tuple[Array, float]:
        """Return the solution of a sample, whose negatives are the first of the pool."""
        n, rng = self.design.shape[0], np.random.default_rng(self.seed)
        size = min(int(_SAMPLE_ROWS * max(self.free, 10.0)), n // 3, _MOST_SAMPLE)
        both = CompiledRows(self.loss.rows, self.terms.positives, self.terms.negatives)
        if self.stores_scores:
            rows = rows_of_places(self.loss.tilt, *sample_positions(both, size, rng))
            drawn = self.design.subset(rows)
            tilt = reweight_to_totals(both, self.loss.tilt[rows])
        else:
            drawn, tilt = sample(self.design, both, size, rng)
        loss = self.loss.of(Split.of(tilt > 0.0, np.abs(tilt)))
        part = Problem(drawn, loss, self.alpha)
        found = ceiling(part, tol=max(self.tol, _SAMPLE_TOL), max_iter=8)
        if self.stores_scores:
            negatives = rows[tilt < 0.0]
            self.listed.bind(negatives, beyond_ceiling(loss, loss.parts(found.dual)[1]))
            self.pool = negatives
        return found.w, found.b

    def _at(self, w: Array, b: float) -> _Pass:
        """One pass over all rows; two for TopPush, whose sums leave the negatives out."""
        highest: Highest | None = None
        if self.apart and w.any():
            highest, top = self._highest_at(w)
            b = self.loss.highest_from(top)
        ask = Ask(
            self.loss.under_ceiling,
            w,
            b,
            scores=self.stores_scores,
            squares=self.stores_scores and self.squares is None,
            single=self.single,
            highest=0 if self.stores_scores or self.apart else self.n_highest,
            thin=None if self.stores_scores or self.matrix is not None else self._thinning(),
        )
        sums = self.design.reduce(ask)
        if self.stores_scores:
            assert sums.scores is not None
            self.squares = sums.squares if self.squares is None else self.squares
            rows, top = highest_rows(sums.scores, self.loss.tilt, self.n_highest)
        else:
            highest = sums.highest if highest is None else highest
            rows = np.empty(0, dtype=np.int64) if highest is None else highest.rows
            top = 0.0 if self.apart or highest is None else float(highest.scores[0]) + b
        self.curvature = sums.curvature or self.curvature
        size = -sums.slope if self.loss.only_top else float(np.abs(sums.slope))
        at = _Pass(w, b, sums.pull, sums.slope, size, sums, sums.scores, rows, top, np.inf, b, True)
        move, value = self._best_move(at)
        at.primal, at.best_b = value + self.problem.penalty(w), b + move
        self._join(rows)
        return at

    def _highest_at(self, w: Array) -> tuple[Highest, float]:
        """Return the highest negatives, and what none is above, in a round of their own."""
        if self.looked is None or not np.array_equal(self.looked[0], w):
            self.looked = w, *self.problem.highest_negatives(w, self.n_highest)
        return self.looked[1:]

    def _join(self, highest: Rows) -> None:
        """Let these negatives join the pool, and the list where that is all of the pool."""
        if self.stores_scores:
            new = highest[~np.isin(highest, self.pool, assume_unique=True)]
            self.pool = np.concatenate([self.pool, new])
        else:
            self.listed.add(highest)

    def _best_move(self, at: _Pass) -> tuple[float, float]:
        """Return the best move of b to where no negative is above zero, and the sum there."""
        sums, move = at.sums, -at.top
        if at.z is None:
            move = move if self.loss.only_top else min(move, 0.0)
            change = sums.slope * move + 0.5 * sums.curvature * move * move
            at.sure = abs(change) <= 0.1 * self.tol * abs(sums.value)
            return move, sums.value + change
        z, ones = at.z, np.ones_like(at.z)
        value, slope, curvature = self._along(z, ones, move)
        for _ in range(20):  # b may be better lower
            if self.loss.only_top or not (slope > 0.0 and curvature > 0.0):
                break
            lower = move - slope / curvature
            found, slope, curvature = self._along(z, ones, lower)
            if not found < value:
                break
            fell, value, move = value - found, found, lower
            if fell <= 1e-7 * abs(value):
                break
        return move, value

    def _along(self, z: Floats, step: Floats, theta: float) -> tuple[float, float, float]:
        return row_losses_along(z, step, theta, *self.terms.kernel, self.design.n_threads)

    def bound(self, at: _Pass) -> None:
        progress, listed = self.progress, self.listed
        if at.z is not None:
            listed.shorten(at.z[listed.members].astype(np.float64))
            listed.add(at.highest[[np.argmax(at.z[at.highest])]])
        else:
            listed.shorten(listed.rows @ at.x)
        gain = _SINGLE_ROUNDING if self.single else NO_GAP
        if at.sure and at.primal < min(progress.primal, (1.0 - gain) * self.loss.at_zero):
            progress.lower(at.primal, at.w.copy(), at.best_b)
            self.best = at
        need = -at.slope
        if not (0.0 < need < np.inf and listed.multiplier.any()):
            return
        mu = listed.multiplier * (need / listed.multiplier.sum())
        conjugate = float(at.pull @ at.w) + at.b * at.slope - at.sums.value
        dual, scale = self.dual_bound(at, conjugate, mu)
        if dual > progress.dual:
            used = np.flatnonzero(mu)
            self.proof = _Proof(at, listed.members[used], mu[used], scale)
            # In memory the dual vector is made at the end.
            few = Multipliers(self.proof.rows, self.proof.multiplier)
            progress.lift(dual, progress.best.proof if self.stores_scores else few)

    def hessian(self, at: _Pass) -> Array:
        if self.matrix is None:
            if at.z is not None:
                self.matrix = self._gram(at.z, self._rows_of_hessian())
            else:
                thinned, at.sums.thinned = at.sums.thinned, None  # used once: then it is renewed
                if thinned is None:
                    thinned = self.problem.sums_below(at.w, at.b, thin=self._thinning()).thinned
                self.matrix = np.array(thinned, order="F")
            np.einsum("ii->i", self.matrix)[:-1] += self.alpha
            self.more *= 4.0
        return self.matrix.copy(order="F")

    def _rows_of_hessian(self) -> float:
        """Return the number of rows that the next Hessian is of; infinite for all."""
        wanted = self.more * thinned_rows(
            self.design, self.curvature, self.free, self.typical, self.alpha
        )
        return wanted if wanted < 0.7 * self.design.shape[0] and self.curvature > 0.0 else np.inf

    def _thinning(self) -> Thinning:
        rows = self._rows_of_hessian()
        rate = rows / self.curvature if np.isfinite(rows) else np.inf
        return Thinning(rate, self.typical, self.seed + 1)

    def _gram(self, z: Floats, wanted: float) -> Array:
        """Return X' diag(c) X with a row and a column for b, of few rows or of all."""
        rows: Rows | None = None
        if np.isfinite(wanted):
            squares = cast(Floats, np.asarray(self.squares, dtype=z.dtype))
            rows, curvature = thin_rows(
                z,
                squares,
                self.typical,
                *self.terms.kernel,
                wanted,
                self.seed + 1,
                self.design.n_threads,
            )
        else:
            curvature = row_terms(z, *self.terms.kernel, self.design.n_threads)[2].astype(
                np.float64
            )
        d = len(self.progress.best.w)
        matrix = np.empty((d + 1, d + 1), order="F")
        matrix[:d, :d] = self.design.gram(curvature, rows)
        matrix[d, :d] = matrix[:d, d] = self.design.pull_back(curvature, rows)
        matrix[d, d] = curvature.sum()
        return matrix

    def heights(self, at: _Pass, new: slice) -> Array:
        if at.z is None:
            return np.asarray(self.listed.rows[new] @ at.x)
        return at.z[self.listed.members[new]].astype(np.float64)

    def look(self, at: _Pass, step: Array) -> tuple[Rows, Array]:
        if self.apart:
            highest, _ = self._highest_at(at.w + step[:-1])
            return highest.rows, highest.scores + (at.b + float(step[-1]))
        if at.z is None:
            return self.pool, np.empty(0)
        return self.pool, at.z[self.pool] + self.design.scores(step[:-1], self.pool) + step[-1]

    def advance(self, at: _Pass, step: Array, gradient: Array) -> _Pass | None:
        """Try the whole step; if it leaves too much of the Lagrangian's slope, a part of it."""
        dw, db = step[:-1], float(step[-1])
        extra = float((self.listed.multiplier @ self.listed.rows) @ step)
        before, theta = float(gradient @ step) + extra, 1.0
        if not before < 0.0:
            return None
        # Where so little is left to gain, the slope is rounding.
        small = -before <= 0.1 * self.tol * self.problem.size_of(self.progress.primal)
        for _ in range(_SHORTENED):
            trial = self._at(at.w + theta * dw, at.b + theta * db)
            after = np.append(self.alpha * trial.w + trial.pull, trial.slope)
            slope = float(after @ step) + extra
            left = abs(slope / before)
            good = left <= _TAKEN or small or (self.apart and trial.primal < at.primal)
            good = good or (slope < 0.0 and not self.stores_scores)
            if np.isfinite(trial.sums.value) and good:
                break
            if theta < 1.0 and self.stores_scores:
                return None
            # The parts of a step cost nothing where scores are kept, and a pass elsewhere.
            if self.stores_scores:
                theta = self._part(at, trial, step, before, extra)
            else:
                theta *= min(max(before / (before - slope), 0.1), 0.5) if slope > 0.0 else 0.3
        else:
            if self.stores_scores or not np.isfinite(self.more):
                return None
            self.matrix, self.more = None, np.inf
            return at
        if (left > _ASTRAY or theta < 1.0) and not small:
            self.matrix = None
        elif self.matrix is not None:
            bfgs_update(self.matrix, trial.x - at.x, after - gradient)
        return trial

    def _part(self, at: _Pass, trial: _Pass, step: Array, before: float, extra: float) -> float:
        """Return the part of a step at whose end the Lagrangian's slope has fallen enough."""
        assert at.z is not None
        assert trial.z is not None
        z, ds = at.z, cast(Floats, (trial.z - at.z).astype(at.z.dtype, copy=False))
        linear = self.alpha * float(at.w @ step[:-1]) + extra
        square = self.alpha * float(step[:-1] @ step[:-1])

        def line(theta: float) -> tuple[float, float]:
            _, slope, curvature = self._along(z, ds, theta)
            return slope + linear + theta * square, curvature + square

        return step_length(line, before) if np.isfinite(ds).all() else 0.0

    def _close(self, primal: float, dual: float) -> bool:
        """Return whether the gap is small enough, and the certificate agrees."""
        best = self.progress.best
        if not primal - dual <= self.tol * self.problem.size_of(primal):
            return False
        if self.stores_scores:
            best.proof = self._dual()
        if not best.w.any():  # or as near to the best as rounding shows: exact steps decide
            self.progress.stuck = self.stores_scores
            return True
        if self.stores_scores and self._certify_at_once():
            return True
        return self.problem.certify(best).holds(self.tol)

    def _certify_at_once(self) -> bool:
        """Return whether w, the highest b and the multipliers are enough, which takes one pass."""
        best, point, proof = self.progress.best, self.best, self.proof
        if point is None or proof is None or proof.at is not point:
            return False
        rows, length = point.highest, float(np.linalg.norm(best.w))
        highest = float(self.design.scores(best.w, rows).max())
        longest = float(np.sqrt(self.design.squared_norms(rows).max()))
        margin = 4.0 * gamma(len(best.w) + STEPS) * length * longest + 16.0 * UNIT * abs(highest)
        best.b = min(best.b, -highest - margin)
        best.proof = Multipliers(proof.rows, proof.multiplier, best.dual)
        if self.problem.certify(best).holds(self.tol):
            return True
        best.proof = best.dual
        return False

    def _dual(self) -> Array:
        """Return the dual vector of the best proof, the sums of both signs made equal."""
        proof = self.proof
        if proof is None:
            return np.zeros(self.split.n_rows)
        z = cast(Floats, proof.at.z).astype(np.float64)
        v = cast(Array, row_terms(z, *self.terms.kernel, self.design.n_threads)[1])
        v[proof.rows] += proof.multiplier
        up, down = float(v.sum(where=v > 0.0)), -float(v.sum(where=v < 0.0))
        v[v > 0.0] *= proof.scale * min(up, down) / up
        v[v < 0.0] *= proof.scale * min(up, down) / down
        return v

    @cached_property
    def _zero(self) -> Sums:
        """The sums at w = 0."""
        return self.problem.sums_below(np.zeros(self.design.shape[1]), self.loss.highest_from(0.0))

    def _zero_holds(self, dual: Array) -> bool:
        """Return whether the slopes at w = 0 are balanced: it is the optimum then."""
        if self.stores_scores:
            return ZeroTest(self.problem).holds(dual)
        assert self._zero.bounds is not None
        pull, size = self._zero.pull, self._zero.bounds.pull_size
        multiplier, reach = self.listed.multiplier, 1e-12
        if self.loss.only_top:
            if not multiplier.any():
                return False
            share = multiplier * (-self._zero.slope / multiplier.sum())
            pull, reach = pull + share @ self.listed.rows[:, :-1], 1e-4
        return bool(np.linalg.norm(pull) <= reach * size)

    def end(self, at: _Pass) -> Solution:
        best = self.progress.best
        best.gave_up = not best.converged
        if best.gave_up and self.stores_scores:
            best.proof = self._dual()
        return best


__all__ = ["ceiling_by_sums"]
