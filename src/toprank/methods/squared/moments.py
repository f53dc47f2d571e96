"""Means and scatters that merge: all that the squared loss over pairs needs to know of the rows.

With psi = x_i - x_j over all pairs of a positive row i and a negative row j, weighted by the
product of their weights,

    E psi = m1 - m0,     E psi psi' = C1 + C0 + (m1 - m0)(m1 - m0)',

m the weighted means and C the covariances (divisor: the weight) of the classes. Exact, for the
average runs over the full product set. No pair is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...designs import Design, RowMoments
from ...rounding import STEPS, UNIT, gamma

Array = NDArray[np.float64]

#: Two squares of this side are 6.4 GB.
MOST_FEATURES = 20_000
#: What a sum may be off, relative to the size of its terms.
ROUNDING = 4.0 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Rounding:
    """How far computed moments can be from those of the rows.

    The mean of column j is off by `mean[j]` at the most, and the covariance of columns j and k by
    share size[j] size[k] + size[j] mean[k] + mean[j] size[k] + mean[j] mean[k].
    """

    share: float
    #: The root of the mean square of each column about the place where its sums were taken.
    size: Array
    mean: Array

    @classmethod
    def of_rows(cls, found: RowMoments) -> Rounding:
        """Of sums that went through so many roundings."""
        share = gamma(found.depth + STEPS)
        size = np.sqrt(np.maximum(found.square, 0.0) / found.weight) * (1.0 + share)
        # The mean of a column that is constant, and so has no square, is exact.
        off = np.where(size > 0.0, share * (np.abs(found.mean) + size), 0.0)
        if found.shift is not None:
            # What was taken off rounds every entry of the column to a share of what is left.
            moved = found.mean + found.shift
            off += STEPS * UNIT * (np.abs(moved) + np.abs(found.shift))
        return cls(share, size, off)

    @classmethod
    def none(cls, n_features: int) -> Rounding:
        """Of no rows."""
        return cls(0.0, np.zeros(n_features), np.zeros(n_features))

    def merge(self, other: Rounding, share: float, apart: Array, mean: Array) -> Rounding:
        """Of both, where `share` of the weight is the other's; `mean` is that of the rows of both.

        The means are `apart`.
        """
        square = (1.0 - share) * self.size**2 + share * other.size**2
        size = np.sqrt(square + share * (1.0 - share) * apart**2) * (1.0 + STEPS * UNIT)
        off = (1.0 - share) * self.mean + share * other.mean
        off += np.where(size > 0.0, STEPS * UNIT * (np.abs(mean) + size), 0.0)
        return Rounding(max(self.share, other.share) + STEPS * UNIT, size, off)

    def sum(self, other: Rounding) -> Rounding:
        """Of the difference of two means and the sum of two covariances."""
        share = max(self.share, other.share) + STEPS * UNIT
        return Rounding(share, self.size + other.size, self.mean + other.mean)


@dataclass(frozen=True)
class Moments:
    """The weight of some rows, their mean, and their scatter sum v (x - mean)(x - mean)'.

    Rows may be the features psi of pairs: the pairwise squared loss is a function of these.
    """

    weight: float
    mean: Array
    scatter: Array
    rounding: Rounding

    @classmethod
    def none(cls, n_features: int) -> Moments:
        """Of no rows."""
        square = np.zeros((n_features, n_features))
        return cls(0.0, np.zeros(n_features), square, Rounding.none(n_features))

    @classmethod
    def of_rows(cls, found: RowMoments) -> Moments:
        """What a design has found of some rows."""
        if found.weight == 0.0:
            return cls.none(len(found.mean))
        mean = found.mean if found.shift is None else found.mean + found.shift
        return cls(found.weight, mean, found.scatter, Rounding.of_rows(found))

    def merge(self, other: Moments) -> Moments:
        """The moments of the rows of both."""
        if other.weight == 0.0 or self.weight == 0.0:
            return self if other.weight == 0.0 else other
        weight = self.weight + other.weight
        apart, share = other.mean - self.mean, other.weight / weight
        scatter = self.scatter + other.scatter
        scatter += np.outer(self.weight * share * apart, apart)
        mean = self.mean + share * apart
        rounding = self.rounding.merge(other.rounding, share, apart, mean)
        return Moments(weight, mean, scatter, rounding)

    def value_and_gradient(self, w: Array, alpha: float = 0.0) -> tuple[float, Array]:
        """E (1 - w.psi)^2 / 2 + alpha/2 |w|^2, as a sum of squares, and its gradient."""
        terms, pull = self.mean * w, self.scatter @ w / self.weight
        missing = 1.0 - float(terms.sum())
        if abs(missing) <= ROUNDING * (1.0 + float(np.abs(terms).sum())):
            missing = 0.0
        value = 0.5 * (missing * missing + max(float(w @ pull), 0.0) + alpha * float(w @ w))
        return value, np.asarray(pull - missing * self.mean + alpha * w)

    def rounding_at(self, w: Array, alpha: float = 0.0) -> tuple[float, Array]:
        """How far `value_and_gradient` can be from what the rows give, entry by entry."""
        off, size = self.rounding, np.abs(w)
        if not w.any():
            return 0.0, off.mean
        # The sums over features, and what follows them, round as well.
        own = gamma(2 * len(w) + STEPS)
        scale, lean = float(size @ off.size), float(size @ off.mean)
        of_missing = lean + own * (1.0 + float(np.abs(self.mean) @ size))
        left = abs(1.0 - float(self.mean @ w)) + of_missing
        spread = (off.share + own) * scale * scale + lean * (2.0 * scale + lean)
        value = of_missing * (2.0 * left + of_missing) + spread + own * alpha * float(w @ w)
        gradient = ((off.share + own) * scale + lean) * off.size + (scale + lean) * off.mean
        gradient += of_missing * (np.abs(self.mean) + off.mean) + left * off.mean
        gradient += own * (alpha * size + left * np.abs(self.mean))
        return 0.5 * value, np.asarray(gradient)

    def second_rounding(self) -> Array:
        """A diagonal D such that `second()`, D added or taken off, bounds that of the rows."""
        off, d = self.rounding, len(self.mean)
        share = off.share + gamma(STEPS)
        # x'Ex <= d sum_j D_j x_j^2, both for the products of sizes and for those with means.
        size = (off.size + np.abs(self.mean)) ** 2
        return np.asarray(d * (2.0 * share * size + (1.0 / share + 2.0) * off.mean**2))

    def without_rounding(self, size: Array) -> Moments:
        """A mean of zero where it is zero but for the order in which terms of `size` were added.

        Such a mean points nowhere: it does not tell the classes apart.
        """
        if not (np.abs(self.mean) <= 16.0 * ROUNDING * size).all():
            return self
        off = self.rounding
        # The mean that is left out is among what may be off.
        rounding = Rounding(off.share, off.size, off.mean + np.abs(self.mean))
        return Moments(self.weight, np.zeros_like(self.mean), self.scatter, rounding)

    def second(self) -> Array:
        """E psi psi'."""
        return np.asarray(self.scatter / self.weight + np.outer(self.mean, self.mean))


