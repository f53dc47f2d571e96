"""Points of a smooth sum over rows by passes over them, and the gap that each point proves.

One pass gives scores, slopes and the gradient. The threshold is a coordinate of the point, and
nothing as long as the rows is needed. `score_points` has the other kind.

At any point with slopes v that sum to zero, |alpha w + X'v|^2 / (2 alpha) bounds the gap. Where
their sum is not zero, v - eps u is taken, with the shift u and bound of `Ask`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._core import row_losses_along, row_terms
from ..designs import Ask, Design, Line, Sums, Thinning
from ..losses import CompiledRows
from ..problems import Problem
from .linalg import step_length
from .loop import Progress

Array = NDArray[np.float64]
Floats = NDArray[np.float32] | NDArray[np.float64]

#: Tolerances from this relative gap on are reached in float32 arithmetic first.
SINGLE = 3e-6
#: Share of the gain over w = 0 that the gap must be below: w must be worth something.
GAIN = 0.1
#: The squared length of a typical row must lie between these, for float32 ends at 1e-38 and 1e38.
_IN_SINGLE = 1e-30, 1e30
#: A shift of the slopes may be at most this share of the largest that the conjugate allows.
_LARGEST_SHIFT = 0.5
#: Share of the gap that a first step is likely to leave, and of what the step before it left.
_LEAVES = 0.015, 0.3
#: A whole step is taken if its end has at most this share of the first slope.
_WHOLE = 0.9
#: Relative rise of the objective that rounding explains, in float32 and in float64.
_ROUNDING = 1e-6, 1e-12
#: Step lengths of a line search that takes a pass over the rows.
_LADDER = np.array([1e-3, 1e-2, 0.03, 0.07, 0.15, 0.25, 0.35, 0.5, 0.65, 0.8, 1.0, 1.5, 2.5, 4.0])


def single_will_do(tol: float, typical: float) -> bool:
    """Return whether rows of this squared length may be computed with in float32."""
    return tol >= SINGLE and _IN_SINGLE[0] < typical < _IN_SINGLE[1]


@dataclass
class RowPoint:
    """A point x = (w, b), or w alone where there is no threshold."""

    x: Array
    value: float
    gradient: Array
    #: Upper bound of value - minimum.
    gap: float
    #: The bound at the alpha of the next step, which may be larger than the problem's.
    eased_gap: float
    #: X w + b, where it is kept.
    scores: Floats | None = None
    #: The sums at the point, which do not depend on alpha.
    sums: Sums | None = None

    @property
    def finite(self) -> bool:
        """Whether neither the value nor the gradient has overflowed."""
        return math.isfinite(self.value) and math.isfinite(float(self.gradient.sum()))


class SumPoints:
    """Points of alpha/2 |w|^2 + sum_r f_r(x_r.w + b) by passes over the rows.

    Parameters
    ----------
    design, terms, alpha, free_bias
        The rows, their losses, alpha, and whether b is free.
    problem : Problem, optional
        Certifies points in float64. Samples have none.
    """

    def __init__(
        self,
        design: Design,
        terms: CompiledRows,
        alpha: float,
        free_bias: bool,
        problem: Problem | None = None,
    ) -> None:
        self.design, self.terms, self.alpha, self.free_bias = design, terms, alpha, free_bias
        self.problem = problem
        self.d = design.shape[1]
        #: Whether rows are computed with in float32; sparse rows never are.
        self.single = True
        #: |x|^2 of every row after the first pass, where vectors of that length are kept.
        self.squares: Floats | None = None
        #: The relative gap that is asked for.
        self.tol = 0.0
        #: Mean |x|^2.
        self.typical = 1.0
        #: Least size that a relative gap refers to.
        self.unit = 0.0
        self._least_gap = self._last_gap = np.inf

    def at(self, x: Array, *, thin: Thinning | None = None, certify: bool = False) -> RowPoint:
        """Return the point at x, after one pass over all rows.

        In float64 the pass can certify the point too. A Hessian of few rows can be summed in the
        same pass.
        """
        w, b = self.parts(x)
        kept = self.design.stores_scores
        first = kept and self.squares is None
        certify = certify or not self.single
        if self.problem is None or not certify or thin is not None:
            sums = self.reduce(w, b, scores=kept, squares=first, thin=thin)
        else:
            sums = self.problem.examine(w, b, scores=kept, squares=first)[1]
        if sums.squares is not None:
            self.squares = sums.squares
        return self.known(x, sums)

    def parts(self, x: Array) -> tuple[Array, float]:
        """Return w and b."""
        return np.ascontiguousarray(x[: self.d]), float(x[self.d]) if self.free_bias else 0.0

    def join(self, w: Array, b: float) -> Array:
        """Return (w, b), or w alone."""
        return np.append(w, b) if self.free_bias else w.copy()

    def reduce(self, w: Array, b: float, **wanted: Any) -> Sums:
        """Return sums over all rows."""
        return self.design.reduce(
            Ask(self.terms, w, b, shift=self.free_bias, single=self.single, **wanted)
        )

    def known(self, x: Array, sums: Sums) -> RowPoint:
        """Return the point whose sums are known, maybe from another alpha; nothing is read."""
        w = x[: self.d]
        gradient, pull = np.empty(len(x)), self.alpha * w + sums.pull
        gradient[: self.d] = pull
        gap = 0.0
        if self.free_bias:
            gradient[self.d] = sums.slope
            eps = sums.slope / sums.shift if sums.shift > 0 else np.inf
            if not abs(eps) * self.terms.steepest <= _LARGEST_SHIFT:
                eps, gap = 0.0, np.inf
            if sums.shifted_pull is not None:
                pull = pull - eps * sums.shifted_pull
            gap += eps * eps * sums.bound
        value = sums.value + 0.5 * self.alpha * float(w @ w)
        gap += float(pull @ pull) / (2.0 * self.alpha)
        return RowPoint(x, value, gradient, gap, gap, sums.scores, sums)

    def size(self, at: RowPoint) -> float:
        """Return what a relative gap refers to."""
        return max(abs(at.value), self.unit)

    def is_near(self, at: RowPoint) -> bool:
        """Return whether the gap is within the tolerance, and w worth something."""
        assert self.problem is not None
        gain = self.problem.loss.at_zero - at.value
        return at.gap <= min(self.tol * self.size(at), GAIN * gain)

    def aim(self, tol: float) -> float:
        """Return the relative gap that steps aim for."""
        return tol

    def curvatures(self, at: RowPoint) -> Array:
        """Return f'' of every row."""
        assert at.scores is not None
        bends = row_terms(at.scores, *self.terms.kernel, self.design.n_threads)[2]
        return np.asarray(bends, dtype=np.float64)

    def note(self, at: RowPoint, progress: Progress) -> None:
        """Keep the point with the least gap: only its own sums certify it."""
        if at.finite and at.gap < self._least_gap:
            self._least_gap = at.gap
            assert self.problem is not None
            keep(self.problem, progress, at, *self.parts(at.x))

    def in_double(self, at: RowPoint) -> RowPoint:
        """Return the same point in float64, where all later ones are computed too."""
        self.single, self._least_gap = False, np.inf
        return self.at(at.x)

    def step(
        self, at: RowPoint, direction: Array, trial: RowPoint | None = None
    ) -> tuple[RowPoint | None, float]:
        """Return the end of the whole step, or of one found by a line search, and its length.

        `trial` is the end of the whole step, where it is known.
        """
        slope = float(at.gradient @ direction)
        if not slope < 0:
            return None, 0.0
        ratio = at.gap / self._last_gap if self._last_gap > 0.0 else 1.0
        share = max(_LEAVES[0], _LEAVES[1] * ratio)
        self._last_gap, last = at.gap, share * at.gap <= self.tol * self.size(at)
        trial = self.at(at.x + direction, certify=last) if trial is None else trial
        most = at.value + _ROUNDING[not self.single] * self.size(at)
        after = float(trial.gradient @ direction)
        if trial.finite and abs(after) <= _WHOLE * abs(slope) and trial.value <= most:
            return trial, 1.0
        line = self._line(at, direction, trial)
        if line is None:
            return None, 0.0
        theta = step_length(line, slope)
        trial = self.at(at.x + theta * direction)
        return (trial if trial.finite and trial.value <= most else None), theta

    def _line(
        self, at: RowPoint, direction: Array, trial: RowPoint
    ) -> Callable[[float], tuple[float, float]] | None:
        """Return slope and curvature along a step as a function; None where scores overflow."""
        w, step = at.x[: self.d], direction[: self.d]
        linear, square = self.alpha * float(w @ step), self.alpha * float(step @ step)
        if at.scores is None or trial.scores is None:
            first, scale = float(at.gradient @ direction), 1.0
            while True:
                steps = scale * _LADDER
                along = Line(*self.parts(direction), steps)
                found = self.reduce(*self.parts(at.x), along=along).line
                assert found is not None
                slopes = np.append(first, found[:, 1] + linear + square * steps)
                if slopes[1] <= 0.0 or scale < _LADDER[0] ** 2:
                    break
                scale *= _LADDER[0]  # a loss that rises steeply on the way
            steps = np.append(0.0, steps)

            def between(theta: float) -> tuple[float, float]:
                """Interpolate slopes, which increase along the line."""
                k = int(np.clip(np.searchsorted(steps, theta), 1, len(steps) - 1))
                rise = (slopes[k] - slopes[k - 1]) / (steps[k] - steps[k - 1])
                return float(slopes[k - 1] + (theta - steps[k - 1]) * rise), float(rise)

            return between
        scores = at.scores
        ds = cast(Floats, (trial.scores - scores).astype(scores.dtype, copy=False))
        if not np.isfinite(ds).all():
            return None

        def by_scores(theta: float) -> tuple[float, float]:
            _, slope, curvature = row_losses_along(
                scores, ds, theta, *self.terms.kernel, self.design.n_threads
            )
            return slope + linear + theta * square, curvature + square

        return by_scores


def keep(problem: Problem, progress: Progress, at: RowPoint, w: Array, b: float) -> None:
    """Take a point for the best one, with the bound that it proves by itself."""
    progress.lower(at.value, w.copy(), b)
    progress.lift(max(at.value - at.gap, problem.loss.infimum), progress.best.proof)


__all__ = ["SINGLE", "Floats", "RowPoint", "SumPoints", "keep", "single_will_do"]
