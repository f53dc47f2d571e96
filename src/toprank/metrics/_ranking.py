"""The one sort: rows grouped by equal score, best group first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._compat import cached_property
from ._checks import FloatArray, check_k, check_rows

# The pieces of rank are at least as many as the units of weight: 2**26 fill half a gigabyte.
_MOST_UNITS = 2**26


class UndefinedMetricError(ValueError):
    """A class is missing, and the metric is undefined without it."""


class RankPieces(NamedTuple):
    """The ranks cut at every whole number and at every edge of a tie group, top first."""

    lower: FloatArray
    """Where each piece begins: 0 for the first."""
    upper: FloatArray
    """Where it ends, within the rank ceil(upper)."""
    positive_share: FloatArray
    """Share of positives in its group, which a random order spreads evenly over the group."""


def share(part: float, whole: float) -> float:
    """Return `part / whole`, kept from rounding to just above one."""
    return min(float(part / whole), 1.0)


def class_total(total: float, kind: str, metric: str) -> float:
    """Return the weight of a class; raise where it is none, and `metric` undefined for that."""
    if total > 0:
        return float(total)
    raise UndefinedMetricError(
        f"y_true has no {kind} row (of non-zero weight) from row 0 on, and {metric} is "
        f"undefined without one. Pass rows of both classes, or check pos_label."
    )


def _running_total(values: FloatArray) -> FloatArray:
    """Return the totals before the first value, after the first, ..., after the last."""
    totals = np.zeros(len(values) + 1)
    np.cumsum(values, out=totals[1:])
    return totals


def group_ends(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the last place of each run of equal values, of values in order."""
    # `!=` and no difference: inf - inf is NaN.
    return np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)


def _count(positive: NDArray[np.bool_], scores: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Count positives and negatives in each tie group, lowest score first.

    Sorting values is some three times as fast as argsort, and counts need no more: sort all the
    scores for the groups, then look up those of the rarer class.
    """
    ascending = np.sort(scores)
    ends = group_ends(ascending)
    sizes = np.diff(ends, prepend=-1)
    positives_are_rarer = 2 * np.count_nonzero(positive) <= len(positive)
    rarer = np.sort(scores[positive if positives_are_rarer else ~positive])
    counts = np.bincount(np.searchsorted(ascending[ends], rarer), minlength=len(ends))
    rare, common = counts.astype(np.float64), (sizes - counts).astype(np.float64)
    return (rare, common) if positives_are_rarer else (common, rare)


def _weigh(
    positive: NDArray[np.bool_], scores: NDArray[Any], weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Add up positive and negative weight in each tie group, lowest score first."""
    order = np.argsort(scores)
    starts = np.append(0, group_ends(scores[order])[:-1] + 1)
    signed = np.where(positive, weights, -weights)[order]
    return (
        np.add.reduceat(np.maximum(signed, 0.0), starts),
        np.add.reduceat(np.maximum(-signed, 0.0), starts),
    )


@dataclass(frozen=True, eq=False)
class Ranking:
    """Tie groups from the highest score to the lowest; every metric is a sum over them.

    A row of weight w takes up w units of rank. The arrays at the *edges* of the groups have one
    entry more than there are groups: 0 before the first, the total after the last.
    """

    positives: FloatArray
    """Positive weight in each group."""
    negatives: FloatArray
    """Negative weight in each group."""
    n_rows: int
    """Number of rows of non-zero weight."""

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> Ranking:
        """Check the arguments, sort once and group the ties."""
        positive, values, weights, _ = check_rows(y_true, scores, sample_weight, pos_label)
        lowest_first = (
            _count(positive, values) if weights is None else _weigh(positive, values, weights)
        )
        positives, negatives = (np.ascontiguousarray(column[::-1]) for column in lowest_first)
        return cls(positives, negatives, len(values))

    @cached_property
    def positives_seen(self) -> FloatArray:
        """Positive weight above each edge."""
        return _running_total(self.positives)

    @cached_property
    def negatives_seen(self) -> FloatArray:
        """Negative weight above each edge."""
        return _running_total(self.negatives)

    @cached_property
    def seen(self) -> FloatArray:
        """Weight above each edge: group g takes up the ranks (seen[g], seen[g + 1]]."""
        return self.positives_seen + self.negatives_seen

    @cached_property
    def sizes(self) -> FloatArray:
        """Weight in each group."""
        return self.positives + self.negatives

    @cached_property
    def is_whole(self) -> bool:
        """Whether both classes have whole-number weight in every group."""
        return all(
            np.array_equal(column, np.floor(column)) for column in (self.positives, self.negatives)
        )

    @cached_property
    def pieces(self) -> RankPieces:
        """Pieces of rank, each inside one whole rank and inside one group."""
        if self.total > max(_MOST_UNITS, self.n_rows):
            raise ValueError(
                f"sample_weight adds up to {self.total:g}, and this metric looks at as many ranks, "
                "for weights count as repeated rows. Divide the weights by their mean."
            )
        positive_share = self.positives / self.sizes
        if self.is_whole:
            upper = np.arange(1.0, self.total + 1)
            return RankPieces(upper - 1, upper, np.repeat(positive_share, self.sizes.astype(int)))
        whole = np.arange(0.0, np.ceil(self.total))
        # Two sorted runs: the stable sort merges them.
        cuts = np.sort(np.concatenate((whole, self.seen)), kind="stable")[1:]
        group = np.searchsorted(self.seen, cuts[1:]) - 1
        return RankPieces(cuts[:-1], cuts[1:], positive_share[group])

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.seen[-1])

    def positive_total(self, metric: str) -> float:
        """Return the weight of the positives; raise where `metric` is undefined without any."""
        return class_total(self.positives_seen[-1], "positive", metric)

    def negative_total(self, metric: str) -> float:
        """Return the weight of the negatives; raise where `metric` is undefined without any."""
        return class_total(self.negatives_seen[-1], "negative", metric)

    def units(self, k: float) -> float:
        """Return `k` as units of rank: a fraction is a fraction of the total weight."""
        check_k(k)
        return float(k) if k >= 1 else k * self.total

    def units_within(self, k: float) -> float:
        """Return `k` as units of rank; raise if there are fewer than `k`."""
        units = self.units(k)
        # The slack forgives weights that were scaled to add up to k and miss it by rounding.
        if units > self.total * (1 + 1e-9):
            raise ValueError(
                f"k={k} exceeds the {self.total:g} rows (or units of weight) that there are. "
                "Pass a smaller k, or a fraction in (0, 1)."
            )
        return units
