"""Matrices in files: read in order, block by block, and never held.

A fit whose loss is a sum over rows needs nothing as long as the matrix here, and a block of it at
a time. Blocks depend on the shape only, so that the same bits come of a file, of the same array in
memory, and of any number of threads. Columns far from zero are moved in a copy of each block.
"""

from __future__ import annotations

import mmap
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..inputs.mapped_arrays import map_of
from .base import Array, Design, Rows
from .dense import DenseDesign
from .memory import MemoryDesign, Room
from .parts import reduce_part
from .reduction import Ask, Sums, kernels_answer, reduce_rows
from .sparse import SparseDesign

#: Bytes of a block.
BLOCK_BYTES = 1 << 25
#: Smaller files are read like matrices in memory, where the machine keeps them after one pass.
STREAMED_BYTES = 1 << 30
#: Rows of more columns are long beside what a fit keeps of each: a number or ten.
_NARROW = 1000
#: Rows that are copied at a time where some are asked for.
_COPIED_ROWS = 1 << 16
#: Blocks that are asked for ahead of the one that is read.
_AHEAD = 2
#: Maps whose entries were checked when they were written.
_CHECKED: WeakSet[mmap.mmap] = WeakSet()


class ReadAhead:
    """Ask the machine for the next blocks of a mapped file, so that disk and processor overlap."""

    def __init__(self, array: NDArray[Any], entries: float) -> None:
        self._map, self._bytes, self._asked = map_of(array), entries * array.itemsize, 0.0
        if self._map is not None:
            start = np.frombuffer(self._map, dtype=np.uint8).ctypes.data
            self._first = array.ctypes.data - start
            self._last = self._first + array.nbytes

    def ask(self, k: int) -> None:
        """Ask for the blocks after k, which is about to be read."""
        if self._map is None or not hasattr(mmap, "MADV_WILLNEED"):
            return
        begin = self._first + max(self._asked, k * self._bytes)
        self._asked = (k + 1 + _AHEAD) * self._bytes
        end = min(self._first + self._asked, self._last)
        page = int(begin) // mmap.PAGESIZE * mmap.PAGESIZE
        if end > page:
            self._map.madvise(mmap.MADV_WILLNEED, page, int(end) - page)


def mark_checked(array: Any) -> None:
    """Mark the entries of an array in a mapped file as checked."""
    if (own := map_of(array)) is not None:
        _CHECKED.add(own)


def is_checked(array: Any) -> bool:
    """Return True if the entries of an array in a mapped file were marked as checked."""
    own = map_of(array)
    return own is not None and own in _CHECKED


class ByParts(Design):
    """Verbs of a matrix by those of its parts, one after the other."""

    stores_scores = False

    def reduce(self, ask: Ask) -> Sums:
        """Sums over rows at a point, block by block."""
        if not kernels_answer(ask):
            return reduce_rows(self, ask)
        weights, total = ask.loss.rows, None
        kept: dict[str, list[Any]] = {"scores": [], "squares": []}
        for begin, end, part in self.parts():
            tilt = weights.tilt_of(begin, end)
            sums = reduce_part(part.matrix, tilt, ask, self.n_threads, begin)
            for name, blocks in kept.items():
                blocks.append(getattr(sums, name))
            if total is None:
                total = sums
            else:
                total += sums
        assert total is not None
        for name in kept:
            if getattr(ask, name):
                setattr(total, name, np.concatenate(kept[name]))
        return total

    @abstractmethod
    def parts(self) -> Iterator[tuple[int, int, MemoryDesign]]:
        """The rows, block by block."""

    def _some(self, rows: Rows | None) -> Iterator[tuple[slice, Design]]:
        """Some of the rows, or all, block by block."""
        if rows is None:
            for begin, end, part in self.parts():
                yield slice(begin, end), part
            return
        for begin in range(0, len(rows), _COPIED_ROWS):
            block = slice(begin, min(begin + _COPIED_ROWS, len(rows)))
            yield block, self.subset(rows[block])

    def scores(self, w: Array, rows: Rows | None = None) -> Array:
        """s = X w."""
        found = np.empty(self.shape[0] if rows is None else len(rows))
        for block, part in self._some(rows):
            found[block] = part.scores(w)
        return found

    def squared_norms(self, rows: Rows | None = None) -> Array:
        """|x|^2 of every row."""
        found = np.empty(self.shape[0] if rows is None else len(rows))
        for block, part in self._some(rows):
            found[block] = part.squared_norms()
        return found

    def pull_back(self, v: Array, rows: Rows | None = None) -> Array:
        """g = X'v."""
        found = np.zeros(self.shape[1])
        for block, part in self._some(rows):
            found += part.pull_back(np.ascontiguousarray(v[block]))
        return found

    def gram(self, c: Array, rows: Rows | None = None) -> Array:
        """H = X' diag(c) X."""
        found = np.zeros((self.shape[1], self.shape[1]))
        for block, part in self._some(rows):
            found += part.gram(np.ascontiguousarray(c[block]))
        return found

    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of X' diag(c) X."""
        found = np.zeros(self.shape[1])
        for block, part in self._some(rows):
            found += part.gram_diagonal(np.ascontiguousarray(c[block]))
        return found

    def take(self, rows: Rows) -> Array:
        """The rows themselves, dense."""
        return self.subset(rows).take(np.arange(len(rows)))


