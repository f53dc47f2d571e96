"""Newton's method with constraint generation on the negatives, for narrow data.

Solves   min over w, b  alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b))   s.t.  w.x_j + b <= 0
         for every negative j: TopPush with b = -max_j w.x_j.
by       quadratic models with exact curvature; each model's few binding negatives are found by
         a dual active-set method on a growing list of candidates, priced by scans of X.
Given    a Problem with a TopLoss: squared hinge, logistic or exponential.
Returns  a Solution; its dual is a_i = p_i l'(-v_i) on positives and the multipliers on negatives.

For the squared hinge the model is exact while the active positives stay the same, so the last
step lands on the solution itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm, dtrsv
from scipy.linalg.lapack import dpotrf

from .._core import ActiveSet
from ..designs import Design
from ..losses import TopLoss
from ..problem import Problem, Solution
from ..watch import Watch
from ._common import HullTest, one_blas_thread, restart_duals, top_loss

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_ROUNDS = 14
_MAX_STEPS = 20_000
#: Steps in which the gap must fall: arithmetic may have no more digits to give.
_PATIENCE = 30
#: A violated negative matters once it costs this share of the gap.
_VIOLATION_SHARE = 0.02
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1


class _Candidates:
    """The negatives whose constraints the models carry: row numbers among the negatives."""

    def __init__(self, design: Design, loss: TopLoss) -> None:
        self._design = design
        self._negatives = loss.split.neg
        self._listed = np.zeros(len(self._negatives), dtype=bool)
        self.members = np.empty(0, dtype=np.int64)
        self.multiplier = np.empty(0)
        self.rows = np.empty((0, design.shape[1] + 1))  # with a last column of ones, for b

    def add(self, members: Indices) -> Array:
        """List more negatives; returns their rows."""
        members = members[~self._listed[members]]
        self._listed[members] = True
        rows = np.ones((len(members), self._design.shape[1] + 1))
        rows[:, :-1] = self._design.take(self._negatives[members])
        self.members = np.concatenate([self.members, members])
        self.multiplier = np.concatenate([self.multiplier, np.zeros(len(members))])
        self.rows = np.concatenate([self.rows, rows]) if len(self.rows) else rows
        return rows

    def unlisted(self, members: Indices) -> Indices:
        """Those of `members` that are not listed yet."""
        return members[~self._listed[members]]

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Strike the others off the list."""
        self._listed[self.members[~chosen]] = False
        self.members, self.multiplier = self.members[chosen], self.multiplier[chosen]
        self.rows = self.rows[chosen]


@dataclass
class _Point:
    """A point w with b = -max_j w.x_j, and the scores it gives."""

    w: Array
    s_pos: Array
    s_neg: Array

    @property
    def top(self) -> float:
        return float(self.s_neg.max())


