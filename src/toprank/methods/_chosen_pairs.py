"""The chosen pairs of active sampling, and how much the loss of each counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..designs import NO_ROW
from ..split import Split

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

WEIGHTINGS = ("rate", "paper", "plain", "none")
#: 1/p has no bound: a pair that is accepted more rarely than this counts no more for it.
P_MIN = 0.01


def loss_weights(weighting: str, p: Array, rate: Array, share: Array, importance: Array) -> Array:
    """The c_q as parts of a whole: v / sum v, where v is `importance` times one of these.

    "rate"   a_t / max(p, 0.01), a_t the mean acceptance of the round (`rate`): how much more rarely
             the pair is chosen than a uniform choice would; gamma counts in the sampling only
    "plain"  Gamma / p, Gamma the share of the pair's type: gamma, or 1 - gamma for a point
    "paper"  the same over the sum of 1 / p, as printed: for 0 < gamma < 1 less than one together
    "none"   1
    """
    if weighting == "none":
        v = importance
    elif weighting == "rate":
        v = importance * (rate / np.maximum(p, P_MIN))
    else:
        inverse = importance * (p.min() / p)
        v = inverse * share
        if weighting == "paper":
            return np.asarray(v / inverse.sum())
    return np.asarray(v / v.sum())


class ChosenPairs:
    """L*: the rows of the pairs drawn so far, and what their weights are made of."""

    def __init__(self, split: Split, gamma: float, budget: int) -> None:
        self.gamma, self.budget, self._size = gamma, budget, 0
        self._rows = np.empty((2, budget), dtype=np.int64)
        # Of each pair: p, the a_t of its round, the share of its type, the weight of its rows.
        self._numbers = np.ones((4, budget))
        self._in_class, self._in_all = _row_weights(split)

    def __len__(self) -> int:
        return self._size

    @property
    def first(self) -> Rows:
        """The positive rows; -1 for none."""
        return self._rows[0, : self._size]

    @property
    def second(self) -> Rows:
        """The negative rows; -1 for none."""
        return self._rows[1, : self._size]

    def add(self, first: Rows, second: Rows, p: Array, acceptance: float) -> None:
        """Move pairs here that were drawn with p, in a round with this mean acceptance."""
        new = slice(self._size, self._size + len(first))
        self._size = new.stop
        real = np.minimum(first, second) != NO_ROW
        self._rows[:, new] = first, second
        self._numbers[0, new] = p
        self._numbers[1, new] = acceptance
        self._numbers[2, new] = np.where(real, self.gamma, 1.0 - self.gamma)
        if self._in_class is not None and self._in_all is not None:
            pair, point = self._in_class[first] * self._in_class[second], np.maximum(first, second)
            self._numbers[3, new] = np.where(real, pair, self._in_all[point])

    def weights(self, weighting: str) -> Array:
        """c_q, which are |L*| / B together."""
        numbers = self._numbers[:, : self._size]
        return self._size / self.budget * loss_weights(weighting, *numbers)


def _row_weights(split: Split) -> tuple[Array | None, Array | None]:
    """Rows' weights over their mean: in their class, and among all rows; None if they are equal."""
    m, n = len(split.pos), len(split.neg)
    share = split.positive_share
    if np.ptp(split.p) == np.ptp(split.q) == 0.0 and share == m / (m + n):
        return None, None
    in_class, in_all = np.ones((2, split.n_rows + 1))  # the last place is that of NO_ROW
    in_class[split.pos], in_class[split.neg] = m * split.p, n * split.q
    in_all[split.pos] = (m + n) * share * split.p
    in_all[split.neg] = (m + n) * (1.0 - share) * split.q
    return in_class, in_all
