"""Newton's method with constraint generation on the negatives, for narrow data.

Solves   min over w, b  alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j h(w.x_j + b)
         s.t.  w.x_j + b <= 0  for every negative j: RectPush where h = l, TopPush where h = 0,
         with b = -max_j w.x_j.
by       quadratic models with exact curvature; each model's few binding negatives are found by
         a dual active-set method on a growing list of candidates, priced by scans of X.
Given    a Problem with a ThresholdLoss: squared hinge, logistic or exponential.
Returns  a Solution; its dual is a_i = p_i l'(-v_i) on positives, and q_j h'(v_j) and the
         multipliers on negatives.

For the squared hinge the model is exact while the rows that lose stay the same, so the last
step lands on the solution itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..losses import ThresholdLoss
from ..problems import Problem, Solution
from ._candidates import Candidates, largest
from ._ceiling import factored, pooled_step, tolerance_at, worth_of
from .linalg import descend, one_blas_thread
from .loop import Progress, within
from .row_hessians import Hessian, KeptHessian
from .starts import Point, better_than_zero, beyond_ceiling, restart_duals, same_data
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Negatives that are listed for each feature where dual descent hands over, the heaviest ones.
_LISTED_A_FEATURE = 2
#: Steps in which the gap must fall.
_PATIENCE = 30
#: By this share.
_FALLS = 0.01
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1


@dataclass
class _Slopes:
    """The smooth part of the objective at a point: its slopes by row, and what they add up to."""

    a: Array
    beta: Array | None
    u: Array  # X+'a - X-'beta
    need: float  # sum a - sum beta: what the multipliers have to make up for
    total: float  # sum a


def active_set_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a TopPush or RectPush problem by Newton steps over a growing list of negatives."""
    with one_blas_thread():
        return _Newton(problem, start, tol, max_iter, watch or Watch(problem.design)).run()


