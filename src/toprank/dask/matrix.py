"""The matrix of a fit whose rows are on a cluster: sums over it come here, and few of its rows."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core import row_terms, rows_of_places
from ..designs import Ask, Design, Sums, as_design
from ..designs.parts import reduce_part
from ..inputs.class_split import RowWeights
from .parts import Labels, Rows, joined
from .reducer import Reducer

Array = NDArray[np.float64]
Places = NDArray[np.int64]


#: Bytes of the highest rows of a part that come with their scores.
_CARRIED = 1_000_000
#: Bytes of rows that a fit may copy to the driver.
COPIED_BYTES = 1 << 28
#: Bytes of rows that all parts may return to the driver in a round.
_ROUND_BYTES = 4_000_000


class ClusterDesign(Design):
    """N rows that are parts on workers. What is asked for goes there, and sums come back.

    Rows have the numbers they have in the order of the parts. The two classes stand for their
    rows: a loss of these rows is one of two rows that weigh what the classes weigh, and `each` is
    what a positive and a negative row of weight one has of that.
    """

    compiled_sums = True
    stores_scores = False

    def __init__(
        self,
        reducer: Reducer,
        shape: tuple[int, int],
        n_entries: int,
        each: tuple[float, float],
    ) -> None:
        self.reducer, self.shape, self.n_entries = reducer, shape, n_entries
        self.each = each
        #: The rows that came with the last question for the highest, by their numbers.
        self._carried: dict[int, Array] = {}

    @property
    def n_parts(self) -> int:
        """How many parts the rows are in."""
        return len(self.reducer.parts)

    def affords_copy(self, n_rows: int) -> bool:
        """Return whether n rows may be copied to the driver."""
        return n_rows * (self.row_bytes + 32.0) <= COPIED_BYTES

    @property
    def rows_per_round(self) -> int:
        """Rows that every part may return in a round; the fewer, the more parts."""
        shared = int(_ROUND_BYTES / self.n_parts / (self.row_bytes + 16.0))
        return min(super().rows_per_round, shared)

    def require_rows(self, asker: str, instead: str) -> None:
        """Raise ValueError: the rows are in parts on workers."""
        raise ValueError(
            f"{asker} reads rows in one place, and these are on a cluster: take {instead}."
        )

    @property
    def gram_passes(self) -> float:
        """As of a matrix in memory: N d^2 / 2 multiplications, ten times as fast as a product."""
        return min(self.shape[1] / 20.0, 60.0)

    def over_parts(
        self,
        kernel: Callable[..., Any],
        args: tuple[Any, ...],
        add: Callable[[list[Any]], Any],
        size: int = 0,
    ) -> Any:
        """What a kernel makes of every part, added in their order; counted as one pass."""
        self.entries_read += self.n_entries
        return self.reducer(kernel, args, add, size)

    def reduce(self, ask: Ask) -> Sums:
        """Sums over rows at a point, taken where the rows are."""
        d = self.shape[1]
        size = 8 * d * d if ask.thin is not None else 16 * d
        args = ask.alone, self._each(ask.loss.rows), 8 * d * ask.highest <= _CARRIED
        sums, carried = self.over_parts(_sums_of_part, args, _add_sums, size)
        if carried:
            self._carried = dict(carried)
        return sums  # type: ignore[no-any-return]

    def column_bends(self, terms: Any, w: Array, b: float) -> Array:
        """The diagonal of X' diag(c) X, c the curvatures of a loss at a point."""
        args = terms.alone(), self._each(terms.rows), w, b
        return np.asarray(self.over_parts(_bends_of_part, args, added, 8 * self.shape[1]))

    def bent_product(self, terms: Any, w: Array, b: float, p: Array) -> Array:
        """X' diag(c) X p of rows with a last entry of one, c the curvatures of a loss at a point.

        What p has beyond the columns goes with that entry.
        """
        args = terms.alone(), self._each(terms.rows), w, b, p
        return np.asarray(self.over_parts(_product_of_part, args, added, 8 * len(p)))

    def _each(self, weights: RowWeights) -> tuple[float, float]:
        """What a positive and a negative row of weight one has in a sum."""
        _, _, of_pos, of_neg = weights.sides
        return of_pos * self.each[0], -of_neg * self.each[1]

    def drawn(self, weights: RowWeights, of_pos: Places, of_neg: Places) -> tuple[Design, Array]:
        """The rows at these places among the positives and among the negatives, copied."""
        args = of_pos, of_neg, self._each(weights)
        found = self.reducer(_drawn_of_part, args, joined)
        return _stacked([X for X, _ in found], self.shape[1]), np.concatenate(
            [tilt for _, tilt in found]
        )

    def subset(self, rows: Places) -> Design:
        """A copy of some of the rows, here."""
        found = self.reducer(_rows_of_part, (np.unique(rows),), joined)
        own = np.concatenate([places for _, places in found])
        design = _stacked([X for X, _ in found], self.shape[1])
        return design.subset(np.searchsorted(own, rows))

    def take(self, rows: Places) -> Array:
        """Some of the rows, dense."""
        known = self._carried
        if len(rows) and all(int(row) in known for row in rows):
            return np.array([known[int(row)] for row in rows])
        return self.subset(rows).take(np.arange(len(rows)))

    def squared_norms(self, rows: Places | None = None) -> Array:
        """|x|^2 of some rows."""
        if rows is None:
            raise _refusal()
        return self.subset(rows).squared_norms()

    def scores(self, w: Array, rows: Places | None = None) -> Array:
        """Not here."""
        raise _refusal()

    def pull_back(self, v: Array, rows: Places | None = None) -> Array:
        """Not here."""
        raise _refusal()

    def gram(self, c: Array, rows: Places | None = None) -> Array:
        """Not here."""
        raise _refusal()

    def gram_diagonal(self, c: Array, rows: Places | None = None) -> Array:
        """Not here."""
        raise _refusal()


