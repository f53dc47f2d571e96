"""Hessians of sums over rows: exact and sampled ones, and their factors.

A solver calls `at(point)` before each step, `inverse(gradient)` for the step, `learn` after it, and
`improve(point)` where steps are slow. `cost` is what that takes, in passes over the rows.

WholeHessian     all rows, summed anew at every point
ThinnedHessian   few rows, in proportion to what they add to it, kept from step to step

Both have a Cholesky factor. `hessian_products` has those of many features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from .._core import thin_rows
from ..designs import Design, Thinning
from ..losses import CompiledRows
from .linalg import cholesky
from .row_points import RowPoint, SumPoints
from .score_points import ScorePoints

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Above this share of rows with another curvature, a sum from scratch costs no more.
_MOST_CHANGED = 0.5
#: What may have been taken off a diagonal entry since the last sum from scratch, in units of what
#: is left: the digits an entry lost are those of this number.
_MOST_TAKEN = 30.0
#: What a step with an inherited Hessian must leave of the gap, at most, for it to be trusted on.
_GOOD_STEP = 0.3
#: Rows of a thinned Hessian, for every free feature.
_THINNED_ROWS = 1000
#: Passes that its sum may cost.
_THINNED_PASSES = 2.0
#: Rows add nothing where what they leave uncertain is this share of alpha.
_THINNED_NOISE = 0.05
#: Steps that L-BFGS remembers.
_MEMORY = 12
#: A Hessian made at another alpha serves while the sum of f'' differs by at most this share.
_SAME_CURVATURE = 0.1


@dataclass(frozen=True)
class KeptHessian:
    """A Hessian that outlives its fit, for another one on the same data to begin with."""

    c: Array
    gram: Array
    border: Array
    taken: Array


class Hessian:
    """X' diag(c) X and X'c for one curvature c after another.

    A quadratic loss has the same curvature at a row from step to step, but for the rows that
    cross a kink; then only those are read.
    """

    def __init__(self, design: Design, kept: KeptHessian | None = None) -> None:
        self._design = design
        self._c: Array | None = None
        self._gram, self._border, self._taken = np.empty((0, 0)), np.empty(0), np.empty(0)
        #: Whether the sums are an earlier fit's, which may have been on other data.
        self.inherited = kept is not None
        if kept is not None:
            self._c, self._gram, self._border = kept.c, kept.gram.copy(), kept.border.copy()
            self._taken = kept.taken.copy()

    def at(self, c: Array) -> tuple[Array, Array]:
        """X' diag(c) X and X'c, c >= 0 finite and one entry per row; not to be written to."""
        last, self._c = self._c, c.copy()
        if last is not None:
            rows = np.flatnonzero(c != last)
            if len(rows) <= _MOST_CHANGED * np.count_nonzero(c) and self._update(rows, c, last):
                return self._gram, self._border
        rows = np.flatnonzero(c)
        if len(rows) == len(c):
            self._gram, self._border = self._design.gram(c), self._design.pull_back(c)
        else:
            self._gram = self._design.gram(c[rows], rows)
            self._border = self._design.pull_back(c[rows], rows)
        self._taken, self.inherited = np.zeros(self._design.shape[1]), False
        return self._gram, self._border

    def _update(self, rows: NDArray[np.int64], c: Array, last: Array) -> bool:
        """Add what the rows gained and take off what they lost; False where too much was."""
        if len(rows) == 0:
            return True
        change = c[rows] - last[rows]
        up, down = change > 0, change < 0
        if up.any():
            self._gram += self._design.gram(change[up], rows[up])
        if down.any():
            lost = self._design.gram(-change[down], rows[down])
            self._gram -= lost
            self._taken += lost.diagonal()
        self._border += self._design.pull_back(change, rows)
        return bool((self._taken <= _MOST_TAKEN * self._gram.diagonal()).all())

    def doubt(self, gap: float, gap_before: float) -> None:
        """Begin anew where inherited sums did not make a step what Newton's steps are."""
        if self.inherited and not gap <= _GOOD_STEP * gap_before:
            self._c, self.inherited = None, False

    def keep(self) -> KeptHessian | None:
        """What another fit on these data may begin with."""
        if self._c is None:
            return None
        return KeptHessian(self._c, self._gram, self._border, self._taken)


def bfgs_update(matrix: Array, step: Array, change: Array) -> None:
    """The curvature that a step has shown: the update of Broyden, Fletcher, Goldfarb and Shanno."""
    product, image = float(step @ change), matrix @ step
    bent = float(step @ image)
    if product > 1e-8 * bent > 0.0:
        matrix -= np.outer(image, image / bent)
        matrix += np.outer(change, change / product)


def typical_square(design: Design) -> float:
    """|x|^2 of a row: the mean over some of them."""
    n = design.shape[0]
    some = np.linspace(0, n - 1, min(n, 256)).astype(np.int64)
    square = float(design.squared_norms(some).mean())
    return square if square > 1e-300 else 1e-300  # also where an entry is not a number


