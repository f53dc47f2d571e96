"""The two classes of a training set, and the weights of their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from .row_weights import Places


@dataclass(frozen=True)
class Split:
    """Positive and negative rows with weights that sum to one on each side.

    A row of weight zero is in neither class: it is as if absent.
    """

    n_rows: int
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    #: What the positives have of the weight of all rows.
    positive_share: float = 0.5
    #: What the negatives have, where that is known better than as the rest.
    negative_share: float | None = None

    @classmethod
    def of(
        cls,
        positive: NDArray[np.bool_],
        sample_weight: NDArray[np.float64] | None = None,
        *,
        one_class: bool = False,
        listed: bool = True,
    ) -> Split:
        """Split rows by a mask of the positive ones; `one_class` if a class may be missing.

        Rows with weights are not `listed` where lists of them would be too long.
        """
        if not one_class and (sample_weight is None or not listed):
            return EvenSplit.of_rows(positive, sample_weight)
        negative = ~positive
        if sample_weight is not None:
            weighted = sample_weight > 0
            positive, negative = positive & weighted, negative & weighted
        pos, neg = np.flatnonzero(positive), np.flatnonzero(negative)
        if not one_class:
            refuse_one_class(len(pos), len(neg))

        share = len(pos) / max(len(pos) + len(neg), 1)
        rest = len(neg) / max(len(pos) + len(neg), 1)
        if sample_weight is not None and len(pos) and len(neg):
            unit = sample_weight.max()
            above, below = (float((sample_weight[rows] / unit).sum()) for rows in (pos, neg))
            share, rest = above / (above + below), below / (above + below)

        def shares(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            if sample_weight is None or not len(rows):
                return rows, np.full(len(rows), 1.0 / max(len(rows), 1))
            weight = sample_weight[rows]
            # Divided by the largest first: the sum of huge weights must not overflow.
            weight = weight / weight.max()
            weight = weight / weight.sum()
            # What vanishes beside the largest weighs nothing: losses divide by shares.
            kept = weight >= np.finfo(np.float64).tiny
            return rows[kept], weight[kept]

        pos, p = shares(pos)
        neg, q = shares(neg)
        return cls(len(positive), pos, neg, p, q, share, rest)

    @property
    def shares(self) -> tuple[float, float]:
        """What the two classes have of the weight of all rows, the positives first."""
        known = self.negative_share
        return self.positive_share, 1.0 - self.positive_share if known is None else known

    @property
    def rows(self) -> NDArray[np.int64] | None:
        """The rows of both classes, in order; None: all."""
        if len(self.pos) + len(self.neg) == self.n_rows:
            return None
        return np.sort(np.concatenate([self.pos, self.neg]))

    @property
    def counts(self) -> tuple[int, int]:
        """How many rows the two classes have."""
        return len(self.pos), len(self.neg)

    @property
    def sides(self) -> tuple[int, int, float, float]:
        """How many rows the two classes have, and what these weigh: the negatives below zero."""
        return *self.counts, float(self.p.sum()), -float(self.q.sum())

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive."""
        positive = np.zeros(self.n_rows, dtype=bool)
        positive[self.pos] = True
        return positive

    @property
    def tilt(self) -> NDArray[np.float64]:
        """The weights of all rows, those of negatives below zero; zero for those of no class."""
        tilt = np.zeros(self.n_rows)
        tilt[self.pos], tilt[self.neg] = self.p, -self.q
        return tilt

    def tilt_of(self, begin: int, end: int) -> NDArray[np.float64]:
        """The weights of the rows from `begin` up to `end`, those of negatives below zero."""
        return self.part(begin, end).tilt

    def without_lightest(self, share: float) -> Split:
        """Without the lightest rows of each class, as many as weigh `share` of it together."""

        def heavier(
            rows: NDArray[np.int64], weight: NDArray[np.float64]
        ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            order = np.argsort(weight, kind="stable")
            kept = np.sort(order[np.cumsum(weight[order]) > share])
            return rows[kept], weight[kept]

        if min(self.p.min(), self.q.min()) > share:
            return self
        pos, p = heavier(self.pos, self.p)
        neg, q = heavier(self.neg, self.q)
        return Split(self.n_rows, pos, neg, p, q, self.positive_share)

    @property
    def lightest_pair(self) -> float:
        """What the pair of the lightest positive and the lightest negative weighs."""
        return float(self.p.min() * self.q.min())

    def part(self, begin: int, end: int) -> Split:
        """The rows from `begin` up to `end`, as rows from 0 on, with the weights they have here."""

        def within(rows: NDArray[np.int64]) -> slice:
            return slice(*np.searchsorted(rows, [begin, end]))

        i, j = within(self.pos), within(self.neg)
        pos, neg = self.pos[i] - begin, self.neg[j] - begin
        return Split(end - begin, pos, neg, self.p[i], self.q[j], self.positive_share)

    def only(self, rows: NDArray[np.int64]) -> Split:
        """The split with these rows alone, as if the others had no weight."""
        kept = np.zeros(self.n_rows, dtype=bool)
        kept[rows] = True

        def side(
            own: NDArray[np.int64], weight: NDArray[np.float64]
        ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            own, weight = own[kept[own]], weight[kept[own]]
            return own, weight / weight.sum() if len(own) else weight

        (pos, p), (neg, q) = side(self.pos, self.p), side(self.neg, self.q)
        above = self.shares[0] * float(self.p[kept[self.pos]].sum())
        below = self.shares[1] * float(self.q[kept[self.neg]].sum())
        if not above + below > 0.0:
            return Split(self.n_rows, pos, neg, p, q, *self.shares)
        share, rest = above / (above + below), below / (above + below)
        return Split(self.n_rows, pos, neg, p, q, share, rest)

    def weighing(self, of_pos: float, of_neg: float) -> Split:
        """The same rows with weights that sum to these numbers."""
        return Split(
            self.n_rows, self.pos, self.neg, of_pos * self.p, of_neg * self.q, self.positive_share
        )

    def swapped(self) -> Split:
        """The classes with their roles exchanged."""
        return Split(self.n_rows, self.neg, self.pos, self.q, self.p, 1.0 - self.positive_share)

    def worse(self, scores: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores with every positive lowered, and every negative raised, by so much."""
        moved = scores.copy()
        moved[self.pos] -= by[self.pos]
        moved[self.neg] += by[self.neg]
        return moved

    @cached_property
    def equal(self) -> bool:
        """Whether all rows of the two classes have the same weight."""
        m, n = len(self.pos), len(self.neg)
        return bool(np.ptp(self.p) == np.ptp(self.q) == 0.0 and self.positive_share == m / (m + n))

    def share_threshold(self, scores: NDArray[np.float64]) -> float:
        """A score that the positives' share of the weight lies above, as nearly as can be."""
        m, n, share, equal = len(self.pos), len(self.neg), self.positive_share, self.equal
        own = scores
        if not equal or m + n < len(scores):
            own = np.concatenate([scores[self.pos], scores[self.neg]])
        weight = None if equal else np.concatenate([share * self.p, (1.0 - share) * self.q])
        return share_threshold(own, weight, share)


def refuse_one_class(n_pos: int, n_neg: int) -> None:
    """Raise if one of the classes has no row."""
    if not (n_pos and n_neg):
        side = "positive" if not n_pos else "negative"
        raise ValueError(
            f"There is no {side} row with a weight above zero: "
            "ranking needs at least one row of each class."
        )


class EvenSplit(Split):
    """Rows that all have the same weight in their class, or the weights they were given.

    Nothing as long as the rows is made before it is asked for: beside a fit of few passes that
    would take long, and of a file that is larger than memory it would not fit.
    """

    _places: Places
    _each: tuple[float, float]

    def __init__(
        self, places: Places, each: tuple[float, float], shares: tuple[float, float | None]
    ) -> None:
        own = {"n_rows": len(places.positive), "_places": places, "_each": each}
        # Frozen, as all splits are.
        self.__dict__.update(own, positive_share=shares[0], negative_share=shares[1])

    @classmethod
    def of_rows(
        cls, positive: NDArray[np.bool_], weight: NDArray[np.float64] | None = None
    ) -> EvenSplit:
        """Split rows by a mask of the positive ones."""
        places = Places(positive, weight)
        refuse_one_class(places.n_pos, places.n_neg)
        m, n = places.totals
        return cls(places, (1.0 / m, 1.0 / n), (m / (m + n), n / (m + n)))

    @property
    def pos(self) -> NDArray[np.int64]:
        """The positive rows."""
        return self._places.pos

    @property
    def neg(self) -> NDArray[np.int64]:
        """The negative rows."""
        return self._places.neg

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive."""
        places = self._places
        return places.positive if places.weight is None else super().positive

    @property
    def counts(self) -> tuple[int, int]:
        """How many rows the two classes have, without a list of them."""
        return self._places.n_pos, self._places.n_neg

    @property
    def sides(self) -> tuple[int, int, float, float]:
        """How many rows the two classes have, and what these weigh: the negatives below zero."""
        (m, n), each = self._places.totals, self._each
        return *self.counts, each[0] * m, -each[1] * n

    @cached_property
    def p(self) -> NDArray[np.float64]:
        """The weights of the positive rows."""
        return self._places.weights(self.pos, self._each[0])

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """The weights of the negative rows."""
        return self._places.weights(self.neg, self._each[1])

    @property
    def rows(self) -> NDArray[np.int64] | None:
        """The rows of both classes, in order; None: all."""
        places = self._places
        return None if places.n_pos + places.n_neg == self.n_rows else super().rows

    @property
    def tilt(self) -> NDArray[np.float64]:
        """The weights of all rows, those of negatives below zero."""
        return self.tilt_of(0, self.n_rows)

    def tilt_of(self, begin: int, end: int) -> NDArray[np.float64]:
        """The weights of the rows from `begin` up to `end`, those of negatives below zero."""
        return self._places.tilt_of(begin, end, self._each)

    def weighing(self, of_pos: float, of_neg: float) -> EvenSplit:
        """The same rows with weights that sum to these numbers."""
        each = of_pos * self._each[0], of_neg * self._each[1]
        return EvenSplit(self._places, each, (self.positive_share, None))


def share_threshold(
    scores: NDArray[np.float64], weight: NDArray[np.float64] | None, share: float
) -> float:
    """A score that this share of the weight lies above, as nearly as can be; ties go together."""
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
    """A number at or above `low` and below `high`, halfway if there is one."""
    middle = low / 2.0 + high / 2.0
    return float(middle if low <= middle < high else low)
