"""Points of a smooth sum over rows whose scores are kept, at the best threshold for them.

A step is scored once. The line search, with the best threshold at every length, reads nothing of
the matrix. X'v is the second half of the pass, and |alpha w + X'v|^2 / (2 alpha) bounds the gap.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import WideDescent
from ..losses import RowSum
from ..problems import Problem
from .linalg import descend
from .loop import Progress
from .row_points import RowPoint, keep

Array = NDArray[np.float64]

#: Slope that a line search on scores leaves, as a share of the first.
_LINE_SEARCH = 0.1
#: The first alpha of steps on kept scores, as a share of the squared length of a typical row.
_EASED = 1e-3
#: A step shorter than this share of a whole one went astray: alpha is raised once.
_ASTRAY = 0.1
#: Factor by which that alpha is lowered at a time.
_LOWERED = 4.0
#: Relative gap at an alpha at which it is lowered.
_EASED_GAP = 0.3
#: Within this share of F(0) a gain over w = 0 is summed by itself, since rounding drowns it else.
_NEAR_ZERO = 1e-3
#: Share of F(0) that a gain over w = 0 must exceed: rounding explains less.
_LEAST_GAIN = 1e-11
#: Rise of F that rounding explains, as a share of it.
_ROUNDING = 1e-10


class LossScores:
    """Scores of all rows for a loss that only has the methods of a `RowSum`."""

    def __init__(self, problem: Problem) -> None:
        self.loss, self.design = cast(RowSum, problem.loss), problem.design
        order = self.loss.order
        self.s = np.zeros(self.design.shape[0] if order is None else len(order))
        self.b = self.loss.zero_bias
        #: F at the scores.
        self.value = self.loss.value_at(self.s, self.b)
        #: The slopes at the last `pull`: a dual vector.
        self.v = np.zeros(self.design.shape[0])

    def begin(self, w: Array, b: float) -> None:
        """Go to w with the best b near a guess."""
        self.s = self.design.scores(w, self.loss.order)
        self.b = self.loss.best_bias_at(self.s, b)
        self.value = self.loss.value_at(self.s, self.b)

    def pull(self) -> Array:
        """Return X'v, without reading rows where v is zero."""
        self.v = self.loss.dual_at(self.s, self.b)
        rows = np.flatnonzero(self.v)
        if len(rows) == len(self.v):
            return self.design.pull_back(self.v)
        return self.design.pull_back(self.v[rows], rows)

    def curvatures(self) -> Array:
        """Return f'' of every row of the matrix."""
        c = self.loss.curvature_at(self.s, self.b)
        if self.loss.order is None:
            return c
        full = np.zeros(self.design.shape[0])
        full[self.loss.order] = c
        return full

    def advance(
        self, step: Array, linear: float, square: float, slope: float, share: float
    ) -> float:
        """Go along a step until the slope has fallen to a share; return the step length or 0.

        b is the best one at every length, since a b that only followed the line would hold w
        back. Whole steps are taken without looking for it.
        """
        loss, d = self.loss, self.design.shape[1]
        ds = self.design.scores(np.ascontiguousarray(step[:d]), loss.order)
        turn = float(step[d]) if len(step) > d else 0.0

        def slope_at(theta: float, turn: float = 0.0) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                s = self.s + theta * ds
                b = self.b + theta * turn if turn else loss.best_bias_at(s, self.b)
                v = loss.slope_at(s, b)
                rise = float(v @ ds) + (turn * float(v.sum()) if turn else 0.0)
            return linear + theta * square + rise

        whole = turn != 0 and abs(slope_at(1.0, turn)) <= share * abs(slope)
        theta = 1.0 if whole and slope < 0 else descend(slope_at, slope, share, np.inf)
        while theta > 1e-30:
            s = self.s + theta * ds
            b = loss.best_bias_at(s, self.b + theta * turn)
            value = loss.value_at(s, b)
            rise = value - self.value + theta * (linear + 0.5 * theta * square)
            if rise <= _ROUNDING * max(abs(value), loss.at_zero, loss.unit):
                self.s, self.b, self.value = s, b, value
                return theta
            theta *= 0.1  # beyond a kink, or an exponential overflowed of a row of little weight
        return 0.0


