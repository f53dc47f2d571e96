"""Signed sample weights of the rows, and the two classes of a training set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from .._core import row_sides

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Rows whose weights are read at a time: as many as stay in the cache.
_BLOCK = 1 << 15
#: The smallest share of its class that a row may have: losses divide by shares.
_LEAST_SHARE = float(np.finfo(np.float64).tiny)


class RowWeights:
    """Signed sample weights: positives above zero, negatives below, absent rows zero.

    They are read by ranges, because all of them may not fit beside a large file.
    """

    n_rows: int

    def __init__(self, tilt: Array) -> None:
        self.n_rows, self.tilt = len(tilt), tilt

    @cached_property
    def tilt(self) -> Array:
        """Signed weights of all rows; not to be written to."""
        return self.tilt_of(0, self.n_rows)

    def tilt_of(self, begin: int, end: int) -> Array:
        """Return the signed weights of the rows from `begin` up to `end`."""
        return self.tilt[begin:end]

    @property
    def sides(self) -> tuple[int, int, float, float]:
        """Number of rows above zero and of rows below, and the sums of their weights."""
        return row_sides(self.tilt)


class Split(RowWeights):
    """Positive and negative rows with weights that sum to one on each side.

    A row of weight zero is in neither class, as if it were absent. A split made by `Split.of`
    lists the rows of a class when they are first used: a fit of a file that is larger than memory
    never needs a list.
    """

    #: The mask of the positive rows and the sample weights, unless the rows were listed.
    _positive: NDArray[np.bool_] | None = None
    _weight: Array | None = None
    #: The heaviest sample weight of each class, and the sum of its weights in that unit.
    _units: tuple[float, float]
    _sums: tuple[float, float]
    #: The sums of p and of q.
    _totals: tuple[float, float] = (1.0, 1.0)

    def __init__(
        self,
        n_rows: int,
        pos: Rows,
        neg: Rows,
        p: Array,
        q: Array,
        positive_share: float = 0.5,
        negative_share: float | None = None,
    ) -> None:
        self.n_rows = n_rows
        self.pos, self.neg, self.p, self.q = pos, neg, p, q
        self.counts = len(pos), len(neg)
        rest = 1.0 - positive_share if negative_share is None else negative_share
        #: The shares of the classes in the weight of all rows, the positives' first.
        self.shares = positive_share, rest

    @classmethod
    def of(
        cls,
        positive: NDArray[np.bool_],
        sample_weight: Array | None = None,
        *,
        one_class: bool = False,
    ) -> Split:
        """Split rows by a mask of the positive ones; `one_class` if a class may be missing."""
        split = cls.__new__(cls)
        split.n_rows, split._positive, split._weight = len(positive), positive, sample_weight
        if sample_weight is None:
            m = int(np.count_nonzero(positive))
            counts = m, len(positive) - m
            split._units, split._sums = (1.0, 1.0), (float(counts[0]), float(counts[1]))
        else:
            split._units, split._sums, counts = _weight_of_classes(positive, sample_weight)
        split.counts = counts
        if not one_class:
            refuse_one_class(*counts)
        unit = max(split._units)
        above, below = (s * (u / unit) for s, u in zip(split._sums, split._units, strict=True))
        split.shares = _shares(above, below) or (0.0, 0.0)
        return split

    @classmethod
    def of_totals(cls, counts: tuple[int, int], weights: tuple[float, float]) -> Split:
        """Return two rows that stand for remote ones: so many positives and negatives, this heavy.

        The two rows weigh what their classes do; `counts` are those of the remote rows.
        """
        share = np.ones(1)
        shares = weights[0] / sum(weights), weights[1] / sum(weights)
        split = cls(2, np.zeros(1, np.int64), np.ones(1, np.int64), share, share, *shares)
        split.counts = counts
        return split

    @cached_property
    def pos(self) -> Rows:
        """Indices of the positive rows."""
        return self._listed(0)

    @cached_property
    def neg(self) -> Rows:
        """Indices of the negative rows."""
        return self._listed(1)

    @cached_property
    def p(self) -> Array:
        """Weights of the positive rows."""
        return self._weights(0, self.pos)

    @cached_property
    def q(self) -> Array:
        """Weights of the negative rows."""
        return self._weights(1, self.neg)

    def _listed(self, side: int) -> Rows:
        assert self._positive is not None
        rows = np.flatnonzero(~self._positive if side else self._positive)
        if self._weight is None or not len(rows):
            return rows
        return rows[self._weight[rows] / self._units[side] >= _least(self._sums[side])]

    def _weights(self, side: int, rows: Rows) -> Array:
        each = self._totals[side] * (1.0 / max(self._sums[side], 1.0))
        if self._weight is None:
            return np.full(len(rows), each)
        return np.asarray(self._weight[rows] / self._units[side] * each)

    def tilt_of(self, begin: int, end: int) -> Array:
        """Return the signed weights of the rows from `begin` up to `end`."""
        if self._positive is None or "tilt" in vars(self):
            return self.tilt[begin:end]
        (m, n), weight = self._sums, self._weight
        above, below = (t * (1.0 / max(s, 1.0)) for t, s in zip(self._totals, (m, n), strict=True))
        if weight is None:
            return np.where(self._positive[begin:end], above, -below)
        tilt = np.empty(end - begin)
        for first in range(begin, end, _BLOCK):
            rows = slice(first, min(first + _BLOCK, end))
            positive = self._positive[rows]
            block = weight[rows] / np.where(positive, *self._units)
            block[block < np.where(positive, _least(m), _least(n))] = 0.0
            tilt[first - begin : rows.stop - begin] = block * np.where(positive, above, -below)
        return tilt

    @cached_property
    def tilt(self) -> Array:
        """Signed weights of all rows; not to be written to."""
        if self._positive is not None:
            return self.tilt_of(0, self.n_rows)
        tilt = np.zeros(self.n_rows)
        tilt[self.pos], tilt[self.neg] = self.p, -self.q
        return tilt

    @property
    def sides(self) -> tuple[int, int, float, float]:
        """Number of rows above zero and of rows below, and the sums of their weights."""
        above, below = self._totals
        if self._positive is None:
            above, below = float(self.p.sum()), float(self.q.sum())
        m, n = self.counts
        return m if above > 0.0 else 0, n if below > 0.0 else 0, above, -below

    @property
    def positive_share(self) -> float:
        """Share of the positives in the weight of all rows."""
        return self.shares[0]

    @property
    def negative_share(self) -> float:
        """Share of the negatives in the weight of all rows."""
        return self.shares[1]

    @property
    def rows(self) -> Rows | None:
        """Rows of both classes, in order; None if these are all rows."""
        if sum(self.counts) == self.n_rows:
            return None
        return np.sort(np.concatenate([self.pos, self.neg]))

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Mask of the positive rows."""
        if self._positive is not None and self._weight is None:
            return self._positive
        positive = np.zeros(self.n_rows, dtype=bool)
        positive[self.pos] = True
        return positive

    @property
    def lightest_pair(self) -> float:
        """Weight of the pair of the lightest positive and the lightest negative."""
        return float(self.p.min() * self.q.min())

    @cached_property
    def equal(self) -> bool:
        """True if all rows of the two classes have the same weight."""
        m, n = self.counts
        return bool(np.ptp(self.p) == np.ptp(self.q) == 0.0 and self.positive_share == m / (m + n))

    def without_lightest(self, share: float) -> Split:
        """Leave out the lightest rows of each class, as many as weigh `share` of it together."""

        def heavier(rows: Rows, weight: Array) -> tuple[Rows, Array]:
            order = np.argsort(weight, kind="stable")
            kept = np.sort(order[np.cumsum(weight[order]) > share])
            return rows[kept], weight[kept]

        if min(self.p.min(), self.q.min()) > share:
            return self
        (pos, p), (neg, q) = heavier(self.pos, self.p), heavier(self.neg, self.q)
        return Split(self.n_rows, pos, neg, p, q, *self.shares)

    def part(self, begin: int, end: int) -> Split:
        """Return the rows from `begin` up to `end`, numbered from 0 on, with unchanged weights."""

        def within(rows: Rows) -> slice:
            return slice(*np.searchsorted(rows, [begin, end]))

        i, j = within(self.pos), within(self.neg)
        pos, neg = self.pos[i] - begin, self.neg[j] - begin
        return Split(end - begin, pos, neg, self.p[i], self.q[j], *self.shares)

    def only(self, rows: Rows) -> Split:
        """Return the split of these rows alone, as if the others had no weight."""
        kept = np.zeros(self.n_rows, dtype=bool)
        kept[rows] = True

        def side(listed: Rows, weight: Array) -> tuple[Rows, Array, float]:
            listed, weight = listed[kept[listed]], weight[kept[listed]]
            total = float(weight.sum())
            return listed, weight / total if len(listed) else weight, total

        pos, p, above = side(self.pos, self.p)
        neg, q, below = side(self.neg, self.q)
        shares = _shares(self.shares[0] * above, self.shares[1] * below) or self.shares
        return Split(self.n_rows, pos, neg, p, q, *shares)

    def weighing(self, of_pos: float, of_neg: float) -> Split:
        """Return the same rows with weights that sum to these numbers."""
        split = copy(self)
        split._totals = of_pos * self._totals[0], of_neg * self._totals[1]
        vars(split).pop("tilt", None)
        for name, factor in (("p", of_pos), ("q", of_neg)):
            if name in vars(split):
                setattr(split, name, factor * getattr(self, name))
        return split

    def swapped(self) -> Split:
        """Return the split with the roles of the classes exchanged."""
        return Split(self.n_rows, self.neg, self.pos, self.q, self.p, *self.shares[::-1])

    def worse(self, scores: Array, by: Array) -> Array:
        """Return the scores with every positive lowered, and every negative raised, by `by`."""
        moved = scores.copy()
        moved[self.pos] -= by[self.pos]
        moved[self.neg] += by[self.neg]
        return moved

    def share_threshold(self, scores: Array) -> float:
        """Return a score above which lies the positives' share of the weight, as near as can be."""
        m, n = self.counts
        share, equal = self.positive_share, self.equal
        if not equal or m + n < len(scores):
            scores = np.concatenate([scores[self.pos], scores[self.neg]])
        weight = None if equal else np.concatenate([share * self.p, (1.0 - share) * self.q])
        return share_threshold(scores, weight, share)


