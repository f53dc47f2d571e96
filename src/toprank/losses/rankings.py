"""Losses that are the worst case over rankings, and what proves a lower bound of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs.class_split import Split
from ..rounding import STEPS, gamma
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


__all__ = ["Mixture", "Plane", "Ranking", "RankingLoss", "falling"]
