"""The weights of rows with the sign of their class, and where the rows of each class are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from .._core import row_sides

#: Rows whose weights are added up at a time.
_BLOCK = 1 << 20


class RowWeights(Protocol):
    """The weights of rows, those of negatives below zero, by ranges: all of them may be too many.

    A row of weight zero is in neither class.
    """

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def sides(self) -> tuple[int, int, float, float]:
        """How many rows are above zero and below it, and what their weights sum to."""

    def tilt_of(self, begin: int, end: int) -> NDArray[np.float64]:
        """The weights of the rows from `begin` up to `end`."""


@dataclass(frozen=True)
class GivenWeights:
    """Such weights of rows in memory, as a vector."""

    tilt: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.tilt)

    @cached_property
    def sides(self) -> tuple[int, int, float, float]:
        """How many rows are above zero and below it, and what their weights sum to."""
        return row_sides(self.tilt)

    def tilt_of(self, begin: int, end: int) -> NDArray[np.float64]:
        """The weights of the rows from `begin` up to `end`."""
        return self.tilt[begin:end]


class Places:
    """The rows of the two classes, listed when they are asked for.

    A row of weight zero is in neither.
    """

    def __init__(
        self, positive: NDArray[np.bool_], weight: NDArray[np.float64] | None = None
    ) -> None:
        self.positive, self.weight = positive, weight
        if weight is None:
            self.n_pos = int(np.count_nonzero(positive))
            self.n_neg = len(positive) - self.n_pos
            #: What the rows of the two classes weigh.
            self.totals = float(self.n_pos), float(self.n_neg)
            return
        # In units of the largest: the sum of huge weights must not overflow.
        self.unit = max(float(weight.max(initial=0.0)), np.finfo(np.float64).tiny)
        counts, totals = [0, 0], [0.0, 0.0]
        for begin in range(0, len(positive), _BLOCK):
            own = weight[begin : begin + _BLOCK] / self.unit
            for side, rows in enumerate(
                (positive[begin : begin + _BLOCK], ~positive[begin : begin + _BLOCK])
            ):
                counts[side] += int(np.count_nonzero(rows & (own > 0.0)))
                totals[side] += float(own[rows].sum())
        self.n_pos, self.n_neg = counts
        self.totals = totals[0], totals[1]

    def _of(self, positive: bool) -> NDArray[np.int64]:
        rows = self.positive if positive else ~self.positive
        return np.flatnonzero(rows if self.weight is None else rows & (self.weight > 0.0))

    @cached_property
    def pos(self) -> NDArray[np.int64]:
        """The positive rows."""
        return self._of(True)

    @cached_property
    def neg(self) -> NDArray[np.int64]:
        """The negative rows."""
        return self._of(False)

    def weights(self, rows: NDArray[np.int64], each: float) -> NDArray[np.float64]:
        """The weights of some rows of a class, of which a row of weight one has `each`."""
        if self.weight is None:
            return np.full(len(rows), each)
        return each * (self.weight[rows] / self.unit)

    def tilt_of(self, begin: int, end: int, each: tuple[float, float]) -> NDArray[np.float64]:
        """The weights of some rows, those of negatives below zero."""
        tilt = np.where(self.positive[begin:end], each[0], -each[1])
        return tilt if self.weight is None else tilt * (self.weight[begin:end] / self.unit)


__all__ = ["GivenWeights", "Places", "RowWeights"]
