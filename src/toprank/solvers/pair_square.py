"""The squared hinge of all pairs: exact gradients, Hessians of few rows.

Solves   min over w  alpha/2 |w|^2 + sum_i sum_j p_i q_j [1 - w.x_i + w.x_j]_+^2
by       Newton steps. A point costs a product with X, one with X', and the ranks of one class
         among the scores of the other. The Hessian is summed over the pairs of a few rows, kept in
         proportion to what they add to it, and factored; where it has too many columns the steps
         are by conjugate gradients, or L-BFGS. It begins with the solution of a sample, or of dual
         sweeps over sparse rows.
Given    a Problem with a PairLoss of the squared hinge.
Returns  a Solution; its dual vector is the slope at its w, which vouches for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from .._core import PairRanks
from ..designs import Design, Windows
from ..inputs.class_split import Split
from ..losses import PairLoss
from ..problems import Problem, Solution
from ._pair_trail import PairTrail, best_in_span, trail_of
from .cost import pair_factor_is_cheap, pair_hessian_products, pair_hessian_rows
from .linalg import cholesky
from .loop import Progress, within
from .pair_point import PairPoint, lower_along
from .pair_wide import WideSteps
from .row_hessians import bfgs_update
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Within this of F(0) the rise above it is computed for itself: rounding would drown it.
_NEAR_ZERO = 1e-3
#: Values this near to each other, as a share of F(0), may be the same but for rounding.
_SAME = 1e-15
#: Steps in which the gap must fall.
_PATIENCE = 30
#: By this share.
_FALLS = 1e-3
#: The Hessian has more rows after a step cut to less.
_TOO_SHORT = 0.3
#: And where that costs less than the points still to come, beyond these.
_FEW_POINTS = 1.5
#: What a point costs, in products with X.
_PRODUCTS_A_POINT = 3.0
#: The share of the gap that a step leaves, at the most, for all that is foreseen.
_SLOWEST = 0.97
#: By this factor.
_REFINEMENT = 4
#: After so many times it is the whole Hessian.
_MOST_REFINED = 4
#: Bins of the class that is sorted, for the pairs that the Hessian is summed over.
_BINS = 128
#: Rows that are added up at a time: they stay in the cache.
_BLOCK = 2048
#: A step that leaves no more of its slope keeps the Hessian, but for what it has shown.
_GOOD = 0.15
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.3
#: Where a whole step has more to go, so many times as much is tried.
_LONGER = 2.0
#: Many rows are first solved for a sample of about this many.
_SAMPLE_ROWS = 3000
#: Where that is so many times fewer.
_WORTH_SAMPLING = 3
#: Of a class at least this many are in it.
_FEWEST = 1000
#: How many times as many the next sample has.
_LARGER_SAMPLE = 6
#: A sample is solved as well as chance lets it be: up to this share of what that is.
_CHANCE = 0.3
#: To what relative gap the first sample is solved; a larger one to less in proportion.
_SAMPLE_TOL = 1e-2
#: In how many steps at the most.
_SAMPLE_STEPS = 15


class PairSquare:
    """One fit."""

    def __init__(
        self,
        problem: Problem,
        tol: float,
        max_iter: int,
        watch: Watch,
        *,
        trail: PairTrail | None = None,
        enough: float = 0.0,
    ) -> None:
        #: The solutions of a path so far.
        self.trail = trail
        #: Of a sample: the share of the loss that a step must promise to be worth a look at it.
        self.enough = enough
        #: The gap of the last point, however wide.
        self.gap = np.inf
        self.problem, self.design, self.alpha = problem, problem.design, problem.alpha
        self.loss, self.tol = cast(PairLoss, problem.loss), tol
        self.ranks: PairRanks = self.loss.ranks()
        n, d = self.design.shape
        solver = "pair-newton" if (narrow := pair_factor_is_cheap(self.design)) else "pair-lbfgs"
        self.max_iter = max_iter
        self.progress = Progress(
            Solution(np.zeros(d), np.zeros(n), solver=solver, alpha=self.alpha),
            self.loss.at_zero,
            0.0,
            close=self._close,
            zero=ZeroTest(problem).holds,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=_FALLS,
        )
        self._near = within(tol)
        self._steps: _FactoredSteps | WideSteps
        self._steps = _FactoredSteps(self) if narrow else WideSteps(self)
        #: Whether a cold fit begins by itself, without samples.
        self.sketches = self._steps.sketches
        self.rise = 0.0
        self._last: PairPoint | None = None

    def run(self, start: Solution | None) -> Solution:
        """Step by step, until the gap is what it should be."""
        point, progress = self._begin(start), self.progress
        while True:
            self._note(point)
            if progress.over():
                points = () if self.trail is None else self.trail.points
                progress.best.kept = PairTrail(self.design, self.loss, points)
                return progress.best
            if self._near(progress.primal, progress.dual) and not point.fresh:
                point = self.at(point.w)  # what scores lost in many steps may be all that is left
                continue
            moved = self._steps.next(point)
            progress.stuck = moved is None
            point = point if moved is None else moved

    def _begin(self, start: Solution | None) -> PairPoint:
        """The weights of an earlier solution, or of sweeps, where they are better than w = 0."""
        d = self.design.shape[1]
        if start is not None and len(start.w) == d and start.w.any():
            if self.trail is None:
                point = self.at(start.w.copy())
            else:
                with np.errstate(over="ignore", invalid="ignore"):
                    point = self.at(*best_in_span(self.problem, self.trail, start.dual, self.tol))
            if self._better(point):
                return point
        elif (w := self._steps.begin()) is not None and self._better(point := self.at(w)):
            return point
        return self.at(np.zeros(d))

    def _better(self, point: PairPoint) -> bool:
        """Whether a point to begin with is better than w = 0."""
        better = point.value + self.problem.penalty(point.w) < self.loss.at_zero
        if better:
            self._steps.near()
        return better

    def at(self, w: Array, s: Array | None = None) -> PairPoint:
        """The point of these weights; s are their scores, where they are known."""
        fresh = s is None
        if s is None:
            s = self.design.scores(w) if w.any() else np.zeros(self.design.shape[0])
        v, value, _ = self.ranks.slope(s)
        return PairPoint(w, s, v, value, self.design.pull_back(v), fresh)

    def _note(self, point: PairPoint) -> None:
        """Keep the point where it is the best: its slope is what vouches for it."""
        w, progress = point.w, self.progress
        penalty = self.problem.penalty(w)
        rise = penalty + point.value - self.loss.at_zero
        if abs(rise) < _NEAR_ZERO:
            rise = penalty + self.loss.rise(point.s)
        gradient, last = self.alpha * w + point.pull, self.gap
        self.gap = float(gradient @ gradient) / (2.0 * self.alpha)
        best = rise < self.rise or w is progress.best.w  # the same again, its scores afresh
        # Dual descent may end where no value is told from a lower one: then slopes tell.
        if best or (rise <= self.rise + _SAME * self.loss.at_zero and self.gap < last):
            best, self.rise = True, rise
            progress.lower(self.loss.at_zero + rise, w)
        if best or not w.any():
            progress.lift(max(self.loss.at_zero + rise - self.gap, 0.0), point.v)
            self._last = point

    def _close(self, primal: float, dual: float) -> bool:
        """Whether the gap is what it should be, and the certificate says so too.

        Where rounding keeps it from that, half the gap is as much as can be asked for.
        """
        point = self._last
        if not self._near(primal, dual) or point is None or not point.w.any():
            return self._near(primal, dual)
        if not point.fresh:
            return False
        known = (point.value, point.v, point.pull)
        found = self.problem.certify_slope(point.w, point.s, *known, self.tol)
        return found.holds(self.tol) or primal - dual <= 0.5 * self.tol * primal


class _FactoredSteps:
    """Newton steps by Cholesky's method."""

    sketches = False

    def __init__(self, fit: PairSquare) -> None:
        self.fit, self.alpha = fit, fit.alpha
        self.rows = pair_hessian_rows(fit.design)
        #: The Hessian of the last step, its gradient, and the step if it did what it promised.
        self.matrix: Array | None = None
        self.gradient, self.good_step = np.empty(0), cast(Array | None, None)
        self.refined = 0
        self.gaps: list[float] = []

    def begin(self) -> Array | None:
        """Samples are all there is to begin with."""
        return None

    def near(self) -> None:
        """All points are the same to these steps."""

    def next(self, at: PairPoint) -> PairPoint | None:
        """A better point, or None."""
        fit = self.fit
        self.gaps.append(fit.gap)
        if self._too_slow():
            self.refined, self.gaps, self.good_step = self.refined + 1, [fit.gap], None
        gradient = self.alpha * at.w + at.pull
        step = self._direction(gradient)
        slope = float(gradient @ step)
        if not slope < 0:
            return None
        if -slope <= fit.enough * at.value:  # all rows will tell whether it does what it promises
            fit.progress.best.w = at.w + step
            return None
        return self._search(at, step, slope)

    def _too_slow(self) -> bool:
        """Whether a Hessian of more rows costs less than the points it saves."""
        fit, gaps = self.fit, self.gaps
        if len(gaps) < 3 or not 0.0 < gaps[-1] < np.inf or self.refined >= _MOST_REFINED:
            return False
        rate = min(np.sqrt(gaps[-1] / gaps[-3]), _SLOWEST)
        left = np.log(max(gaps[-1] / (fit.tol * fit.progress.primal), 1.0)) / -np.log(rate)
        rows = min(self.rows * float(_REFINEMENT ** (self.refined + 1)), fit.design.shape[0])
        dearer = pair_hessian_products(fit.design, rows)
        return bool(left > _FEW_POINTS + dearer / _PRODUCTS_A_POINT)

    def _search(self, at: PairPoint, step: Array, slope: float) -> PairPoint | None:
        """The whole step where that does, else as much of it as leads down."""
        fit = self.fit
        w = at.w + step
        s = fit.design.scores(w)
        moved = s - at.s
        linear, square = self.alpha * float(at.w @ step), self.alpha * float(step @ step)
        v, value, _ = fit.ranks.slope(s)
        left, theta = linear + square + float(v @ moved), 1.0
        rise = linear + 0.5 * square + value - at.value
        if abs(left) <= _LINE_SEARCH * abs(slope) and (rise <= 0 or left <= 0):
            if abs(left) <= _GOOD * abs(slope):
                self.good_step = step
            return PairPoint(w, s, v, value, fit.design.pull_back(v), fresh=True)
        first = slope / (slope - left) if left > 0.0 else _LONGER
        if not (slope < 0.0 and first > 0.0):  # either may underflow
            return None
        ray = slope, linear, square
        theta, s, v, value, rise = lower_along(fit.ranks, at, moved, ray, _LINE_SEARCH, first)
        self.refined += theta < _TOO_SHORT
        w = at.w + theta * step
        if not rise < 0 or np.array_equal(w, at.w):
            return None
        return PairPoint(w, s, v, value, fit.design.pull_back(v), fresh=False)

    def _direction(self, gradient: Array) -> Array:
        """The Newton step; the gradient where the Hessian is nothing but rounding."""
        if self.matrix is not None and self.good_step is not None:
            bfgs_update(self.matrix, self.good_step, gradient - self.gradient)
        else:
            self.matrix = self._hessian()
            np.einsum("ii->i", self.matrix)[:] += self.alpha
        self.gradient, self.good_step = gradient, None
        factor = cholesky(self.matrix.copy(order="F"), float(self.matrix.diagonal().max()))
        return -gradient if factor is None else np.asarray(dpotrs(factor, -gradient, lower=1)[0])

    def _hessian(self) -> Array:
        """The sum over the pairs of a few rows at the last scores."""
        whole = self.refined >= _MOST_REFINED
        most = np.inf if whole else self.rows * float(_REFINEMENT**self.refined)
        rows, weights, last, others, other_weights = self.fit.ranks.thinned(most)
        design = self.fit.design
        if not len(others):  # no pair counts
            return np.zeros((design.shape[1], design.shape[1]))
        # As if the margins of these pairs were a little different: rows with the same window
        # are added up, and so few vectors make up what pairs of two rows have in common.
        n_bins = min(_BINS, len(others))
        edges = np.arange(n_bins + 1) * len(others) // n_bins
        last = edges[np.searchsorted(0.5 * (edges[1:] + edges[:-1]), last)]
        first = np.zeros(len(rows), dtype=np.int64)
        windows = Windows(rows, weights, first, last, others, other_weights)
        dense = design.n_entries == design.shape[0] * design.shape[1]
        return _gram(design, windows, edges) if dense else design.window_gram(windows)


