"""Newton's method under a ceiling on the negatives: the loop, and its exact form in memory.

Solves   min over w, b  alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j h(w.x_j + b)
         s.t.  w.x_j + b <= 0  for every negative j: RectPush where h = l, TopPush where h = 0,
         with b = -max_j w.x_j.
by       quadratic models of the sum below the ceiling; each model's few binding negatives are
         found by a dual active-set method on a growing list (`ceiling_model`).
Given    a Problem with a ThresholdLoss: squared hinge, logistic or exponential.
Returns  a Solution; its dual is a_i = p_i l'(-v_i) on positives, and q_j h'(v_j) and the
         multipliers on negatives.

The loop is `Ceiling.run`. `ceiling` runs it with exact Hessians and scores in memory, every point
below the ceiling. `ceiling_sums` runs it over sums of rows.

For the squared hinge the model is exact while the rows that lose stay the same, so the last
step lands on the solution itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..losses import ThresholdLoss
from ..problems import Problem, Proof, Solution
from .ceiling_model import Listed, Model, block_of, factored, largest, tolerance_at
from .linalg import descend, one_blas_thread
from .loop import Progress, within
from .row_hessians import Hessian, KeptHessian
from .starts import better_than_zero, beyond_ceiling, restart_duals, same_data
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: The slope that a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1
#: The gain of a step that counts, as a share of the tolerance: the model ignores violations that
#: cost less.
_LEAST_GAIN = 0.1


def ceiling(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a TopPush or RectPush problem by Newton steps over a growing list of negatives."""
    with one_blas_thread():
        return _Scored(problem, tol, max_iter, watch or Watch(problem.design)).run(start)


@dataclass
class Point:
    """Weights, a threshold, and the sum below the ceiling there.

    Attributes
    ----------
    w : ndarray
        The weights.
    b : float
        The threshold.
    pull : ndarray
        X'v, v the slopes of the sum.
    slope : float
        The sum of v.
    size : float
        The sum of the slopes of the positives without their signs: the cost of a violation.
    """

    w: Array
    b: float
    pull: Array
    slope: float
    size: float


P = TypeVar("P", bound=Point)


class Ceiling(ABC, Generic[P]):
    """The loop; subclasses know how to evaluate points, Hessians and the highest negatives."""

    solver: str
    #: Whether another solver goes on where this one ends short.
    ends_on_overflow = False
    #: Steps in which the gap must fall, and by which share.
    patience: int
    falls: float

    def __init__(self, problem: Problem, tol: float, max_iter: int, watch: Watch) -> None:
        self.problem, self.tol = problem, tol
        self.loss = cast(ThresholdLoss, problem.loss)
        self.design, self.alpha, self.split = problem.design, problem.alpha, self.loss.split
        self.listed = Listed(self.design)
        d = self.design.shape[1]
        self.first, self.block = max(50, min(2 * d, 300)), block_of(d)
        best = Solution(np.zeros(d), self.no_proof(), solver=self.solver, alpha=self.alpha)
        self.progress = Progress(
            best,
            self.loss.at_zero,
            0.0,
            watch=watch,
            max_iter=max_iter,
            patience=self.patience,
            falls=self.falls,
            **self.ends(),
        )

    def run(self, start: Solution | None) -> Solution:
        """Newton steps until the gap is within the tolerance, or no step helps."""
        at = self.begin(start)
        while True:
            self.bound(at)
            if self.progress.over():
                return self.end(at)
            gradient = np.append(self.alpha * at.w + at.pull, at.slope)
            factor = factored(self.hessian(at), self.alpha, self.listed.longest)
            if factor is None and self.ends_on_overflow:
                return self.end(at)
            if factor is None:
                raise FloatingPointError(
                    "The Hessian overflowed: scale the features, or raise alpha."
                )
            step = self.model(at, factor, gradient).step(
                self.listed, partial(self.heights, at), partial(self.look, at)
            )
            # Where nothing descends, the model's multipliers may still prove the point optimal.
            moved = self.advance(at, step, gradient)
            self.progress.stuck = moved is None
            at = at if moved is None else moved

    def model(self, at: P, factor: Array, gradient: Array) -> Model:
        """Return the quadratic model at a point."""
        return Model(
            factor,
            gradient,
            gap=self.progress.gap,
            least=_LEAST_GAIN * self.tol * self.problem.size_of(self.progress.primal),
            steepness=max(at.size, 1e-300),
            tolerance=tolerance_at(self.listed, gradient, self.alpha, at.b),
            block=self.block,
        )

    def dual_bound(self, at: P, conjugate: float, multiplier: Array) -> tuple[float, float]:
        """Return a bound of the minimum, and the multiple of the dual vector that it is of.

        `conjugate` is F*(v) at the slopes, with multipliers that sum to minus their sum.
        """
        u = at.pull + multiplier @ self.listed.rows[:, :-1]
        with np.errstate(over="ignore"):
            quadratic = float(u @ u) / (2.0 * self.alpha)
        q = quadratic + conjugate + at.size
        # The best multiple, D = S^2 / (4 q), unless tiny slopes are squares that rounding lost.
        if self.loss.only_top and self.loss.surrogate.quadratic and q > 0.0:
            scale = at.size / (2.0 * q)
            return scale * at.size - scale * scale * q, scale
        return -quadratic - conjugate, 1.0

    def no_proof(self) -> Proof:
        """Return the proof to begin with."""
        return np.zeros(self.design.shape[0])

    @abstractmethod
    def ends(self) -> dict[str, Any]:
        """Return the tests by which `Progress` ends the fit."""

    @abstractmethod
    def begin(self, start: Solution | None) -> P:
        """Return the first point, and list the first negatives."""

    @abstractmethod
    def bound(self, at: P) -> None:
        """Improve the bounds: the value at the point, and the dual bound of its slopes."""

    @abstractmethod
    def hessian(self, at: P) -> Array:
        """Return the Hessian in (w, b), alpha included, as a matrix that may be overwritten."""

    @abstractmethod
    def heights(self, at: P, new: slice) -> Array:
        """Return the scores of listed negatives at the point, given a range of it."""

    @abstractmethod
    def look(self, at: P, step: Array) -> tuple[Rows, Array]:
        """Return numbers of negatives, the highest after a step among them, and their scores."""

    @abstractmethod
    def advance(self, at: P, step: Array, gradient: Array) -> P | None:
        """Return a better point along a step, or None."""

    @abstractmethod
    def end(self, at: P) -> Solution:
        """Return the best solution, complete."""


