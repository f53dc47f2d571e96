"""Worst-case losses over rankings: ordered pairs, partial AUC, average precision."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from ..inputs.class_split import Split
from ..rounding import STEPS, UNIT, gamma
from .base import Loss
from .rounded import DualRounding

Array = NDArray[np.float64]
#: How many negatives stand above each of the m positives; then the n negatives from the top down.
#: Both classes are numbered as the split has them.
Ranking = NDArray[np.int32]


class Plane(NamedTuple):
    """What a ranking says of every score vector: F(s) >= level + v.s."""

    level: float
    v: Array


@dataclass(frozen=True)
class Mixture:
    """Rankings, one a row, with weights that sum to one: F(s) >= the mean of their planes.

    So F*(v) <= -(the mean level) at the mean slope v. It proves a bound by itself: what a ranking
    says is computed from the ranking, not taken from whoever chose it.
    """

    rankings: NDArray[np.int32]
    weights: Array


class RankingLoss(Loss):
    """F(s) = max over rankings r of  level(r) + v(r).s,  a polyhedral function of the scores.

    The level is what the ranking loses by the measure in question; v is zero or less on positives,
    zero or more on negatives, and sums to zero. A subclass says which ranking is the worst at s
    (`worst_ranking`), and what a ranking says (`plane`), whether or not it is the worst anywhere.
    """

    over_rankings = True
    shift_invariant = True
    has_conjugate = False

    def __init__(self, split: Split) -> None:
        self.split = split
        self.m, self.n = len(split.pos), len(split.neg)

    @abstractmethod
    def worst_ranking(self, s: Array) -> Ranking:
        """A ranking at which the maximum is reached."""

    @abstractmethod
    def plane(self, ranking: Ranking) -> Plane:
        """The level and the slope of a ranking."""

    @abstractmethod
    def plane_rounding(self) -> DualRounding:
        """What rounding can have done to a plane: to its level, and to its slope."""

    @property
    def perfect(self) -> Ranking:
        """All positives first: its level and its slope are zero."""
        return self.ranking(np.zeros(self.m), np.arange(self.n))

    def value(self, s: Array) -> float:
        """F(s)."""
        level, v = self.plane(self.worst_ranking(s))
        return level + float(v @ s)

    def slope(self, s: Array) -> Array:
        """A subgradient of F at s."""
        return self.plane(self.worst_ranking(s)).v

    def conjugate(self, v: Array) -> float:
        """F*(v), which is known of mixtures of rankings only: see `mixed`."""
        raise NotImplementedError(f"The conjugate of {self} is known of mixtures of rankings only.")

    def mixed(self, mixture: Mixture) -> tuple[Plane, DualRounding]:
        """The mean of the planes of a mixture, and what rounding can have done to it."""
        weights = mixture.weights / mixture.weights.sum()
        if not (weights >= 0.0).all():  # NaN too
            raise ValueError("The weights of a mixture of rankings must be positive numbers.")
        if not self.fits(mixture):
            raise ValueError(
                f"A ranking must place {self.m} positives and name each of {self.n} negatives once."
            )
        level, v = 0.0, np.zeros(self.split.n_rows)
        for ranking, weight in zip(mixture.rankings, weights, strict=True):
            own = self.plane(ranking)
            level += float(weight) * own.level
            v += weight * own.v
        off = self.plane_rounding()
        more = gamma(len(weights) + STEPS)
        return Plane(level, v), DualRounding(off.value + more * level, off.share + more, off.mass)

    def fits(self, mixture: Mixture) -> bool:
        """Whether its rankings are of this many positives and negatives."""
        return all(self._is_ranking(one) for one in mixture.rankings)

    def _is_ranking(self, ranking: Ranking) -> bool:
        above, order = self.parts(ranking)
        seen = np.zeros(self.n, dtype=bool)
        if len(order) == self.n and ranking.min() >= 0 and above.max() <= self.n > order.max():
            seen[order] = True
        return bool(seen.all())

    def largest(self, s: Array) -> float:
        """The largest score of a row that takes part, without its sign."""
        return max(float(np.abs(s[rows]).max()) for rows in (self.split.pos, self.split.neg))

    def ranking(self, above: NDArray[Any], order: NDArray[Any]) -> Ranking:
        """The ranking with so many negatives above each positive, the negatives in this order."""
        return np.concatenate([above, order]).astype(np.int32)

    def parts(self, ranking: Ranking) -> tuple[Ranking, Ranking]:
        """The negatives above each positive, and the order of the negatives."""
        return ranking[: self.m], ranking[self.m :]

    def beneath(self, above: Ranking, weight: Array | None = None) -> Array:
        """How many positives stand below the negative at each place, or what they weigh."""
        at = np.bincount(above, weight, self.n + 1)
        return np.asarray(np.cumsum(at[:0:-1])[::-1])


def falling(values: Array) -> NDArray[np.int64]:
    """The order from the largest value down, equal ones as they come: a stable sort, but faster."""
    order = np.argsort(-values)
    new = np.diff(values[order]) != 0.0
    if not new.all():
        # By the number of its value, then by itself.
        number = np.concatenate([[0], np.cumsum(new)])
        order = np.sort(number * len(values) + order) % len(values)
    return order


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


class PartialAUCLoss(RankingLoss):
    """F(s) = 1/(b - a) sum_i p_i max over r of  L(V_r) + sum_{j <= r} v_j (t_j - s_i).

    The negatives come in falling order of their scores t; those before the end of place r weigh
    U_r = q_1 + ... + q_r, and L(V) = [min(V, b) - a]_+ of it lies at false positive rates between a
    and b. Loose: v_j = q_j, V_r = U_r. Tight: the negatives count up to the rate b only, V_r =
    min(U_r, b) and v_j = V_j - V_{j-1}. For a = 0 the tight one is the mean over the positives and
    the highest negatives, a share b of them, of the hinge [1 + t_j - s_i]_+.

    L is convex up to b. So the tight loss is the same if a row is cut in pieces: weights are
    repeated rows. The loose one counts whole negatives, which must weigh the same.
    """

    def __init__(self, split: Split, a: float, b: float, *, tight: bool = True) -> None:
        super().__init__(split)
        if not tight and np.ptp(split.q) > 0.0:
            raise ValueError(
                "The negatives have different weights, and the loose form of the loss counts whole "
                "negatives: set tight=True, or leave sample_weight out."
            )
        self.a, self.b, self.tight = a, b, tight
        self.tied_at_zero = b < 1.0
        self._width = b - a

    @property
    def at_zero(self) -> float:
        """F(0) = 1: the range of rates is lost as a whole."""
        return 1.0

    def worst_ranking(self, s: Array) -> Ranking:
        """The negatives by their scores, and each positive where it loses most, by itself.

        Between the rates 0 and a, a and b, b and 1 the sums up to place r are concave in V_r: there
        the place is found by bisection, and the best of the three is taken.
        """
        s_pos, s_neg = s[self.split.pos], s[self.split.neg]
        order = self._order(s_neg)
        t, upto, v = s_neg[order], *self._masses(order)
        sums = self._lost(upto) + np.concatenate([[0.0], np.cumsum(v * t)])
        low = int(np.searchsorted(upto, self.a, side="left"))
        high = int(np.searchsorted(upto, self.b, side="left" if self.tight else "right"))
        last = len(upto)
        if self.tight:  # where V has come to b it stays there
            last = min(high + 1, last)
        best, above = np.full(self.m, -np.inf), np.zeros(self.m, dtype=np.int64)
        for first, end, gain in ((0, low, 0.0), (low, high, 1.0), (high, last, 0.0)):
            if first == end:
                continue
            # From place r on to r + 1 a positive gains  v (gain + t - s).
            place = first + np.searchsorted(-(gain + t[first : end - 1]), -s_pos)
            value = sums[place] - upto[place] * s_pos
            better = value > best
            best[better], above[better] = value[better], place[better]
        return self.ranking(above, order)

    def plane(self, ranking: Ranking) -> Plane:
        """The level sum_i p_i L(V_i) / (b - a), V_i the negatives above i, and the slope."""
        above, order = self.parts(ranking)
        p = self.split.p
        upto, of_neg = self._masses(order)
        of_pos = upto[above]
        v = np.zeros(self.split.n_rows)
        v[self.split.pos] = -p * of_pos / self._width
        v[self.split.neg[order]] = of_neg * self.beneath(above, p) / self._width
        return Plane(float(p @ self._lost(of_pos)) / self._width, v)

    def _order(self, s_neg: Array) -> NDArray[np.int64]:
        """The negatives from the highest down, as far as they count."""
        count = self.n
        if self.tight and np.ptp(self.split.q) == 0.0:
            count = int(np.ceil(self.b * self.n)) + 1  # one more, for rounding
        if count >= self.n // 2:
            return falling(s_neg)
        least = np.partition(s_neg, self.n - count)[self.n - count]
        high = s_neg >= least
        counts = np.flatnonzero(high)
        return np.concatenate([counts[falling(s_neg[counts])], np.flatnonzero(~high)])

    def _masses(self, order: NDArray[np.integer]) -> tuple[Array, Array]:
        """V_0, ..., V_n and v_1, ..., v_n of negatives in this order."""
        q = self.split.q[order]
        upto = np.concatenate([[0.0], np.cumsum(q)])
        if self.tight:
            # A row within the range counts for what it weighs, to the last digit.
            q = np.where(upto[1:] <= self.b, q, np.maximum(self.b - upto[:-1], 0.0))
            upto = np.minimum(upto, self.b)
        return upto, q

    def _lost(self, upto: Array) -> Array:
        """L(V)."""
        return np.maximum(np.minimum(upto, self.b) - self.a, 0.0)

    @property
    def _digits(self) -> float:
        """What rounding does to running sums of shares."""
        return gamma(2 * (self.m + self.n + STEPS))

    def value_rounding(self, s: Array, value: float) -> float:
        """Levels and slopes are rounded, and so are the sums by which a place is chosen."""
        most = self.b if self.tight else 1.0
        return self._digits * (1.0 + 6.0 * most * (1.0 + self.largest(s)) / self._width)

    def plane_rounding(self) -> DualRounding:
        """A share off every entry leaves weights of pairs that are surely allowed.

        Any V between 0 and b is, as L is convex there. In the loose form V is a whole number of
        equal negatives.
        """
        most = self.b if self.tight else 1.0
        return DualRounding(2.0 * self._digits * (1.0 + most / self._width), 2.0 * self._digits)


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


__all__ = ["Mixture", "Plane", "Ranking", "RankingLoss", "falling"]
