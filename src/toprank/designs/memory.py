"""Matrices in memory (or memory-mapped): float32 or float64, never copied."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._core import Matrix
from ..inputs.class_split import RowWeights
from ..inputs.mapped_arrays import MappedFile
from .base import Array, Design, Rows, resolve_threads
from .columns import RowMoments
from .parts import reduce_part
from .reduction import Ask, Sums, kernels_answer

#: A column is far from zero if its median is this many times its spread: coordinate descent slows
#: down there. Newton's method would stand a thousand times.
_FAR = 30.0
#: Rows that are read to find columns far from zero.
_SAMPLE = 100
#: The capacity of a buffer for rows, as a multiple of the first need: folds differ by a few rows.
_SPARE = 1.01


class Room:
    """A buffer for one copy of rows at a time: new memory takes longer than the copy."""

    def __init__(self) -> None:
        self._memory: NDArray[Any] = np.empty(0)

    def copy(self, X: Any, rows: Rows) -> Any:
        """Copy some of the rows of a matrix, into the buffer if they are dense and contiguous."""
        if not isinstance(X, np.ndarray) or not X.flags.c_contiguous:
            return X[rows]
        size = len(rows) * X.shape[1]
        if self._memory.dtype != X.dtype or len(self._memory) < size:
            self._memory = np.empty(int(size * _SPARE), dtype=X.dtype)
        out = self._memory[:size].reshape(len(rows), X.shape[1])
        return X.take(rows, axis=0, out=out, mode="clip")


class MemoryDesign(Design):
    """Products by the compiled core; entries in the caller's dtype, sums in float64."""

    reads_rows = True
    compiled_sums = True
    #: Whether all entries are known to be numbers, and none too large.
    entries_checked: bool = False
    #: |x|^2 of every row, if the check of the entries took them.
    _squares: Array | None = None

    def __init__(
        self,
        X: Any,
        matrix: Matrix,
        n_threads: int | None,
        files: tuple[MappedFile, ...] = (),
    ) -> None:
        self._X, self._matrix, self._mapped = X, matrix, files
        self.shape = X.shape[0], X.shape[1]
        self.n_threads = resolve_threads(n_threads)

    @property
    def X(self) -> Any:
        """The matrix as given, an array or CSR; its files must be as long as they were."""
        self._check_files()
        return self._X

    @property
    def matrix(self) -> Matrix:
        """The matrix as kernels read it; its files must be as long as they were."""
        self._check_files()
        return self._matrix

    def _check_files(self) -> None:
        for file in self._mapped:
            file.check()

    @abstractmethod
    def _entries(self, rows: Rows | None) -> int:
        """How many entries a product with these rows reads."""

    @abstractmethod
    def by_rows(self) -> Matrix:
        """The matrix with contiguous rows, as sequential kernels read it; a copy if need be."""

    @abstractmethod
    def first_unusable(self, limit: float, *, missing: bool = False) -> tuple[int, int] | None:
        """The row and the column of an entry that is no number, or beyond the limit, if any is.

        NaN is usable where values may be `missing`.
        """

    def squares_are_usable(self, limit: float) -> bool:
        """Return True if the squared lengths of the rows show that no entry is beyond the limit.

        They are kept for certificates. A matrix where they would take longer than a look at the
        entries returns False.
        """
        return False

    @abstractmethod
    def pair_moments(self, first: Rows, second: Rows) -> list[RowMoments]:
        """The moments of x_first - x_second over pairs, of one block of pairs after the other."""

    @abstractmethod
    def rescaled(self, columns: Rows, offset: Array, scale: Array) -> Self:
        """A copy in float64 of some columns: (x - offset) scale, offset and scale one per column.

        No offset is taken off a column that cannot be moved.
        """

    @abstractmethod
    def _offsets(self, sample: Rows) -> Array:
        """The medians of columns far from zero that can be moved; zero for the others."""

    def centred(self, rows: Rows | None = None) -> Design:
        """The design itself or, where columns lie far from zero, a copy of it without their offset.

        Some of the rows, or of those given, are looked at. The copy knows its `offset`.
        """
        offset = self._offsets(spread_out(self.shape[0], rows))
        return self.shifted(offset) if offset.any() else self

    def on_threads(self, n_threads: int) -> Self:
        """The same matrix, with so many threads for its products."""
        return _made(  # type: ignore[no-any-return]
            type(self), self.X, n_threads, self.offset, self.entries_checked
        )

    def subset(self, rows: Rows, room: Room | None = None) -> Self:
        """Copy some of the rows; with a room, into that, where the next copy overwrites it."""
        self.entries_read += self._entries(rows)
        X = self.X[rows] if room is None else room.copy(self.X, rows)
        return _made(  # type: ignore[no-any-return]
            type(self), X, self.n_threads, self.offset, self.entries_checked
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Other processes are sent the arrays, and make the rest of them."""
        return _made, (type(self), self.X, self.n_threads, self.offset, self.entries_checked)

    def scores(self, w: Array, rows: Rows | None = None) -> Array:
        """s = X w."""
        self.entries_read += self._entries(rows)
        return self.matrix.scores(w, rows, self.n_threads)

    def pull_back(self, v: Array, rows: Rows | None = None) -> Array:
        """g = X'v."""
        self.entries_read += self._entries(rows)
        return self.matrix.pull_back(v, rows, self.n_threads)

    def reduce(self, ask: Ask) -> Sums:
        """Sums over rows at a point: in one compiled pass, where the kernels know the loss."""
        if not kernels_answer(ask):
            return super().reduce(ask)
        self.entries_read += self.n_entries
        return reduce_part(self.matrix, self._tilt(ask), ask, self.n_threads)

    def _tilt(self, ask: Ask) -> Array:
        """The weights of all rows, as a vector."""
        weights: RowWeights = ask.loss.rows
        return weights.tilt

    def squared_norms(self, rows: Rows | None = None) -> Array:
        """|x|^2 of every row; not to be written to."""
        if rows is None and self._squares is not None:
            return self._squares
        self.entries_read += self._entries(rows)
        return self.matrix.squared_norms(rows, self.n_threads)

    def take(self, rows: Rows) -> Array:
        """The rows themselves, dense."""
        self.entries_read += self._entries(rows)
        return self.matrix.take(rows)

    def gram(self, c: Array, rows: Rows | None = None) -> Array:
        """H = X' diag(c) X; counted as two products."""
        self.entries_read += 2 * self._entries(rows)
        return self.matrix.gram(c, rows, self.n_threads)


def _made(kind: Any, X: Any, n_threads: int, offset: Array | None, checked: bool) -> Any:
    design = kind(X, n_threads)
    design.offset, design.entries_checked = offset, checked
    return design


def spread_out(n_rows: int, rows: Rows | None = None) -> Rows:
    """Return some of the rows at equal distances, without listing all of them."""
    size = n_rows if rows is None else len(rows)
    places = np.linspace(0, size - 1, min(size, _SAMPLE)).astype(np.int64)
    return places if rows is None else rows[places]


def far_medians(X: NDArray[np.floating[Any]]) -> Array:
    """Medians of columns that lie far from zero, and zero for the others.

    A loss of differences of scores does not change if a number is taken off a column, but products
    and squares of such columns lose the digits that distinguish the rows. Medians and quartiles,
    because a single huge row must not decide.
    """
    n = len(X)
    quartiles = np.partition(X, (n // 4, n // 2, 3 * n // 4), axis=0).astype(np.float64)
    middle = quartiles[n // 2]
    spread = quartiles[3 * n // 4] - quartiles[n // 4]
    if (spread > 0).all() and (np.abs(middle) <= _FAR * spread).all():
        return np.zeros(X.shape[1])
    spread = np.where(spread > 0, spread, np.ptp(X, axis=0))  # most rows may have one value
    # A constant column is held against the others: ones beside features of their size do no
    # harm, and are not worth a copy.
    varies = spread > 0
    spread = np.where(varies, spread, np.median(spread[varies]) if varies.any() else 0.0)
    return np.where(np.abs(middle) > _FAR * spread, middle, 0.0)