@dataclass(frozen=True)
class ClassMoments:
    """The moments of the positive and of the negative rows."""

    positive: Moments
    negative: Moments

    @classmethod
    def none(cls, n_features: int) -> ClassMoments:
        """Of no rows."""
        return cls(Moments.none(n_features), Moments.none(n_features))

    @classmethod
    def of(
        cls,
        design: Design,
        positive: NDArray[np.bool_],
        weight: Array | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> ClassMoments:
        """The moments of the rows of a design, all or some, in one pass."""
        group = positive.view(np.int8)  # of a file it may be most of what is in memory
        if rows is not None:
            group = np.full(len(positive), -1, dtype=np.int8)
            group[rows] = positive[rows]
        negatives, positives = moments_by_group(design, group, 2, weight)
        return cls(positives, negatives)

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The moments of the rows of both."""
        return ClassMoments(
            self.positive.merge(other.positive), self.negative.merge(other.negative)
        )

    @property
    def middle(self) -> Array:
        """Halfway between the means of the classes."""
        return np.asarray(self.negative.mean + 0.5 * (self.positive.mean - self.negative.mean))

    def of_pairs(self) -> Moments:
        """The moments of x_i - x_j over all pairs, whose weights sum to one."""
        above, below = self.positive, self.negative
        scatter = above.scatter / above.weight + below.scatter / below.weight
        mean = above.mean - below.mean
        size = np.abs(above.mean) + np.abs(below.mean) + np.sqrt(np.maximum(np.diag(scatter), 0.0))
        rounding = above.rounding.sum(below.rounding)
        return Moments(1.0, mean, scatter, rounding).without_rounding(size)


def moments_by_group(
    design: Design, group: NDArray[np.integer], n_groups: int, weight: Array | None = None
) -> list[Moments]:
    """The moments of every group of rows, in one pass; a row of group -1 is in none.

    Those of parts of the rows are merged, in their order.
    """
    found = [Moments.none(design.shape[1])] * n_groups
    for begin, end, part in design.parts():
        own = group[begin:end].astype(np.int32, copy=False)
        of_part = part.group_moments(own, n_groups, None if weight is None else weight[begin:end])
        with np.errstate(over="ignore", invalid="ignore"):  # entries may not have been checked
            found = [a.merge(Moments.of_rows(b)) for a, b in zip(found, of_part, strict=True)]
    return found


__all__ = ["MOST_FEATURES", "ClassMoments", "Moments", "Rounding", "moments_by_group"]