class _Newton:
    def __init__(
        self, problem: Problem, start: Solution | None, tol: float, max_iter: int, watch: Watch
    ) -> None:
        self.problem, self.tol = problem, tol
        self.loss = cast(ThresholdLoss, problem.loss)
        self.design, self.alpha = problem.design, problem.alpha
        self.split, self.surrogate = self.loss.split, self.loss.surrogate
        self.candidates = Candidates(self.design, self.split.neg)
        self.hessian = Hessian(self.design)
        self.at = self._begin(start)
        n, d = self.design.shape
        self.progress = Progress(
            Solution(np.zeros(d), np.zeros(n), solver="active-set-newton", alpha=self.alpha),
            self.loss.at_zero,
            0.0,
            close=within(tol),
            zero=ZeroTest(problem).holds,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=_FALLS,
            holds=lambda best: problem.vouch(best).holds(tol),
        )
        #: The best point, whose weights are not zero, and what it is above w = 0.
        self.best: Point | None = None
        self.rise = 0.0

    def _begin(self, start: Solution | None) -> Point:
        """The first point, and the first candidates: the negatives most like the positives."""
        d, neg, pos = self.design.shape[1], self.split.neg, self.split.pos
        first = min(len(neg), max(50, min(2 * d, 300)))
        duals = restart_duals(self.problem, start)
        if start is not None and len(start.w) == d and (start.w.any() or duals is not None):
            at = Point(start.w.copy(), 0.0, np.zeros(len(pos)), np.zeros(len(neg)))
            if at.w.any():
                at.s_pos, at.s_neg = self.design.scores(at.w, pos), self.design.scores(at.w, neg)
                at.b = self.loss.best_bias(at.s_pos, at.s_neg, start.b)
                s = np.concatenate([at.s_pos, at.s_neg])
                if not better_than_zero(self.problem, at.w, s, at.b):
                    return self._begin(None)
                self.candidates.add(largest(at.s_neg, first))
                if isinstance(start.kept, KeptHessian) and same_data(
                    start, self._by_rows(at), self.split
                ):
                    self.hessian = Hessian(self.design, start.kept)
            if duals is not None:  # at w = 0 they may be all that is asked for
                multiplier = beyond_ceiling(self.loss, duals[1])
                # Descent leaves thousands of them, of which no more than d + 1 can bind.
                heaviest = largest(multiplier, min(len(neg), _LISTED_A_FEATURE * d))
                self.candidates.add(heaviest[multiplier[heaviest] > 0.0])
                self.candidates.multiplier = multiplier[self.candidates.members]
            self.candidates.prune(at.s_neg)
            return at
        mean_pos = self.design.pull_back(self.split.p, pos)
        mean_neg = self.design.pull_back(self.split.q, neg)
        self.candidates.add(largest(self.design.scores(mean_pos - mean_neg, neg), first))
        return Point(np.zeros(d), 0.0, np.zeros(len(pos)), np.zeros(len(neg)))

    def _by_rows(self, at: Point) -> Array:
        """The scores in the order of the matrix; zero for rows of neither class."""
        scores = np.zeros(self.split.n_rows)
        scores[self.split.pos], scores[self.split.neg] = at.s_pos, at.s_neg
        return scores

    def run(self) -> Solution:
        progress, first = self.progress, True
        while True:
            slopes, before = self._slopes(), progress.gap
            self._bound(slopes)
            if not first:
                self.hessian.doubt(progress.gap, before)
            if progress.over():
                break
            gradient = np.append(self.alpha * self.at.w - slopes.u, -slopes.need)
            factor = self._factor()
            step, s_neg_step = self._model_step(factor, gradient, slopes.total)
            # Where nothing descends, the model's multipliers may still prove the point optimal.
            progress.stuck = not self._advance(step, s_neg_step, gradient)
            first = False
        best = progress.best
        best.scores = np.zeros(self.split.n_rows) if self.best is None else self._by_rows(self.best)
        best.kept = self.hessian.keep()
        return best

    def _slopes(self) -> _Slopes:
        """Slopes at the point, and their image: one pass over the rows that lose."""
        at, split = self.at, self.split
        a = split.p * self.surrogate.slope(-(at.s_pos + at.b))
        signed, rows, beta = a, split.pos, None
        total = need = float(a.sum())
        if not self.loss.only_top:
            beta = split.q * self.loss.below.slope(at.s_neg + at.b)
            signed, rows = np.concatenate([a, -beta]), np.concatenate([split.pos, split.neg])
            need -= float(beta.sum())
        if self.surrogate.quadratic:
            used = np.flatnonzero(signed)
            signed, rows = signed[used], rows[used]
        return _Slopes(a, beta, self.design.pull_back(signed, rows), need, total)

    def _bound(self, slopes: _Slopes) -> None:
        """Better bounds from this point: its value, and a dual point from its slopes."""
        at = self.at
        rise, error = self.loss.rise(at.s_pos, at.s_neg, at.b)
        penalty = 0.5 * self.alpha * float(at.w @ at.w)
        rise += penalty
        primal = penalty + self.loss.level(at.s_pos, at.s_neg, at.b)
        far = rise < -0.5 * self.loss.at_zero
        better = primal < self.progress.primal if far else rise < self.rise
        if better and rise < -error:
            self.rise, self.best = rise, at
            self.progress.lower(primal, at.w, at.b)
        known, total = self.candidates, slopes.total
        mu = known.multiplier
        if not 0 < total < np.inf or (self.loss.only_top and not mu.any()):
            return
        # At the best b the slopes lack something only where the highest negative is at zero.
        need = max(slopes.need, 0.0)
        mu = (
            mu * (need / mu.sum()) if mu.any() else mu + need * (known.members == at.s_neg.argmax())
        )
        u = slopes.u - mu @ known.rows[:, :-1]
        delta = np.zeros(len(at.s_neg)) if slopes.beta is None else slopes.beta.copy()
        delta[known.members] += mu
        with np.errstate(over="ignore"):
            quadratic = float(u @ u) / (2.0 * self.alpha)
        separable = float(self.split.p @ self.surrogate.conjugate(slopes.a / self.split.p))
        if not self.loss.only_top:
            separable += float(self.split.q @ self.loss.negatives.conjugate(delta / self.split.q))
        dual, scale = -quadratic - separable, 1.0
        q = quadratic + separable + total
        # The best multiple, D = S^2 / (4 q), unless tiny slopes are squares that rounding lost.
        if self.loss.only_top and self.surrogate.quadratic and q > 0.0:
            scale = total / (2.0 * q)
            dual = scale * total - scale * scale * q
        if dual > self.progress.dual:
            self.progress.lift(dual, self.loss.join(scale * slopes.a, scale * delta))

    def _factor(self) -> Array:
        """The lower Cholesky factor of the Hessian in (w, b)."""
        d, at = self.design.shape[1], self.at
        curvature = self.loss.curvature(at.s_pos, at.s_neg, at.b)
        hessian = np.empty((d + 1, d + 1), order="F")
        hessian[:d, :d], hessian[:d, d] = self.hessian.at(curvature)
        hessian[d, :d] = hessian[:d, d]
        hessian[d, d] = curvature.sum()
        diagonal = np.arange(d)
        hessian[diagonal, diagonal] += self.alpha
        factor = factored(hessian, self.alpha, self.candidates.longest)
        if factor is None:
            raise FloatingPointError("The Hessian overflowed: scale the features, or raise alpha.")
        return factor

    def _model_step(self, factor: Array, gradient: Array, total: float) -> tuple[Array, Array]:
        """The minimum of the quadratic model under every negative's constraint, by rounds."""
        at, known = self.at, self.candidates
        progress, least = self.progress, 0.1 * self.tol * self.progress.primal

        def worth(step: Array) -> float:
            return worth_of(progress.gap, -float(gradient @ step), least, max(total, 1e-300))

        return pooled_step(
            known,
            factor,
            gradient,
            at.s_neg + at.b,
            tolerance=tolerance_at(known, gradient, self.alpha, at.b),
            scores=lambda w: self.design.scores(w, self.split.neg),
            worth=worth,
        )

    def _advance(self, step: Array, s_neg_step: Array, gradient: Array) -> bool:
        """Line search on the true objective; False where no step along it descends."""
        at, dw, db, loss, split = self.at, step[:-1], float(step[-1]), self.loss, self.split
        s_pos_step = self.design.scores(dw, split.pos)
        linear, square = self.alpha * float(at.w @ dw), self.alpha * float(dw @ dw)

        # With the best b at every point, the objective along the line is convex.
        def slope_at(theta: float) -> float:
            s_pos, s_neg = at.s_pos + theta * s_pos_step, at.s_neg + theta * s_neg_step
            first = int(np.argmax(s_neg))
            b = loss.best_bias(s_pos, s_neg, at.b + theta * db)
            turn = -s_neg_step[first] if b >= -s_neg[first] else 0.0
            with np.errstate(over="ignore", invalid="ignore"):
                a = split.p * self.surrogate.slope(-(s_pos + b))
                slope = linear + theta * square - float(a @ (s_pos_step + turn))
                if not loss.only_top:
                    slope += float((split.q * loss.below.slope(s_neg + b)) @ (s_neg_step + turn))
                return slope

        slope = min(float(gradient @ step), slope_at(0.0))
        # Of almost equal columns rounding leaves a model that bends too much: its steps are short.
        theta = descend(slope_at, slope, _LINE_SEARCH, np.inf)
        s_pos, s_neg = at.s_pos + theta * s_pos_step, at.s_neg + theta * s_neg_step
        b = loss.best_bias(s_pos, s_neg, at.b + theta * db)
        self.at = Point(at.w + theta * dw, b, s_pos, s_neg)
        self.candidates.prune(s_neg)
        return theta > 0.0
