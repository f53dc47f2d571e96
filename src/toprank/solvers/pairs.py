"""Newton's method on the loss of all pairs: the hinge or its square.

Solves   min over w  alpha/2 |w|^2 + sum_i sum_j p_i q_j l(1 - w.x_i + w.x_j),  l = [u]_+ or [u]_+^2
by       Newton steps (`pair_steps`), each with a line search on exact sums over all pairs: a
         product with X, one with X', and a sort of the scores. The hinge is smoothed over a width,
         0 < u < width, which is lowered until the gap is within `tol`; the squared hinge needs no
         smoothing and is the same loop at an infinite width.
Given    a Problem with a PairLoss.
Returns  a Solution. For the hinge its dual vector holds the sums of the pairs' duals over rows and
         columns; for the squared hinge it is the slope at w, which proves a gap of |g|^2/(2 alpha).

N scores make m n pairs, so that even the hinge is nearly smooth: many pairs lie near its kink.
c clip(u / width, 0, 1) are duals of the hinge itself. At the optimum of the smoothed loss the gap
is sum c u (1 - u / width) over the pairs within the width, and falls with its square.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..inputs.class_split import Split
from ..losses import PairLoss
from ..problems import Problem, Solution
from ..problems.solution import OfTheseRows
from ..rounding import UNIT
from ..surrogates import SURROGATES
from .cost import pair_factor_is_cheap
from .linalg import descend, one_blas_thread
from .listed_pairs import listed_pairs
from .loop import Progress, hand_over, within
from .pair_steps import FewRowSteps, PairPoint, Pairs, SmoothedPairs, SquaredPairs, steps_for
from .starts import proven
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]

#: The width of the smoothing at a warm start, in units of the margin; a cold start has 1.
_WARM_WIDTH = 0.02
#: The width is lowered once a step has less to gain than this share of what the smoothing costs.
_SHARE = 0.3
#: The width is lowered to between these shares of what it was.
_NARROWER = 0.15, 0.5
#: A fit ends where so many steps have not lowered the gap: arithmetic has no more digits to give.
_PATIENCE = 30
#: Solutions of a path of alphas whose span is searched for the next one, by as many Newton steps.
_PATH = 3
#: The share of the slope that a line search may leave.
_LINE_SEARCH = 0.3
#: A fit of many rows begins with the solution for a sample of about so many.
_SAMPLE_ROWS = 3000
#: The relative gap to which the sample is solved: chance moves its optimum by more.
_SAMPLE_TOL = 1e-2


def all_pairs(problem: Problem, *, seed: int, start: Solution | None, **options: Any) -> Solution:
    """Solve a problem by Newton's method and, for the hinge, by lists of the pairs that remain.

    Where the hinge of wide rows rests on single pairs, Newton's steps get short: dual coordinate
    descent on the few pairs near the margin ends the fit. Both begin with the optimum of the
    squared hinge, which takes a few passes.
    """
    max_iter, watch = options["max_iter"], options["watch"]
    hinge = problem.loss.hinge and problem.design.reads_rows
    wide, squares = hinge and not pair_factor_is_cheap(problem.design), None
    if start is None and wide:
        start = squares = _squared_hinge(problem, options["tol"], max_iter)
    first = pair_newton(problem, start=start, finisher=hinge, **options)
    done = first.converged or not (first.gave_up and hinge) or watch.asked_to_stop
    if done or first.n_iter >= max_iter:
        return first
    squares = squares or _squared_hinge(problem, options["tol"], max_iter)
    second = hand_over(listed_pairs, problem, first, seed=seed, squares=squares, **options)
    if second.gave_up:  # too many pairs to list
        return hand_over(pair_newton, problem, second, **options)
    return second


def _squared_hinge(problem: Problem, tol: float, max_iter: int) -> Solution:
    """Return the weights that solve the same problem with the squared hinge."""
    loss = PairLoss(cast(PairLoss, problem.loss).split, SURROGATES["squared_hinge"])
    squares = Problem(problem.design, loss, problem.alpha)
    solution = pair_newton(squares, tol=tol, max_iter=max_iter)
    return Solution(solution.w, solver=solution.solver, alpha=problem.alpha)


def pair_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
    finisher: bool = False,
) -> Solution:
    """Solve a problem with a loss of all pairs by Newton's method.

    With `finisher`, another solver takes over: a fit of the hinge on wide data gives up as soon as
    single pairs come to matter, not only where the gap falls no more.
    """
    with one_blas_thread():
        fit = _PairNewton(problem, tol, max_iter, watch or Watch(problem.design))
        return fit.run(start, finisher)


@dataclass(frozen=True)
class Path(OfTheseRows):
    """The last solutions of a path of alphas, the latest first: weights and scores of each."""

    design: Design
    loss: PairLoss
    points: tuple[tuple[Array, Array], ...]

    def best(self, alpha: float, slope: Array, tol: float) -> Array:
        """Return the best weights in the span of the solutions, for the squared hinge.

        Newton's method on a sample of the rows, with a linear term by which the loss of the sample
        has the slope of all rows at the latest solution, which is given.
        """
        rows, split = _sampled(self.loss.split, _SAMPLE_ROWS)
        pairs = SquaredPairs(PairLoss(split, self.loss.surrogate))
        weights = np.array([w for w, _ in self.points])
        scores = np.array([s[rows] for _, s in self.points])
        ridge = alpha * (weights @ weights.T)
        c = np.eye(len(weights))[0]
        v, sums = pairs.at(c @ scores)
        missing = np.array([float(slope @ s) for _, s in self.points]) - scores @ v
        for _ in range(_PATH):
            gradient = ridge @ c + scores @ v + missing
            hessian = ridge + scores @ np.array([pairs.curvature(s) for s in scores]).T
            if not (np.isfinite(hessian).all() and np.isfinite(gradient).all()):
                break
            step = np.linalg.lstsq(hessian, -gradient, rcond=1e-12)[0]
            if not -float(gradient @ step) > _SHARE * tol * sums[0]:
                break
            c += step
            v, sums = pairs.at(c @ scores)
        return np.asarray(c @ weights)


@dataclass
class _Ray:
    """The objective along a step: the loss at s + theta moved, and the penalty."""

    pairs: Pairs
    at: PairPoint
    #: Scores at theta = 1, computed from the weights there.
    end: Array
    moved: Array
    #: The slope of the penalty is linear + theta square.
    linear: float
    square: float

    def search(self, slope: float) -> float:
        """Return a theta where a share of the slope is left, and evaluate the loss there."""
        self.theta, self.left, self.v, self.sums = 0.0, slope, self.at.v, self.at.sums
        theta = descend(self.slope_at, slope, _LINE_SEARCH, np.inf)
        if theta != self.theta:
            self.slope_at(theta)
        return theta

    def slope_at(self, theta: float) -> float:
        """Return the slope at theta; infinity beyond the minimum, if higher than the start."""
        at, self.theta = self.at, theta
        s = self.end if theta == 1.0 else at.s + theta * self.moved
        self.v, self.sums = self.pairs.at(s)
        self.left = self.linear + theta * self.square + float(self.v @ self.moved)
        rise = theta * (self.linear + 0.5 * theta * self.square) + self.sums[0] - at.sums[0]
        return np.inf if rise > 0 and self.left > 0 else self.left


class _PairNewton:
    def __init__(
        self, problem: Problem, tol: float, max_iter: int, watch: Watch, sample: bool = False
    ) -> None:
        self.sample = sample
        self.problem, self.design, self.alpha = problem, problem.design, problem.alpha
        self.loss, self.tol, self.max_iter = cast(PairLoss, problem.loss), tol, max_iter
        self.smooth = self.loss.smooth
        self.pairs = SquaredPairs(self.loss) if self.smooth else SmoothedPairs(self.loss)
        self.steps = steps_for(problem, self.pairs, tol)
        n, d = self.design.shape
        self.near = within(tol)
        self.progress = Progress(
            Solution(np.zeros(d), np.zeros(n), solver="pair-newton", alpha=self.alpha),
            self.loss.at_zero,
            0.0,
            close=self._close,
            zero=ZeroTest(problem).holds,
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=1e-3,  # of itself; less may be rounding
        )
        self.path: tuple[tuple[Array, Array], ...] = ()
        #: The objective at the best point minus that at w = 0, and the gap of the last point.
        self.rise, self.gap = 0.0, np.inf
        self.best: PairPoint | None = None

    def run(self, start: Solution | None, finisher: bool) -> Solution:
        """Take Newton steps until the gap is within the tolerance."""
        progress, at = self.progress, self._begin(start)
        while True:
            gradient = self._bound(at)
            if progress.over() or (finisher and self.steps.stalled):
                best = progress.best
                best.gave_up = not best.converged and (self.steps.stalled or progress.stuck)
                best.kept = Path(self.design, self.loss, self.path)
                return best
            if self.smooth and not at.fresh and self.near(progress.primal, progress.dual):
                at = self.at(at.w)  # rounding of scores that were added up may be all that is left
                continue

            # A Newton step, and the width of the smoothing at which it has something to gain.
            step = self.steps.step(at, gradient, self.gap if self.smooth else progress.gap)
            w, slope = at.w + step, float(gradient @ step)
            if self.smooth:  # its certificate needs scores that were not added up
                s = self.design.scores(w)
                moved = s - at.s
            else:  # near the optimum of the hinge a difference of scores is all rounding
                moved = self.design.scores(step)
                s = at.s + moved
            if self.sample and -slope <= self.tol * at.sums[0]:
                progress.best.w = w  # all rows show whether the step does what it promises
                return progress.best
            linear, square = self.alpha * float(at.w @ step), self.alpha * float(step @ step)
            if narrower := self._narrow(at, slope):
                slope = linear + float(at.v @ moved)

            # A line search on the loss of all pairs.
            ray = _Ray(self.pairs, at, s, moved, linear, square)
            theta = ray.search(slope)
            if theta != 1.0:
                w, s = at.w + theta * step, at.s + theta * moved
            if np.array_equal(w, at.w):
                progress.stuck = not narrower
                w, s = at.w, at.s
            else:
                self.steps.judge(theta, abs(ray.left / slope))
            if theta > 1.0:  # `moved` is a difference, whose rounding grows with theta
                at = self.at(w)
            else:
                pull = self.design.pull_back(ray.v)
                at = PairPoint(w, s, ray.v, ray.sums, pull, fresh=theta == 1.0)

    def at(self, w: Array) -> PairPoint:
        """Return the point of these weights."""
        s = self.design.scores(w) if w.any() else np.zeros(self.design.shape[0])
        v, sums = self.pairs.at(s)
        return PairPoint(w, s, v, sums, self.design.pull_back(v), fresh=True)

    def _begin(self, start: Solution | None) -> PairPoint:
        """Return the first point: of a path, a sample, or sweeps, if better than w = 0."""
        cold, d = self.pairs.width, self.design.shape[1]
        if start is None or len(start.w) != d:
            guesses = [self._guess()] if start is None else []
        else:
            self.path = self._path_to(start)
            guesses = []
            if self.smooth and len(self.path) > 1:
                path = Path(self.design, self.loss, self.path)
                with np.errstate(over="ignore", invalid="ignore"):
                    guesses.append(path.best(self.alpha, start.dual, self.tol))
            guesses.append(start.w.copy())
        if not self.smooth:
            v, dual = proven(self.problem, start)
            self.progress.lift(dual, v)
            self.pairs.width = _WARM_WIDTH
        for w in guesses:
            with np.errstate(over="ignore", invalid="ignore"):
                at = self.at(w)
            if w.any() and at.sums[1] + self.problem.penalty(w) < self.loss.at_zero:
                return at
        self.pairs.width = cold
        return self.at(np.zeros(d))

    def _path_to(self, start: Solution) -> tuple[tuple[Array, Array], ...]:
        """Return the last solutions of a path on the same rows, `start` first."""
        if start.scores is None or not start.w.any() or len(start.dual) != len(start.scores):
            return ()
        last = start.kept
        same = isinstance(last, Path) and (last.design, last.loss) == (self.design, self.loss)
        before = cast(Path, last).points if same else ()
        return ((start.w, start.scores), *before)[:_PATH]

    def _guess(self) -> Array:
        """Return weights by sweeps of dual descent, or those of a sample; zeros without either."""
        if isinstance(self.steps, FewRowSteps):
            w = self.steps.sweep(self.loss.split.tilt, self.max_iter)
            if w is not None:
                return w
        part = _sample(self.problem)
        if part is None:
            return np.zeros(self.design.shape[1])
        tol = max(self.tol, _SAMPLE_TOL * _SAMPLE_ROWS / part.design.shape[0])
        fit = _PairNewton(part, tol, _PATIENCE, Watch(part.design), sample=True)
        return fit.run(None, finisher=True).w

    def _bound(self, at: PairPoint) -> Array:
        """Improve the bounds by those of a point, and return the gradient there."""
        w, progress, zero = at.w, self.progress, self.loss.at_zero
        penalty, square = self.problem.penalty(w), float(at.pull @ at.pull) / (2.0 * self.alpha)
        rise = penalty + self.loss.rise(at.s, at.sums[1])
        gradient = np.asarray(self.alpha * w + at.pull)
        if self.smooth:  # the slope at w is the dual vector
            gap, before = float(gradient @ gradient) / (2.0 * self.alpha), self.gap
            # Without a lower value that rounding shows, the gap decides.
            same = rise <= self.rise + 8.0 * UNIT * zero and (gap < before or w is progress.best.w)
            best = rise < self.rise or same
            self.gap = gap
            if best or not w.any():
                progress.lift(max(zero + min(rise, self.rise) - gap, 0.0), at.v)
                self.best = at
        else:
            best, total = rise < self.rise, at.sums[2]
            theta = min(total / (2.0 * square), 1.0) if square > 0 else 1.0  # the best multiple
            if (dual := theta * total - theta**2 * square) > progress.dual:
                progress.lift(dual, theta * at.v)
        if best:
            self.rise = rise
            progress.lower(zero + rise, w)
        return gradient

    def _close(self, primal: float, dual: float) -> bool:
        """Return whether the gap is within the tolerance and, for the squared hinge, certified.

        Where rounding keeps the certificate from that, half the tolerance is enough.
        """
        at = self.best
        if not self.near(primal, dual) or at is None or not at.w.any():
            return self.near(primal, dual)
        if not at.fresh:
            return False
        known = self.problem.examine_pairs(at.w, at.s, at.sums[0], at.v, at.pull, self.tol)
        return known.holds(self.tol) or primal - dual <= 0.5 * self.tol * primal

    def _narrow(self, at: PairPoint, slope: float) -> bool:
        """Lower the width where the smoothing costs more than a step has to gain."""
        cost = at.sums[3]
        enough = _SHARE * self.tol * self.progress.primal  # the smoothing may cost that in the end
        if not cost > max(enough, -0.5 * slope / _SHARE):
            return False
        # Below this width the duals would be all rounding. Rows of no class do not count.
        split = self.loss.split
        largest = max(float(np.abs(at.s[rows]).max()) for rows in (split.pos, split.neg))
        least = 1e6 * UNIT * max(1.0, largest)
        factor = float(np.clip(np.sqrt(enough / cost), *_NARROWER))
        self.pairs.width = max(self.pairs.width * factor, least)
        at.v, at.sums = self.pairs.at(at.s)
        return True


def _sample(problem: Problem) -> Problem | None:
    """Return the problem for every k-th row of each class; None where few would be left out.

    A sample of the squared hinge may be large: its fit begins with a sample of its rows in turn.
    The kinks of the hinge lie elsewhere in each sample, so that a small one is enough.
    """
    loss = cast(PairLoss, problem.loss)
    n_rows = loss.split.n_rows
    if n_rows < 3 * _SAMPLE_ROWS:
        return None
    size = max(n_rows // 6, _SAMPLE_ROWS) if loss.smooth else _SAMPLE_ROWS
    rows, split = _sampled(loss.split, size)
    return Problem(problem.design.subset(rows), PairLoss(split, loss.surrogate), problem.alpha)


def _sampled(split: Split, n_rows: int) -> tuple[NDArray[np.int64], Split]:
    """Return every k-th row of each class, about n_rows in all, or more of a small class."""
    step = max(split.n_rows // n_rows, 1)
    every = [max(1, min(step, 3 * len(rows) // _SAMPLE_ROWS)) for rows in (split.pos, split.neg)]
    pos, neg = split.pos[:: every[0]], split.neg[:: every[1]]
    weights = np.concatenate([split.p[:: every[0]], split.q[:: every[1]]])
    part = Split.of(np.arange(len(weights)) < len(pos), weights)
    return np.concatenate([pos, neg]), part


__all__ = ["Path", "all_pairs", "pair_newton"]
