"""The positives and the highest negatives of a matrix that is too large to score as a whole.

Solves   min over w  alpha/2 |w|^2 + sum_i p_i l(t - w.x_i),   t = max_j w.x_j
by       rounds: the problem of all positives and of the negatives listed so far is solved in
         memory; a pass over the rows finds the negatives that score highest there, which are
         listed for the next round. What is solved has fewer negatives, and so is a bound from
         below; with the highest negative of all rows it is one from above.
Given    a Problem with a loss of the highest negative alone, of a design that answers `reduce`.
Returns  a Solution without a dual vector, but with a certificate: its dual vector is that of the
         rows that were listed, and zero elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..designs import Ask, DenseDesign, MemoryDesign
from ..inputs.class_split import Split
from ..losses import ThresholdLoss
from ..problems import Certificate, Problem, Solution
from ..rounding import STEPS, gamma
from .watch import Watch

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Bytes of positives that are held in memory.
MOST_BYTES = 1 << 30
#: Negatives of the first list, from all over the matrix.
_FIRST = 20_000
#: Those that a pass adds, at the most.
_ADDED = 2_000
#: Of a longer list the lowest are struck off.
LONGEST = 40_000
#: The gap of a round, as a share of the gap that is left.
_ROUND = 0.1


def highest_rows(
    problem: Problem,
    *,
    inner: Callable[..., Solution],
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve by rounds of few rows; `inner` solves those in memory."""
    watch = watch or Watch(problem.design)
    return HighestRows(problem, inner, tol, max_iter, watch, seed).run(start)


def fits_in_memory(problem: Problem) -> bool:
    """Whether the positives are few enough to be held."""
    n_pos, _ = cast(ThresholdLoss, problem.loss).split.counts
    return 8 * n_pos * (problem.design.shape[1] + 4) <= MOST_BYTES


