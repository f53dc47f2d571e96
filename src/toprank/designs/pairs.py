"""Differences of rows, which are never stored, and pairs of rows drawn at random."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._compat import cached_property
from ..inputs.class_split import Split
from .base import NO_ROW, Array, Design, Rows
from .dense import DenseDesign

#: Entries of differences that are made at a time.
_BLOCK_ENTRIES = 1 << 20


class PairDesign(Design):
    """The rows z_q = x_first[q] - x_second[q] of a base matrix; -1 stands for the zero vector.

    With -1 on one side z is a row, or minus a row: a pair with only one point. A product reads
    each row of the base that takes part once, however many pairs it is in. What is read counts as
    read from the base, and `passes` are passes over all of that.
    """

    def __init__(self, base: Design, first: Rows, second: Rows) -> None:
        if first.shape != second.shape or first.ndim != 1:
            raise ValueError("A pair has two sides: first and second must have one length.")
        n = base.shape[0]
        for side in (first, second):
            if side.size and not NO_ROW <= side.min() <= side.max() < n:
                raise IndexError(f"A row of a pair is out of range: the matrix has {n} rows.")
        if ((first == NO_ROW) & (second == NO_ROW)).any():
            raise ValueError("A pair needs a row on one of its sides; on both there is -1.")
        self.base, self.first, self.second = base, first, second
        self.shape = (len(first), base.shape[1])
        self.n_entries, self.n_threads = base.n_entries, base.n_threads
        self.reads_rows = base.reads_rows
        self._all_used = self._used(first, second)

    def differences(self) -> tuple[Design, Rows, Rows]:
        """The base, and the rows of it that the pairs are of."""
        return self.base, self.first, self.second

    @property
    def entries_read(self) -> int:
        """What has been read of the base."""
        return self.base.entries_read

    @entries_read.setter
    def entries_read(self, entries: int) -> None:
        self.base.entries_read = entries

    def _used(self, first: Rows, second: Rows) -> Rows | None:
        """The rows of the base in these pairs; None where that is all of them."""
        taking_part = np.zeros(self.base.shape[0] + 1, dtype=bool)  # -1 is the last place
        taking_part[first] = taking_part[second] = True
        used = np.flatnonzero(taking_part[:-1])
        return used if len(used) < self.base.shape[0] else None

    def _sides(self, rows: Rows | None) -> tuple[Rows, Rows, Rows | None]:
        if rows is None:
            return self.first, self.second, self._all_used
        first, second = self.first[rows], self.second[rows]
        return first, second, self._used(first, second)

    def scores(self, w: Array, rows: Rows | None = None) -> Array:
        """w.z = w.x_first - w.x_second."""
        first, second, used = self._sides(rows)
        s = np.zeros(self.base.shape[0] + 1)
        s[slice(-1) if used is None else used] = self.base.scores(w, used)
        return np.asarray(s[first] - s[second])

    def pull_back(self, v: Array, rows: Rows | None = None) -> Array:
        """Z'v: what the pairs of a row say of it, added up, then the base's."""
        first, second, used = self._sides(rows)
        n = self.base.shape[0]
        u = np.zeros(n + 1)  # -1 is the last place
        u += np.bincount(first % (n + 1), v, n + 1)
        u -= np.bincount(second % (n + 1), v, n + 1)
        return self.base.pull_back(u[slice(-1) if used is None else used], used)

    def gram(self, c: Array, rows: Rows | None = None) -> Array:
        """Z' diag(c) Z: of points by the base, of pairs by blocks of differences."""
        first, second, _ = self._sides(rows)
        alone = np.minimum(first, second) == NO_ROW
        total = self.base.gram(c[alone], np.maximum(first, second)[alone])
        pairs = np.flatnonzero(~alone)
        for block, z in self._blocks(pairs if rows is None else rows[pairs]):
            total += z.T @ (c[pairs[block], np.newaxis] * z)
        return total

    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of Z' diag(c) Z, by blocks of differences."""
        total = np.zeros(self.shape[1])
        for block, z in self._blocks(rows):
            total += c[block] @ np.square(z, out=z)
        return total

    def squared_norms(self, rows: Rows | None = None) -> Array:
        """|z|^2 = |x|^2 + |x'|^2 - 2 x.x', without its cancellation: by blocks of differences."""
        norms = np.zeros(self.shape[0] if rows is None else len(rows))
        for block, z in self._blocks(rows):
            norms[block] = np.einsum("qd,qd->q", z, z)
        return norms

    @cached_property
    def norms(self) -> Array:
        """|x| + |x'|, not |x - x'|: products are rounded before they are subtracted."""
        norms = np.append(self.base.norms, 0.0)  # -1 is the last place
        return np.asarray(norms[self.first] + norms[self.second])

    def take(self, rows: Rows) -> Array:
        """The differences themselves, dense."""
        first, second = self.first[rows], self.second[rows]
        z = np.zeros((len(rows), self.shape[1]))
        there = first != NO_ROW
        z[there] = self.base.take(first[there])
        there = second != NO_ROW
        z[there] -= self.base.take(second[there])
        return z

    def subset(self, rows: Rows) -> PairDesign:
        """Some of the pairs, of the same base."""
        return PairDesign(self.base, self.first[rows], self.second[rows])

    def written_out(self) -> PairDesign:
        """The differences as rows of a matrix of their own; of sparse rows, the pairs as they are.

        For many products; differences of sparse rows are fuller than the rows.
        """
        if self.base.n_entries < self.base.shape[0] * self.base.shape[1]:
            return self
        places = np.arange(self.shape[0])
        differences = DenseDesign(self.take(places), self.n_threads)
        return PairDesign(differences, places, np.full(len(places), NO_ROW))

    def _blocks(self, rows: Rows | None) -> Iterator[tuple[slice, Array]]:
        rows = np.arange(self.shape[0]) if rows is None else rows
        step = max(1, _BLOCK_ENTRIES // max(self.shape[1], 1))
        for begin in range(0, len(rows), step):
            block = slice(begin, begin + step)
            yield block, self.take(rows[block])


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
