"""The few negatives whose constraints a quadratic model carries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..designs import Design

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Listed:
    """A list of negatives, by the numbers of their rows, with rows and multipliers."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self.members = np.empty(0, dtype=np.int64)
        self.multiplier = np.empty(0)
        #: The rows, with a last column of ones, for b, and room for more behind them.
        self._room = np.empty((0, design.shape[1] + 1))

    def _places(self, members: Indices) -> Indices:
        """The numbers of their rows in the matrix."""
        return members

    def add(self, members: Indices) -> Array:
        """List more negatives; returns their rows."""
        count, total = len(self.members), len(self.members) + len(members)
        if total > len(self._room):
            room = np.empty((max(total, 2 * count), self._room.shape[1]))
            room[:count] = self.rows
            self._room = room
        rows = self._room[count:total]
        rows[:, -1] = 1.0
        if len(members):
            rows[:, :-1] = self._design.take(self._places(members))
        self.members = np.concatenate([self.members, members])
        self.multiplier = np.concatenate([self.multiplier, np.zeros(len(members))])
        return rows

    @property
    def rows(self) -> Array:
        """The listed rows, with a last column of ones."""
        return self._room[: len(self.members)]

    @property
    def longest(self) -> float:
        """The length of the longest row on the list."""
        rows = self.rows[:, :-1]
        return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max(initial=0.0)))

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Strike the others off the list."""
        self._room = self.rows[chosen]
        self.members, self.multiplier = self.members[chosen], self.multiplier[chosen]

    def shorten(self, scores: Array) -> None:
        """Of a long list keep those that bind and, by the scores of the listed, the highest."""
        d = self._design.shape[1]
        if len(self.members) > 4 * d + 200:
            floor = np.partition(scores, -(2 * d + 100))[-(2 * d + 100)]
            self.keep((self.multiplier > 0) | (scores >= floor))


class Candidates(Listed):
    """Such a list by places among the negatives given."""

    def __init__(self, design: Design, negatives: Indices) -> None:
        super().__init__(design)
        #: The rows of the matrix that there are to list from.
        self.negatives = negatives
        self._listed = np.zeros(len(negatives), dtype=bool)

    def _places(self, members: Indices) -> Indices:
        return self.negatives[members]

    def add(self, members: Indices) -> Array:
        """List more negatives; returns their rows."""
        members = members[~self._listed[members]]
        self._listed[members] = True
        return super().add(members)

    def widen(self, negatives: Indices) -> None:
        """More negatives to list from; those that are there already are left out."""
        new = negatives[~np.isin(negatives, self.negatives)]
        self.negatives = np.concatenate([self.negatives, new])
        self._listed = np.concatenate([self._listed, np.zeros(len(new), dtype=bool)])

    def unlisted(self, members: Indices) -> Indices:
        """Those of `members` that are not listed yet."""
        return members[~self._listed[members]]

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Strike the others off the list."""
        self._listed[self.members[~chosen]] = False
        super().keep(chosen)

    def prune(self, s_neg: Array) -> None:
        """Keep the list short, and the highest negative on it."""
        self.shorten(s_neg[self.members])
        top = np.array([np.argmax(s_neg)])
        if len(self.unlisted(top)):
            self.add(top)


def largest(values: Array, count: int) -> Indices:
    """The places of the `count` largest values, in increasing order."""
    if count >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, len(values) - count)[len(values) - count :])