def _gram(design: Design, windows: Windows, edges: Rows) -> Array:
    """The sum of w_a w_b (x_a - x_b)(x_a - x_b)' over pairs whose windows end at these edges.

    Only differences of rows count: what all rows have in common is taken off, for its square would
    drown them.
    """
    of_rows, of_others = windows.degrees()
    common = design.take(windows.others[:_BLOCK]).mean(axis=0)
    place = np.searchsorted(edges, windows.last)
    gram, alike = _sums(design, windows.rows, common, of_rows, windows.weights, place, len(edges))
    bins = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    more, below = _sums(
        design, windows.others, common, of_others, windows.other_weights, bins, len(edges) - 1
    )
    cross = alike[1:].T @ np.cumsum(below, axis=0)
    return np.asarray(gram + more - cross - cross.T)


def _sums(
    design: Design,
    rows: Rows,
    common: Array,
    degrees: Array,
    weights: Array,
    bins: Rows,
    n_bins: int,
) -> tuple[Array, Array]:
    """The sum of degree x x' over rows, and those of w x over each bin; bins do not go back."""
    d = design.shape[1]
    gram, sums = np.zeros((d, d)), np.zeros((n_bins, d))
    for begin in range(0, len(rows), _BLOCK):
        some = slice(begin, begin + _BLOCK)
        own = design.take(rows[some])
        own -= common
        gram += own.T @ (degrees[some, np.newaxis] * own)
        found, places = np.unique(bins[some], return_index=True)
        own *= weights[some, np.newaxis]
        sums[found] += np.add.reduceat(own, places)
    return gram, sums


