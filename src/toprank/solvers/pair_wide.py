"""Steps on the squared hinge of all pairs where a Hessian has too many columns to be factored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ._pair_step import conjugate_step
from .pair_lbfgs import RowSpace
from .pair_point import PairPoint

if TYPE_CHECKING:
    from .pair_square import PairSquare

Array = NDArray[np.float64]

#: Newton's steps are for alphas below this share of what a row adds to the Hessian: there most
#: rows lose with none, and are not read. Above it L-BFGS needs fewer products.
_SMALL_ALPHA = 0.1
#: Rows that tell how long one is.
_TYPICAL_ROWS = 256
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.3
#: A step is short where so little of it is left.
_SHORT = 0.3
#: So many short ones, others taken off, and L-BFGS goes on: it sees kinks as it meets them.
_MOST_SHORT = 3


class WideSteps:
    """Newton steps by conjugate gradients at a small alpha, for as long as they are not short."""

    def __init__(self, fit: PairSquare) -> None:
        self.fit, self.alpha = fit, fit.alpha
        self._rows = RowSpace(fit)
        n = fit.design.shape[0]
        some = np.linspace(0, n - 1, min(n, _TYPICAL_ROWS)).astype(np.int64)
        typical = float(fit.design.squared_norms(some).mean())
        self._newton, self._n_short = self.alpha * n < _SMALL_ALPHA * typical, 0

    def next(self, at: PairPoint) -> PairPoint | None:
        """A better point; None where there is none."""
        if self._newton and at.w.any():
            found = self._newton_step(at)
            if found is not None:
                return found
            self._newton = False
        elif self._n_short and self.fit.enough > 0.0:  # a sample's kinks are its own
            return None
        return self._rows.next(at)

    def _newton_step(self, at: PairPoint) -> PairPoint | None:
        fit, alpha = self.fit, self.alpha
        gradient = alpha * at.w + at.pull
        step, moved = self._direction(at, gradient)
        slope = float(gradient @ step)
        if not slope < 0:
            return None
        linear, square = alpha * float(at.w @ step), alpha * float(step @ step)
        theta, s, v, value, _ = fit.ranks.search(at.s, moved, slope, linear, square, _LINE_SEARCH)
        w = at.w + theta * step
        rise = theta * (linear + 0.5 * theta * square) + value - at.value
        self._n_short = self._n_short + 1 if theta <= _SHORT else max(self._n_short - 1, 0)
        self._newton = self._n_short < _MOST_SHORT
        if not rise < 0 or np.array_equal(w, at.w):
            return None
        return PairPoint(w, s, v, value, fit.design.pull_back(v), fresh=False)

    def _direction(self, at: PairPoint, gradient: Array) -> tuple[Array, Array]:
        """The Newton step by conjugate gradients, and the scores it adds."""
        return conjugate_step(
            self.fit.problem, self.fit.ranks.curvature, np.flatnonzero(at.v), gradient
        )
