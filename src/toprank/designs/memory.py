"""Matrices in memory (or memory-mapped): float32 or float64, never copied."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from .._core import Matrix
from ..inputs.class_split import RowWeights
from ..inputs.mapped_arrays import MappedFile
from .base import Array, Design, Rows, resolve_threads
from .far import spread_out
from .moments import RowMoments
from .parts import reduce_part
from .reduction import Ask, Sums, kernels_answer
from .room import Room


class MemoryDesign(Design):
    """Products by the compiled core; entries in the caller's dtype, sums in float64."""

    in_memory = True
    has_kernels = True
    #: Whether all entries are known to be numbers, and none too large.
    entries_checked: bool = False

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
        """A copy of some of the rows; in a room, where it stays until the next one is made."""
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
        """|x|^2 of every row."""
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