def _refusal() -> TypeError:
    return TypeError("The rows are on a cluster, where only sums over them are to be had.")


def _sums_of_part(
    rows: Rows, labels: Labels, ask: Ask, each: tuple[float, float], carries: bool
) -> tuple[Sums, list[tuple[int, Array]]]:
    """The sums, and the highest rows themselves, which are likely to be asked for next."""
    if not len(labels.positive):
        return Sums.none(ask), []
    first = labels.where.first
    longest = rows.longest if ask.highest else None
    sums = reduce_part(rows.design.matrix, labels.tilt(each), ask, 1, first, longest)
    if sums.highest is None or not carries:
        return sums, []
    numbers = sums.highest.rows
    return sums, list(zip(numbers.tolist(), rows.design.take(numbers - first), strict=True))


def _add_sums(
    parts: list[tuple[Sums, list[tuple[int, Array]]]],
) -> tuple[Sums, list[tuple[int, Array]]]:
    first, carried = parts[0]
    total = copy(first)  # the worker that has the first may be asked for it again
    for one, rows in parts[1:]:
        total += one
        carried = carried + rows
    if total.highest is not None:
        wanted = set(total.highest.rows.tolist())
        carried = [pair for pair in carried if pair[0] in wanted]
    return total, carried


def _bends_of_part(
    rows: Rows, labels: Labels, terms: Any, each: tuple[float, float], w: Array, b: float
) -> Array:
    if not len(labels.positive):
        return np.zeros(len(w))
    return rows.design.gram_diagonal(_bends(rows, labels, terms, each, w, b))


def _product_of_part(
    rows: Rows,
    labels: Labels,
    terms: Any,
    each: tuple[float, float],
    w: Array,
    b: float,
    p: Array,
) -> Array:
    found, d = np.zeros(len(p)), len(w)
    if not len(labels.positive):
        return found
    turned = rows.design.scores(np.ascontiguousarray(p[:d])) + (p[d] if len(p) > d else 0.0)
    turned *= _bends(rows, labels, terms, each, w, b)
    found[:d] = rows.design.pull_back(turned)
    if len(p) > d:
        found[d] = turned.sum()
    return found


def _bends(
    rows: Rows, labels: Labels, terms: Any, each: tuple[float, float], w: Array, b: float
) -> Array:
    scores = rows.design.scores(w) + b
    bends = row_terms(scores, labels.tilt(each), terms.positives, terms.negatives, 1)[2]
    return np.asarray(bends, dtype=np.float64)


def added(parts: list[Array]) -> Array:
    """Vectors or matrices of parts, in their order."""
    total = parts[0].copy()
    for one in parts[1:]:
        total += one
    return total


def _within(places: Places, first: int, count: int) -> Places:
    """Those of sorted numbers that are among `count` from `first` on, counted from there."""
    return places[slice(*np.searchsorted(places, [first, first + count]))] - first


def _drawn_of_part(
    rows: Rows, labels: Labels, of_pos: Places, of_neg: Places, each: tuple[float, float]
) -> list[tuple[Any, Array]]:
    tilt, where = labels.tilt(each), labels.where
    own_pos = _within(of_pos, where.first_pos, int(np.count_nonzero(tilt > 0)))
    own_neg = _within(of_neg, where.first_neg, int(np.count_nonzero(tilt < 0)))
    found = rows_of_places(tilt, own_pos, own_neg)
    return [(rows.X[found], tilt[found])]


def _rows_of_part(rows: Rows, labels: Labels, places: Places) -> list[tuple[Any, Places]]:
    first = labels.where.first
    found = _within(places, first, rows.X.shape[0])
    return [(rows.X[found], found + first)]


def _stacked(blocks: list[Any], n_features: int) -> Design:
    """Rows of parts in one matrix."""
    blocks = [block for block in blocks if block.shape[0]]
    if any(sparse.issparse(block) for block in blocks):
        return as_design(sparse.vstack(blocks, format="csr"), 1)
    whole = np.concatenate(blocks) if blocks else np.empty((1, n_features))[:0]
    return as_design(np.ascontiguousarray(whole), 1)


__all__ = ["ClusterDesign", "added"]