def refuse_one_class(n_pos: int, n_neg: int) -> None:
    """Raise if one of the classes has no row."""
    if not (n_pos and n_neg):
        side = "positive" if not n_pos else "negative"
        raise ValueError(
            f"There is no {side} row with a weight above zero: "
            "ranking needs at least one row of each class."
        )


def _shares(above: float, below: float) -> tuple[float, float] | None:
    """Shares of two weights in their sum; None if that is zero."""
    total = above + below
    return (above / total, below / total) if total > 0.0 else None


def _least(of_class: float) -> float:
    """The least weight that a row of a class may have, from the sum of the class."""
    return _LEAST_SHARE * max(of_class, 1.0)


def _weight_of_classes(
    positive: NDArray[np.bool_], weight: Array
) -> tuple[tuple[float, float], tuple[float, float], tuple[int, int]]:
    """The heaviest weight of each class, the sum of its weights in that unit, and its rows."""

    def blocks(units: Sequence[float]) -> Iterator[Array]:
        for begin in range(0, len(positive), _BLOCK):
            above = positive[begin : begin + _BLOCK]
            yield weight[begin : begin + _BLOCK] / np.where(above, units[0], -units[1])

    # In units of the heaviest row: the sum of huge weights must not overflow.
    units, sums, counts = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for block in blocks((1.0, 1.0)):
        units[0] = max(units[0], float(block.max()))
        units[1] = max(units[1], float(-block.min()))
    units = [unit if unit > 0.0 else 1.0 for unit in units]
    for block in blocks(units):
        _, _, above, below = row_sides(block)
        sums[0], sums[1] = sums[0] + above, sums[1] - below
    for block in blocks(units):
        counts[0] += int(np.count_nonzero(block >= _least(sums[0])))
        counts[1] += int(np.count_nonzero(block <= -_least(sums[1])))
    return (units[0], units[1]), (sums[0], sums[1]), (counts[0], counts[1])


