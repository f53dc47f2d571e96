"""Hessians of sums over rows: updated between steps, or summed over few rows; samples of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import rows_of_places
from ..designs import Design
from ..losses import CompiledRows

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
#: More rows are no use where what they leave uncertain is this share of alpha.
_THINNED_NOISE = 0.05


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
    return max(float(design.squared_norms(some).mean()), 1e-300)


def sample(
    design: Design, terms: CompiledRows, size: int, rng: np.random.Generator
) -> tuple[Design, Array]:
    """About so many rows, a quarter of them positives at the least, and their weights."""
    places = sample_positions(terms, size, rng)
    if design.keeps_scores:  # then the weights are at hand too
        found = rows_of_places(terms.tilt, *places)
        return design.subset(found), reweight_to_totals(terms, terms.tilt[found])
    assert terms.rows is not None
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
