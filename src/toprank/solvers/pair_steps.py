"""Sums over all pairs, and the three kinds of Newton step on them.

A fit of all pairs (`pairs`) evaluates its loss by one of two classes here, `SquaredPairs` or
`SmoothedPairs`, and takes its steps from one of three:

FactorisedSteps   few features: the Hessian of a sample of rows, by Cholesky's method
FewRowSteps       wide sparse rows, squared hinge: conjugate gradients on a few rows that stand for
                  all, after sweeps of dual descent
ConjugateSteps    else: conjugate gradients on all pairs near the margin
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from .._core import PairSteps
from ..designs import Windows
from ..losses import PairLoss
from ..problems import Problem
from .cost import (
    PAIR_HESSIAN_ROWS,
    PAIR_SWEEPS_ALPHA,
    has_sparse_rows,
    pair_factor_is_cheap,
    pair_hessian_rows,
)
from .linalg import cholesky, conjugate_gradient
from .row_hessians import bfgs_update
from .row_points import SINGLE

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
#: The loss, the same without smoothing, the sum of the duals, and what the smoothing costs.
Sums = tuple[float, float, float, float]

#: The Hessian of a smoothed hinge counts the pairs within a width of 0.2, in units of the margin:
#: fewer would be too few to be a sample of those that a step meets.
_HESSIAN_WIDTH = 0.2
#: Bins of negatives for the Hessian of the squared hinge: rows whose pairs end in the same bin are
#: added up. Without bins, covtype takes three times as long.
_BINS = 128
#: Rows are added to the Hessian by this factor when its steps are poor.
_REFINEMENT = 4
#: Steps are poor where two of them leave more than this share of the gap.
_SLOW = 0.1
#: A line search that ends below this share of a step shows that the Hessian is too small.
_SHORT = 0.3
#: A whole step that leaves less than this share of the slope shows that the Hessian is good: it is
#: kept, with a BFGS update, for the next step. Summing it anew costs 17 % more in the mean.
_GOOD = 0.15
#: Conjugate gradients leave this share of the gradient. In the gap it is the square.
_RESIDUAL = 0.4
#: Conjugate gradients end after so many iterations, and sweeps of dual descent too.
_ITERATIONS = 60


@dataclass
class PairPoint:
    """Weights, their scores, the slope of the loss there, and X' times that slope."""

    w: Array
    s: Array
    v: Array
    sums: Sums
    pull: Array
    #: Whether s was computed from w, and not from sums of scores.
    fresh: bool


class SquaredPairs:
    """Sums of the squared hinge over all pairs, at the last scores given."""

    width = np.inf

    def __init__(self, loss: PairLoss) -> None:
        self.ranks = loss.ranks()
        self.curvature = self.ranks.curvature

    def at(self, s: Array) -> tuple[Array, Sums]:
        """Return the slope of the loss at scores, and its sums."""
        v, value, total = self.ranks.slope(s)
        return v, (value, value, total, 0.0)

    def rows(self, v: Array) -> Rows:
        """Return the rows with pairs that have curvature, v being the slope."""
        return np.flatnonzero(v)

    def windows(self, most: float, truth: float) -> Windows | None:
        """Return pairs that stand for all, of at most so many rows of each class."""
        rows, weights, last, others, other_weights = self.ranks.thinned(most)
        if not len(others):
            return None
        n_bins = min(_BINS, len(others))
        edges = np.arange(n_bins + 1) * len(others) // n_bins
        last = edges[np.searchsorted(0.5 * (edges[1:] + edges[:-1]), last)]
        return Windows(rows, weights, np.zeros_like(rows), last, others, other_weights)


