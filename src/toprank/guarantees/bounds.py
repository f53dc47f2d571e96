"""Bounds for the first k rows, for every k: urn quantiles, envelope, spread over folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from .._core import urn_crossing, urn_quantiles

Counts = NDArray[np.int64]

#: The envelope is held at places this many standard deviations of V apart, and at all small ones.
_FINENESS = 0.2
#: Local levels that are tried between one and its half: the choice is canonical.
_LEVELS = 8
#: The level, out of those, that fits most urns: the search begins there.
_USUAL = 28


def upper_quantile(n: int, m: int, c: int, level: float) -> int:
    """The least q with P(V(c) > q) <= level."""
    return int(urn_quantiles(n, m, np.array([c], dtype=np.int64), level, True)[0])


def lower_quantile(n: int, m: int, c: int, level: float) -> int:
    """The largest a with P(V(c) < a) <= level."""
    return int(urn_quantiles(n, m, np.array([c], dtype=np.int64), level, False)[0])


@dataclass(frozen=True, eq=False)
class Envelope:
    """B with V(c) <= B(c) for all c, or A with V(c) >= A(c) for all c, but for an `error`.

    Between two places of the grid the safe one of both is taken. Beyond the last, B is m.
    """

    n: int
    m: int
    upper: bool
    #: The error at every single place.
    local_level: float
    #: That at any place, which is delta at the most.
    error: float
    grid: Counts
    values: Counts

    def __call__(self, c: Counts | int) -> Counts:
        """B(c) or A(c)."""
        at = np.asarray(c)
        if self.upper:
            place = np.searchsorted(self.grid, at, side="left")
            return np.where(at < 0, 0, np.append(self.values, self.m)[place])
        place = np.searchsorted(self.grid, at, side="right")
        return np.where(at >= self.n, self.m, np.append(0, self.values)[place])


@lru_cache(maxsize=256)
def envelope(n: int, m: int, delta: float, *, upper: bool, last: int) -> Envelope:
    """The narrowest envelope with the same level at every place up to `last` and error <= delta.

    The level is delta 2^(-j/8), j the least that keeps delta, so that the answer depends on
    nothing else. The error falls as j grows, and the sum of the levels bounds it.
    """
    grid = _places(n, last)
    none, all_new = np.zeros(len(grid), dtype=np.int64), np.full(len(grid), m, dtype=np.int64)

    @cache
    def at_level(j: int) -> tuple[float, Counts]:
        values = urn_quantiles(n, m, grid, delta * 2.0 ** (-j / _LEVELS), upper)
        bounds = (none, values) if upper else (values, all_new)
        return urn_crossing(n, m, grid, *bounds), values

    low, high = -1, ceil(_LEVELS * log2(max(len(grid), 2)))
    middle = _USUAL if high > _USUAL else high // 2
    while high - low > 1:
        if at_level(middle)[0] <= delta:
            high = middle
        else:
            low = middle
        middle = (low + high) // 2
    error, values = at_level(high)
    return Envelope(n, m, upper, delta * 2.0 ** (-high / _LEVELS), error, grid, values)


def _places(n: int, last: int) -> Counts:
    """The c at which an envelope is held; `last` is below n, unless there are none."""
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    places, c = [], 0
    while c < last:
        places.append(c)
        c += max(1, int(_FINENESS * sqrt(c)))
    return np.array([*places, last], dtype=np.int64)


Array = NDArray[np.float64]

#: The shares of the list that its negatives are taken to be, at the most, once that is known.
_STEPS_DOWN = tuple(k / 10 for k in range(9, 0, -1))


@dataclass(frozen=True)
class Terms:
    """Checked parameters of `HeadBound`."""

    confidence: float
    assume: str
    k_max: int | None
    refine: bool
    gamma: float

    @property
    def delta(self) -> float:
        """The chance that a promise is broken."""
        return round(1.0 - self.confidence, 12)

    @property
    def of_rows(self) -> bool:
        """Return whether all rows of the list are like the calibration rows, not only negatives."""
        return self.assume == "rows"


class HeadBounds:
    """T_k, the positives among the first k rows, between bounds; each is computed when asked for.

    With ``assume="negatives"`` the order of calibration and list negatives is an urn's. With "rows"
    that of all rows is, so that positives can be counted too; half of the error is for each way.
    """

    def __init__(self, standing: Standing, terms: Terms) -> None:
        self._standing, self._terms = standing, terms
        self.n_rows = standing.n_rows
        self.n_negatives, self.n_positives = standing.n_negatives, standing.n_positives
        self.k = np.arange(1, standing.n_rows + 1)

    @property
    def calibration(self) -> int:
        """The calibration items of the urn."""
        rows = self.n_negatives + self.n_positives
        return rows if self._terms.of_rows else self.n_negatives

    def _last(self, k_max: int | None) -> int:
        """The last place of an envelope: half of the calibration rows, or those k_max reaches."""
        share = 0.5 if k_max is None else k_max / self.n_rows
        return max(0, min(self.calibration - 1, ceil((self.calibration + 1) * share)))

    def _at_most(self, m: int, delta: float, k_max: int | None) -> Envelope:
        last = self._last(k_max)
        return envelope(self.calibration, m, round(delta, 12), upper=True, last=last)

    def _at_least(self, delta: float) -> Envelope:
        last = self._last(self._terms.k_max)
        return envelope(self.calibration, self.n_rows, round(delta, 12), upper=False, last=last)

    @cached_property
    def false_upper(self) -> Counts:
        """At most so many of the first k are negative."""
        terms, n = self._terms, self.n_rows
        delta = terms.delta / 2 if terms.of_rows else terms.delta
        within = self._standing.negatives_from

        def bound(rows: int) -> Counts:
            new = ceil(terms.gamma * rows)
            return np.minimum(self._at_most(new, delta, terms.k_max)(within), self.k)

        found = bound(n)
        if not terms.of_rows and terms.refine:
            # As many as are surely positive are no negatives: the urn has fewer new items.
            steps, rows = [ceil(share * n) for share in _STEPS_DOWN], n
            while True:
                negatives = n - int((self.k - found).max())
                fewer = min((step for step in steps if step >= negatives), default=n)
                if fewer == rows:
                    break
                rows = fewer
                found = np.minimum(found, bound(rows))
        return self.k - spread_lower(self.k - found)

    @cached_property
    def lower(self) -> Counts:
        """At least so many of the first k are positive."""
        low = self.k - self.false_upper
        if self._terms.of_rows:
            by_positives = self._at_least(self._terms.delta / 2)(self._standing.positives_above - 1)
            low = np.maximum(low, by_positives)
        return spread_lower(low)

    @cached_property
    def upper(self) -> Counts:
        """At most so many of the first k are positive."""
        if not self._terms.of_rows:
            return self.k
        half, standing = self._terms.delta / 2, self._standing
        by_positives = self._at_most(self.n_rows, half, self._terms.k_max)(standing.positives_from)
        by_negatives = self.k - self._at_least(half)(standing.negatives_above - 1)
        return spread_upper(np.minimum(by_positives, by_negatives))

    @cached_property
    def left_upper(self) -> Counts:
        """At most so many positives come after the first k."""
        if not self._terms.of_rows:
            return self.n_rows - self.k
        below = self.n_positives - self._standing.positives_above
        bound = self._at_most(self.n_rows, self._terms.delta, None)(below)
        return np.minimum.accumulate(np.minimum(bound, self.n_rows - self.k))

    @cached_property
    def recall_lower(self) -> Array:
        """At least this share of all positives is among the first k."""
        if not self._terms.of_rows:
            return np.zeros(self.n_rows)
        terms = self._terms
        surer = Terms(1 - terms.delta / 2, terms.assume, terms.k_max, terms.refine, terms.gamma)
        half = HeadBounds(self._standing, surer)
        low, left = half.lower, half.left_upper
        return np.asarray(low / np.maximum(low + left, 1))

    @property
    def min_k(self) -> int:
        """The least k at which `lower` could be above 0."""
        terms = self._terms
        delta = terms.delta / 2 if terms.of_rows else terms.delta
        new = ceil(terms.gamma * self.n_rows)
        return int(self._at_most(new, delta, terms.k_max)(0)) + 1

    def lower_at(self, k: int) -> int:
        """A lower bound for one k that was fixed before the list was seen."""
        standing, delta = self._standing, self._terms.delta
        if standing.distinct:
            rows, c = k, int(standing.negatives_from[k - 1])
        else:
            rows, c = self._whole_groups(k)
        new = ceil(self._terms.gamma * self.n_rows)
        if not self._terms.of_rows:
            return max(0, rows - upper_quantile(self.n_negatives, new, c, delta))
        # Half of the error for each way; a tenth of the first half bounds the list's negatives.
        n = self.n_negatives + self.n_positives
        negatives = upper_quantile(n, self.n_rows, self.n_negatives, 0.05 * delta)
        one = rows - upper_quantile(self.n_negatives, negatives, c, 0.45 * delta)
        c = int(standing.positives_above[k - 1]) - 1
        return max(0, one, min(lower_quantile(n, self.n_rows, c, 0.5 * delta), k))

    def _whole_groups(self, k: int) -> tuple[int, int]:
        """The rows of the last whole group of ties within k, and the negatives above the next."""
        scores, over = self._standing.scores, self._standing.negatives_above
        if k == self.n_rows:
            return k, self._standing.negatives_in_all
        if scores[k] < scores[k - 1]:
            return k, int(over[k])
        return int(np.count_nonzero(scores > scores[k - 1])), int(over[k - 1])


def at_or_above(ascending: Array, cut: Array) -> Counts:
    """Return the number of scores at or above each cut."""
    return len(ascending) - np.searchsorted(ascending, cut, side="left")


def above(ascending: Array, cut: Array) -> Counts:
    """Return the number of scores above each cut."""
    return len(ascending) - np.searchsorted(ascending, cut, side="right")


@dataclass(frozen=True, eq=False)
class Standing:
    """The list from the top down, and the calibration rows at or above each of its rows."""

    #: Row numbers of the list, best first.
    order: NDArray[np.intp]
    #: The scores in that order; under several models the mean of their aligned scores.
    scores: Array
    n_negatives: int
    n_positives: int
    #: Calibration negatives at or above the k-th row, and above it.
    negatives_from: Counts
    negatives_above: Counts
    #: Calibration positives at or above the k-th row, and above it.
    positives_from: Counts
    positives_above: Counts
    #: Calibration negatives above the end of the list: all whose score is more than -inf.
    negatives_in_all: int
    #: Whether no two of the scores, calibration and list, are equal.
    distinct: bool

    @property
    def n_rows(self) -> int:
        """The length of the list."""
        return len(self.order)

    @classmethod
    def by_scores(cls, negatives: Array, positives: Array, new: Array) -> Standing:
        """By the scores of one model; both classes ascending."""
        order = np.argsort(-new, kind="stable")
        cut = new[order]
        together = np.concatenate([negatives, positives, new])
        return cls(
            order,
            cut,
            len(negatives),
            len(positives),
            at_or_above(negatives, cut),
            above(negatives, cut),
            at_or_above(positives, cut),
            above(positives, cut),
            int(above(negatives, np.array([-np.inf]))[0]),
            len(np.unique(together)) == len(together),
        )

    @classmethod
    def by_folds(cls, negatives: Sequence[Array], n_positives: int, new: Array) -> Standing:
        """By the models of several folds (CV+): a row is held against others by one model each.

        A calibration row is compared with the list under the model that has not seen it; `new` has
        a row for each fold. The list is ordered by how many calibration negatives are at or above,
        and by the mean score of the models, each brought to mean 0 and deviation 1 over the list,
        where that is the same. Positives are not counted: nothing is assumed of them.
        """
        counted = _over_folds(at_or_above, negatives, new)
        over = _over_folds(above, negatives, new)
        aligned = aligned_mean(new)
        order = np.lexsort((-aligned, counted))
        uncounted = np.zeros(len(order), dtype=np.int64)
        n_negatives = sum(map(len, negatives))
        return cls(
            order,
            aligned[order],
            n_negatives,
            n_positives,
            counted[order],
            over[order],
            uncounted,
            uncounted,
            n_negatives,
            distinct=True,
        )


def _over_folds(
    count: Callable[[Array, Array], Counts], negatives: Sequence[Array], new: Array
) -> Counts:
    """The counts of all folds together."""
    counts = [count(fold, scores) for fold, scores in zip(negatives, new, strict=True)]
    return np.asarray(np.sum(counts, axis=0, dtype=np.int64))


def aligned_mean(new: Array) -> Array:
    """The mean over models of their scores, each less its mean and over its deviation."""
    finite = np.nan_to_num(new, posinf=np.finfo(float).max / 4, neginf=-np.finfo(float).max / 4)
    largest = np.abs(finite).max(axis=1, keepdims=True)
    scaled = finite / np.where(largest > 0, largest, 1.0)
    spread = scaled.std(axis=1, keepdims=True)
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    return np.asarray((centred / np.where(spread > 0, spread, 1.0)).mean(axis=0))


def spread_lower(lower: Counts) -> Counts:
    """The best bound T_k >= L_k that follows from T_k <= T_(k+1) <= T_k + 1 and T_k >= 0."""
    k = np.arange(1, len(lower) + 1)
    risen = np.maximum.accumulate(np.maximum(lower, 0))
    return np.maximum(risen, k - np.minimum.accumulate((k - risen)[::-1])[::-1])


def spread_upper(upper: Counts) -> Counts:
    """The same for T_k <= U_k, with T_k <= k."""
    k = np.arange(1, len(upper) + 1)
    fallen = np.minimum.accumulate(np.minimum(upper, k)[::-1])[::-1]
    return np.minimum(fallen, k + np.minimum.accumulate(fallen - k))


__all__ = [
    "Envelope",
    "HeadBounds",
    "Standing",
    "Terms",
    "above",
    "aligned_mean",
    "at_or_above",
    "envelope",
    "lower_quantile",
    "spread_lower",
    "spread_upper",
    "upper_quantile",
]