def share_threshold(scores: Array, weight: Array | None, share: float) -> float:
    """Return a score above which lies this share of the weight, as near as can be.

    Tied rows stay together.
    """
    size = len(scores)
    if weight is None:
        below = size - round(share * size)
        if 0 < below < size:
            parted = np.partition(scores, below)
            high, low = parted[below], parted[:below].max()
            if low < high:
                return between(low, high)
        weight = np.ones(size)
    order = np.argsort(-scores, kind="stable")
    # The weight above every cut: before the first row, and after the last of each tie.
    above = np.concatenate([[0.0], np.cumsum(weight[order])])
    levels = np.concatenate([scores[order], [-np.inf]])
    cuts = np.concatenate([[0], 1 + np.flatnonzero(levels[:-1] != levels[1:])])
    off = np.abs(above[cuts] - share * above[-1])
    # The first of two that are equally near: the rounding of the weights must not decide.
    cut = int(cuts[np.argmax(off <= off.min() + 1e-12 * above[-1])])
    if cut == 0:
        return float(levels[0])
    if cut == size:
        return float(np.nextafter(levels[cut - 1], -np.inf))
    return between(levels[cut], levels[cut - 1])


def between(low: float, high: float) -> float:
    """Return a number at or above `low` and below `high`, halfway if there is one."""
    middle = low / 2.0 + high / 2.0
    return float(middle if low <= middle < high else low)