class SmoothedPairs:
    """Sums over all pairs of the hinge, smoothed over a width, at the last scores given."""

    def __init__(self, loss: PairLoss) -> None:
        self.width = 1.0
        self._split = loss.split
        self._scan = loss.scan()
        self.curvature = self._scan.curvature
        self._row_weights = np.abs(loss.split.tilt)

    def at(self, s: Array) -> tuple[Array, Sums]:
        """Return the slope of the loss at scores, and its sums."""
        self._scan.sort(s)
        return self._scan.slope(self.width)

    def rows(self, v: Array) -> Rows:
        """Return the rows with pairs that have curvature."""
        return self._scan.bent_rows()

    def windows(self, most: float, truth: float) -> Windows | None:
        """Return pairs near the margin, of every n-th row in the order of the scores.

        Those within the width, and somewhat more: pairs enter it along a step. `truth` is 1 or
        more, and infinite where the Hessian is to be the smoothed loss's.
        """
        split = self._split
        rows, bad = self._scan.positives(math.ceil(len(split.pos) / most))
        others, other_bad = self._scan.negatives(math.ceil(len(split.neg) / most))
        if len(others) < len(rows):
            rows, bad, others, other_bad = others, other_bad, rows, bad
        rows, margin = rows[::-1].copy(), 1.0 + bad[::-1]
        weights, other_weights = self._row_weights[rows], self._row_weights[others]
        # A little beyond the width: line searches end at kinks, where rounding would decide.
        reach = max((1.0 + max(1.0 / truth, 0.02)) * self.width, _HESSIAN_WIDTH / truth)
        low, high = 0.5 * (self.width - reach), 0.5 * (self.width + reach)
        return Windows(
            rows,
            weights / (weights.sum() * reach),
            np.searchsorted(-other_bad, margin - high, side="left"),
            np.searchsorted(-other_bad, margin - low, side="left"),
            others,
            other_weights / other_weights.sum(),
        )


Pairs = SquaredPairs | SmoothedPairs


class Steps(Protocol):
    """Newton steps of one kind."""

    #: Set where steps stay short: single pairs matter.
    stalled: bool

    def step(self, at: PairPoint, gradient: Array, gap: float) -> Array:
        """Return a step from a point with that gradient and relative gap."""

    def judge(self, theta: float, left: float) -> None:
        """Note the share of a step that was taken, and the share of the slope it left."""


def steps_for(problem: Problem, pairs: Pairs, tol: float) -> Steps:
    """Return the steps that are cheapest for a design."""
    if pair_factor_is_cheap(problem.design):
        return FactorisedSteps(problem, pairs)
    if isinstance(pairs, SquaredPairs) and has_sparse_rows(problem.design):
        return FewRowSteps(problem, pairs, tol)
    return ConjugateSteps(problem, pairs)


class FactorisedSteps:
    """Newton steps by Cholesky's method, with the Hessian of pairs of a few rows."""

    stalled = False

    def __init__(self, problem: Problem, pairs: Pairs) -> None:
        self.design, self.alpha, self.pairs = problem.design, problem.alpha, pairs
        smooth = isinstance(pairs, SquaredPairs)
        self._rows = pair_hessian_rows(problem.design) if smooth else PAIR_HESSIAN_ROWS
        self._truth, self._conjugate = 1.0, ConjugateSteps(problem, pairs)
        #: The Hessian of the last step, its gradient, its width, and the step.
        self._matrix: Array | None = None
        self._gradient = self._step = np.empty(0)
        self._width, self._good = np.inf, False
        self._gaps: list[float] = []

    def step(self, at: PairPoint, gradient: Array, gap: float) -> Array:
        """Return the Newton step, or that of conjugate gradients where there is no factor."""
        self._gaps.append(gap)
        if len(self._gaps) > 2 and gap > _SLOW * self._gaps[-3]:
            self._refine()
        if self._matrix is not None and self._good and self._width == self.pairs.width:
            bfgs_update(self._matrix, self._step, gradient - self._gradient)
        else:
            self._matrix = self._hessian()
        self._gradient, self._width, self._good = gradient, self.pairs.width, False
        factor = cholesky(self._matrix.copy(order="F"), float(self._matrix.diagonal().max()))
        if factor is None:
            self._step = self._conjugate.step(at, gradient, gap)
        else:
            self._step = np.asarray(dpotrs(factor, -gradient, lower=1)[0])
        return self._step

    def judge(self, theta: float, left: float) -> None:
        """Refine the Hessian after a short step; keep it after a good one."""
        self._good = theta == 1.0 and left <= _GOOD
        if theta < _SHORT:
            self._refine()

    def _refine(self) -> None:
        self._truth *= _REFINEMENT
        self._good, self._gaps = False, self._gaps[-1:]

    def _hessian(self) -> Array:
        d = self.design.shape[1]
        n = self.design.shape[0]
        windows = self.pairs.windows(min(self._rows * self._truth, n), self._truth)
        matrix = np.zeros((d, d)) if windows is None else self.design.window_gram(windows)
        np.einsum("ii->i", matrix)[:] += self.alpha
        return matrix


