"""The bounds of a list, for every k = 1, ..., N at once."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from .envelope import Counts, Envelope, envelope, lower_quantile, upper_quantile
from .standing import Standing, spread_lower, spread_upper

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


__all__ = ["HeadBounds", "Terms"]
