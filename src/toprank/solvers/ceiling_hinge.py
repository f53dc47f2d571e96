"""The hinge under a ceiling: Newton's method on smoothed hinges, then an interior point.

Solves   min over w  alpha/2 |w|^2 + sum_i p_i [1 + t - w.x_i]_+,   t = max_j w.x_j
by       `smoothed_newton`: the active-set Newton method on `SmoothedHinge` losses of falling
         width, each started at the previous solution. Weights and duals of the smoothed problems
         are piecewise linear in the width, so that two of them extrapolate to width zero. Then,
         where rounding ends that early, `top_interior_point`: steps between the bounds of the
         duals, 0 <= a_i <= p_i / alpha and delta_j >= 0, which sum to the same. Each delta_j is
         bounded by twice the sum of the bounds of a, which it never reaches.
Given    a Problem with a TopLoss of the hinge; for the interior point of few enough features for
         a matrix of their square.
Returns  a Solution whose dual vector, alpha a on positives and alpha delta on negatives, certifies
         the hinge itself.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..inputs.class_split import Split
from ..losses import TopLoss
from ..problems import Certificate, Problem, Solution
from ..surrogates import SmoothedHinge
from .ceiling import ceiling
from .interior_point import HingePath, follow
from .loop import Progress, hand_over
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]

#: The first width, as a share of the hinge's margin of one.
_FIRST_WIDTH = 0.5
#: The ratio of one width to the previous one.
_NARROWING = 0.1
#: Below this width the curvature of the smoothed hinge is all rounding.
_LEAST_WIDTH = 1e-9
#: A smoothed problem is solved to this share of its width, which bounds the cost of smoothing.
_INNER_SHARE = 0.1


def ceiling_hinge(
    problem: Problem, *, tol: float, max_iter: int, watch: Watch, **options: Any
) -> Solution:
    """Solve by smoothing and, where rounding ends that early, by an interior point.

    Features of very different sizes need the interior point.
    """
    first = smoothed_newton(problem, tol=tol, max_iter=max_iter, watch=watch, **options)
    if first.converged or not first.gave_up or first.n_iter >= max_iter or watch.asked_to_stop:
        return first
    return hand_over(top_interior_point, problem, first, tol=tol, max_iter=max_iter, watch=watch)


def smoothed_newton(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
) -> Solution:
    """Solve by smoothed hinges; an iteration is a Newton step.

    It gives up where arithmetic ends a smoothed problem short of its tolerance.
    """
    loss, design, alpha = cast(TopLoss, problem.loss), problem.design, problem.alpha
    watch = watch or Watch(design)
    zero = ZeroTest(problem)
    primal, dual = loss.at_zero, 0.0
    best = Solution(np.zeros(design.shape[1]), np.zeros(loss.split.n_rows), alpha=alpha)
    best.solver = "smoothed-newton"
    last, width = start, _FIRST_WIDTH
    stopped = False
    while not (best.converged or stopped or best.gave_up or best.n_iter >= max_iter):
        smooth = Problem(design, TopLoss(loss.split, SmoothedHinge(width)), alpha)
        now = ceiling(
            smooth,
            start=last,
            tol=max(_INNER_SHARE * min(width, tol), 1e-14),
            max_iter=max_iter - best.n_iter,
            watch=Watch(design),
        )
        best.n_iter += now.n_iter
        for w, v in _guesses(loss, now, last if width < _FIRST_WIDTH else None):
            reached = problem.certify(Solution(w, v))
            if reached.primal < primal:
                primal, best.w = reached.primal, w
            if reached.dual > dual:
                dual, best.proof = reached.dual, v
        settled = bool(best.w.any()) or zero.holds(best.dual)
        best.converged = Certificate(primal, dual).holds(tol) and settled
        stopped = watch(best.n_iter, primal, dual, partial(np.copy, best.w))
        last, width = now, _NARROWING * width
        # Where arithmetic has ended a smoothed problem, narrower ones are no easier.
        best.gave_up = not (best.converged or now.converged) or width < _LEAST_WIDTH
    best.b = last.b if last is not None else 0.0
    return best


def _guesses(loss: TopLoss, now: Solution, last: Solution | None) -> list[tuple[Array, Array]]:
    """Weights and duals of this width, and those extrapolated to width zero."""
    guesses = [(now.w, now.dual)]
    if last is not None and now.w.any():
        beyond = _NARROWING / (1.0 - _NARROWING)
        a, delta = loss.parts(now.dual + beyond * (now.dual - last.dual))
        v = loss.join(np.clip(a, 0.0, loss.split.p), np.maximum(delta, 0.0))
        guesses.append((now.w + beyond * (now.w - last.w), v))
    return guesses


def top_interior_point(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 200,
    watch: Watch | None = None,
) -> Solution:
    """Solve, or improve `start`, from inside the bounds; an iteration is a step."""
    loss, alpha = cast(TopLoss, problem.loss), problem.alpha
    first = start or Solution(np.zeros(problem.design.shape[1]), np.zeros(loss.split.n_rows))
    split, (m, n) = loss.split, (len(loss.split.pos), len(loss.split.neg))
    before = problem.certify(Solution(first.w, first.dual))
    bound = np.concatenate([split.p, np.full(n, 2.0)]) / alpha
    a = 0.5 * bound
    a[m:] = a[:m].sum() / n

    def take(path: HingePath, progress: Progress) -> None:
        w = path.u[:-1]
        v = loss.join(np.minimum(alpha * path.a[:m], split.p), alpha * path.a[m:])
        reached = problem.certify(Solution(w, v))
        if reached.primal < progress.primal:
            progress.lower(reached.primal, w, -float(path.u[-1]))
        if reached.dual > progress.dual:
            progress.lift(reached.dual, v)

    return follow(
        _Rows(problem.design, split),
        bound,
        np.repeat([1.0, 0.0], [m, n]),
        a,
        take,
        Solution(first.w, first.dual, b=first.b, solver="interior-point", alpha=alpha),
        before.primal,
        before.dual,
        close=lambda primal, dual: Certificate(primal, dual).holds(tol),
        zero=ZeroTest(problem).holds,
        watch=watch or Watch(problem.design),
        max_iter=max_iter,
    )


class _Rows:
    """(x_i, -1) of the positives, then -(x_j, -1) of the negatives; the last weight, t, is free."""

    def __init__(self, design: Design, split: Split) -> None:
        self._design = design
        self._places = np.concatenate([split.pos, split.neg])
        self._sign = np.repeat([1.0, -1.0], [len(split.pos), len(split.neg)])

    def scores(self, u: Array) -> Array:
        """Z u."""
        return np.asarray(self._sign * (self._design.scores(u[:-1], self._places) - u[-1]))

    def pull_back(self, a: Array) -> Array:
        """Z'a."""
        signed = self._sign * a
        return np.append(self._design.pull_back(signed, self._places), -signed.sum())

    def matrix(self, give: Array) -> Array:
        """Z' diag(give) Z, plus one on the diagonal for every weight but t."""
        d = self._design.shape[1]
        matrix = np.empty((d + 1, d + 1))
        matrix[:d, :d] = self._design.gram(give, self._places)
        matrix[:d, d] = matrix[d, :d] = -self._design.pull_back(give, self._places)
        matrix[d, d] = give.sum()
        np.einsum("ii->i", matrix)[:d] += 1.0
        return matrix
