"""Pairs and points drawn at random from the rows of a split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..inputs.class_split import Split
from . import NO_ROW

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Draws at a time: few enough to stay in the cache.
CHUNK = 1 << 14


class RandomPairs:
    """Pairs and points drawn from a split, rows with a probability proportional to weight."""

    def __init__(self, split: Split) -> None:
        self._positives, self._negatives = _Lot(split.pos, split.p), _Lot(split.neg, split.q)
        self._share = split.positive_share
        self._both = len(split.pos) > 0 and len(split.neg) > 0

    def chunks(self, rng: np.random.Generator, n: int, gamma: float) -> Iterator[tuple[Rows, Rows]]:
        """A positive and a negative row for each of n steps; or NO_ROW.

        With probability gamma a pair, else a point. Without rows of both classes points only.
        """
        gamma = gamma if self._both else 0.0
        for begin in range(0, n, CHUNK):
            # Three numbers for each step, one after the other: chunks leave no trace in the draws.
            kind, above, below = rng.random((min(CHUNK, n - begin), 3)).T
            pair, positive = kind < gamma, kind < gamma + (1.0 - gamma) * self._share
            yield (
                np.where(positive, self._positives.at(above), NO_ROW),
                np.where(pair | ~positive, self._negatives.at(below), NO_ROW),
            )


class _Lot:
    """Rows of one class: `at` turns uniform numbers into rows."""

    def __init__(self, rows: Rows, share: Array) -> None:
        self._rows = rows
        self._ends = np.cumsum(share) if len(rows) and np.ptp(share) > 0.0 else None

    def at(self, uniform: Array) -> Rows:
        """The rows in whose part of the weight the numbers fall.

        Copies of a row side by side are drawn as one row of their weight is, to the digit.
        """
        if not len(self._rows):
            return np.full(len(uniform), NO_ROW)
        if self._ends is None:
            place = (uniform * len(self._rows)).astype(np.int64)
        else:
            place = np.searchsorted(self._ends, uniform * self._ends[-1], side="right")
        return self._rows[np.minimum(place, len(self._rows) - 1)]


__all__ = ["CHUNK", "RandomPairs"]