@dataclass
class _Below(Point):
    """A point with the scores of the rows; b is the best one, so no negative is above zero."""

    s: Array
    v: Array


class _Scored(Ceiling[_Below]):
    """Exact Hessians, and scores of all rows; pos and neg are read apart."""

    solver = "active-set-newton"
    patience = 30
    falls = 0.01

    def __init__(self, problem: Problem, tol: float, max_iter: int, watch: Watch) -> None:
        super().__init__(problem, tol, max_iter, watch)
        self.sums = Hessian(self.design)
        #: The gap before the last step; inherited Hessians are judged by it.
        self.gap_before: float | None = None
        #: The best point, whose weights are not zero, and its objective less that of w = 0.
        self.best: _Below | None = None
        self.rise = 0.0
        #: By how much the last step that was looked at moves the negatives.
        self.moved = np.zeros(len(self.split.neg))

    def ends(self) -> dict[str, Any]:
        return {
            "close": within(self.tol),
            "zero": ZeroTest(self.problem).holds,
            "holds": lambda best: self.problem.certify(best).holds(self.tol),
        }

    def begin(self, start: Solution | None) -> _Below:
        d, (pos, neg) = self.design.shape[1], (self.split.pos, self.split.neg)
        duals = restart_duals(self.problem, start)
        if start is not None and len(start.w) == d and (start.w.any() or duals is not None):
            s, b = np.zeros(self.split.n_rows), 0.0
            if start.w.any():
                s[pos], s[neg] = self.design.scores(start.w, pos), self.design.scores(start.w, neg)
                b = self.loss.best_bias(s[pos], s[neg], start.b)
                if not better_than_zero(self.problem, start.w, s[self.loss.order], b):
                    return self.begin(None)
                self.listed.add(neg[largest(s[neg], self.first)])
                if isinstance(start.kept, KeptHessian) and same_data(start, s, self.split):
                    self.sums = Hessian(self.design, start.kept)
            if duals is not None:  # at w = 0 they may be all that is asked for
                self.listed.bind(neg, beyond_ceiling(self.loss, duals[1]))
            self._shorten(s)
            return self._at(start.w.copy(), s, b)
        # The negatives most like the positives.
        means = self.design.pull_back(self.split.p, pos) - self.design.pull_back(self.split.q, neg)
        self.listed.add(neg[largest(self.design.scores(means, neg), self.first)])
        return self._at(np.zeros(d), np.zeros(self.split.n_rows), 0.0)

    def _shorten(self, s: Array) -> None:
        """Keep the list short, and the highest negative on it."""
        self.listed.shorten(s[self.listed.members])
        self.listed.add(self.split.neg[[np.argmax(s[self.split.neg])]])

    def _at(self, w: Array, s: Array, b: float) -> _Below:
        """Slopes at the point, and their sums: one pass over the rows that lose."""
        loss, (pos, neg) = self.loss, (self.split.pos, self.split.neg)
        v = np.zeros(self.split.n_rows)
        a = self.split.p * loss.surrogate.slope(-(s[pos] + b))
        v[pos], rows = -a, pos
        size = float(a.sum())
        slope = -size
        if not loss.only_top:
            v[neg] = self.split.q * loss.below.slope(s[neg] + b)
            slope, rows = slope + float(v[neg].sum()), loss.order
        if loss.surrogate.quadratic:
            rows = rows[v[rows] != 0.0]
        return _Below(w, b, self.design.pull_back(v[rows], rows), slope, size, s, v)

    def bound(self, at: _Below) -> None:
        loss, (pos, neg), listed = self.loss, (self.split.pos, self.split.neg), self.listed
        before = self.progress.gap
        rise, error = loss.rise(at.s[pos], at.s[neg], at.b)
        penalty = self.problem.penalty(at.w)
        rise += penalty
        primal = penalty + loss.level(at.s[pos], at.s[neg], at.b)
        offset = rise < -0.5 * loss.at_zero
        better = primal < self.progress.primal if offset else rise < self.rise
        if better and rise < -error:
            self.rise, self.best = rise, at
            self.progress.lower(primal, at.w, at.b)
        mu = listed.multiplier
        if 0 < at.size < np.inf and (mu.any() or not loss.only_top):
            # At the best b the slopes lack something only where the highest negative is at zero.
            need, top = max(-at.slope, 0.0), neg[np.argmax(at.s[neg])]
            mu = mu * (need / mu.sum()) if mu.any() else need * (listed.members == top)
            delta = np.maximum(at.v, 0.0)
            delta[listed.members] += mu
            conjugate = float(self.split.p @ loss.surrogate.conjugate(-at.v[pos] / self.split.p))
            if not loss.only_top:
                conjugate += float(
                    self.split.q @ loss.negatives.conjugate(delta[neg] / self.split.q)
                )
            dual, scale = self.dual_bound(at, conjugate, mu)
            if dual > self.progress.dual:
                self.progress.lift(dual, loss.join(-scale * at.v[pos], scale * delta[neg]))
        if self.gap_before is not None:
            self.sums.doubt(self.progress.gap, before)
        self.gap_before = before

    def hessian(self, at: _Below) -> Array:
        d, (pos, neg) = self.design.shape[1], (self.split.pos, self.split.neg)
        curvature = self.loss.curvature(at.s[pos], at.s[neg], at.b)
        hessian = np.empty((d + 1, d + 1), order="F")
        hessian[:d, :d], hessian[:d, d] = self.sums.at(curvature)
        hessian[d, :d], hessian[d, d] = hessian[:d, d], curvature.sum()
        np.einsum("ii->i", hessian)[:d] += self.alpha
        return hessian

    def heights(self, at: _Below, new: slice) -> Array:
        return np.asarray(at.s[self.listed.members[new]] + at.b)

    def look(self, at: _Below, step: Array) -> tuple[Rows, Array]:
        neg = self.split.neg
        self.moved = self.design.scores(step[:-1], neg)
        return neg, at.s[neg] + at.b + self.moved + step[-1]

    def advance(self, at: _Below, step: Array, gradient: Array) -> _Below | None:
        """Search along the step on the objective, with the best b at every point: it is convex."""
        loss, (pos, neg), dw, db = self.loss, (self.split.pos, self.split.neg), step[:-1], step[-1]
        ds = np.zeros(self.split.n_rows)
        ds[neg], ds[pos] = self.moved, self.design.scores(dw, pos)
        s_pos, s_neg, ds_pos, ds_neg = at.s[pos], at.s[neg], ds[pos], ds[neg]
        linear, square = self.alpha * float(at.w @ dw), self.alpha * float(dw @ dw)

        def slope_at(theta: float) -> float:
            of_pos, of_neg = s_pos + theta * ds_pos, s_neg + theta * ds_neg
            first = int(np.argmax(of_neg))
            b = loss.best_bias(of_pos, of_neg, at.b + theta * float(db))
            turn = -ds_neg[first] if b >= -of_neg[first] else 0.0
            with np.errstate(over="ignore", invalid="ignore"):
                a = self.split.p * loss.surrogate.slope(-(of_pos + b))
                slope = linear + theta * square - float(a @ (ds_pos + turn))
                if not loss.only_top:
                    beta = self.split.q * loss.below.slope(of_neg + b)
                    slope += float(beta @ (ds_neg + turn))
                return slope

        # Of almost equal columns rounding leaves too much curvature: the model's steps are short.
        slope = min(float(gradient @ step), slope_at(0.0))
        theta = descend(slope_at, slope, _LINE_SEARCH, np.inf)
        if theta == 0.0:
            return None
        s = at.s + theta * ds
        b = loss.best_bias(s[pos], s[neg], at.b + theta * float(db))
        self._shorten(s)
        return self._at(at.w + theta * dw, s, b)

    def end(self, at: _Below) -> Solution:
        best = self.progress.best
        best.scores = np.zeros(self.split.n_rows) if self.best is None else self.best.s
        best.kept = self.sums.keep()
        return best


__all__ = ["Ceiling", "Point", "ceiling"]
