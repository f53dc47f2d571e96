"""Steps on the squared hinge of all pairs where a Hessian has too many columns to be factored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._core import PairSteps
from ._pair_step import conjugate_step
from .needs import has_sparse_rows
from .pair_lbfgs import RowSpace
from .pair_point import PairPoint, lower_along
from .row_points import SINGLE

if TYPE_CHECKING:
    from .pair_square import PairSquare

Array = NDArray[np.float64]

#: Sweeps of dual descent begin where alpha is less than so many times what a row adds to the
#: Hessian at w = 0. Above it L-BFGS is there in as few passes.
_DESCENT = 8.0
#: Sweeps at the most.
_SWEEPS = 60
#: They end where the gap they expect is so many times the tolerance: Newton's steps go on.
_SWEPT = 40.0
#: Rows so much longer or shorter than one overflow.
_LONGEST = 1e15
#: Newton's steps are for the neighbourhood of the minimum and, from w = 0, for alphas below this
#: share of what a row adds to the Hessian. Else L-BFGS needs fewer products.
_SMALL_ALPHA = 0.025
#: Rows that tell how long one is.
_TYPICAL_ROWS = 256
#: The alpha they begin with at w = 0, as a share of a row's squared length.
_EASED = 1e-3
#: By how much that alpha is lowered at a time.
_LOWERED = 4.0
#: The relative gap at which it is.
_EASED_GAP = 0.3
#: What conjugate gradients aim for until alpha is reached.
_EASED_AIM = 0.15
#: The share of the gradient that they may always leave.
_RESIDUAL = 0.4
#: The share of the gap that is asked for that their residual may be.
_ENOUGH = 0.1
#: Their iterations, at the most.
_ITERATIONS = 60
#: The chance of a row to stand for the Hessian, beside what it adds to that: two of little chance
#: that make up a pair must not come to count for many.
_LEAST_CHANCE = 1.0 / 16.0
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1
#: A step is short where so little of it is left.
_SHORT = 0.3
#: So many short ones, others taken off, and L-BFGS goes on: it sees kinks as it meets them.
_MOST_SHORT = 3


class WideSteps:
    """Newton steps of a few rows, by conjugate gradients, for as long as they are not short."""

    def __init__(self, fit: PairSquare) -> None:
        self.fit, self.alpha = fit, fit.alpha
        self._rows = RowSpace(fit)
        design, n = fit.design, fit.design.shape[0]
        self._steps: PairSteps | None = None
        if has_sparse_rows(design) and design.keeps_scores:
            self._steps = PairSteps(design.by_rows(), fit.tol >= SINGLE, design.n_threads)
            design.entries_read += design.n_entries  # for the lengths of the rows
            typical = self._steps.typical
        else:
            some = np.linspace(0, n - 1, min(n, _TYPICAL_ROWS)).astype(np.int64)
            typical = float(design.squared_norms(some).mean())
        #: What a row adds to the Hessian at w = 0, where each class adds 2.
        self._a_row = 4.0 * typical / n
        self._newton, self._n_short = self.alpha < _SMALL_ALPHA * self._a_row, 0
        #: The alpha of the next step.
        self._eased = self.alpha if self._steps is None else max(self.alpha, _EASED * typical)
        #: Whether sweeps of dual descent are what a cold fit begins with.
        self.sketches = self._steps is not None and self._is_for_descent(typical)

    def _is_for_descent(self, typical: float) -> bool:
        ordinary = 1.0 / _LONGEST < typical < _LONGEST * min(1.0, self.alpha)
        return ordinary and self.alpha < _DESCENT * self._a_row

    def begin(self) -> Array | None:
        """Where sweeps of dual descent lead; None where they are not for this problem."""
        if not self.sketches:
            return None
        fit = self.fit
        assert self._steps is not None
        w, entries = self._steps.sweep(
            fit.loss.split.tilt, self.alpha, min(_SWEEPS, fit.max_iter), _SWEPT * fit.tol, 1
        )
        fit.design.entries_read += 2 * entries
        return w if np.isfinite(w).all() else None

    def near(self) -> None:
        """The next step is not from w = 0."""
        self._newton = self._newton or self._steps is not None
        self._eased = self.alpha

    def next(self, at: PairPoint) -> PairPoint | None:
        """A better point; None where there is none."""
        if self._newton and (self._steps is not None or at.w.any()):
            found = self._newton_step(at)
            if found is not None:
                return found
            self._newton = False
        elif self._n_short and self.fit.enough > 0.0:  # a sample's kinks are its own
            return None
        return self._rows.next(at)

    def _newton_step(self, at: PairPoint) -> PairPoint | None:
        fit, gradient = self.fit, self._gradient(at)
        alpha = self._eased
        step, moved = self._direction(at, gradient)
        slope = float(gradient @ step)
        if not slope < 0:
            return None
        ray = slope, alpha * float(at.w @ step), alpha * float(step @ step)
        theta, s, v, value, rise = lower_along(fit.ranks, at, moved, ray, _LINE_SEARCH)
        w = at.w + theta * step
        self._n_short = self._n_short + 1 if theta <= _SHORT else max(self._n_short - 1, 0)
        self._newton = self._n_short < _MOST_SHORT
        if not rise < 0 or np.array_equal(w, at.w):
            return None
        return PairPoint(w, s, v, value, fit.design.pull_back(v), fresh=False)

    def _direction(self, at: PairPoint, gradient: Array) -> tuple[Array, Array]:
        """The Newton step, of few rows where they are sparse, and the scores it adds."""
        fit, steps, alpha = self.fit, self._steps, self._eased
        if steps is None:  # a copy of some rows costs more than it saves
            return conjugate_step(fit.problem, fit.ranks.curvature, np.flatnonzero(at.v), gradient)
        tol = fit.tol if alpha == self.alpha else _EASED_AIM
        # The gap is |g|^2 / (2 alpha): a residual well within tol needs no more.
        size = at.value + 0.5 * alpha * float(at.w @ at.w)
        enough = _ENOUGH * 2.0 * alpha * tol * size
        step, used, _ = steps.step(
            fit.ranks, gradient, alpha, _LEAST_CHANCE, _RESIDUAL, enough, _ITERATIONS
        )
        fit.design.entries_read += 2 * used * steps.entries
        return step, fit.design.scores(step)

    def _gradient(self, at: PairPoint) -> Array:
        """The gradient at the alpha of the next step, lowered as far as this point allows."""
        w, alpha = at.w, self.alpha
        gradient = np.asarray(alpha * w + at.pull)
        if self._eased == alpha:
            return gradient
        square, length, along = float(w @ w), float(gradient @ gradient), float(gradient @ w)
        while (more := self._eased - alpha) > 0:
            here = length + more * (2.0 * along + more * square)
            if here > 2.0 * self._eased * _EASED_GAP * (at.value + 0.5 * self._eased * square):
                break
            self._eased = max(self._eased / _LOWERED, alpha)
        return gradient + (self._eased - alpha) * w
