"""Points of a smooth sum over rows under a ceiling, and the highest negatives of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import highest_rows, row_losses_along
from ..designs import Ask, Design
from ..losses import ThresholdLoss
from ._row_points import LARGEST_SUM, DoubtfulEntries, Floats, RowPoint, RowPoints
from .linalg import step_length

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Steps of the search for the best threshold below the highest one, at the most.
_MOST_STEPS = 20


@dataclass
class TopPoint(RowPoint):
    """A point x = (w, b), where negatives may be above the ceiling; its value is of the sum alone.

    The gap is not known. `w` is the multiple of x's that is known to be better than w = 0, if any.
    """

    #: Its scores.
    z: Floats
    #: The rows of the highest negatives.
    highest: Rows
    #: The score of the highest one, b included.
    top: float
    #: The objective at w with a threshold that no negative is above.
    primal: float
    w: Array
    #: That threshold.
    b: float


class TopPoints(RowPoints):
    """alpha/2 |w|^2 + sum_r f_r(x_r.w + b) with x_j.w + b <= 0 for every negative j."""

    def __init__(self, design: Design, loss: ThresholdLoss, alpha: float) -> None:
        terms = loss.under_ceiling.compiled
        assert terms is not None
        super().__init__(design, terms, alpha, True)
        self.loss = loss
        self._ones: Floats | None = None

    def top_at(self, x: Array, n_highest: int) -> TopPoint:
        """One pass over all rows, and a look at their scores."""
        w, b = np.ascontiguousarray(x[: self.d]), float(x[self.d])
        ask = Ask(
            self.loss.under_ceiling,
            w,
            b,
            scores=True,
            squares=self.squares is None,
            single=self.single,
        )
        sums = self.design.reduce(ask)
        if sums.squares is not None:
            self.squares = sums.squares
            if self.design.entries_in_doubt and not sums.square_sum <= LARGEST_SUM:
                raise DoubtfulEntries
        z = sums.scores
        assert z is not None
        gradient = np.append(self.alpha * w + sums.pull, sums.slope)
        ridge = 0.5 * self.alpha * float(w @ w)
        highest, top = highest_rows(z, self.loss.tilt, n_highest)
        point = TopPoint(
            x, sums.value + ridge, gradient, np.inf, z, sums, z, highest, top, np.inf, w, b - top
        )
        self._value(point, ridge)
        return point

    def _value(self, point: TopPoint, ridge: float) -> None:
        """The objective at w or, where that is no better than w = 0, at a multiple of it."""
        value, move = self._best_move(point)
        point.primal, point.b = value + ridge, float(point.x[self.d]) + move
        at_zero = self.loss.at_zero
        if not point.primal < at_zero and ridge > 0.0 and np.isfinite(point.top):
            step = cast(Floats, point.z - point.z.dtype.type(point.top))
            zero = np.zeros_like(step)

            def line(theta: float) -> tuple[float, float]:
                _, slope, curvature = self._along(zero, step, theta)
                return slope + 2.0 * theta * ridge, curvature + 2.0 * ridge

            slope, curvature = line(0.0)
            if not slope < 0.0 < curvature:
                return
            begin = min(-slope / curvature, 1.0)
            theta = begin * step_length(lambda part: line(begin * part), slope)
            found = self._along(zero, step, theta)[0] + theta * theta * ridge
            if found < point.primal:
                point.primal, point.w = found, theta * point.w
                point.b = theta * (float(point.x[self.d]) - point.top)

    def _along(self, z: Floats, step: Floats, theta: float) -> tuple[float, float, float]:
        return row_losses_along(z, step, theta, *self.kernel, self.design.n_threads)

    def _best_move(self, point: TopPoint) -> tuple[float, float]:
        """The sum where b is moved as is best, to where no negative is above, and the move."""
        if self._ones is None or self._ones.dtype != point.z.dtype:
            self._ones = np.ones_like(point.z)
        move = -point.top
        value, slope, curvature = self._along(point.z, self._ones, move)
        if self.loss.only_top:
            return value, move
        for _ in range(_MOST_STEPS):  # b would rather be lower: Newton's method, for any will do
            if not (slope > 0.0 and curvature > 0.0):
                break
            lower = move - slope / curvature
            found, slope, curvature = self._along(point.z, self._ones, lower)
            if not found < value:
                break
            fell, value, move = value - found, found, lower
            if fell <= 1e-7 * abs(value):
                break
        return value, move