class ScorePoints:
    """Points of a problem whose scores are kept and whose threshold is always the best one.

    Steps are for `alpha`, which may begin above the problem's: losses without curvature beyond a
    kink send a step at a tiny alpha astray. It is lowered as the gap allows. x always ends with b.

    Parameters
    ----------
    problem : Problem
        The problem to solve.
    line : WideDescent or LossScores
        The scores of all rows.
    typical : float
        |x|^2 of a typical row.
    """

    def __init__(self, problem: Problem, line: WideDescent | LossScores, typical: float) -> None:
        self.problem, self.line = problem, line
        self.design, self.d = problem.design, problem.design.shape[1]
        self.free_bias = problem.loss.free_bias
        #: An alpha at which a step from anywhere is a good one.
        self.easy = max(problem.alpha, _EASED * typical)
        #: The alpha of the next step.
        self.alpha = self.easy
        #: Whether alpha was raised before.
        self.was_eased = True
        self._gain = 0.0

    def at(self, w: Array) -> RowPoint:
        """Return the point w, at which the scores are."""
        alpha, square = self.problem.alpha, float(w @ w)
        gradient = np.zeros(self.d + 1)  # the last entry is b's, which is the best one
        g = gradient[:-1]
        np.multiply(w, alpha, out=g)
        g += self.line.pull()
        value = self.line.value
        gap = float(g @ g) / (2.0 * alpha)
        eased_gap, along = gap, float(g @ w)
        if gap <= _EASED_GAP * self.problem.size_of(value + 0.5 * alpha * square):
            self.alpha = alpha
        while self.alpha > alpha:
            more = self.alpha - alpha
            length = 2.0 * alpha * gap + more * (2.0 * along + more * square)
            eased_gap = length / (2.0 * self.alpha)
            if eased_gap > _EASED_GAP * self.problem.size_of(value + 0.5 * self.alpha * square):
                g += more * w
                break
            self.alpha = max(self.alpha / _LOWERED, alpha)
            eased_gap = gap
        x = np.append(w, self.line.b)
        return RowPoint(x, value + 0.5 * alpha * square, gradient, gap, eased_gap)

    def size(self, at: RowPoint) -> float:
        """Return what a relative gap at the alpha of the next step refers to."""
        w = at.x[:-1]
        return self.problem.size_of(
            at.value + 0.5 * (self.alpha - self.problem.alpha) * float(w @ w)
        )

    def aim(self, tol: float) -> float:
        """Return the relative gap that steps aim for: at an eased alpha half of what lowers it."""
        return tol if self.alpha == self.problem.alpha else 0.5 * _EASED_GAP

    def curvatures(self, at: RowPoint) -> Array:
        """Return f'' of every row."""
        return cast(LossScores, self.line).curvatures()

    def note(self, at: RowPoint, progress: Progress) -> None:
        """Keep a better objective and a better dual vector or, without one, the least gap."""
        loss, line, w, b = cast(RowSum, self.problem.loss), self.line, at.x[:-1], float(at.x[-1])
        if not isinstance(line, LossScores):
            gain = loss.at_zero - at.value
            if at.gap < progress.gap and gain > _LEAST_GAIN * loss.at_zero:
                keep(self.problem, progress, at, w, b)
            return
        primal, gain, error = at.value, loss.at_zero - at.value, 0.0
        if near_zero := abs(gain) < _NEAR_ZERO * max(loss.at_zero, loss.unit):
            rise, error = loss.rise_at(line.s, b)
            gain = -(rise + 0.5 * self.problem.alpha * float(w @ w))
            primal = loss.at_zero - gain
        better = gain > self._gain if near_zero else primal < progress.primal
        if gain > error and better:
            self._gain = gain
            progress.lower(primal, w, b)
        if primal - at.gap > progress.dual:
            progress.lift(primal - at.gap, line.v)

    def step(self, at: RowPoint, direction: Array) -> tuple[RowPoint | None, float]:
        """Return the point at which the slope along a direction has fallen, and its distance."""
        w, step = at.x[:-1], direction[:-1]
        slope = float(at.gradient @ direction)
        if not slope < 0:
            return None, 0.0
        linear, square = self.alpha * float(w @ step), self.alpha * float(step @ step)
        theta = self.line.advance(direction, linear, square, slope, _LINE_SEARCH)
        if not theta > 0:
            return None, 0.0
        if theta < _ASTRAY and not self.was_eased:
            self.alpha, self.was_eased = self.easy, True
        return self.at(w + theta * step), theta


__all__ = ["LossScores", "ScorePoints"]
