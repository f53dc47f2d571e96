"""TopPush on rows that are only summed over: all positives, and the highest negatives in rounds.

Solves   min over w  alpha/2 |w|^2 + sum_i p_i l(t - w.x_i),   t = max_j w.x_j
by       rounds: the problem of all positives and of the negatives listed so far is solved in
         memory; a pass over the rows finds the negatives that score highest there, which are
         listed for the next round. The smaller problem has fewer negatives, and so gives a bound
         from below; with the highest negative of all rows it gives one from above.
Given    a Problem with a loss of the highest negative alone, whose positives fit into memory.
Returns  a Solution without a dual vector, but with a certificate: its dual vector is that of the
         rows that were listed, and zero for the others.

A fit is 2 to 10 rounds, of any number of columns. `ceiling_by_sums` takes 10 to 30.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..designs import Ask, MemoryDesign, as_design
from ..inputs.class_split import Split
from ..losses import ThresholdLoss
from ..problems import Certificate, Problem, Solution
from ..rounding import STEPS, gamma
from .watch import Watch

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Negatives of the first list, evenly spread over all of them.
_FIRST = 10_000
#: The most negatives that a round adds, and the fewest.
_ADDED, _LEAST_ADDED = 2_000, 50
#: Of a longer list, the lower half is struck off.
_LONGEST = 40_000
#: The gap of a round as a share of the gap that is left.
_ROUND = 0.1
#: The least gap of a round. Below it, rounding may keep the inner solver at work for long.
_FINEST = 1e-9


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
    design, loss, d = problem.design, cast(ThresholdLoss, problem.loss), problem.design.shape[1]
    few = _Few(problem, seed)
    best = Solution(np.zeros(d), solver="highest-rows", alpha=problem.alpha)
    at_zero = loss.at_zero + loss.zero_rounding

    def certificate(primal: float, dual: float) -> Certificate:
        return Certificate(primal, dual, loss.at_zero, loss.unit)

    best.certificate = certificate(at_zero, 0.0)
    dual, gap = 0.0, 1.0
    warm = start if start is not None and len(start.w) == d else None
    while True:
        part = few.problem()
        finest = max(_ROUND * min(tol, 1.0), _FINEST)
        enough = max(finest, _ROUND * _ROUND * gap)
        found = inner(part, start=warm, tol=enough, max_iter=max_iter, seed=seed)
        dual = max(dual, part.certify(found).dual)
        if not found.w.any() and found.converged:  # the mean positive is among the negatives
            best.w, best.b, best.converged = found.w, 0.0, True
            best.certificate = certificate(at_zero, dual)
            watch(best.n_iter, at_zero, dual, lambda: best.w)
            return best
        # What rounding may have done to scores and sums is included.
        per_length = 2.0 * gamma(d + STEPS) * float(np.linalg.norm(found.w))
        sums = design.reduce(
            Ask(loss, found.w, highest=few.added, only_top=True, per_length=per_length)
        )
        assert sums.highest is not None
        s = part.design.scores(found.w)
        primal, b = _primal(part, found.w, s, sums.top, per_length)
        if primal < best.certificate.primal:
            best.w, best.b = found.w, b
        least = min(primal, best.certificate.primal)
        best.certificate = certificate(least, dual)
        best.n_iter += 1
        stopped = watch(best.n_iter, least, dual, lambda: best.w)
        gap = best.certificate.relative_gap
        best.converged = best.certificate.holds(tol) and bool(best.w.any())
        above = few.join(s, sums.highest.scores, sums.highest.rows, found)
        exhausted = not above and enough <= finest
        if best.converged or stopped or exhausted or best.n_iter >= max_iter:
            return best
        warm = Solution(found.w, found.dual, found.b, solver=found.solver, alpha=found.alpha)


def _primal(
    part: Problem, w: Array, s: Array, top: float, per_length: float
) -> tuple[float, float]:
    """Return the objective with the highest negative of all rows, and a threshold."""
    loss, d = cast(ThresholdLoss, part.loss), len(w)
    (pos, neg), eps = (loss.split.pos, loss.split.neg), float(np.finfo(np.float64).eps)
    moved = loss.worse(s, per_length * part.design.norms + 4.0 * eps * np.abs(s))
    top = max(top + 4.0 * eps * abs(top), float(moved[neg].max()))
    moved[neg[0]] = top  # of the negatives only the highest counts
    value, penalty = loss.value(moved), part.penalty(w)
    primal = value + penalty + loss.value_rounding(moved, value)
    primal += gamma(d + 2 * STEPS) * (abs(value) + penalty)
    # Halfway to the next positive: the same rows in another form may score a bit higher.
    above = s[pos][s[pos] > top]
    return primal, -(float(0.5 * (top + above.min())) if len(above) else top)


class _Few:
    """All positives, then the listed negatives: a matrix, and the problem of its rows."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.design, self.alpha = problem.design, problem.alpha
        self.loss = cast(ThresholdLoss, problem.loss)
        self.m, n_neg = self.loss.split.counts
        self.added = min(_ADDED, max(_LEAST_ADDED, self.design.rows_per_round))
        count, rng = min(n_neg, _FIRST), np.random.default_rng(seed)
        places = ((np.arange(count) + rng.random(count)) * (n_neg / count)).astype(np.int64)
        places = np.minimum(places, n_neg - 1)
        #: How many negatives are listed, and their row numbers; -1 where these are unknown.
        self.listed = count
        self.rows = np.full(_LONGEST + _ADDED, -1, dtype=np.int64)
        split, d = self.loss.split, self.design.shape[1]
        here = split.n_rows == self.design.shape[0]
        positives = np.arange(0 if here else self.m)
        drawn, tilt = self.design.drawn(self.loss.rows, positives, places)
        X = cast(MemoryDesign, drawn).X
        if here:  # row by row they are known here, and go to where they stay
            self.p = split.p
            self.X: Any = np.empty((self.m + _LONGEST + _ADDED, d), dtype=X.dtype)
            for begin, end, part in self.design.parts():
                own = slice(*np.searchsorted(split.pos, [begin, end]))
                self.X[own] = part.take(split.pos[own] - begin)
            self.X[self.m : self.m + count] = drawn.take(np.arange(count))
        else:
            self.p = tilt[tilt > 0.0] / tilt[tilt > 0.0].sum()
            self.X = _stacked(X[tilt > 0.0], X[tilt < 0.0])

    def problem(self) -> Problem:
        """Return the problem of the positives and of the listed negatives."""
        m, n = self.m, self.m + self.listed
        split = Split(n, np.arange(m), np.arange(m, n), self.p, np.full(n - m, 1.0 / (n - m)), 0.5)
        loss = ThresholdLoss(split, self.loss.surrogate, self.loss.negatives)
        return Problem(as_design(self.X[:n], self.design.n_threads), loss, self.alpha)

    def join(self, s: Array, scores: Array, rows: Rows, found: Solution) -> int:
        """List the negatives above those listed; returns how many score above all of these.

        The lowest negatives are struck off a long list. The dual vector of the solution is made
        one of the new rows, whose duals are zero.
        """
        m, s_neg = self.m, s[self.m :]
        floor = float(s_neg.max())
        reach = floor - 0.05 * abs(float(np.median(s[:m])) - floor)
        new = (scores > reach) & ~np.isin(rows, self.rows[: self.listed])
        above = int(np.count_nonzero(new & (scores > floor)))
        rows, v = rows[new], found.dual[m:] if len(found.dual) else np.zeros(self.listed)
        if self.listed + len(rows) > _LONGEST:
            order = np.argsort(-(s_neg + np.where(v > 0.0, np.inf, 0.0)), kind="stable")
            chosen = np.sort(order[: _LONGEST // 2])
            self.rows[: len(chosen)], self.listed, v = self.rows[chosen], len(chosen), v[chosen]
            self._put(m, self.X[m + chosen])
        if len(rows):
            self._put(m + self.listed, self._taken(rows))
        self.rows[self.listed : self.listed + len(rows)] = rows
        self.listed += len(rows)
        if len(found.dual):
            found.proof = np.concatenate([found.dual[:m], v, np.zeros(len(rows))])
        return above

    def _taken(self, rows: Rows) -> Any:
        if sparse.issparse(self.X):
            return cast(MemoryDesign, self.design.subset(rows)).X
        return self.design.take(rows)

    def _put(self, begin: int, block: Any) -> None:
        """Write rows from `begin` on, or put them there in a longer matrix."""
        end = begin + block.shape[0]
        if not sparse.issparse(self.X) and end <= len(self.X):
            self.X[begin:end] = block
        else:
            self.X = _stacked(self.X[:begin], block)


def _stacked(first: Any, second: Any) -> Any:
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack([first, second], format="csr")
    return np.concatenate([first, second.astype(first.dtype, copy=False)])


__all__ = ["highest_rows"]