def active_set_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a TopPush problem by Newton steps over a growing list of negatives."""
    with one_blas_thread():
        return _Newton(problem, start, tol, watch or Watch(problem.design)).run(max_iter)


class _Newton:
    def __init__(self, problem: Problem, start: Solution | None, tol: float, watch: Watch) -> None:
        self.problem, self.tol, self.watch = problem, tol, watch
        self.loss, self.design, self.alpha = top_loss(problem), problem.design, problem.alpha
        self.split, self.surrogate = self.loss.split, self.loss.surrogate
        self.candidates = _Candidates(self.design, self.loss)
        self.at = self._begin(start)
        n, d = len(self.split.neg), self.design.shape[1]
        self.hull = HullTest(problem)
        self.primal, self.rise, self.dual = self.loss.at_zero, 0.0, 0.0
        self.best_w = np.zeros(d)
        self.best_duals = np.zeros(len(self.split.pos)), np.zeros(n)

    def _begin(self, start: Solution | None) -> _Point:
        """The first point, and the first candidates: the negatives most like the positives."""
        d, neg, pos = self.design.shape[1], self.split.neg, self.split.pos
        first = min(len(neg), max(50, min(2 * d, 300)))
        if start is not None and len(start.w) == d and start.w.any():
            w = start.w.copy()
            at = _Point(w, self.design.scores(w, pos), self.design.scores(w, neg))
            self.candidates.add(_largest(at.s_neg, first))
            duals = restart_duals(self.problem, start)
            if duals is not None:
                self.candidates.add(np.flatnonzero(duals[1]))
                self.candidates.multiplier = duals[1][self.candidates.members]
            return at
        mean_pos = self.design.pull_back(self.split.p, pos)
        mean_neg = self.design.pull_back(self.split.q, neg)
        self.candidates.add(_largest(self.design.scores(mean_pos - mean_neg, neg), first))
        return _Point(np.zeros(d), np.zeros(len(pos)), np.zeros(len(neg)))

    def run(self, max_iter: int) -> Solution:
        converged = stuck = False
        gap, moved = np.inf, 0
        for iteration in range(max_iter + 1):
            at = self.at
            z = at.top - at.s_pos
            a = self.split.p * self.surrogate.slope(z)
            used = np.flatnonzero(a) if self.surrogate.quadratic else slice(None)
            rows = self.split.pos[used]
            u_pos = self.design.pull_back(a[used], rows)
            self._bound(at, a, u_pos)
            stopped = self.watch(iteration, self.primal, self.dual, lambda: self.best_w)
            converged = self.primal - self.dual <= self.tol * self.primal and (
                bool(self.best_w.any()) or self.hull.holds(self.best_duals[1])
            )
            if self.primal - self.dual < 0.99 * gap:
                gap, moved = self.primal - self.dual, iteration
            stuck = stuck or iteration - moved >= _PATIENCE
            if converged or stopped or stuck or iteration == max_iter:
                break
            curvature = (self.split.p * self.surrogate.curvature(z))[used]
            gradient = np.append(self.alpha * at.w - u_pos, -a.sum())
            factor = self._factor(curvature, rows)
            step, s_neg_step = self._model_step(factor, gradient, float(a.sum()))
            # Where nothing descends, the model's multipliers may still prove the point optimal.
            stuck = not self._advance(step, s_neg_step, gradient)
        a, delta = self.best_duals
        return Solution(
            w=self.best_w,
            dual=self.loss.join(a, delta),
            b=-self.at.top,
            n_iter=iteration,
            converged=converged,
            solver="newton",
            alpha=self.alpha,
        )

    def _bound(self, at: _Point, a: Array, u_pos: Array) -> None:
        """Better bounds from this point: its value, and a dual point from its slopes."""
        rise, error = self.loss.rise(at.s_pos, at.s_neg, -at.top)
        penalty = 0.5 * self.alpha * float(at.w @ at.w)
        rise += penalty
        primal = penalty + self.loss.level(at.s_pos, at.s_neg, -at.top)
        better = primal < self.primal if rise < -0.5 * self.loss.at_zero else rise < self.rise
        if better and rise < -error:
            self.rise, self.primal, self.best_w = rise, primal, at.w
        mu, total = self.candidates.multiplier, float(a.sum())
        if not (mu.any() and 0 < total < np.inf):
            return
        mu = mu * (total / mu.sum())
        u = u_pos - mu @ self.candidates.rows[:, :-1]
        with np.errstate(over="ignore"):
            quadratic = float(u @ u) / (2.0 * self.alpha)
        separable = float(self.split.p @ self.surrogate.conjugate(a / self.split.p))
        dual, scale = -quadratic - separable, 1.0
        if self.surrogate.quadratic:  # the best multiple: D = S^2 / (4 q)
            q = quadratic + separable + total
            scale = total / (2.0 * q)
            dual = scale * total - scale * scale * q
        if dual > self.dual:
            delta = np.zeros(len(at.s_neg))
            delta[self.candidates.members] = scale * mu
            self.dual, self.best_duals = dual, (scale * a, delta)

    def _factor(self, curvature: Array, rows: Indices) -> Array:
        """The lower Cholesky factor of the Hessian in (w, b)."""
        d = self.design.shape[1]
        hessian = np.empty((d + 1, d + 1), order="F")
        hessian[:d, :d] = self.design.gram(curvature, rows)
        hessian[:d, d] = hessian[d, :d] = self.design.pull_back(curvature, rows)
        total = curvature.sum()
        hessian[d, d] = total + 1e-10 * max(total, 1e-6)
        diagonal = np.arange(d)
        hessian[diagonal, diagonal] += self.alpha
        for ridge in np.append(0.0, np.geomspace(1e-15, 1.0, 16)):
            # Columns that are multiples of each other, at a tiny alpha: lift what rounding lost.
            hessian[np.diag_indices(d + 1)] *= 1.0 + ridge
            factor, failed = dpotrf(hessian, lower=1, clean=0)
            if not failed:
                return np.asarray(factor)
        raise FloatingPointError(
            "The Hessian overflowed: scale the features, or raise alpha, or use loss='logistic'."
        )

    def _model_step(self, factor: Array, gradient: Array, total: float) -> tuple[Array, Array]:
        """The minimum of the quadratic model under every negative's constraint, by rounds."""
        at, known = self.at, self.candidates
        v = at.s_neg - at.top
        worth = _VIOLATION_SHARE * (self.primal - self.dual) / max(total, 1e-300)
        block = min(max(50, self.design.shape[1] // 2), 150)

        free, rows = -dtrsv(factor, gradient, lower=1), _whiten(factor, known.rows)
        # In units of the scores the step may make, which are tiny for tiny features.
        longest = np.sqrt(np.einsum("ij,ij->i", known.rows[:, :-1], known.rows[:, :-1]).max())
        reach = float(longest * np.linalg.norm(gradient[:-1])) / self.alpha
        tolerance = 1e-9 * max(min(1.0, reach), abs(at.top))
        model = ActiveSet(free)
        model.append(rows, v[known.members])
        guess = np.flatnonzero(known.multiplier)
        model.warm(guess[np.argsort(-known.multiplier[guess], kind="stable")])
        for _ in range(_ROUNDS):
            model.solve(tolerance, _MAX_STEPS)
            step = dtrsv(factor, model.y, lower=1, trans=1)
            s_neg_step = self.design.scores(step[:-1], self.split.neg)
            violation = v + s_neg_step + step[-1]
            found = known.unlisted(np.flatnonzero(violation > 0.1 * (worth + tolerance)))
            if len(found) == 0:
                break
            found = found[_largest(violation[found], min(block, len(found)))]
            rows = known.add(found)
            model.append(_whiten(factor, rows), v[found])
            if violation.max() <= worth:
                break
        mu = model.multipliers
        known.multiplier = mu
        return step, s_neg_step

    def _advance(self, step: Array, s_neg_step: Array, gradient: Array) -> bool:
        """Line search on the true objective; False where no step along it descends."""
        at, dw = self.at, step[:-1]
        s_pos_step = self.design.scores(dw, self.split.pos)
        linear, square = self.alpha * float(at.w @ dw), self.alpha * float(dw @ dw)

        def slope_at(theta: float) -> float:
            s_neg = at.s_neg + theta * s_neg_step
            first = int(np.argmax(s_neg))
            z = s_neg[first] - at.s_pos - theta * s_pos_step
            with np.errstate(over="ignore", invalid="ignore"):
                a = self.split.p * self.surrogate.slope(z)
                return linear + theta * square + float(a @ (s_neg_step[first] - s_pos_step))

        theta = _root(slope_at, min(float(gradient @ step), slope_at(0.0)))
        self.at = _Point(
            at.w + theta * dw, at.s_pos + theta * s_pos_step, at.s_neg + theta * s_neg_step
        )
        self._prune()
        return theta > 0.0

    def _prune(self) -> None:
        """Keep the list short, and the highest negative on it."""
        known, s_neg = self.candidates, self.at.s_neg
        d = self.design.shape[1]
        if len(known.members) > 4 * d + 200:
            scores = s_neg[known.members]
            floor = np.partition(scores, -(2 * d + 100))[-(2 * d + 100)]
            known.keep((known.multiplier > 0) | (scores >= floor))
        top = np.array([np.argmax(s_neg)])
        if len(known.unlisted(top)):
            known.add(top)


def _largest(values: Array, count: int) -> Indices:
    """The places of the `count` largest values, in increasing order."""
    if count >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, len(values) - count)[len(values) - count :])


def _whiten(factor: Array, rows: Array) -> Array:
    """L^-1 applied to every row."""
    return np.asarray(dtrsm(1.0, factor, rows.T, lower=1)).T


def _root(slope_at: Callable[[float], float], slope: float) -> float:
    """Where on [0, 1] the slope, below zero at 0, is small; 1 if it is so up to there."""
    if not slope < 0:
        return 0.0
    enough = _LINE_SEARCH * abs(slope)
    at_high = slope_at(1.0)
    if np.isfinite(at_high) and at_high <= enough:
        return 1.0
    low, high, at_low, theta = 0.0, 1.0, slope, 1.0
    for _ in range(25):
        share = at_low / (at_low - at_high) if np.isfinite(at_high) else 0.3
        theta = low + (high - low) * min(max(share, 0.1), 0.9)
        value = slope_at(theta)
        if abs(value) <= enough:
            return theta
        if value > 0 or not np.isfinite(value):
            high, at_high = theta, value
        else:
            low, at_low = theta, value
        if high - low < 1e-6:
            break
    return low if low > 0 else theta