class _Streamed(ByParts, MemoryDesign):
    """What matrices in files share."""

    _plain: type[Any]

    @abstractmethod
    def _files(self) -> list[tuple[NDArray[Any], float]]:
        """The arrays that are read, and how many of their entries go with a row."""

    @abstractmethod
    def _range(self, begin: int, end: int) -> Any:
        """Some of the rows, where they are."""

    def parts(self) -> Iterator[tuple[int, int, MemoryDesign]]:
        """The rows, block by block; those that follow are read meanwhile."""
        files = self._files()
        a_row = sum(array.itemsize * entries for array, entries in files)
        n, step = self.shape[0], max(int(BLOCK_BYTES / max(a_row, 1.0)), 1)
        ahead = [ReadAhead(array, entries * step) for array, entries in files]
        for k, begin in enumerate(range(0, n, step)):
            for one in ahead:
                one.ask(k)
            end = min(begin + step, n)
            part = self._copy(self._range(begin, end))
            self.entries_read += part.n_entries
            yield begin, end, part

    def _copy(self, X: Any) -> MemoryDesign:
        part: MemoryDesign = self._plain(X, self.n_threads)
        part.entries_checked, part.offset = self.entries_checked, self.offset
        return part

    def subset(self, rows: Rows, room: Room | None = None) -> Any:
        """A copy of some of the rows, in memory."""
        self.entries_read += self._entries(rows)
        return self._copy(self.X[rows] if room is None else room.copy(self.X, rows))

    def shifted(self, offset: Array) -> Any:
        """The same file with `offset` taken off: of each block, when it is read."""
        return MovedRows(self, offset)


class MovedRows(ByParts):
    """A matrix in a file with an offset taken off its columns: of each block, when it is read."""

    compiled_sums = True

    def __init__(self, base: _Streamed, by: Array) -> None:
        self.base, self._by = base, by
        self.shape, self.n_entries, self.n_threads = base.shape, base.n_entries, base.n_threads
        self.offset = by if base.offset is None else base.offset + by

    def on_threads(self, n_threads: int) -> MovedRows:
        """The same matrix, with so many threads for its products."""
        return MovedRows(self.base.on_threads(n_threads), self._by)

    @property
    def gram_passes(self) -> float:
        """What a Gram matrix of the file costs."""
        return self.base.gram_passes

    def parts(self) -> Iterator[tuple[int, int, MemoryDesign]]:
        """The rows, block by block."""
        for begin, end, part in self.base.parts():
            moved: Any = part.shifted(self._by)
            self.entries_read += part.n_entries
            yield begin, end, moved

    def subset(self, rows: Rows, room: Room | None = None) -> Design:
        """A copy of some of the rows, in memory."""
        part = self.base.subset(rows, room)
        self.entries_read += part.n_entries
        return part.shifted(self._by)  # type: ignore[no-any-return]


class StreamedDense(_Streamed, DenseDesign):
    """A dense matrix in a file, with contiguous rows."""

    _plain = DenseDesign

    def __init__(self, X: NDArray[np.floating[Any]], n_threads: int | None = None) -> None:
        super().__init__(X, n_threads)
        self.entries_checked = is_checked(X)

    def _files(self) -> list[tuple[NDArray[Any], float]]:
        return [(self.X, float(self.shape[1]))]

    def _range(self, begin: int, end: int) -> Any:
        return self.X[begin:end]


class StreamedSparse(_Streamed, SparseDesign):
    """A CSR matrix in files."""

    _plain = SparseDesign

    def _files(self) -> list[tuple[NDArray[Any], float]]:
        in_a_row = self.n_entries / max(self.shape[0], 1)
        return [(self.X.data, in_a_row), (self.X.indices, in_a_row)]

    def _range(self, begin: int, end: int) -> Any:
        pointers = self._indptr[begin : end + 1]
        first, last = int(pointers[0]), int(pointers[-1])
        block = csr_array((end - begin, self.shape[1]), dtype=self.X.dtype)
        block.data, block.indices = self.X.data[first:last], self.X.indices[first:last]
        block.indptr = pointers - first
        return block


def is_streamed(X: Any) -> bool:
    """Whether a matrix, an array or CSR, is in a file and too large to be treated as in memory."""
    arrays = [X.data, X.indices] if hasattr(X, "indptr") else [X]
    if X.shape[1] > _NARROW or sum(array.nbytes for array in arrays) < STREAMED_BYTES:
        return False
    if not hasattr(X, "indptr") and not X.flags.c_contiguous:
        return False
    return all(map_of(array) is not None for array in arrays)


__all__ = [
    "BLOCK_BYTES",
    "STREAMED_BYTES",
    "StreamedDense",
    "StreamedSparse",
    "is_checked",
    "is_streamed",
    "mark_checked",
]