def pair_square(
    problem: Problem, *, start: Solution | None, tol: float, max_iter: int, watch: Watch
) -> Solution:
    """Solve a problem with the squared hinge of all pairs."""
    fit = PairSquare(problem, tol, max_iter, watch, trail=trail_of(problem, start))
    if start is None and not fit.sketches:
        start = of_samples(problem, tol, _solved)
    return fit.run(start)


def _solved(part: Problem, found: Solution | None, tol: float) -> Solution:
    n, d = part.design.shape
    enough = _CHANCE * d / n
    return PairSquare(part, tol, _SAMPLE_STEPS, Watch(part.design), enough=enough).run(found)


def of_samples(
    problem: Problem, tol: float, solved: Callable[[Problem, Solution | None, float], Solution]
) -> Solution | None:
    """The solution of a sample, to begin with where there are many rows, or of ever larger ones.

    Each is solved about as well as chance lets it be. For the hinge the first is all: where its
    kinks are is another matter in each.
    """
    size, found = _SAMPLE_ROWS, None
    while (part := _sample(problem, size)) is not None:
        found = solved(part, found, max(tol, _SAMPLE_TOL * _SAMPLE_ROWS / size))
        if not problem.loss.smooth:
            break
        size *= _LARGER_SAMPLE
    return found


def _sample(problem: Problem, size: int) -> Problem | None:
    """Every so many rows of each class, about so many in all; None where that is most of them."""
    loss = cast(PairLoss, problem.loss)
    split = loss.split
    step = split.n_rows // size
    if step < _WORTH_SAMPLING:
        return None
    every = [max(1, min(step, len(rows) // _FEWEST)) for rows in (split.pos, split.neg)]
    pos, neg = split.pos[:: every[0]], split.neg[:: every[1]]
    rows = np.concatenate([pos, neg])
    weights = np.concatenate([split.p[:: every[0]], split.q[:: every[1]]])
    part = Split.of(np.arange(len(rows)) < len(pos), weights)
    return Problem(problem.design.subset(rows), PairLoss(part, loss.surrogate), problem.alpha)