class HighestRows:
    """The rounds: `run` goes through them."""

    #: Negatives that a pass adds, at the most.
    added = _ADDED
    #: The least gap that a round is asked for.
    finest = 0.0

    def __init__(
        self,
        problem: Problem,
        inner: Callable[..., Solution],
        tol: float,
        max_iter: int,
        watch: Watch,
        seed: int,
    ) -> None:
        self.problem, self.inner, self.tol, self.seed = problem, inner, tol, seed
        self.max_iter, self.watch = max_iter, watch
        self.design, self.loss = problem.design, cast(ThresholdLoss, problem.loss)
        pos = self.loss.split.pos
        self.m, d = len(pos), self.design.shape[1]
        rng = np.random.default_rng(seed)
        there = self.loss.split.counts[1]
        count = min(there, _FIRST)
        places = ((np.arange(count) + rng.random(count)) * (there / count)).astype(np.int64)
        first, _ = self.design.drawn(self.loss.rows, pos[:0], np.minimum(places, there - 1))
        # Room for the list behind the positives, which are not moved again.
        kind = getattr(getattr(first, "X", None), "dtype", np.dtype(np.float64))
        self.room = np.empty((self.m + LONGEST + _ADDED, d), dtype=kind)
        self._take_positives(pos)
        #: The weights of the positives.
        self.p = self.loss.split.p
        self.room[self.m : self.m + count] = first.take(np.arange(count))
        self.listed = count
        #: The numbers of the listed rows; those of the first are not known, and not asked for.
        self.rows = np.full(LONGEST + _ADDED, -1, dtype=np.int64)
        self.solution = Solution(np.zeros(d), np.zeros(0))

    def _take_positives(self, pos: Rows) -> None:
        """All positives, in one reading of the matrix."""
        for begin, end, part in self.design.parts():
            own = slice(*np.searchsorted(pos, [begin, end]))
            self.room[own] = part.take(pos[own] - begin)

    def _restricted(self) -> Problem:
        """The problem of the positives and of the negatives that are listed."""
        m, n = self.m, self.m + self.listed
        split = Split(n, np.arange(m), np.arange(m, n), self.p, np.full(n - m, 1.0 / (n - m)), 0.5)
        loss = ThresholdLoss(split, self.loss.surrogate, self.loss.negatives)
        return Problem(self._few(), loss, self.problem.alpha)

    def _few(self) -> MemoryDesign:
        """The positives and the listed negatives."""
        return DenseDesign(self.room[: self.m + self.listed], self.design.n_threads)

    def _strike(self, kept: Rows) -> None:
        """Keep these of the listed negatives alone."""
        self.room[self.m : self.m + len(kept)] = self.room[self.m + kept]

    def _append(self, rows: Rows) -> None:
        """List these rows of the matrix."""
        begin = self.m + self.listed
        self.room[begin : begin + len(rows)] = self.design.take(rows)

    def run(self, start: Solution | None) -> Solution:
        """Round after round, until the gap is within the tolerance."""
        best = Solution(np.zeros(self.design.shape[1]), np.zeros(0), alpha=self.problem.alpha)
        best.solver = "highest-rows"
        at_zero = self.loss.at_zero + self.loss.zero_rounding
        best.certificate = self._certificate(at_zero, 0.0)
        dual, gap = 0.0, 1.0
        warm = start if start is not None and len(start.w) == len(best.w) else None
        while True:
            few = self._restricted()
            finest = max(_ROUND * min(self.tol, 1.0), self.finest)
            tol = max(finest, _ROUND * _ROUND * gap)
            found = self.inner(few, start=warm, tol=tol, max_iter=self.max_iter, seed=self.seed)
            proof = few.certify(found.w, found.dual)
            dual = max(dual, proof.dual)
            if not found.w.any() and found.converged:  # the mean positive is among the negatives
                best.w, best.b, best.converged = found.w, 0.0, True
                best.certificate = self._certificate(at_zero, dual)
                self.watch(best.n_iter, at_zero, dual, lambda: best.w)
                return best
            primal, top, added = self._price(few, found)
            if primal < best.certificate.primal:
                best.w, best.b = found.w, -top
            least = min(primal, best.certificate.primal)
            best.certificate = self._certificate(least, dual)
            best.n_iter += 1
            stopped = self.watch(best.n_iter, least, dual, lambda: best.w)
            gap = best.certificate.relative_gap
            best.converged = best.certificate.holds(self.tol) and bool(best.w.any())
            exhausted = not added and tol <= finest
            if best.converged or stopped or exhausted or best.n_iter >= self.max_iter:
                return best
            warm = self._widened(found)

    def _certificate(self, primal: float, dual: float) -> Certificate:
        return Certificate(primal, dual, self.loss.at_zero, self.loss.unit)

    def _price(self, few: Problem, found: Solution) -> tuple[float, float, int]:
        """The objective with the highest negative of all, a threshold, and how many are listed.

        What rounding may have done to scores and sums is included.
        """
        w, d = found.w, self.design.shape[1]
        own = gamma(d + STEPS) * float(np.linalg.norm(w))
        ask = Ask(self.loss, w, highest=self.added, only_top=True, per_length=2.0 * own)
        sums = self.design.reduce(ask)
        assert sums.highest is not None
        s = few.design.scores(w)
        off = 2.0 * own * few.design.norms + 4.0 * np.finfo(np.float64).eps * np.abs(s)
        moved = few.loss.worse(s, off)
        rounding = 4.0 * np.finfo(np.float64).eps * abs(sums.top)
        top = max(sums.top + rounding, float(moved[self.m :].max()))
        moved[self.m] = top  # of the negatives only the highest counts
        value, penalty = few.loss.value(moved), few.penalty(w)
        primal = value + penalty + few.loss.value_rounding(moved, value)
        primal += gamma(d + 2 * STEPS) * (abs(value) + penalty)
        added = self._list(s, sums.highest.scores, sums.highest.rows, found)
        # Halfway to the next positive: the same rows in another form may score a bit higher.
        above = s[: self.m][s[: self.m] > top]
        return primal, float(0.5 * (top + above.min())) if len(above) else top, added

    def _list(self, s: Array, scores: Array, rows: Rows, found: Solution) -> int:
        """List the negatives above those that were listed; strike off the lowest if need be."""
        floor = float(np.partition(s[self.m :], -1)[-1])
        reach = floor - 0.05 * abs(float(np.median(s[: self.m])) - floor)
        new = (scores > reach) & ~np.isin(rows, self.rows[: self.listed])
        above = int(np.count_nonzero(new & (scores > floor)))
        rows = rows[new]
        if self.listed + len(rows) > LONGEST:
            v = found.dual[self.m :] if len(found.dual) else np.zeros(self.listed)
            order = np.argsort(-(s[self.m :] + np.where(v > 0.0, np.inf, 0.0)), kind="stable")
            kept = np.sort(order[: LONGEST // 2])
            self._strike(kept)
            self.rows[: len(kept)] = self.rows[kept]
            if len(found.dual):
                found.dual = np.concatenate([found.dual[: self.m], v[kept]])
            self.listed = len(kept)
        self._append(rows)
        self.rows[self.listed : self.listed + len(rows)] = rows
        self.listed += len(rows)
        return above

    def _widened(self, found: Solution) -> Solution:
        """The solution of the last round as a start of the next: the new rows have no duals yet."""
        dual = found.dual
        if len(dual):
            dual = np.concatenate([dual, np.zeros(self.m + self.listed - len(dual))])
        return Solution(found.w, dual, found.b, solver=found.solver, alpha=found.alpha)


__all__ = ["HighestRows", "fits_in_memory", "highest_rows"]
