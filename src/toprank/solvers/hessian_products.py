"""Hessians of smooth sums over rows of many features, by conjugate gradients.

They follow the protocol in `row_hessians`.

WholeByCG        all rows at every point
ThinnedByCG      few rows, drawn at every point in proportion to what they add, by the core
SampledHessian   a sample of the rows, kept from step to step, for rows that are only summed over
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import WideDescent
from ..designs import Design
from .linalg import conjugate_gradient
from .row_hessians import WithMemory
from .row_points import RowPoint, SumPoints
from .score_points import ScorePoints

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Share of the gradient that a step of conjugate gradients may always leave.
_RESIDUAL = 0.2
#: And that one by a sample may, which is kept for later steps.
_SAMPLE_RESIDUAL = 0.03
#: Share of the gap asked for that the residual may be worth.
_LEFT = 0.1
#: Products for a step: at first, for it may meet a kink and end short.
_FEW = 30
#: Products for a step at most.
_MOST = 250
#: Rows of a thinned Hessian at least.
_LEAST_ROWS = 64.0
#: Points at which a sample's Hessian is taken before that of all rows is.
_RENEWALS = 2


class System:
    """(H + diag(added)) x = y by conjugate gradients, H known by products.

    `product` is that of the matrix of the rows with a last entry of one, at p = (w, b); b is
    eliminated. The preconditioner lies halfway, in logarithms, between the diagonal, which helps
    features of unlike units, and none, which is better where columns differ by their number of
    entries.
    """

    def __init__(
        self,
        product: Callable[[Array], Array],
        border: Array,
        diagonal: Array,
        added: Array | float,
        free_bias: bool,
    ) -> None:
        self._product, self._added, self._free_bias = product, added, free_bias
        self._border, self._total = border[:-1], max(float(border[-1]), 1e-300)
        self._scale = added + np.sqrt(diagonal * diagonal.max(initial=0.0))
        self.exists = bool(np.isfinite(self._scale).all())

    def solve(self, right: Array, enough: float, most: int) -> Array:
        """Return x with a residual of at most `enough`, after at most so many products."""
        d = len(self._border)
        x, target, turn = np.zeros(len(right)), right[:d], 0.0
        if self._free_bias:
            turn = float(right[d]) / self._total
            target = target - turn * self._border if turn else target

        def centred(p: Array) -> tuple[Array, float]:
            image = self._product(np.append(p, 0.0))
            mean = float(image[d]) / self._total if self._free_bias else 0.0
            return image[:d] - mean * self._border + self._added * p, mean

        x[:d], mean = conjugate_gradient(
            centred, target, enough=enough, max_iter=most, scale=self._scale
        )
        if self._free_bias:
            x[d] = turn - mean
        return x


def system_of_rows(
    design: Design, curvature: Array, added: Array | float, free_bias: bool, rows: Rows | None
) -> System:
    """Return the system of rows that are at hand; without curvature they add nothing."""

    def product(p: Array) -> Array:
        t = design.scores(np.ascontiguousarray(p[:-1]), rows)
        if p[-1]:
            t += p[-1]
        t *= curvature
        return np.append(design.pull_back(t, rows), t.sum())

    border = np.append(design.pull_back(curvature, rows), curvature.sum())
    return System(product, border, design.gram_diagonal(curvature, rows), added, free_bias)


class WholeByCG:
    """The Hessian of all rows at every point, by conjugate gradients."""

    cost = np.inf

    def __init__(self, points: SumPoints | ScorePoints, tol: float) -> None:
        self._points, self._tol, self._steepest, self._enough = points, tol, 0.0, 0.0

    def at(self, point: RowPoint) -> None:
        """Take the curvatures of the point."""
        points = self._points
        curvature = points.curvatures(point)
        rows = np.flatnonzero(curvature)
        self._system = system_of_rows(
            points.design, curvature[rows], points.alpha, points.free_bias, rows
        )
        self._enough = enough(points, point, self._tol)

    def inverse(self, gradient: Array) -> Array:
        """Return H^-1 gradient, the more exact the smaller the gradient is."""
        size = float(np.linalg.norm(gradient))
        self._steepest = max(self._steepest, size)
        share = min(_RESIDUAL, np.sqrt(size / self._steepest)) if size else 0.0
        return self._system.solve(gradient, max(share * size, np.sqrt(self._enough)), _MOST)

    def learn(self, point: RowPoint, moved: RowPoint) -> None:
        """Do nothing: the next Hessian is another one."""

    def improve(self, point: RowPoint) -> bool:
        """Return False: there is none more accurate."""
        return False


class ThinnedByCG:
    """The Hessian of few rows, drawn anew at every point, by conjugate gradients in the core."""

    cost = np.inf

    def __init__(self, points: ScorePoints, descent: WideDescent, tol: float, seed: int) -> None:
        self._points, self._descent, self._tol, self._seed = points, descent, tol, seed
        self._most, self._least_gap, self._enough = _FEW, np.inf, 0.0

    def at(self, point: RowPoint) -> None:
        """Copy the rows that stand for all; allow for more products where the gap does not fall."""
        self._descent.thin(self._points.alpha, _LEAST_ROWS, self._seed)
        self._seed += 1
        self._most *= 2
        if point.eased_gap < 0.9 * self._least_gap:
            self._most, self._least_gap = _FEW, point.eased_gap
        self._enough = enough(self._points, point, self._tol)

    def inverse(self, gradient: Array) -> Array:
        """Return H^-1 gradient."""
        alpha, design = self._points.alpha, self._points.design
        most = min(self._most, _MOST)
        step, used, _ = self._descent.step(gradient, alpha, _RESIDUAL, self._enough, most)
        design.entries_read += design.n_entries + 2 * used * self._descent.thinned_entries
        return -step

    def learn(self, point: RowPoint, moved: RowPoint) -> None:
        """Do nothing: the next Hessian is another one."""

    def improve(self, point: RowPoint) -> bool:
        """Return False: the step takes as many products as it needs."""
        return False


def enough(points: SumPoints | ScorePoints, point: RowPoint, tol: float) -> float:
    """Return the squared length of a gradient that leaves little of the gap asked for."""
    return _LEFT * 2.0 * points.alpha * points.aim(tol) * points.size(point)


class SampledHessian(WithMemory):
    """The Hessian of a sample of the rows, raised to the diagonal of that of all rows.

    Columns that the sample lacks have curvature too. Where its steps are slow, it is taken at
    another point, and then replaced by that of all rows: a pass over them for every product.
    """

    #: A renewed diagonal is a pass, and the draw at hand serves again.
    cost = 4.0

    def __init__(self, points: SumPoints, sample: SumPoints) -> None:
        super().__init__()
        self._points, self._sample, self._renewals = points, sample, 0
        self._at: RowPoint | None = None

    @property
    def exact(self) -> bool:
        """Whether it is the Hessian of all rows."""
        return self._renewals > _RENEWALS

    def at(self, point: RowPoint) -> None:
        """Take it at the first point or, of all rows, at every point."""
        if self._at is None or (self.exact and self._at is not point):
            self._take(point)

    def improve(self, point: RowPoint) -> bool:
        """Take it at this point or, after that has been of no use, of all rows."""
        if self.exact:
            return False
        self._renewals = _RENEWALS + 1 if self._at is point else self._renewals + 1
        self._take(point)
        return True

    def _take(self, point: RowPoint) -> None:
        points, sample = self._points, self._sample
        design: Any = points.design
        place = points.parts(point.x)
        self._at, self._pairs = point, []
        diagonal = np.asarray(design.column_bends(points.terms, *place))
        if not self.exact:
            here = sample.at(point.x)
            curvature = sample.curvatures(here)
            own = np.asarray(sample.design.gram_diagonal(curvature))
            added = points.alpha + np.maximum(diagonal - own, 0.0)
            self._system = system_of_rows(sample.design, curvature, added, points.free_bias, None)
            return

        def product(p: Array) -> Array:
            return np.asarray(design.bent_product(points.terms, *place, p))

        border = product(np.append(np.zeros(points.d), 1.0))
        self._system = System(product, border, diagonal, points.alpha, points.free_bias)

    def _solve(self, gradient: Array) -> Array:
        if not self._system.exists:
            return np.zeros(len(gradient))
        size, most = float(np.linalg.norm(gradient)), _FEW if self.exact else _MOST
        return self._system.solve(gradient, _SAMPLE_RESIDUAL * size, most)


__all__ = ["SampledHessian", "ThinnedByCG", "WholeByCG"]
