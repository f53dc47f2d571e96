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

from ._core import group_moments
from .designs import DenseDesign, MemoryDesign, SparseDesign, full_columns, shifted

Array = NDArray[np.float64]

#: Two squares of this side are 6.4 GB.
MOST_FEATURES = 20_000
#: From here on the square of an offset, relative to what lies about it, costs too many digits.
FAR = 1e6
#: What a sum may be off, relative to the size of its terms.
ROUNDING = 4.0 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Moments:
    """The weight of some rows, their mean, and their scatter sum v (x - mean)(x - mean)'.

    Rows may be the features psi of pairs: the pairwise squared loss is a function of these.
    """

    weight: float
    mean: Array
    scatter: Array

    @classmethod
    def none(cls, n_features: int) -> Moments:
        """Of no rows."""
        return cls(0.0, np.zeros(n_features), np.zeros((n_features, n_features)))

    def merge(self, other: Moments) -> Moments:
        """The moments of the rows of both."""
        if other.weight == 0.0 or self.weight == 0.0:
            return self if other.weight == 0.0 else other
        weight = self.weight + other.weight
        apart, share = other.mean - self.mean, other.weight / weight
        scatter = self.scatter + other.scatter
        scatter += np.outer(self.weight * share * apart, apart)
        return Moments(weight, self.mean + share * apart, scatter)

    def value_and_gradient(self, w: Array, alpha: float = 0.0) -> tuple[float, Array]:
        """E (1 - w.psi)^2 / 2 + alpha/2 |w|^2, as a sum of squares, and its gradient."""
        terms, pull = self.mean * w, self.scatter @ w / self.weight
        missing = 1.0 - float(terms.sum())
        if abs(missing) <= ROUNDING * (1.0 + float(np.abs(terms).sum())):
            missing = 0.0
        value = 0.5 * (missing**2 + max(float(w @ pull), 0.0) + alpha * float(w @ w))
        return value, np.asarray(pull - missing * self.mean + alpha * w)

    def without_rounding(self, size: Array) -> Moments:
        """A mean of zero where it is zero but for the order in which terms of `size` were added.

        Such a mean points nowhere: it does not tell the classes apart.
        """
        if not (np.abs(self.mean) <= 16.0 * ROUNDING * size).all():
            return self
        return Moments(self.weight, np.zeros_like(self.mean), self.scatter)

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
        design: MemoryDesign,
        positive: NDArray[np.bool_],
        weight: Array | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> ClassMoments:
        """The moments of the rows of a design, all or some, in one pass."""
        group = positive.astype(np.int32)
        if rows is not None:
            group = np.full(len(positive), -1, dtype=np.int32)
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
        return Moments(1.0, mean, scatter).without_rounding(size)


def moments_by_group(
    design: MemoryDesign,
    group: NDArray[np.int32],
    n_groups: int,
    weight: Array | None = None,
) -> list[Moments]:
    """The moments of every group of rows, in one pass; a row of group -1 is in none."""
    if isinstance(design, DenseDesign):
        design.entries_read += design.n_entries
        arrays = group_moments(design.matrix, group, n_groups, weight, design.n_threads)
        return [
            Moments(float(total), mean, scatter)
            for total, mean, scatter in zip(*arrays, strict=True)
        ]
    assert isinstance(design, SparseDesign)
    rows = [np.flatnonzero(group == g) for g in range(n_groups)]
    found = [_of_sparse(design, one, weight) for one in rows]
    shift = _offsets(design, found)
    if shift is None:
        return found
    # A copy whose full columns begin near zero: their offset would cost the digits of the rest.
    moved = shifted(design, shift)
    found = [_of_sparse(moved, one, weight) for one in rows]
    return [
        Moments(one.weight, one.mean + shift, one.scatter) if one.weight > 0.0 else one
        for one in found
    ]


def _of_sparse(design: MemoryDesign, rows: NDArray[np.int64], weight: Array | None) -> Moments:
    """By outer products of the stored entries; scatter = sum v x x' - n m m'."""
    v = np.ones(len(rows)) if weight is None else weight[rows]
    total = float(v.sum())
    if total == 0.0:
        return Moments.none(design.shape[1])
    mean = design.pull_back(v, rows) / total
    scatter = design.gram(v, rows)
    scatter -= np.outer(total * mean, mean)
    return Moments(total, mean, scatter)


def _offsets(design: SparseDesign, found: list[Moments]) -> Array | None:
    """What to take off columns that are stored in every row and lie far from zero, if any do."""
    seen = [one for one in found if one.weight > 0.0]
    far = np.zeros(design.shape[1], dtype=bool)
    for one in seen:
        far |= one.weight * np.square(one.mean) > FAR * np.abs(np.diag(one.scatter))
    if not far.any():
        return None
    full = full_columns(design)
    return np.where(far & full, seen[0].mean, 0.0) if (far & full).any() else None


__all__ = ["MOST_FEATURES", "ClassMoments", "Moments", "moments_by_group"]
