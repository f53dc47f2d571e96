"""The chosen pairs of active sampling, and how much the loss of each counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...designs import NO_ROW
from ...inputs.class_split import Split

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

WEIGHTINGS = ("rate", "paper", "plain", "none")
#: 1/p has no bound: a pair that is accepted more rarely than this counts no more for it.
P_MIN = 0.01
#: The product of two rows' weights may vanish: no pair counts less, so that their sum is not zero.
LIGHTEST = 1e-200


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
        self.gamma, self.budget = gamma, budget
        #: The positive and the negative row of each; -1 for none.
        self.first, self.second = np.empty((2, 0), dtype=np.int64)
        # Of each: p, the a_t of its round, the share of its type, the weight of its rows.
        self._numbers = np.empty((4, 0))
        self._in_class, self._in_all = _row_weights(split)

    def __len__(self) -> int:
        return len(self.first)

    def add(self, first: Rows, second: Rows, p: Array, acceptance: float) -> None:
        """Move pairs here that were drawn with p, in a round with this mean acceptance."""
        self.first = np.concatenate([self.first, first])
        self.second = np.concatenate([self.second, second])
        real = np.minimum(first, second) != NO_ROW
        new = np.ones((4, len(first)))
        new[0], new[1] = p, acceptance
        new[2] = np.where(real, self.gamma, 1.0 - self.gamma)
        if self._in_class is not None and self._in_all is not None:
            pair, point = self._in_class[first] * self._in_class[second], np.maximum(first, second)
            new[3] = np.maximum(np.where(real, pair, self._in_all[point]), LIGHTEST)
        self._numbers = np.concatenate([self._numbers, new], axis=1)

    def weights(self, weighting: str) -> Array:
        """c_q, which are |L*| / B together."""
        return len(self) / self.budget * loss_weights(weighting, *self._numbers)


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
