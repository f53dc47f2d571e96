"""A smooth sum over wide rows that are elsewhere, in few rounds of sums as long as a row.

Solves   min over w, b  alpha/2 |w|^2 + sum_r f_r(w.x_r + b)
by       steps of L-BFGS whose inverse Hessian is that of a sample of rows which is here, raised to
         the diagonal of the Hessian of all rows: columns that the sample lacks bend too. It is
         applied by conjugate gradients. The fit begins with the solution of the sample.
Given    a Problem with a RowSum that compiled kernels know, of a matrix on a cluster.
Returns  a Solution without a dual vector: its w and b vouch for themselves, by `certify_at`.

`few_passes` is the same with Hessians that are summed and factored, for up to some thousand
columns. Here a round moves a few vectors, whatever the number of rows.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._core import row_terms
from ..losses import RowSum
from ..problems import Problem, Solution
from ._passes import begin, end, keep, near
from ._row_points import Factor, RowPoint, RowPoints
from ._row_steps import Steps, search
from .linalg import one_blas_thread
from .row_hessians import sample
from .watch import Watch

Array = NDArray[np.float64]

#: Entries of the sample: some tens of megabytes, and some milliseconds a product.
_ENTRIES = 3_000_000
#: Steps on the sample, at the most.
_FIRST_STEPS = 30
#: The gap of the sample, as a share of its value, that is enough: chance is more.
_FIRST_GAP = 1e-3
#: What conjugate gradients leave of a right-hand side.
_RESIDUAL = 0.03
#: And their products, at the most.
_PRODUCTS = 120
#: Products with all rows, a round each, at the most.
_ROUNDS = 40
#: Shares of a step that are tried where no more of it will do.
_SHORT = (1e-3, 1e-6)
#: Steps by the sample's Hessian that must leave less than this share of the gap.
_TRIED, _LEFT = 6, 0.3
#: The Hessian is renewed where so many more rounds are to come: it costs one.
_RENEWAL = 4.0
#: The share by which the gap must fall, if not in every round.
_FALLS = 0.1


def far_passes(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a problem with a smooth sum over wide rows elsewhere, in few rounds."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return _FarPasses(problem, tol, max_iter, watch or Watch(problem.design), seed).run(start)


class _FarPoints(RowPoints):
    """Points of all rows, whose Hessian is that of a sample and of a diagonal."""

    #: Points of the sample.
    few: RowPoints
    #: Whether the Hessian is that of all rows, a round for every product.
    exact = False

    def hessian(self, at: RowPoint) -> Factor:
        """The Hessian of the sample at a point, raised to the diagonal of that of all rows."""
        design: Any = self.design
        diagonal = design.column_bends(self.terms, *self._parts(at.x))
        if self.exact:
            return _FarInverse(self, at, diagonal)
        return _Inverse(self.few, at.x, diagonal)


class _FewPoints(RowPoints):
    """Points of the sample, whose Hessian is applied and not formed."""

    def hessian(self, at: RowPoint) -> Factor:
        """The Hessian of the sample at a point."""
        return _Inverse(self, at.x, None)


class _FarPasses:
    def __init__(
        self, problem: Problem, tol: float, max_iter: int, watch: Watch, seed: int
    ) -> None:
        self.problem, self.tol = problem, tol
        loss, design = cast(RowSum, problem.loss), problem.design
        self.loss, self.alpha = loss, problem.alpha
        terms = loss.compiled
        assert terms is not None
        self.all = _FarPoints(design, terms, self.alpha, loss.free_bias)
        self.all.single, self.all.unit = False, loss.unit
        self.all.certify = lambda w, b, _: problem.examine(w, b)[1]
        n = design.shape[0]
        size = int(_ENTRIES / max(design.n_entries / max(n, 1), 1.0)) + 1
        drawn, tilt = sample(design, terms, min(size, n), np.random.default_rng(seed))
        self.few = _FewPoints(drawn, terms.weighted(tilt), self.alpha, loss.free_bias)
        self.few.single, self.few.unit = False, loss.unit
        self.all.few = self.few
        self.least_gap = np.inf
        self.gaps: list[float] = []
        self.progress = begin(problem, self._close, watch, max_iter, _FALLS)

    def run(self, start: Solution | None) -> Solution:
        point = self._begin(start)
        steps = Steps(self.all, self.tol, self.all.hessian(point), _RENEWAL)
        while True:
            self._note(point)
            if self.progress.over():
                return end(self.progress)
            moved = None if self._slow(point) else steps.next(point)
            if moved is None and not self.all.exact:
                # The sample has missed something: from here on the Hessian is that of all rows.
                self.all.exact = True
                steps = Steps(self.all, self.tol, self.all.hessian(point), 0.0)
                continue
            if moved is None:
                moved = self._short_of(point)
            self.progress.stuck = moved is None
            point = point if moved is None else moved

    def _slow(self, point: RowPoint) -> bool:
        """Whether steps by the sample have left most of the gap, for some rounds."""
        self.gaps.append(point.gap)
        if self.all.exact or len(self.gaps) <= _TRIED:
            return False
        before = min(self.gaps[-_TRIED - 1], self.gaps[0])
        return not min(self.gaps[-_TRIED:]) < _LEFT * before

    def _short_of(self, point: RowPoint) -> RowPoint | None:
        """A much shorter step than Newton's, where a loss rises steeply on the way."""
        direction = -self.all.hessian(point)(point.gradient)
        for share in _SHORT:
            moved, _ = search(self.all, point, share * direction)
            if moved is not None and moved.value < point.value:
                return moved
        return None

    def _begin(self, start: Solution | None) -> RowPoint:
        """An earlier solution, or that of the sample; w = 0 where that is better."""
        if start is not None and len(start.w) == self.all.d and start.w.any():
            point = self.all.at(self._join(start.w, start.b))
        else:
            point = self.all.at(self._of_sample())
        if point.finite and point.value < self.loss.at_zero:
            return point
        zero = self.all.at(self._join(np.zeros(self.all.d), self.loss.zero_bias))
        found, _ = search(self.all, zero, point.x - zero.x, trial=point)
        return zero if found is None else found

    def _join(self, w: Array, b: float) -> Array:
        return np.append(w, b) if self.loss.free_bias else w.copy()

    def _of_sample(self) -> Array:
        """The solution of the sample, as well as chance lets it be."""
        few = self.few
        point = few.at(self._join(np.zeros(few.d), self.loss.zero_bias))
        for _ in range(_FIRST_STEPS):
            if point.gap <= _FIRST_GAP * few.size(point):
                break
            moved, _ = search(few, point, -few.hessian(point)(point.gradient))
            if moved is None:
                break
            point = moved
        return point.x

    def _note(self, point: RowPoint) -> None:
        """Keep the point with the least gap: it alone vouches for itself."""
        d = self.all.d
        if point.finite and point.gap < self.least_gap:
            self.least_gap = point.gap
            b = float(point.x[d]) if self.loss.free_bias else 0.0
            keep(self.progress, point.value, point.gap, point.x[:d].copy(), b, self.loss.infimum)

    def _close(self, primal: float, dual: float) -> bool:
        """Whether the gap is what it should be, and the certificate says so too."""
        best = self.progress.best
        if not best.w.any() or not near(self.problem, primal, primal - dual, self.tol):
            return False
        return self.problem.certify_at(best.w, best.b).holds(self.tol)