class FewRowSteps:
    """Newton steps by conjugate gradients on sparse rows, kept by what they add to the Hessian."""

    stalled = False

    def __init__(self, problem: Problem, pairs: SquaredPairs, tol: float) -> None:
        self.problem, self.design = problem, problem.design
        self.alpha, self.tol = problem.alpha, tol
        self.ranks, self._truth = pairs.ranks, 1.0
        self._core = PairSteps(self.design.by_rows(), tol >= SINGLE, self.design.n_threads)
        self.design.entries_read += self.design.n_entries  # for the lengths of the rows

    def sweep(self, tilt: Array, max_iter: int) -> Array | None:
        """Return weights from sweeps of dual descent; None where alpha is too large for them.

        A row adds 4 |x|^2 / N to the Hessian at w = 0, where each class adds 2.
        """
        if self.alpha >= PAIR_SWEEPS_ALPHA * 4.0 * self._core.typical / self.design.shape[0]:
            return None
        # Newton's steps go on from a gap of 40 times the tolerance.
        w, entries = self._core.sweep(
            tilt, self.alpha, min(_ITERATIONS, max_iter), 40.0 * self.tol, 1
        )
        self.design.entries_read += 2 * entries
        return w if np.isfinite(w).all() else None

    def step(self, at: PairPoint, gradient: Array, gap: float) -> Array:
        """Return the Newton step of a few rows."""
        # A residual r adds |r|^2 / (2 alpha) to the gap.
        size = at.sums[0] + self.problem.penalty(at.w)
        residual = _RESIDUAL / self._truth
        most = int(min(_ITERATIONS * self._truth, len(at.s)))
        enough = residual**2 * 2.0 * self.alpha * self.tol * size
        # Rows of little chance that make up a pair must not come to count for many: 1/16.
        step, used, _ = self._core.step(
            self.ranks, gradient, self.alpha, 1.0 / 16.0, residual, enough, most
        )
        self.design.entries_read += 2 * used * self._core.entries
        return step

    def judge(self, theta: float, left: float) -> None:
        """Solve more accurately after a short step, less so after a whole one."""
        if theta < _SHORT:
            self._truth *= _REFINEMENT
        elif theta == 1.0:
            self._truth = max(self._truth / _REFINEMENT, 1.0)


class ConjugateSteps:
    """Newton steps by conjugate gradients on the rows of all pairs with curvature."""

    stalled = False

    def __init__(self, problem: Problem, pairs: Pairs) -> None:
        self.design, self.alpha, self.pairs = problem.design, problem.alpha, pairs
        self._n_short = 0

    def step(self, at: PairPoint, gradient: Array, gap: float) -> Array:
        """Return the Newton step, or minus the gradient where nothing has curvature."""
        rows, r = self.pairs.rows(at.v), np.zeros(len(at.s))
        if not len(rows):
            return -gradient
        every = rows if len(rows) < len(at.s) else None

        def product(direction: Array) -> tuple[Array, float]:
            r[rows] = self.design.scores(direction, every)
            pulled = self.design.pull_back(self.pairs.curvature(r)[rows], every)
            return self.alpha * direction + pulled, 0.0

        enough = _RESIDUAL * float(np.linalg.norm(gradient))
        return conjugate_gradient(product, -gradient, enough=enough, max_iter=_ITERATIONS)[0]

    def judge(self, theta: float, left: float) -> None:
        """Count short steps, less the others: after three, single pairs matter."""
        self._n_short = self._n_short + 1 if theta <= 0.125 else max(self._n_short - 1, 0)
        self.stalled = self._n_short >= 3
