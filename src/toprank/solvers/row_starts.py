"""The point that a fit of a smooth sum over rows begins at.

It is the point that a path of alphas leads to, the solution of a sample, or what sweeps of dual
coordinate descent over sparse rows find. Each costs less than a step of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import WideDescent, span_minimum
from ..losses import CompiledRows, RowSum
from ..problems import Problem, Solution
from .row_hessians import RowHessian
from .row_points import Floats, RowPoint, SumPoints

Array = NDArray[np.float64]

#: Solutions of a path that are kept: earlier ones add nothing.
_PATH = 3
#: The best point in their span is found up to this share of the tolerance.
_ENOUGH = 0.01
#: Rows that are looked at for it where the gradient of all is known.
_ROWS = 6000
#: Dual sweeps are for alphas below this multiple of what a row adds to the Hessian at w = 0.
_DESCENT = 10.0
#: With kinks, below what a row adds; and they then go no lower than this share of it.
_LOWEST = 0.1
#: Sweeps at most.
_SWEEPS = 20
#: They end where the gap that their duals predict is this share of the tolerance.
_SWEPT = 0.4


@dataclass(frozen=True)
class Path:
    """The last solutions of a path of alphas, the latest first: w, b, and the scores X w + b.

    The next solution is near the best point in their span, which is found by their scores alone.
    """

    points: tuple[tuple[Array, float, Floats], ...] = ()

    def with_point(self, w: Array, b: float, scores: Floats, *, single: bool) -> Path:
        """Return the path that goes on to a point."""
        kind = np.float32 if single else np.float64
        here = cast(Floats, np.ascontiguousarray(scores, kind))
        before = [point for point in self.points if point[2].dtype == kind]
        return Path(((w, b, here), *before[: _PATH - 1]))

    def best(
        self,
        terms: CompiledRows,
        alpha: float,
        tol: float,
        n_threads: int,
        *,
        free_bias: bool,
        pull: tuple[Array, float] | None = None,
    ) -> tuple[Array, float, Array]:
        """Return w, b and the coefficients of the best point for another alpha.

        `pull` is the gradient of the losses at the latest point, for w and for b. With it, a
        sample of the rows is looked at.
        """
        W = np.array([w for w, _, _ in self.points])
        b = np.array([b for _, b, _ in self.points])
        scores = [s for _, _, s in self.points]
        slope, stride = None, 1
        if pull is not None:
            stride = max(1, len(scores[0]) // _ROWS)
            slope = W @ pull[0] + b * pull[1]
            slope = np.append(slope, pull[1]) if free_bias else slope
        c = np.zeros(len(W))
        c[0] = 1.0
        c, more, _ = span_minimum(
            scores,
            alpha * (W @ W.T),
            c,
            0.0,
            *terms.kernel,
            free_bias,
            _ENOUGH * tol,
            stride,
            slope,
            n_threads,
        )
        return c @ W, float(c @ b) + more, c

    def scores(self, c: Array) -> Array:
        """Return the scores of the point with these coefficients, without its b."""
        total = np.zeros(len(self.points[0][2]))
        for share, (_, b, scores) in zip(c, self.points, strict=True):
            total += share * (scores - b)
        return total


def newton_on_sample(
    points: SumPoints, hessian: RowHessian, x: Array, enough: float, steps: int = 30
) -> RowPoint:
    """Return the solution of a sample by Newton's method.

    It ends where a step promises to lower the objective by at most half of `enough`.
    """
    point = points.at(x)
    for _ in range(steps):
        hessian.at(point)
        direction = -hessian.inverse(point.gradient)
        if not -float(point.gradient @ direction) > enough:
            break
        moved, _ = points.step(point, direction)
        if moved is None:
            break
        hessian.learn(point, moved)
        point = moved
    return point


def swept(problem: Problem, descent: WideDescent, tol: float, seed: int) -> Solution | None:
    """Return where sweeps of dual descent end; None where alpha is too large for them.

    It has a dual vector where that may prove the gap already; its alpha may be larger.
    """
    loss, design = cast(RowSum, problem.loss), problem.design
    terms = loss.compiled
    assert terms is not None
    tilt = terms.tilt
    n, d = int(np.count_nonzero(tilt)), design.shape[1]
    below = descent.typical * float(np.abs(tilt).sum()) / n
    lowest = _LOWEST * below
    if not terms.kinked:  # where rows are more than columns, their duals pull at each other
        below = _DESCENT * descent.typical * terms.bend / n * min(1.0, d / n)
        lowest = 0.0
    if not problem.alpha < below:
        return None
    alpha = max(problem.alpha, lowest)
    ends = alpha == problem.alpha
    most = _SWEEPS if ends else 3
    found = descent.sweep(alpha, loss.zero_bias, most, _SWEPT * tol, seed)
    if found is None:
        return None
    w, slopes, b, entries, of_slopes, of_duals = found
    design.entries_read += 2 * entries
    # Slopes at w prove the gap too, from somewhat smaller errors on.
    by_duals = ends and of_slopes > 0.5 * _SWEPT * tol and of_duals <= _SWEPT * tol
    dual = None
    if by_duals:
        loss.guess_bias(b)
        dual = loss.dual_near(slopes)
    return Solution(w, dual, b, alpha=alpha)