class _Inverse(Factor):
    """The inverse of a sample's Hessian at a point, and alpha, by conjugate gradients.

    `diagonal` is that of the Hessian of all rows, without alpha: what the sample lacks of it is
    added.
    """

    def __init__(self, few: RowPoints, x: Array, diagonal: Array | None) -> None:
        self._few = few
        design, d = few.design, few.d
        scores = design.scores(np.ascontiguousarray(x[:d])) + (x[d] if few.free_bias else 0.0)
        bends = row_terms(scores, *few.kernel, design.n_threads)[2]
        self._bends = np.asarray(bends, dtype=np.float64)
        own = np.asarray(design.gram_diagonal(self._bends))
        more = np.zeros(d) if diagonal is None else np.maximum(diagonal - own, 0.0)
        self._added = few.alpha + more
        self._diagonal = self._added + own
        if few.free_bias:
            self._diagonal = np.append(self._diagonal, max(float(self._bends.sum()), 1e-300))
            self._added = np.append(self._added, 0.0)

    @property
    def exists(self) -> bool:
        return bool(np.isfinite(self._diagonal).all())

    def _product(self, p: Array) -> Array:
        few, d = self._few, self._few.d
        scores = few.design.scores(np.ascontiguousarray(p[:d]))
        if few.free_bias:
            scores += p[d]
        scores *= self._bends
        found = self._added * p
        found[:d] += few.design.pull_back(scores)
        if few.free_bias:
            found[d] += scores.sum()
        return found

    #: Products, at the most.
    _most = _PRODUCTS

    def __call__(self, x: Array) -> Array:
        """Conjugate gradients, preconditioned by the diagonal."""
        solution, left = np.zeros(len(x)), x.copy()
        eased = left / self._diagonal
        direction, size = eased.copy(), float(left @ eased)
        enough = _RESIDUAL**2 * size
        for _ in range(self._most):
            if not size > enough:
                break
            turned = self._product(direction)
            bent = float(direction @ turned)
            if not bent > 0.0:
                break
            step = size / bent
            solution += step * direction
            left -= step * turned
            eased = left / self._diagonal
            before, size = size, float(left @ eased)
            direction *= size / before
            direction += eased
        return solution


class _FarInverse(_Inverse):
    """The inverse of the Hessian of all rows at a point: a round for every product."""

    _most = _ROUNDS

    def __init__(self, points: RowPoints, at: RowPoint, diagonal: Array) -> None:
        self._points, self._at, d = points, at, points.d
        self._added = np.full(d, points.alpha)
        self._diagonal = points.alpha + diagonal
        if points.free_bias:
            self._added = np.append(self._added, 0.0)
            self._diagonal = np.append(self._diagonal, max(at.curvature, 1e-300))

    def _product(self, p: Array) -> Array:
        points = self._points
        design: Any = points.design
        found = design.bent_product(points.terms, *points._parts(self._at.x), p)
        return np.asarray(found + self._added * p)


__all__ = ["far_passes"]
