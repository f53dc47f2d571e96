"""Newton's method on the tail mean of all pairs, its kink rounded off less and less.

Solves   max over |w|_1 <= 1, or over w >= 0 that sum to one, of the mean of the share epsilon of
         pairs with the lowest margins s_i - s_j, s = X w
by       a primal-dual barrier for the weights: with e the gradient of the rounded-off tail mean,
             t_k = lambda -+ e_k >= 0,  alpha_k t_k = mu,  sum alpha = 1,
         Newton steps with the Hessian of the pairs on the bend, where the kink is rounded off, and
         a width of the bend that falls once the steps have less to gain than the bend costs.
Given    a BallProblem with a PairTailLoss.
Returns  a Solution; its dual vector holds the sums over rows and columns of the pairs' duals.

Every step brings both bounds: the tail mean of w itself, and the largest edge of the pairs' duals,
h'(u) / sum h', which are allowed for the tail mean without a bend too.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...designs import Windows
from ...losses import PairTailLoss, SmoothTail
from ...problems import BallProblem, Solution
from ...solvers.interior_point import reach
from ...solvers.linalg import one_blas_thread
from ...solvers.loop import Progress
from ...solvers.watch import Watch
from .minimax import NewtonMatrix, Weights, close_bounds

Array = NDArray[np.float64]

#: The narrowest width of the bend, in the unit of margins.
_NARROWEST = 2e-9
#: The ratio of one width of the bend to the previous one.
_NARROWER = 0.4
#: Weights of this 1-norm or less are well inside the ball.
_INSIDE = 0.5
#: Below this 1-norm scores, which steps update, are mostly rounding.
_OUTSIDE = 1e-3
#: The fewest pairs on the bend for each ranker: with fewer, listing the pairs is better.
_FEWEST_A_RANKER = 4
#: The fewest rows of a class that the first Hessian is summed over.
_HESSIAN_ROWS = 2000
#: The fewest pairs on the bend that a Hessian of some rows has for each ranker.
_PAIRS_A_RANKER = 100
#: The factor by which the number of rows rises when the Hessian is refined.
_REFINEMENT = 4


def tail_newton(
    problem: BallProblem,
    *,
    start: Solution | None = None,
    tol: float = 1e-5,
    max_iter: int = 200,
    watch: Watch | None = None,
) -> Solution:
    """Solve to upper - lower <= tol |lower|; gives up where single pairs come to matter."""
    loss = cast(PairTailLoss, problem.loss)
    w = None if start is None else start.w
    watch = watch or Watch(problem.design)
    with one_blas_thread(), np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return _TailNewton(problem, loss, w, tol, max_iter, watch).run()


class _TailNewton:
    def __init__(
        self,
        problem: BallProblem,
        loss: PairTailLoss,
        start: Array | None,
        tol: float,
        max_iter: int,
        watch: Watch,
    ) -> None:
        self.problem, self.loss, self.design = problem, loss, problem.design
        self.split = loss.split
        self.weights = Weights(problem.signed)
        self.row_weights = np.abs(self.split.tilt)
        self.alpha = self._first(start)
        #: How often the Hessian has been refined.
        self.refined = 0
        n = self.design.shape[1]
        self.progress = Progress(
            Solution(np.zeros(n), np.zeros(self.split.n_rows), solver="tail-newton"),
            0.0 if problem.signed else np.inf,  # w = 0 is not on the simplex
            -np.inf,
            close=close_bounds(tol, problem.signed),
            watch=watch,
            max_iter=max_iter,
            patience=12,
            falls=0.01,
        )
        self.w = self.weights.net(self.alpha)
        self.s = self.design.scores(self.w)
        s_pos, s_neg = self.s[self.split.pos], self.s[self.split.neg]
        spread = float(np.sqrt(s_pos.var() + s_neg.var()))
        self.width = 2.0 * max(spread, 1e-3)
        self._at(self.loss.smoothed(self.s, self.width, float(s_pos.mean() - s_neg.mean())))
        edges = self.weights.spread(self.edges)
        self.rim = float(edges.max()) + 0.05
        self.t = self.rim - edges

    def _first(self, start: Array | None) -> Array:
        """Weights inside the simplex: in proportion to the means' differences, and some for all."""
        if start is None:
            v = np.zeros(self.split.n_rows)
            v[self.split.pos], v[self.split.neg] = self.split.p, -self.split.q
            start = self.design.pull_back(v)
        alpha = np.maximum(self.weights.spread(start), 0.0)
        alpha += 0.05 * np.abs(start).max() + 1e-12
        return np.asarray(alpha / alpha.sum())

    def _at(self, tail: SmoothTail) -> None:
        self.tail = tail
        self.edges = -self.design.pull_back(tail.v)

    @property
    def bend_cost(self) -> float:
        """What rounding off may cost, at the most."""
        return max(self.tail.bent * self.width / (8.0 * self.loss.epsilon), 1e-12)

    def run(self) -> Solution:
        progress, best = self.progress, self.progress.best
        fewest = (
            _FEWEST_A_RANKER * self.design.shape[1] / (len(self.split.pos) * len(self.split.neg))
        )
        while True:
            self._bound()
            if progress.over():
                break
            self.refined += progress.waited == 3
            if self._settled():
                if self.tail.bent * _NARROWER < fewest or self.width < _NARROWEST:
                    best.gave_up = True
                    break
                self.width *= _NARROWER
                self._at(self.loss.smoothed(self.s, self.width, self.tail.level))
            if not self._step():
                break
        if not best.w.any():  # no margin yet, but the way there
            best.kept = self.w
        return best

    def _bound(self) -> None:
        """Better bounds from this point."""
        if (dual := -self.weights.largest(self.edges)) > self.progress.dual:
            self.progress.lift(dual, self.tail.v)
        size = float(np.abs(self.w).sum())
        if size > _OUTSIDE:
            primal = float(self.loss.slope(self.s, self.tail.scan) @ self.s) / size
            if primal < self.progress.primal:
                self.progress.lower(primal, self.w / size)

    def _settled(self) -> bool:
        """Whether steps have less to gain than the bend costs.

        A margin above zero is reached on the rim of the ball, whatever the bend. Well inside the
        edges are on their way to zero, and a narrower bend would only make the weights smaller.
        """
        if self.problem.signed and float(np.abs(self.w).sum()) < _INSIDE:
            return False
        residual = np.abs(self.weights.spread(self.edges) - self.rim + self.t).max()
        cost = self.bend_cost
        return bool(residual < 0.3 * cost and self.alpha @ self.t < 0.5 * cost)

    def _step(self) -> bool:
        """A Newton step on the barrier; False where none can be made."""
        alpha, t = self.alpha, self.t
        mu = min(0.2 * float(alpha @ t), 0.1 * self.bend_cost) / len(alpha)
        edges = self.weights.spread(self.edges)
        try:
            matrix = NewtonMatrix(self._hessian(), t / alpha, self.problem.signed)
        except FloatingPointError:
            return False
        solved = matrix.solve(np.column_stack([edges - self.rim + mu / alpha, np.ones_like(alpha)]))
        first, along = solved[:, 0], solved[:, 1]
        rim = (float(first.sum()) - (1.0 - float(alpha.sum()))) / float(along.sum())
        by = first - rim * along
        t_by = mu / alpha - t - (t / alpha) * by
        moved = self.design.scores(self.weights.net(by))
        slope = float(edges @ by) + mu * float((by / alpha).sum())
        before = self.tail.value + mu * float(np.log(alpha).sum())
        share = min(1.0, 0.98 * reach([alpha], [by]))
        for _ in range(12):
            after = alpha + share * by
            tail = self.loss.smoothed(self.s + share * moved, self.width, self.tail.level)
            value = tail.value + mu * float(np.log(after).sum())
            # Armijo's rule, up to the rounding of the value.
            if value >= before + 1e-4 * share * slope - 3e-12:
                break
            share *= 0.5
        if not np.isfinite(value):
            return False
        t_share = min(1.0, 0.98 * reach([t], [t_by]))
        self.alpha, self.t = after, t + t_share * t_by
        self.rim += t_share * rim
        self.w = self.weights.net(after)
        self.s = self.s + share * moved
        self._at(tail)
        return True

    def _hessian(self) -> Array:
        """(H - h h' / bent) / (width epsilon), H and h the sums of z z' and of z over the bend."""
        windows = self._windows()
        degrees = windows.degrees()
        bent = float(degrees[0].sum())
        if not bent > 0:
            return np.zeros((self.design.shape[1],) * 2)
        h = self.design.pull_back(
            np.concatenate([degrees[0], -degrees[1]]),
            np.concatenate([windows.rows, windows.others]),
        )
        scale = 1.0 / (self.width * self.loss.epsilon)
        return scale * (self.design.window_gram(windows) - np.outer(h, h / bent))

    def _windows(self) -> Windows:
        """The pairs on the bend, of every so many rows in the order of scores where many are."""
        scan, split = self.tail.scan, self.split
        rows, first, last, others = scan.windows(len(split.pos) <= len(split.neg))
        n = self.design.shape[1]
        most = max(_HESSIAN_ROWS, 20 * n) * _REFINEMENT**self.refined
        pairs = self.tail.bent * len(split.pos) * len(split.neg)
        every, other_every = max(1, len(rows) // most), max(1, len(others) // most)
        while every * other_every > 1 and pairs / (every * other_every) < _PAIRS_A_RANKER * n:
            every, other_every = max(1, every // 2), max(1, other_every // 2)
        if every > 1:
            rows, first, last = (x[every // 2 :: every] for x in (rows, first, last))
        if other_every > 1:
            begin = other_every // 2
            others = others[begin::other_every]
            first, last = (-((begin - x) // other_every) for x in (first, last))
            first, last = (np.clip(x, 0, len(others)) for x in (first, last))
        weights, other_weights = self.row_weights[rows], self.row_weights[others]
        return Windows(
            np.ascontiguousarray(rows),
            weights / weights.sum(),
            np.ascontiguousarray(first),
            np.ascontiguousarray(last),
            np.ascontiguousarray(others),
            other_weights / other_weights.sum(),
        )
