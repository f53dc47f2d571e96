"""Steps on a smooth sum over rows: a whole one in one pass, or one found by its scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._row_points import Factor, Pairs, RowPoint, RowPoints
from .linalg import step_length

Array = NDArray[np.float64]

#: Newton's steps on the first sample, at the most.
_FIRST_STEPS = 30
#: Steps that L-BFGS remembers.
_MEMORY = 12
#: A trial step is taken where its slope is this share of the first, at the most.
_WHOLE = 0.9
#: And the value no larger, but for rounding.
_ROUNDING = 1e-6
#: After a step shorter than this the Hessian is that of all rows: the few have missed something.
_ASTRAY = 0.3
#: And where the passes still to come are more than this share of what that costs, and these.
_WORTH, _WORTH_PASSES = 0.8, 1.5
#: No Hessian of all rows where it costs more passes than this.
_DEAREST = 60.0
#: What a step leaves of the gap, where none was taken before.
_FIRST_SHARE = 0.015
#: And else, as a share of what the step before it left.
_NEXT_SHARE = 0.3


def newton_steps(points: RowPoints, x: Array, enough: float) -> tuple[Array, Factor | None]:
    """Newton's method on a sample, until a step promises no more than `enough`."""
    point, inverse = points.at(x), None
    for _ in range(_FIRST_STEPS):
        inverse = points.hessian(point)
        if not inverse.exists:
            break
        direction = -inverse(point.gradient)
        if -float(point.gradient @ direction) <= enough:
            break
        moved, _ = search(points, point, direction)
        if moved is None:
            break
        point = moved
    return point.x, inverse


def search(
    points: RowPoints,
    at: RowPoint,
    direction: Array,
    *,
    last: bool = False,
    trial: RowPoint | None = None,
) -> tuple[RowPoint | None, float]:
    """The whole step, tried in one pass or, where that does not do, one found by its scores.

    `trial` is where the whole step leads, if that is known.
    """
    slope = float(at.gradient @ direction)
    if not slope < 0:
        return None, 0.0
    trial = points.at(at.x + direction, last=last) if trial is None else trial
    after = float(trial.gradient @ direction)
    rounding = _ROUNDING if points.single else 1e-12
    most = at.value + rounding * points.size(at)
    if trial.finite and abs(after) <= _WHOLE * abs(slope) and trial.value <= most:
        return trial, 1.0
    line = points.along(at, direction, trial)
    if line is None:
        return None, 0.0
    theta = step_length(line, slope)
    trial = points.at(at.x + theta * direction)
    if not trial.finite or trial.value > most:
        return None, theta
    return trial, theta


class Steps:
    """One step after the other, and a better Hessian where steps do not do."""

    def __init__(self, points: RowPoints, tol: float, inverse: Factor, gram_passes: float) -> None:
        self._points, self._tol, self._inverse = points, tol, inverse
        self._pairs, self._gaps, self._length = Pairs(_MEMORY), [np.inf], 1.0
        self._gram_passes = gram_passes

    def next(self, at: RowPoint) -> RowPoint | None:
        """A better point, or None."""
        self._gaps.append(at.gap)
        if self._renew(at):
            self._inverse = self._points.hessian(at)
            self._pairs.clear()
            self._gaps, self._length = [at.gap], 1.0
        if not self._inverse.exists:
            return None
        direction = self._pairs.direction(self._inverse, at.gradient)
        if not float(at.gradient @ direction) < 0:
            self._pairs.clear()
            direction = -self._inverse(at.gradient)
        moved, self._length = search(self._points, at, direction, last=self._likely_last(at))
        if moved is None and len(self._gaps) > 1 and self._gram_passes < np.inf:
            self._inverse = self._points.hessian(at)
            self._pairs.clear()
            self._gaps = [at.gap]
            if self._inverse.exists:
                moved, self._length = search(self._points, at, -self._inverse(at.gradient))
        if moved is not None:
            self._pairs.add(moved.x - at.x, moved.gradient - at.gradient)
        return moved

    def _likely_last(self, at: RowPoint) -> bool:
        """Whether a step, if it does what steps did so far, ends the fit."""
        before = self._gaps[-2] if len(self._gaps) > 1 else np.inf
        share = _NEXT_SHARE * at.gap / before if 0.0 < before < np.inf else _FIRST_SHARE
        return share * at.gap <= self._tol * self._points.size(at)

    def _renew(self, at: RowPoint) -> bool:
        """Whether the Hessian of all rows costs less than the passes it saves."""
        gaps = self._gaps
        if self._gram_passes > _DEAREST or len(gaps) < 2:
            return False
        if self._length < _ASTRAY:
            return True
        if len(gaps) < 4 or not 0 < at.gap < np.inf or not 0 < gaps[-3] < np.inf:
            return False
        rate = min(np.sqrt(gaps[-1] / gaps[-3]), 0.97)
        left = np.log(max(at.gap / (self._tol * self._points.size(at)), 1.0)) / -np.log(rate)
        return bool(left > _WORTH * self._gram_passes + _WORTH_PASSES)


__all__ = ["Steps", "newton_steps", "search"]
