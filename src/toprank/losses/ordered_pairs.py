"""Pairs weighed by their order: the higher the negative, the more it counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..inputs.class_split import Split
from ..rounding import STEPS, gamma
from .rankings import Plane, Ranking, RankingLoss, falling
from .rounded import DualRounding

Array = NDArray[np.float64]


class OrderedPairsLoss(RankingLoss):
    """F(s) = sum_i p_i sum_j b_j [1 + t_j - s_i]_+,  t the negatives' scores, the highest first.

    The weights b_1 >= b_2 >= ... >= 0 sum to one. As they fall, any other order of the negatives,
    and any other number of them above a positive, gives no more: F is the maximum over rankings,
    and convex. A ranking has the level sum_i p_i B(r_i), B(r) = b_1 + ... + b_r, r_i the negatives
    above i.
    """

    def __init__(self, split: Split, weights: Array) -> None:
        super().__init__(split)
        if np.ptp(split.q) > 0.0:
            raise ValueError(
                "The negatives have different weights, and weights by order count whole negatives: "
                "leave sample_weight out for them, or repeat the rows that are to count twice."
            )
        self.weights = weights
        self.upto = np.concatenate([[0.0], np.cumsum(weights)])
        self.tied_at_zero = bool(np.ptp(weights) > 0.0)

    @property
    def at_zero(self) -> float:
        """F(0) = 1."""
        return 1.0

    def worst_ranking(self, s: Array) -> Ranking:
        """The negatives by their scores, and those above a positive with which it has a loss."""
        s_pos, s_neg = s[self.split.pos], s[self.split.neg]
        order = falling(s_neg)
        return self.ranking(np.searchsorted(-(1.0 + s_neg[order]), -s_pos), order)

    def plane(self, ranking: Ranking) -> Plane:
        """The level sum_i p_i B(r_i), and the slope."""
        above, order = self.parts(ranking)
        p, v = self.split.p, np.zeros(self.split.n_rows)
        lost = self.upto[above]
        v[self.split.pos] = -p * lost
        v[self.split.neg[order]] = self.weights * self.beneath(above, p)
        return Plane(float(p @ lost), v)

    @property
    def _digits(self) -> float:
        """What rounding does to running sums of weights."""
        return gamma(2 * (self.m + self.n + STEPS))

    def value_rounding(self, s: Array, value: float) -> float:
        """Levels and slopes are rounded, and so are their products with the scores."""
        largest = max(np.abs(s[self.split.pos]).max(), np.abs(s[self.split.neg]).max())
        return self._digits * (1.0 + 6.0 * (1.0 + float(largest)))

    def plane_rounding(self) -> DualRounding:
        """A share off every entry leaves weights of pairs that are surely allowed."""
        return DualRounding(4.0 * self._digits, 2.0 * self._digits)
