"""Points of a smooth sum over rows: value, gradient, a bound of the gap, Hessians of few rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from .._core import row_losses_along, row_terms, thin_rows
from ..designs import Ask, Design, Line, Sums, Thinning
from ..losses import CompiledRows
from ..surrogates import Pieces
from .linalg import cholesky

Array = NDArray[np.float64]
Floats = NDArray[np.float32] | NDArray[np.float64]

#: What a shift of the slopes may be of the largest that is allowed, in a bound of the gap.
_LARGEST_SHIFT = 0.5

#: The steps that a line search asks about, where a look at them is a pass over the rows.
_LADDER = np.array([1e-3, 1e-2, 0.03, 0.07, 0.15, 0.25, 0.35, 0.5, 0.65, 0.8, 1.0, 1.5, 2.5, 4.0])


@dataclass
class RowPoint:
    """A point x = (w, b), or w alone, and what one pass over the rows tells of it."""

    x: Array
    value: float
    gradient: Array
    #: How far the value can be from the minimum.
    gap: float
    #: x_r.w + b of every row, where they are kept.
    scores: Floats | None
    #: The sums that all this came from, which know of no alpha.
    sums: Sums

    @property
    def curvature(self) -> float:
        """How the sum bends along b."""
        return self.sums.curvature

    @property
    def finite(self) -> bool:
        return math.isfinite(self.value) and math.isfinite(float(self.gradient.sum()))


class RowPoints:
    """alpha/2 |w|^2 + sum_r f_r(x_r.w + b), its points and its Hessians."""

    def __init__(self, design: Design, terms: CompiledRows, alpha: float, free_bias: bool) -> None:
        self.design, self.terms, self.alpha, self.free_bias = design, terms, alpha, free_bias
        self.n_rows, self.d = design.shape
        #: Whether rows are computed with in float32; those of a sparse matrix never are.
        self.single = True
        self.sparse = design.n_entries < self.n_rows * self.d
        #: |x|^2 of every row, once a pass has told.
        self.squares: Floats | None = None
        #: That of a typical row.
        self.typical = 1.0
        #: What a gap is a share of where the value is less.
        self.unit = 0.0
        #: The last Hessian of all rows, without alpha, and how the sum bent along b there.
        self.whole: tuple[Array, float] | None = None
        #: The sums of a point that is also certified, in float64, with |x|^2 if asked for.
        self.certify: Callable[[Array, float, bool], Sums] | None = None

    @property
    def kernel(self) -> tuple[Array, Pieces, Pieces]:
        return self.terms.tilt, self.terms.positives, self.terms.negatives

    def at(self, x: Array, *, last: bool = False, thin: Thinning | None = None) -> RowPoint:
        """One pass over all rows; the first one tells how long they are.

        A point that is likely the last one is certified in the same pass, and so are every point
        where dense rows are computed with in float64 anyway, and the first point of sparse rows.
        Where scores are not kept, the Hessian of few rows can be had in the same pass.
        """
        w, b = self._parts(x)
        kept = self.design.keeps_scores
        first = self.squares is None and kept
        last = (last or not self.single or (self.sparse and first)) and thin is None
        if last and self.certify is not None:
            sums = self.certify(w, b, first)
        else:
            sums = self._reduce(w, b, scores=kept, squares=first, thin=thin)
        if sums.squares is not None:
            self.squares = sums.squares
        return self.known(x, sums)

    def _parts(self, x: Array) -> tuple[Array, float]:
        return np.ascontiguousarray(x[: self.d]), float(x[self.d]) if self.free_bias else 0.0

    def _reduce(self, w: Array, b: float, **wanted: Any) -> Sums:
        return self.design.reduce(
            Ask(self.terms, w, b, shift=self.free_bias, single=self.single, **wanted)
        )

    def known(self, x: Array, sums: Sums) -> RowPoint:
        """A point of which the sums are known, whatever alpha they were for: nothing is read."""
        w = x[: self.d]
        gradient, pull = np.empty(len(x)), self.alpha * w + sums.pull
        gradient[: self.d] = pull
        gap = 0.0
        if self.free_bias:
            gradient[self.d] = sums.slope
            eps = sums.slope / sums.shift if sums.shift > 0 else np.inf
            if not abs(eps) * self.terms.steepest <= _LARGEST_SHIFT:
                eps, gap = 0.0, np.inf
            assert sums.shifted_pull is not None
            pull = pull - eps * sums.shifted_pull
            gap += eps * eps * sums.bound
        value = sums.value + 0.5 * self.alpha * float(w @ w)
        gap += float(pull @ pull) / (2.0 * self.alpha)
        return RowPoint(x, value, gradient, gap, sums.scores, sums)

    def size(self, at: RowPoint) -> float:
        """What the gap of a point is a share of."""
        return max(abs(at.value), self.unit)

    def along(
        self, at: RowPoint, direction: Array, trial: RowPoint
    ) -> Callable[[float], tuple[float, float]] | None:
        """Slope and curvature on the line from a point to a trial; None where they overflow."""
        if at.scores is None or trial.scores is None:
            w, b = self._parts(at.x)
            line = Line(*self._parts(direction), _LADDER)
            found = self._reduce(w, b, along=line).line
            assert found is not None
            return _Ladder(self, at, direction, found)
        ds = cast(Floats, (trial.scores - at.scores).astype(at.scores.dtype, copy=False))
        return _Line(self, at, direction, ds) if np.isfinite(ds).all() else None

    def hessian(self, at: RowPoint) -> Factor:
        """The Hessian at a point, of all rows."""
        gram = self._whole_gram(at)
        self.whole = gram, at.curvature
        return self.factor(gram)

    def _whole_gram(self, at: RowPoint) -> Array:
        if at.scores is None:
            return self._thinned(self._reduce(*self._parts(at.x), thin=Thinning()))
        _, _, curvature = row_terms(at.scores, *self.kernel, self.design.n_threads)
        return self._gram(np.asarray(curvature, dtype=np.float64), None)

    def thin_hessian(self, at: RowPoint, wanted: float, seed: int) -> Factor:
        """The Hessian at a point, of about so many rows that stand for all."""
        return self.factor(self.thin_gram(at, wanted, seed))

    def thin_gram(self, at: RowPoint, wanted: float, seed: int) -> Array:
        """That Hessian without alpha: of the losses alone."""
        if wanted >= 0.7 * self.n_rows:
            return self._whole_gram(at)
        if at.scores is None:
            if at.sums.thinned is not None:
                return self._thinned(at.sums)
            thin = self.thinning(wanted, at.curvature, seed)
            return self._thinned(self._reduce(*self._parts(at.x), thin=thin))
        squares = self.squares
        if squares is not None and squares.dtype != at.scores.dtype:
            squares = cast(Floats, squares.astype(at.scores.dtype))
        rows, curvature = thin_rows(
            at.scores,
            squares,
            self.typical,
            *self.kernel,
            float(wanted),
            seed,
            self.design.n_threads,
        )
        return self._gram(curvature, rows)

    def thinning(self, wanted: float, curvature: float, seed: int) -> Thinning:
        """What keeps about so many rows, where the curvatures sum to this."""
        rate = wanted / curvature if curvature > 0 and wanted < 0.7 * self.n_rows else np.inf
        return Thinning(rate, self.typical, seed)

    def _thinned(self, sums: Sums) -> Array:
        assert sums.thinned is not None
        size = self.d + self.free_bias
        matrix = np.asfortranarray(sums.thinned[:size, :size])
        if self.free_bias:
            matrix[self.d, self.d] = max(matrix[self.d, self.d], 1e-300)
        return matrix

    def _gram(self, curvature: Array, rows: NDArray[np.int64] | None) -> Array:
        size = self.d + self.free_bias
        matrix = np.empty((size, size), order="F")
        matrix[: self.d, : self.d] = self.design.gram(curvature, rows)
        if self.free_bias:
            border = self.design.pull_back(curvature, rows)
            matrix[self.d, : self.d] = matrix[: self.d, self.d] = border
            matrix[self.d, self.d] = max(float(curvature.sum()), 1e-300)
        return matrix

    def factor(self, gram: Array) -> Factor:
        """The inverse of a Hessian of the losses, and alpha."""
        matrix = gram.copy(order="F")
        lift = matrix.diagonal().copy()
        diagonal = np.einsum("ii->i", matrix)
        diagonal[: self.d] += self.alpha
        return Factor(cholesky(matrix, lift))


class Factor:
    """The inverse of a Hessian, by its Cholesky factor."""

    def __init__(self, factor: Array | None) -> None:
        self._factor = factor

    @property
    def exists(self) -> bool:
        return self._factor is not None

    def __call__(self, x: Array) -> Array:
        return np.asarray(dpotrs(self._factor, x, lower=1)[0])


class _Line:
    """Slope and curvature along x + theta p, by scores alone."""

    def __init__(self, points: RowPoints, at: RowPoint, direction: Array, ds: Floats) -> None:
        assert at.scores is not None
        self._points, self._scores, self._ds = points, at.scores, ds
        w, step = at.x[: points.d], direction[: points.d]
        self._linear = points.alpha * float(w @ step)
        self._square = points.alpha * float(step @ step)

    def __call__(self, theta: float) -> tuple[float, float]:
        points = self._points
        _, slope, curvature = row_losses_along(
            self._scores, self._ds, theta, *points.kernel, points.design.n_threads
        )
        return slope + self._linear + theta * self._square, curvature + self._square


class _Ladder:
    """The same between steps of which slope and curvature are known, from one pass."""

    def __init__(self, points: RowPoints, at: RowPoint, direction: Array, found: Array) -> None:
        w, step = at.x[: points.d], direction[: points.d]
        linear, square = points.alpha * float(w @ step), points.alpha * float(step @ step)
        self._steps = np.append(0.0, _LADDER)
        slopes = found[:, 1] + linear + square * _LADDER
        self._slopes = np.append(float(at.gradient @ direction), slopes)

    def __call__(self, theta: float) -> tuple[float, float]:
        # Slopes increase along the line: between two steps they are taken to do so evenly.
        steps, slopes = self._steps, self._slopes
        k = int(np.clip(np.searchsorted(steps, theta), 1, len(steps) - 1))
        rise = (slopes[k] - slopes[k - 1]) / (steps[k] - steps[k - 1])
        return float(slopes[k - 1] + (theta - steps[k - 1]) * rise), float(rise)


class Pairs:
    """The last steps and what they changed in the gradient: L-BFGS on top of an inverse Hessian."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pairs: list[tuple[Array, Array, float]] = []

    def add(self, step: Array, change: Array) -> None:
        product = float(step @ change)
        if product > 0:
            self._pairs = [*self._pairs[-self._most + 1 :], (step, change, 1.0 / product)]

    def clear(self) -> None:
        self._pairs = []

    def direction(self, inverse: Factor, gradient: Array) -> Array:
        """The step that the pairs and the inverse Hessian give."""
        q, kept = gradient.copy(), []
        for step, change, rho in reversed(self._pairs):
            a = rho * float(step @ q)
            kept.append(a)
            q -= a * change
        z = inverse(q)
        for (step, change, rho), a in zip(self._pairs, reversed(kept), strict=True):
            z += (a - rho * float(change @ z)) * step
        return -z
