"""The loss of TopPush: every positive against the highest negative."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..split import Split
from ..surrogates import Surrogate
from .base import Loss

Array = NDArray[np.float64]


class TopLoss(Loss):
    """F(s) = sum_i p_i l(t - s_i),  t = max_j s_j.

    Its dual vectors are v = (-a on the positives, +delta on the negatives) with delta >= 0,
    0 <= a_i <= p_i l'(inf) and sum a = sum delta; there F*(v) = sum_i p_i l*(a_i / p_i).
    """

    def __init__(self, split: Split, surrogate: Surrogate) -> None:
        self.split = split
        self.surrogate = surrogate

    @property
    def at_zero(self) -> float:
        """F(0) = l(0)."""
        return self.surrogate.at_zero

    def rise(self, s_pos: Array, top: float) -> tuple[float, float]:
        """F - F(0) from the positives' scores and the highest negative's, and its rounding error.

        Whether a w is better than w = 0 is asked where both are almost equal: at a huge alpha,
        and where nothing is better.
        """
        terms = self.split.p * self.surrogate.rise(top - s_pos)
        scores = abs(top) + float(self.split.p @ np.abs(s_pos))
        return float(terms.sum()), 1e-13 * float(np.abs(terms).sum()) + 1e-15 * scores

    def level(self, s_pos: Array, top: float) -> float:
        """F itself: where it is far below F(0), F(0) + rise would be all rounding."""
        return float((self.split.p * self.surrogate.value(top - s_pos)).sum())

    def value(self, s: Array) -> float:
        """F(s)."""
        return self.level(s[self.split.pos], self.top(s))

    def top(self, s: Array) -> float:
        """The highest negative's score."""
        return float(s[self.split.neg].max())

    def slope(self, s: Array) -> Array:
        """The subgradient that charges the first of the highest negatives."""
        s_neg = s[self.split.neg]
        first = int(np.argmax(s_neg))
        a = self.split.p * self.surrogate.slope(s_neg[first] - s[self.split.pos])
        delta = np.zeros(len(s_neg))
        delta[first] = 1.0
        return self.join(a, delta)

    def conjugate(self, v: Array) -> float:
        """F*(v); the sums of v need agree to rounding only, for `join` makes them agree."""
        a, delta = self.parts(v)
        total = a.sum() + delta.sum()
        outside = v.copy()
        outside[self.split.pos] = outside[self.split.neg] = 0.0
        if outside.any() or (delta < 0).any() or abs(a.sum() - delta.sum()) > 1e-12 * total:
            return float(np.inf)
        return float(self.split.p @ self.surrogate.conjugate(a / self.split.p))

    def parts(self, v: Array) -> tuple[Array, Array]:
        """The duals a and delta in v."""
        return -v[self.split.pos], v[self.split.neg]

    def join(self, a: Array, delta: Array) -> Array:
        """The dual vector of a >= 0 and delta >= 0, delta scaled so that the sums agree."""
        v = np.zeros(self.split.n_rows)
        total = delta.sum()
        v[self.split.pos] = -a
        v[self.split.neg] = delta * (a.sum() / total) if total > 0 else 0.0
        return v
