"""Problems with the 1-norm: as a penalty, and as a ball that holds the weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..losses import Loss
from ..rounding import STEPS, UNIT, gamma
from .problem import Problem
from .rounding import pull_rounding, score_rounding
from .solution import Certificate, Solution

Array = NDArray[np.float64]


class L1Problem(Problem):
    """min over w of  alpha |w|_1 + F(X w).

    Any v with |X'v|_k <= alpha in every column bounds the minimum by -F*(v), and any other does
    once it is scaled down to that.
    """

    def penalty(self, w: Array) -> float:
        """alpha |w|_1."""
        return self.alpha * float(np.abs(w).sum())

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        """The objective and a subgradient of it."""
        s = self.design.scores(w)
        pull = self.design.pull_back(self.loss.slope(s))
        return self.value(w, s), self.alpha * np.sign(w) + pull

    def dual_value(self, v: Array) -> float:
        """-F*(theta v), theta the largest up to 1 that v may be scaled by."""
        return -self.loss.conjugate(self._scaled(v, 0.0))

    def _scaled(self, v: Array, wrong: float) -> Array:
        """v scaled down until no column of X'v, off by `wrong`, is above alpha."""
        rows = np.flatnonzero(v)
        steepest = float(np.abs(self.design.pull_back(v[rows], rows)).max(initial=0.0)) + wrong
        return v if steepest <= self.alpha else v * (self.alpha / steepest * (1.0 - 4.0 * UNIT))

    def _dual_bound(self, v: Array) -> float:
        """-F*(theta v), or less: no more than the minimum."""
        v = self._scaled(v, pull_rounding(self.design, v, self.loss.dual_rounding(v)))
        conjugate = self.loss.conjugate(v)
        if not np.isfinite(conjugate):
            return -np.inf
        return -(conjugate + self.loss.dual_rounding(v).value + 2.0 * UNIT * abs(conjugate))


class BallProblem:
    """min of F(X w)  over |w|_1 <= 1, or over w >= 0 that sum to one.

    F is a loss whose conjugate is known, so that any vector v bounds the minimum:
    F(X w) >= v.X w - F*(v) >= -max_k |X'v|_k - F*(v).
    """

    def __init__(self, design: Design, loss: Loss, *, signed: bool = True) -> None:
        self.design, self.loss, self.signed = design, loss, signed

    def lowest(self, gradient: Array) -> float:
        """The least w.gradient of any w that is allowed."""
        if self.signed:
            return -float(np.abs(gradient).max(initial=0.0))
        return float(gradient.min(initial=np.inf))

    def dual_value(self, v: Array) -> float:
        """min over w of w.X'v, less F*(v): never above the minimum."""
        rows = np.flatnonzero(v)
        return self.lowest(self.design.pull_back(v[rows], rows)) - self.loss.conjugate(v)

    def certify(self, solution: Solution, scores: Array | None = None) -> Certificate:
        """Bracket the optimum by a solution and its dual vector, as `Problem.certify` does.

        Both bounds include all rounding errors, those of the length of w, which is one, among them.
        """
        w, v = solution.w, solution.dual
        s = self.design.scores(w) if scores is None else scores
        moved = self.loss.worse(s, score_rounding(self.design, w, s))
        value, dual = self.loss.value(moved), self.dual_value(v)
        error = self.loss.value_rounding(moved, value) + gamma(len(w) + STEPS) * abs(value)
        wrong = pull_rounding(self.design, v, self.loss.dual_rounding(v))
        return Certificate(value + error, dual - wrong - 2.0 * UNIT * abs(dual))


__all__ = ["BallProblem", "L1Problem"]
