"""The tails of the two classes in place of the tail of their pairs, and how to share epsilon out.

Solves   max over |w|_1 <= 1 of  low(s_i; epsilon_pos) + low(-s_j; epsilon_neg),  s = X w
by       `minimax`; where epsilon = epsilon_pos epsilon_neg alone is given, the shares are chosen:
         by a grid and the sign of the derivative between its points ("search"), or by the tangent
         of the paper ("paper"), which is a convex problem of one number at a time.
Given    a design, a split, and which weights are allowed.
Returns  a Solution of a BallProblem with a ClassTailLoss.

The derivative of the optimum in log epsilon_pos, epsilon kept, is the difference of the mean
shortfalls of the two sides. Several local minima are usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from ...designs import Design
from ...inputs.class_split import Split
from ...losses import ClassTailLoss
from ...problems import BallProblem, Solution
from ...solvers.linalg import descend
from ...solvers.watch import Watch
from .minimax import Box, minimax

#: Points of the grid, evenly spaced in logarithms.
_GRID = 8
#: To what gap they are solved.
_LOOSE = 1e-3
#: The share of a derivative that a search leaves.
_SLOPE_LEFT = 0.02
#: To what gap the points of a search are solved.
_CLOSE = 1e-6
#: Rounds of the tangent.
_ROUNDS = 20
#: The fall of the optimum below which they end.
_FALL = 1e-7


@dataclass
class Reduction:
    """The tails of the classes, for all ways to share epsilon out."""

    design: Design
    split: Split
    epsilon: float
    signed: bool
    max_iter: int = 60

    def problem(self, epsilon_pos: float, epsilon_neg: float | None = None) -> BallProblem:
        """The problem with these shares of the classes; the product is epsilon if one is given."""
        if epsilon_neg is None:
            epsilon_neg = min(self.epsilon / epsilon_pos, 1.0)
        loss = ClassTailLoss(self.split, epsilon_pos, epsilon_neg)
        return BallProblem(self.design, loss, signed=self.signed)

    def solve(self, problem: BallProblem, tol: float, watch: Watch | None = None) -> Solution:
        """Solve one of them."""
        loss, split = cast(ClassTailLoss, problem.loss), self.split
        caps, sign = np.zeros(split.n_rows), np.ones(split.n_rows)
        # No part of one is above one: larger caps would only be further away.
        caps[split.pos] = np.minimum(loss.caps_pos, 1.0)
        caps[split.neg] = np.minimum(loss.caps_neg, 1.0)
        sign[split.neg] = -1.0
        rows = None
        if len(split.pos) + len(split.neg) < split.n_rows:
            rows = np.sort(np.concatenate([split.pos, split.neg]))
            caps, sign = caps[rows], sign[rows]
        group = (sign < 0).astype(np.int64)
        box = Box(self.design, caps, np.ones(2), group, sign, rows=rows, signed=self.signed)
        found = minimax(box, tol=tol, max_iter=self.max_iter, watch=watch)
        v = np.zeros(split.n_rows)
        v[slice(None) if rows is None else rows] = -sign * found.d
        solution = Solution(found.w, v, n_iter=found.n_iter, converged=found.converged)
        solution.solver = "interior-point"
        return solution

    def _value(self, problem: BallProblem, tol: float) -> tuple[float, float, float]:
        """The optimum, from above, and the mean shortfalls of the two sides there."""
        found = self.solve(problem, tol)
        shortfalls = cast(ClassTailLoss, problem.loss).shortfalls(problem.design.scores(found.w))
        return -problem.dual_value(found.dual), *shortfalls

    def by_search(self) -> float:
        """The epsilon_pos of a low optimum: the best of a grid, then where its derivative is 0."""
        if self.epsilon >= 1.0:
            return 1.0
        ends = np.log(self.epsilon), 0.0
        grid = np.unique([*np.linspace(*ends, _GRID), 0.5 * ends[0]])
        looks = [self._value(self.problem(float(np.exp(x))), _LOOSE) for x in grid]
        values = [value for value, _, _ in looks]
        k = int(np.argmin(values))
        begin, slope = float(grid[k]), looks[k][1] - looks[k][2]
        beside = k - 1 if slope > 0 else k + 1
        if slope == 0 or not 0 <= beside < len(grid):
            return float(np.exp(begin))
        step, best = float(grid[beside]) - begin, (values[k], begin)

        def slope_at(share: float) -> float:
            nonlocal best
            x = begin + share * step
            value, above, below = self._value(self.problem(float(np.exp(x))), _CLOSE)
            best = min(best, (value, x))
            return float(np.sign(step)) * (above - below)

        descend(slope_at, -abs(slope), _SLOPE_LEFT)
        return float(np.exp(best[1]))

    def by_tangent(self) -> float:
        """The epsilon_pos at which the paper's rounds end."""
        shares = [float(np.sqrt(self.epsilon)), *(share for share, _ in self.rounds())]
        return shares[-1]

    def rounds(self) -> Iterator[tuple[float, float]]:
        """The epsilon_pos of the paper's rounds, (9) and then (7), and the optimum of (7) there.

        From that of Corollary 4 on, until the optimum falls no more. (9) at c bounds
        1 / epsilon_pos from above by its tangent, 2 / c - x / c^2, where x takes the place of
        epsilon_pos; the other side has epsilon / x. Its optimum is convex in x.
        """
        x, last = float(np.sqrt(self.epsilon)), np.inf
        for _ in range(_ROUNDS):
            value, above, below = self._value(self.problem(x), _CLOSE)
            if not value < last:
                return
            yield x, value
            if not value < last - _FALL:
                return
            last = value
            # At its own point (9) is (7).
            x = self._tangent_point(x, value, (above - below) / x)

    def tangent_value(self, c: float, x: float) -> tuple[float, float]:
        """The optimum of (9) at c with x given, and its slope in x."""
        epsilon_pos, epsilon_neg = 1.0 / (2.0 / c - x / c**2), self.epsilon / x
        problem = self.problem(min(epsilon_pos, 1.0), min(epsilon_neg, 1.0))
        value, above, below = self._value(problem, _CLOSE)
        return value, epsilon_pos / c**2 * above - below / x

    def _tangent_point(self, c: float, value: float, slope: float) -> float:
        """The x at which (9) at c is least, between epsilon and 2 c - c^2: to within _FALL.

        Its value and slope at c are given. It is convex in x, so that its tangents at two points
        bound what is between them from below.
        """
        end = self.epsilon if slope > 0 else 2.0 * c - c * c
        if slope == 0 or (end - c) * slope >= 0:
            return c
        step, best = end - c, (value, c)
        # The ends of where the least value is: distance from c, value and slope that way.
        near, far = (0.0, value, slope * step), (np.inf, 0.0, 0.0)

        def slope_at(share: float) -> float:
            nonlocal best, near, far
            x = c + share * step
            value, slope = self.tangent_value(c, x)
            here = (share, value, step * slope)
            best = min(best, (value, x))
            near, far = (here, far) if here[2] < 0 else (near, here)
            return here[2] if best[0] - _meeting(near, far) > _FALL else 0.0

        descend(slope_at, near[2], _SLOPE_LEFT)
        return best[1]


def _meeting(near: tuple[float, float, float], far: tuple[float, float, float]) -> float:
    """Where two tangents meet, one falling and one not: no convex function is lower between."""
    (x, value, slope), (x_far, value_far, slope_far) = near, far
    if not np.isfinite(x_far):
        return -np.inf
    meeting = (value_far - value + slope * x - slope_far * x_far) / (slope - slope_far)
    return value + slope * (meeting - x)