def sample(
    design: Design, terms: CompiledRows, size: int, rng: np.random.Generator
) -> tuple[Design, Array]:
    """About so many rows, a quarter of them positives at the least, and their weights."""
    places = sample_positions(terms, size, rng)
    rows, weights = design.drawn(terms.rows, *places)
    return rows, reweight_to_totals(terms, weights)


def sample_positions(terms: CompiledRows, size: int, rng: np.random.Generator) -> list[Rows]:
    """Which rows of each side such a sample has, counted from the first of the side."""
    of_pos, of_neg, *_ = terms.sides
    if of_pos < size // 2:
        n_pos = min(of_pos, size // 2)
    else:
        n_pos = int(size * max(0.25, of_pos / (of_pos + of_neg)))
    places = []
    for there, count in ((of_pos, n_pos), (of_neg, size - n_pos)):
        count = min(max(min(count, there), 1), there)
        place = (np.arange(count) + rng.random(count)) * (there / max(count, 1))
        places.append(np.minimum(place.astype(np.int64), there - 1))
    return places


def reweight_to_totals(terms: CompiledRows, weights: Array) -> Array:
    """The weights of sampled rows, each side's made to sum to what all of it does."""
    for side, total in zip((weights > 0, weights < 0), terms.sides[2:], strict=True):
        if total:
            weights[side] *= total / weights[side].sum()
    return weights


def thinned_rows(
    design: Design, curvature: float, free: float, typical: float, alpha: float
) -> float:
    """How many rows a thinned Hessian is to have, given how the sum bends along b."""
    n = design.shape[0]
    noise = curvature * typical / (_THINNED_NOISE * alpha)
    most = min(_THINNED_ROWS * free, _THINNED_PASSES * n / gram_passes(design), noise)
    return min(n, max(2.0 * free, most))


def gram_passes(design: Design) -> float:
    """What the Gram matrix of all rows costs, in fused passes: nanoseconds a row of either."""
    n, d = design.shape
    z = design.n_entries / max(n, 1)
    if z < d:
        return (4.0 * z + 0.5 * z * z + 1.0) / (2.2 * z + 4.0)
    return ((d + 8.0) ** 2 / 22.0 + 20.0) / (0.25 * d + 4.0)


class RowHessian(Protocol):
    """The protocol that the loop in `rows` uses."""

    #: Passes over the rows that `improve` costs; infinite where there is no better Hessian.
    cost: float

    def at(self, point: RowPoint) -> None:
        """Prepare the Hessian for a step from this point."""

    def inverse(self, gradient: Array) -> Array:
        """Return H^-1 gradient; zeros where there is no inverse."""

    def learn(self, point: RowPoint, moved: RowPoint) -> None:
        """Note the change of the gradient along a step."""

    def improve(self, point: RowPoint) -> bool:
        """Take a more accurate Hessian, at this point; False where there is none."""


class WholeHessian:
    """The Hessian of all rows at every point, by its Cholesky factor."""

    cost = np.inf

    def __init__(self, points: SumPoints | ScorePoints, *, strict: bool = False) -> None:
        self._points, self._sums, self._strict = points, Hessian(points.design), strict
        self._factor: Array | None = None

    def at(self, point: RowPoint) -> None:
        """Sum and factorise it."""
        points = self._points
        curvature = points.curvatures(point)
        matrix = bordered(*self._sums.at(curvature), float(curvature.sum()), points.free_bias)
        self._factor = factor(matrix, points.alpha, points.d)
        if self._factor is None and self._strict:
            raise FloatingPointError("The Hessian overflowed: scale the features, or raise alpha.")

    def inverse(self, gradient: Array) -> Array:
        """Return H^-1 gradient."""
        return solve(self._factor, gradient)

    def learn(self, point: RowPoint, moved: RowPoint) -> None:
        """Do nothing: the next Hessian is another one."""

    def improve(self, point: RowPoint) -> bool:
        """Return False: there is none more accurate."""
        return False


class WithMemory:
    """L-BFGS on top of a Hessian that is kept from step to step."""

    def __init__(self) -> None:
        self._pairs: list[tuple[Array, Array, float]] = []

    def _solve(self, gradient: Array) -> Array:
        raise NotImplementedError

    def inverse(self, gradient: Array) -> Array:
        """Return the product of the updated inverse with a gradient."""
        q, shares = gradient.copy(), []
        for step, change, rho in reversed(self._pairs):
            shares.append(rho * float(step @ q))
            q -= shares[-1] * change
        z = self._solve(q)
        for (step, change, rho), share in zip(self._pairs, reversed(shares), strict=True):
            z += (share - rho * float(change @ z)) * step
        if not float(gradient @ z) > 0.0 and self._pairs:
            self._pairs = []
            return self._solve(gradient)
        return z

    def learn(self, point: RowPoint, moved: RowPoint) -> None:
        """Remember a step, unless the gradient shows no curvature along it."""
        step, change = moved.x - point.x, moved.gradient - point.gradient
        product = float(step @ change)
        if product > 0:
            self._pairs = [*self._pairs[1 - _MEMORY :], (step, change, 1.0 / product)]


@dataclass(frozen=True)
class Gram:
    """The Hessian of few rows without alpha, which another fit of the same rows may use."""

    matrix: Array
    n_rows: float
    #: The sum of f'' where it was made.
    curvature: float

    def serves(self, n_rows: float, curvature: float) -> bool:
        """Return whether it has that many rows, and the loss is about as curved."""
        near = abs(self.curvature - curvature) <= _SAME_CURVATURE * curvature
        return n_rows <= self.n_rows and near


class ThinnedHessian(WithMemory):
    """The Hessian of few rows, those kept in proportion to what they add to it.

    Parameters
    ----------
    points : SumPoints
        The points of the fit.
    free : float
        Features that alpha leaves free; infinite for all rows.
    seed : int
        Of the draw.
    gram : Gram, optional
        An earlier fit's.
    """

    def __init__(self, points: SumPoints, free: float, seed: int, gram: Gram | None = None) -> None:
        super().__init__()
        self.points, self.free, self.seed, self.gram = points, free, seed, gram
        self.cost = gram_passes(points.design)
        self._factor: Array | None = None
        self._at: RowPoint | None = None

    def at(self, point: RowPoint) -> None:
        """Sum and factorise it, at the first point."""
        if self._at is not None:
            return
        assert point.sums is not None
        curvature, points = point.sums.curvature, self.points
        wanted = self.rows(curvature)
        if self.gram is None or not self.gram.serves(wanted, curvature):
            self.gram = Gram(self._thin(point, wanted), wanted, curvature)
        self._at, self._factor = point, factor(self.gram.matrix, points.alpha, points.d)

    def improve(self, point: RowPoint) -> bool:
        """Sum the Hessian of all rows."""
        if self._at is None or self._at is point:
            return False
        assert point.sums is not None
        points = self.points
        n = float(points.design.shape[0])
        self.gram = Gram(self._thin(point, n), n, point.sums.curvature)
        self._pairs = []
        self._at, self._factor = point, factor(self.gram.matrix, points.alpha, points.d)
        return True

    def rows(self, curvature: float) -> float:
        """Return how many rows are called for."""
        points = self.points
        return thinned_rows(points.design, curvature, self.free, points.typical, points.alpha)

    def thinning(self, curvature: float) -> Thinning:
        """Return which rows to keep where f'' sums to this."""
        wanted = self.rows(curvature)
        thin = curvature > 0 and wanted < self.points.design.shape[0]
        return Thinning(wanted / curvature if thin else np.inf, self.points.typical, self.seed)

    def _thin(self, point: RowPoint, wanted: float) -> Array:
        points, sums = self.points, point.sums
        assert sums is not None
        whole = wanted >= points.design.shape[0]
        if point.scores is None:
            if sums.thinned is None or whole:
                thin = Thinning() if whole else self.thinning(sums.curvature)
                sums = points.reduce(*points.parts(point.x), thin=thin)
            assert sums.thinned is not None
            t, d = sums.thinned, points.d
            return bordered(t[:d, :d], t[d, :d], t[d, d], points.free_bias)
        rows, curvature = None, None
        if whole:
            curvature = points.curvatures(point)
        else:
            squares = points.squares
            if squares is not None and squares.dtype != point.scores.dtype:
                squares = cast(Any, squares.astype(point.scores.dtype))
            rows, curvature = thin_rows(
                point.scores,
                squares,
                points.typical,
                *points.terms.kernel,
                float(wanted),
                self.seed,
                points.design.n_threads,
            )
        gram = points.design.gram(curvature, rows)
        border = points.design.pull_back(curvature, rows) if points.free_bias else gram[0]
        return bordered(gram, border, float(curvature.sum()), points.free_bias)

    def _solve(self, gradient: Array) -> Array:
        return solve(self._factor, gradient)


def bordered(gram: Array, border: Array, total: float, free_bias: bool) -> Array:
    """Return the matrix with a last row and column for the threshold, where that is free."""
    if not free_bias:
        return np.array(gram, order="F")
    d = len(gram)
    matrix = np.empty((d + 1, d + 1), order="F")
    matrix[:d, :d] = gram
    matrix[d, :d] = matrix[:d, d] = border
    matrix[d, d] = max(total, 1e-300)
    return matrix


def factor(matrix: Array, alpha: float, d: int) -> Array | None:
    """Return the Cholesky factor of the matrix and alpha, or None."""
    lifted = matrix.copy(order="F")
    lift = lifted.diagonal().copy()
    np.einsum("ii->i", lifted)[:d] += alpha
    return cholesky(lifted, lift)


def solve(factor: Array | None, right: Array) -> Array:
    """Return the solution by a Cholesky factor, zero where the factor has no threshold."""
    x = np.zeros(len(right))
    if factor is not None:
        x[: len(factor)] = dpotrs(factor, right[: len(factor)], lower=1)[0]
    return x
