"""Newton's method for the mean over the highest negatives, with smoothed weights.

Solves   min over w  alpha/2 |w|^2 + F(X w),  F(s) = max over d of F_d(s): a `TopFractionLoss`
by       the proximal method of multipliers: Newton steps on F smoothed over a width around earlier
         weights d; these are renewed and the width is narrowed once the steps converge. The system
         is solved by Cholesky's method for few features, else by conjugate gradients.
Given    a Problem whose loss is a soft top.
Returns  a Solution; its dual is the weights d of the negatives, on their rows.

The weights of the smoothed problem are dual themselves: they bound the minimum by that of
alpha/2 |w|^2 + F_d, a problem of pairs, and so by P_d(w) - |g|^2 / (2 alpha), g its gradient. With
g = 0 the gap is at most half a width, and vanishes as the weights stop changing.

`SoftTop` is F smoothed at some scores: its value, its slope and its second derivative.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ...designs import DenseDesign, Design, Windows
from ...losses import TopFractionLoss, tail_mean
from ...problems import Problem, Solution
from ...solvers.cost import factor_is_cheap
from ...solvers.linalg import cholesky, conjugate_gradient, descend, one_blas_thread
from ...solvers.loop import Progress, within
from ...solvers.starts import better_start
from ...solvers.watch import Watch
from ...solvers.zero_test import ZeroTest

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: The first width, as a share of F(0).
_WIDEST = 0.3
#: The factor by which the width is narrowed at a time.
_NARROWED = 5.0
#: The narrowest width, as a share of F(0): below it rounding rules.
_NARROWEST = 1e-13
#: The weights are renewed once the gradient adds no more than this share to the gap they leave.
_SOLVED = 0.5
#: The most features for which the Hessian is formed.
_HESSIAN_FEATURES = 500
#: Negatives between the bounds of their weights that the first Hessian is summed over.
_HESSIAN_ROWS = 1000.0
#: The factor by which that number rises after a step that the line search cuts short.
_REFINEMENT = 4.0
#: Rows that are made dense at a time.
_BLOCK = 2048


def soft_top_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a soft top by Newton's method."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return _SoftTopNewton(problem, start, tol, max_iter, watch or Watch(problem.design)).run()


class _SoftTopNewton:
    def __init__(
        self, problem: Problem, start: Solution | None, tol: float, max_iter: int, watch: Watch
    ) -> None:
        self.problem, self.design, self.alpha = problem, problem.design, problem.alpha
        self.loss = cast(TopFractionLoss, problem.loss)
        self.zero = ZeroTest(problem)
        n, d = self.design.shape
        self.tol = tol
        self.progress = Progress(
            Solution(np.zeros(d), np.zeros(n), solver="soft-top-newton", alpha=self.alpha),
            self.loss.at_zero,
            0.0,
            close=within(tol),
            zero=self.zero.holds,
            watch=watch,
            max_iter=max_iter,
            patience=40,
            falls=1e-3,
        )
        begin = better_start(problem, start)
        self.w, self.s = (np.zeros(d), np.zeros(n)) if begin is None else begin
        self.width = _WIDEST * self.loss.at_zero
        if begin is not None:
            self.width = max(tol, 1e-3) * self.loss.at_zero
        #: The weights that the smoothing starts from, as shares of their caps.
        self.centre = np.zeros(len(self.loss.caps))
        self.hessian_rows = _HESSIAN_ROWS
        self.factors = d <= _HESSIAN_FEATURES and factor_is_cheap(self.design)
        self.least = np.inf  # the smallest gap so far

    def run(self) -> Solution:
        while True:
            top = self._top(self.s)
            gradient = self.alpha * self.w + self.design.pull_back(top.slope)
            lacks = self._note(top, gradient)
            # What has to fall, step by step, is the gap or the width.
            if self.progress.over(min(self.least, self.progress.gap) + self.width):
                self.progress.best.gave_up = not self.progress.best.converged
                return self.progress.best
            if float(gradient @ gradient) <= _SOLVED * lacks * 2.0 * self.alpha:
                if self.width <= _NARROWEST * self.loss.at_zero:
                    self.progress.stuck = True
                    continue
                self.centre = top.d / self.loss.caps
                self.width /= _NARROWED
                top = self._top(self.s)
                gradient = self.alpha * self.w + self.design.pull_back(top.slope)
            self.progress.stuck = not self._advance(top, gradient, lacks)

    def _top(self, s: Array) -> SoftTop:
        return SoftTop(self.loss, s, self.width, self.centre)

    def _note(self, top: SoftTop, gradient: Array) -> float:
        """Keep the point, or w = 0 in its place, and the weights, where their gap is the least.

        Return how far the weights are below the worst case; the width where that is not known.
        """
        loss, design, progress = self.loss, self.design, self.progress
        v = np.zeros(design.shape[0])
        v[loss.split.neg] = top.d
        penalty = self.problem.penalty(self.w)
        weighed = loss.weighing(loss.highest(self.s))
        if self.w.any() and penalty + weighed.rise(self.s) < 0.0:
            worst = weighed.value(self.s)
            lacks = max(worst - loss.weighing(top.d).value(self.s), 0.0)
            value = penalty + worst
            gap = float(gradient @ gradient) / (2.0 * self.alpha) + lacks
            w = self.w.copy()
        else:
            at_zero = 2.0 * v
            at_zero[loss.split.pos] = -2.0 * loss.split.p
            pull = design.pull_back(at_zero)
            value, gap, w = loss.at_zero, float(pull @ pull) / (2.0 * self.alpha), 0.0 * self.w
            lacks = self.width
        if gap < self.least or (w.any() and not progress.best.w.any()):
            self.least = gap
            progress.lower(value, w)
            progress.lift(max(value - gap, 0.0), v)
        return lacks

    def _advance(self, top: SoftTop, gradient: Array, lacks: float) -> bool:
        """Take a Newton step as far as it descends; False where it does not."""
        dw = self._step(top, gradient, lacks)
        ds = self.design.scores(dw)
        linear, square = self.alpha * float(self.w @ dw), self.alpha * float(dw @ dw)

        def slope_at(theta: float) -> float:
            moved = self._top(self.s + theta * ds)
            return linear + theta * square + float(moved.slope @ ds)

        theta = descend(slope_at, float(gradient @ dw), share=0.1, longest=np.inf)
        if not theta > 0.0 or not np.isfinite(dw).all():
            return False
        self.hessian_rows *= _REFINEMENT if theta < 0.3 else 1.0
        self.w = self.w + theta * dw
        self.s = self.design.scores(self.w)
        return True

    def _step(self, top: SoftTop, gradient: Array, lacks: float) -> Array:
        if self.factors:
            hessian = np.asfortranarray(top.hessian(self.design, self.hessian_rows))
            lift = np.maximum(hessian.diagonal(), 0.0) + self.alpha
            np.einsum("ii->i", hessian)[:] += self.alpha
            factor = cholesky(hessian, lift)
            if factor is not None:
                return np.asarray(dpotrs(factor, -gradient, lower=1)[0])

        def product(direction: Array) -> tuple[Array, float]:
            pulled = self.design.pull_back(top.bend(self.design.scores(direction))[:, 0])
            return self.alpha * direction + pulled, 0.0

        size = float(np.linalg.norm(gradient))
        enough = max(0.05 * size, 0.3 * np.sqrt(2.0 * self.alpha * _SOLVED * lacks))
        return conjugate_gradient(product, -gradient, enough=enough, max_iter=200)[0]


def capped(values: Array, caps: Array, width: float) -> tuple[Array, float]:
    """The d with d_j = caps_j [(values_j - level) / width], cut to 0 and 1, that sums to one."""
    # All of them where one is NaN: the weights are NaN then too.
    near = np.flatnonzero(~(values < _sure_level(values, caps) - width))
    high, most = values[near], caps[near]
    ends = np.concatenate([high, high - width])
    change = np.concatenate([most, -most]) / width
    order = np.argsort(-ends, kind="stable")
    at, slope = ends[order], np.cumsum(change[order])
    upto = np.concatenate([[0.0], np.cumsum(slope[:-1] * -np.diff(at))])
    place = min(int(np.searchsorted(upto, 1.0)), len(at) - 1)
    before = max(place - 1, 0)
    rate = slope[before]
    level = at[before] - (1.0 - upto[before]) / rate if rate > 0.0 else at[place]
    d = np.zeros(len(values))
    d[near] = most * np.clip((high - level) / width, 0.0, 1.0)
    total = float(d.sum())
    if abs(total - 1.0) > 1e-6:  # the width is lost to rounding beside the values
        return tail_mean(-values, caps)[1], float(level)
    return d / total, float(level)


def _sure_level(values: Array, caps: Array) -> float:
    """A level that values with caps of one or more in all are not below."""
    if not caps.min() > 0.0:
        return float(values.min())
    count = min(math.ceil(1.0 / float(caps.min())), len(values))
    return float(np.partition(values, len(values) - count)[-count])


class SoftTop:
    """F smoothed over a width at some scores, around weights of the negatives.

    max over d of  sum_j d_j L_j - width/2 sum_j caps_j (d_j / caps_j - centre_j)^2,
    L_j = sum_i p_i l(s_j - s_i): at most half a width below F. Its slope is that of F_d at the
    best d.
    """

    def __init__(
        self, loss: TopFractionLoss, s: Array, width: float, centre: Array | float = 0.0
    ) -> None:
        split = loss.split
        self.loss, self.width, self.n_rows = loss, width, len(s)
        middle = float(split.p @ s[split.pos])
        self._low = np.argsort(s[split.pos], kind="stable")
        self.pos, self.p = split.pos[self._low], split.p[self._low]
        self.s_pos, s_neg = s[self.pos] - middle, s[split.neg] - middle
        # Negatives below the margin of every positive weigh nothing here; all are looked at.
        self._reach = 1.0 + s_neg
        self._below = np.searchsorted(self.s_pos, self._reach, side="left")
        zeroth, first, second = (
            _upto(self.p * power) for power in (1.0, self.s_pos, self.s_pos**2)
        )
        at, reach = self._below, self._reach
        height = np.maximum(reach * reach * zeroth[at] - 2.0 * reach * first[at] + second[at], 0.0)
        lifted = height + width * centre
        self.d, level = capped(lifted, loss.caps, width)
        self.value = float(self.d @ height)
        off = self.d / loss.caps - centre
        self.smooth = self.value - 0.5 * width * float(loss.caps @ (off * off))
        steep = 2.0 * np.maximum(reach * zeroth[at] - first[at], 0.0)
        # Only negatives that weigh something have a slope, and only those on the bend move.
        self._used = np.flatnonzero(self.d)
        self._bent = np.flatnonzero((lifted > level) & (lifted < level + width))
        self._steep, self._share = steep, zeroth
        order = self._used[np.argsort(reach[self._used], kind="stable")]
        self._order = order
        self._from = np.searchsorted(reach[order], self.s_pos, side="right")

    @property
    def slope(self) -> Array:
        """The gradient in the scores."""
        v, neg = np.zeros(self.n_rows), self.loss.split.neg
        v[neg] = self.d * self._steep
        d, reach = self.d[self._order], self._reach[self._order]
        zeroth, first = _beyond(d), _beyond(d * reach)
        v[self.pos] = -2.0 * self.p * (first[self._from] - self.s_pos * zeroth[self._from])
        return v

    def bend(self, t: Array) -> Array:
        """The second derivative times changes t of the scores: a vector, or columns of them."""
        t = t if t.ndim == 2 else t[:, np.newaxis]
        out = np.zeros_like(t)
        neg, p = self.loss.split.neg, self.p[:, np.newaxis]
        t_pos, order = t[self.pos], self._order
        # The pairs within the margin, at these weights.
        upto = _upto(p * t_pos)
        d, t_neg = self.d[order, np.newaxis], t[neg[order]]
        at = self._below[order]
        out[neg[order]] = 2.0 * d * (self._share[at, np.newaxis] * t_neg - upto[at])
        weight, moved = _beyond(self.d[order]), _beyond(d * t_neg)
        start = self._from
        out[self.pos] = 2.0 * p * (weight[start, np.newaxis] * t_pos - moved[start])
        # The weights of those on the bend, as their heights change.
        bent = self._bent
        if len(bent):
            reach, at = self._reach[bent, np.newaxis], self._below[bent]
            further = _upto(p * self.s_pos[:, np.newaxis] * t_pos)
            steep = self._steep[bent, np.newaxis]
            rise = steep * t[neg[bent]] - 2.0 * (reach * upto[at] - further[at])
            c = (self.loss.caps[bent] / self.width)[:, np.newaxis]
            change = c * (rise - (c * rise).sum(axis=0) / c.sum())
            out[neg[bent]] += steep * change
            rank = np.argsort(reach[:, 0], kind="stable")
            zeroth, first = _beyond(change[rank]), _beyond((change * reach)[rank])
            start = np.searchsorted(reach[rank, 0], self.s_pos, side="right")
            out[self.pos] -= 2.0 * p * (first[start] - self.s_pos[:, np.newaxis] * zeroth[start])
        return out

    def hessian(self, design: Design, most: float) -> Array:
        """The second derivative in the weights of a linear score.

        Where more than `most` negatives are on the bend, every so many of them stand for all.
        """
        order, low = self._order, self.pos
        windows = Windows(
            self.loss.split.neg[order],
            self.d[order],
            np.zeros(len(order), dtype=np.int64),
            self._below[order],
            low,
            self.p,
        )
        matrix = 2.0 * design.window_gram(windows)
        bent = self._bent[np.argsort(self._reach[self._bent], kind="stable")]
        if len(bent):
            bent = bent[:: math.ceil(len(bent) / most)]
            c = self.loss.caps[bent] * (len(self._bent) / len(bent) / self.width)
            rise = self._height_slopes(design, bent)
            rise -= (c @ rise) / c.sum()
            matrix += DenseDesign(rise, design.n_threads).gram(c)
        return np.asarray(matrix)

    def _height_slopes(self, design: Design, bent: NDArray[np.int64]) -> Array:
        """The slopes in the weights of the heights of some negatives, in the order of scores."""
        at, reach = self._below[bent], self._reach[bent, np.newaxis]
        shape = (len(bent), design.shape[1])
        zeroth, first = np.zeros(shape), np.zeros(shape)
        # A positive is within the margin of the first negative that reaches it and of all later.
        begins = np.searchsorted(at, np.arange(len(self.pos)), side="right")
        for begin in range(0, int(at[-1]), _BLOCK):
            own = slice(begin, min(begin + _BLOCK, int(at[-1])))
            rows = self.p[own, np.newaxis] * design.take(self.pos[own])
            found, places = np.unique(begins[own], return_index=True)
            zeroth[found] += np.add.reduceat(rows, places)
            first[found] += np.add.reduceat(rows * self.s_pos[own, np.newaxis], places)
        pulled = reach * np.cumsum(zeroth, axis=0) - np.cumsum(first, axis=0)
        return self._steep[bent, np.newaxis] * design.take(self.loss.split.neg[bent]) - 2.0 * pulled


def _upto(x: Array) -> Array:
    """The sums of the first k, for every k from none on."""
    return np.concatenate([np.zeros((1, *x.shape[1:])), np.cumsum(x, axis=0)])


def _beyond(x: Array) -> Array:
    """The sums of all from the k-th on, for every k."""
    return _upto(x[::-1])[::-1]
