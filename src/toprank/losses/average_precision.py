"""Average precision, as the worst case over rankings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from ..inputs.class_split import Split
from ..rounding import STEPS, UNIT, gamma
from .rankings import Plane, Ranking, RankingLoss, falling
from .rounded import DualRounding

Array = NDArray[np.float64]
Places = NDArray[np.int64]

#: Operations in the gain of a place beside its sums: digamma, products, differences.
_GAIN_STEPS = 64


class AveragePrecisionLoss(RankingLoss):
    """F(s) = max over rankings of  1 - AP - 2/(mn) sum over j above i of (s_i - s_j).

    i are positives and j negatives; AP is the mean over the positives of the share of positives
    among the rows down to it. The worst ranking has each class in the order of its scores. With
    positives s_1 >= s_2 >= ... and negatives t_1 >= t_2 >= ..., negative j gains by standing above
    the positives k to m

        A(j, k) = 1/m sum_{i=k..m} i / ((i+j-1)(i+j)) - 2/(mn) sum_{i=k..m} (s_i - t_j),

    where the first sum is H_{m+j} - H_{k+j-1} - (j-1)(m+1-k) / ((k+j-1)(m+j)), H the harmonic
    numbers. Its terms fall as j grows, so that the best k does not fall: the best one of the middle
    j bounds those of the others, in (m + n) log n evaluations in all.

    It counts rows, which must all weigh the same.
    """

    def __init__(self, split: Split) -> None:
        super().__init__(split)
        if not split.equal:
            raise ValueError(
                "Average precision counts rows: sample_weight must be the same for all rows, or "
                "zero for rows to leave out. Repeat a row that is to count twice."
            )
        #: H_0, ..., H_{m+n}.
        self._harmonic = digamma(np.arange(1, self.m + self.n + 2)) - digamma(1.0)
        self._at_zero = float((self.n / np.arange(self.n + 1.0, self.n + self.m + 1.0)).mean())

    @property
    def at_zero(self) -> float:
        """F(0) = 1 - AP with all negatives on top."""
        return self._at_zero

    @property
    def zero_rounding(self) -> float:
        """A mean over the positives."""
        return gamma(self.m + STEPS) * self._at_zero

    def worst_ranking(self, s: Array) -> Ranking:
        """Each class by its scores, each negative just above the positive where it gains most."""
        s_pos, s_neg = s[self.split.pos], s[self.split.neg]
        pos_order, neg_order = falling(s_pos), falling(s_neg)
        places = self.best_places(s_pos[pos_order], s_neg[neg_order])
        above = np.empty(self.m, dtype=np.int64)
        # Negatives j with k_j <= i stand above positive i.
        above[pos_order] = np.cumsum(np.bincount(places, minlength=self.m + 2))[1:-1]
        return self.ranking(above, neg_order)

    def best_places(self, s_pos: Array, s_neg: Array) -> Places:
        """k_1 <= ... <= k_n for scores in falling order; m + 1 is below all positives."""
        m, n = self.m, self.n
        upto = np.concatenate([[0.0], np.cumsum(s_pos)])
        best = np.empty(n, dtype=np.int64)
        # Stretches of negatives [first, last) that are not placed, and where they may be.
        first, last = np.array([0]), np.array([n])
        least, most = np.array([1]), np.array([m + 1])
        while len(first):
            middle = (first + last) // 2
            k = self._best_of(middle, least, most, upto, s_neg)
            best[middle] = k
            first, last = np.concatenate([first, middle + 1]), np.concatenate([middle, last])
            least, most = np.concatenate([least, k]), np.concatenate([k, most])
            open_ = first < last
            first, last, least, most = first[open_], last[open_], least[open_], most[open_]
        return best

    def _best_of(self, j: Places, least: Places, most: Places, upto: Array, t: Array) -> Places:
        """The k from `least` to `most` with the largest A(j, k), the smallest of several."""
        lengths = most - least + 1
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        k = np.arange(int(lengths.sum())) + np.repeat(least - starts, lengths)
        gain = self._gain(np.repeat(j + 1, lengths), k, upto, np.repeat(t[j], lengths))
        highest = np.repeat(np.maximum.reduceat(gain, starts), lengths)
        found = np.where(gain >= highest, k, self.m + 1)
        return np.minimum.reduceat(found, starts)

    def _gain(self, j: Places, k: Places, upto: Array, t: Array) -> Array:
        """m A(j, k)."""
        m, n = self.m, self.n
        below = m + 1 - k
        lost = self._harmonic[m + j] - self._harmonic[k + j - 1]
        lost -= (j - 1) * below / ((k + j - 1.0) * (m + j))
        return np.asarray(lost - (2.0 / n) * (upto[m] - upto[k - 1] - below * t))

    def plane(self, ranking: Ranking) -> Plane:
        """The level 1 - AP and the slope: 2/(mn) for every pair in the wrong order."""
        above, order = self.parts(ranking)
        downwards = np.sort(above)
        unit = 2.0 / (self.m * float(self.n))
        v = np.zeros(self.split.n_rows)
        v[self.split.pos] = -unit * above
        v[self.split.neg[order]] = unit * self.beneath(above)
        return Plane(float((downwards / (np.arange(1, self.m + 1) + downwards)).mean()), v)

    def value_rounding(self, s: Array, value: float) -> float:
        """Levels and slopes are rounded, and so are the gains by which places are chosen."""
        of_gains = self.n / self.m * _GAIN_STEPS * UNIT * float(self._harmonic[-1])
        return of_gains + gamma(self.m + self.n + _GAIN_STEPS) * (1.0 + 12.0 * self.largest(s))

    def plane_rounding(self) -> DualRounding:
        """A mean of fractions, and counts times a number."""
        return DualRounding(gamma(self.m + STEPS), gamma(STEPS))
