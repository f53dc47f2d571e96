"""What every solver may ask of the matrix."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import current_process
from threading import current_thread

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from .._core import Matrix, row_sides, rows_of_places
from ..inputs.class_split import RowWeights
from ..rounding import STEPS, UNDERFLOW, gamma
from .columns import ColumnReader, ProductColumns, RowMoments, moments_by_products
from .reduction import Ask, Sums, reduce_rows

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: In place of a row: the zero vector, in a difference of two rows.
NO_ROW = -1
#: Rows whose weights are looked at at a time.
_WEIGHED_ROWS = 1 << 22
#: Rows that are made dense at a time.
_BLOCK_ROWS = 1024
#: Bytes of rows that a fit may copy to where it runs.
_COPIED_BYTES = 1 << 30
#: Bytes of rows that one round of `reduce` may return: more rows cost more than another round.
_ROUND_BYTES = 200_000
#: A squared length below this may have lost digits to underflow.
_LOST = 1e-280


@dataclass(frozen=True)
class Windows:
    """Pairs of rows: each of `rows` with the others from its `first` up to its `last`.

    Neither end of the windows may go back from one row to the next.
    """

    rows: Rows
    weights: Array
    first: Rows
    last: Rows
    others: Rows
    other_weights: Array

    def degrees(self) -> tuple[Array, Array]:
        """The sums of w_a w_b over the pairs of every row, and of every one of the others."""
        upto = np.concatenate([[0.0], np.cumsum(self.other_weights)])
        of_rows = self.weights * (upto[self.last] - upto[self.first])
        n = len(self.others) + 1
        change = np.bincount(self.first, self.weights, n) - np.bincount(self.last, self.weights, n)
        return of_rows, self.other_weights * np.maximum(np.cumsum(change)[:-1], 0.0)


class Design(ABC):
    """An N x d matrix X that can be multiplied; where `rows` is given, only those take part.

    Every product counts what it read in `entries_read`, so that work can be told in passes.

    A fit in few passes, its certificate and its test of w = 0 are rounds of sums over blocks of
    rows. Where vectors with an entry per row are not affordable (`stores_scores` is False: rows in
    a file or on workers), they require no more than this:

    * `shape`, `n_entries`, `n_threads`, and `compiled_sums`, which is True;
    * `reduce(ask)`: the `Sums` over all rows. Each part of the rows is answered by `reduce_part`
      in `parts.py`, with its own weights and the number of its first row, and the sums are added
      in the order of the parts. An `Ask` can be sent: `ask.alone` leaves the rows' weights out,
      which are as long as the matrix. It never asks for `scores` or `squares` there;
    * `drawn(weights, of_pos, of_neg)`: copies of some rows of each class, for samples;
    * `subset(rows)` and `take(rows)`: copies of some rows by their numbers; `squared_norms(rows)`;
    * the loss's `rows`, a `RowWeights`, for `sides` and `n_rows`. Who keeps the labels beside the
      rows overrides `drawn`, and is never asked for `tilt_of`.

    Moments of groups are merged over `parts()`.
    """

    shape: tuple[int, int]
    #: How many entries a product with the whole matrix reads.
    n_entries: int
    entries_read: int = 0
    #: True if kernels can read rows in any order, by `by_rows`; for pairs, the base's.
    reads_rows: bool = False
    #: True if `reduce` is one compiled pass, for losses that the kernels support.
    compiled_sums: bool = False
    #: True if vectors with an entry per row, such as scores, are affordable.
    stores_scores: bool = True
    #: How many threads products use.
    n_threads: int = 1
    #: What was taken off the columns of the matrix that was given; None is nothing.
    offset: Array | None = None

    @abstractmethod
    def scores(self, w: Array, rows: Rows | None = None) -> Array:
        """s = X w."""

    @abstractmethod
    def pull_back(self, v: Array, rows: Rows | None = None) -> Array:
        """g = X'v."""

    @abstractmethod
    def gram(self, c: Array, rows: Rows | None = None) -> Array:
        """H = X' diag(c) X, c >= 0."""

    @abstractmethod
    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of X' diag(c) X."""

    def window_gram(self, windows: Windows) -> Array:
        """H = sum_a sum_{b in window of a} w_a w_b (x_a - x_b)(x_a - x_b)'.

        The sums over windows are differences of sums of rows up to their ends. Only differences
        of rows count: what all rows have in common is taken off, for its square would drown them.
        """
        rows, others = self.take(windows.rows), self.take(windows.others)
        common = others.mean(axis=0)
        rows -= common
        others -= common
        ends = np.zeros((len(others) + 1, self.shape[1]))
        np.cumsum(windows.other_weights[:, np.newaxis] * others, axis=0, out=ends[1:])
        of_rows, of_others = windows.degrees()
        cross = (windows.weights[:, np.newaxis] * rows).T @ (
            ends[windows.last] - ends[windows.first]
        )
        gram = rows.T @ (of_rows[:, np.newaxis] * rows)
        gram += others.T @ (of_others[:, np.newaxis] * others)
        return np.asarray(gram - cross - cross.T)

    @property
    def gram_passes(self) -> float:
        """What `gram` costs in time, in products with the whole matrix: one per column, at most."""
        return float(self.shape[1])

    def group_moments(
        self, group: NDArray[np.int32], n_groups: int, weight: Array | None = None
    ) -> list[RowMoments]:
        """The moments of every group of rows; a row of group -1 is in none."""
        return moments_by_products(self, group, n_groups, weight)

    @abstractmethod
    def subset(self, rows: Rows) -> Design:
        """A design of some of the rows, which it may copy; what it reads is not counted here."""

    @abstractmethod
    def squared_norms(self, rows: Rows | None = None) -> Array:
        """|x|^2 of every row."""

    def weighted_norms(self, weight: Array, rows: Rows | None = None) -> Array:
        """The sums over columns of weight x^2 of every row, by blocks of rows."""
        places = np.arange(self.shape[0]) if rows is None else rows
        sums = np.empty(len(places))
        for begin in range(0, len(places), _BLOCK_ROWS):
            block = slice(begin, begin + _BLOCK_ROWS)
            sums[block] = np.square(self.take(places[block])) @ weight
        return sums

    def absolute_scores(self, w: Array) -> Array:
        """The sums over columns of |x| |w| of every row, by blocks of rows."""
        sums = np.empty(self.shape[0])
        for block, rows in self._dense_blocks():
            sums[block] = np.abs(rows) @ np.abs(w)
        return sums

    def absolute_pull_back(self, v: Array) -> Array:
        """The sums over rows of |x| |v| of every column, by blocks of rows."""
        sums = np.zeros(self.shape[1])
        for block, rows in self._dense_blocks():
            sums += np.abs(v[block]) @ np.abs(rows)
        return sums

    def _dense_blocks(self) -> Iterator[tuple[slice, Array]]:
        for begin in range(0, self.shape[0], _BLOCK_ROWS):
            end = min(begin + _BLOCK_ROWS, self.shape[0])
            yield slice(begin, end), self.take(np.arange(begin, end))

    @cached_property
    def norms(self) -> Array:
        """An upper bound of |x| of every row, rounding included; computed once."""
        squares, d = self.squared_norms(), self.shape[1]
        norms = np.sqrt(squares + d * UNDERFLOW)
        if self.reads_rows and squares.max(initial=0.0) < _LOST:
            norms = np.minimum(norms, self.absolute_scores(np.ones(d)))
        return np.asarray(norms * (1.0 + gamma(d + STEPS)))

    @abstractmethod
    def take(self, rows: Rows) -> Array:
        """The rows themselves, dense."""

    def by_rows(self) -> Matrix:
        """The matrix with contiguous rows, for kernels that read rows in an order of their own."""
        raise TypeError(
            "Rows are read in random order here: the matrix must be in memory, as an array or a "
            "CSR matrix."
        )

    def stored_columns(self) -> tuple[Matrix, Rows | None]:
        """The rows without columns that none of them stores, and which are left; None: all are."""
        return self.by_rows(), None

    def differences(self) -> tuple[Design, Rows, Rows]:
        """The rows as differences of two of another matrix: of its own, less no row."""
        n = self.shape[0]
        return self, np.arange(n), np.full(n, NO_ROW)

    def by_columns(self, rows: Rows | None = None) -> ColumnReader:
        """The columns of some rows, one at a time."""
        return ProductColumns(self, rows)

    def column_ranges(self, rows: Rows | None = None) -> tuple[Array, Array]:
        """The least and the largest entry of every column, by blocks of rows."""
        places = np.arange(self.shape[0]) if rows is None else rows
        low, high = np.full(self.shape[1], np.inf), np.full(self.shape[1], -np.inf)
        for begin in range(0, len(places), _BLOCK_ROWS):
            block = self.take(places[begin : begin + _BLOCK_ROWS])
            low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
        return low, high

    def movable_columns(self) -> NDArray[np.bool_]:
        """Which columns `shifted` can take an offset off; none, if it makes no copy."""
        return np.zeros(self.shape[1], dtype=np.bool_)

    def shifted(self, offset: Array) -> Design:
        """A copy in float64 with `offset`, zero where columns are not movable, taken off."""
        raise TypeError("The columns of this matrix cannot be moved.")

    def centred(self, rows: Rows | None = None) -> Design:
        """The design or, where columns of these rows lie far from zero, one without their offset.

        Columns that cannot be moved stay where they are.
        """
        return self

    def reduce(self, ask: Ask) -> Sums:
        """Sums over rows at a point, taken block by block."""
        return reduce_rows(self, ask)

    @property
    def row_bytes(self) -> float:
        """Bytes of a row, dense in float64 or as CSR, whichever is less."""
        n, d = self.shape
        return min(8.0 * d, 12.0 * self.n_entries / max(n, 1))

    def affords_copy(self, n_rows: int) -> bool:
        """Return whether n rows may be copied to where the fit runs."""
        return n_rows * (self.row_bytes + 32.0) <= _COPIED_BYTES

    @property
    def rows_per_round(self) -> int:
        """Rows that one round of `reduce` may return from every part."""
        return int(_ROUND_BYTES / (self.row_bytes + 16.0))

    def require_rows(self, asker: str, instead: str) -> None:
        """Raise ValueError if `asker` reads rows in one place and these are in several."""
        return  # all rows of this matrix are in one place

    def parts(self) -> Iterator[tuple[int, int, Design]]:
        """The rows in parts, in order: the first row, the one after the last, and their design."""
        yield 0, self.shape[0], self

    def drawn(self, weights: RowWeights, of_pos: Rows, of_neg: Rows) -> tuple[Design, Array]:
        """The rows at these places among the positives and among the negatives, copied.

        In the order of the matrix, with their weights, those of negatives below zero. Places must
        not decrease.
        """
        if self.stores_scores:  # the weights of all rows too
            found = rows_of_places(weights.tilt, of_pos, of_neg)
            return self.subset(found), weights.tilt[found]
        rows, tilts, upto = [], [], [0, 0]
        for begin in range(0, self.shape[0], _WEIGHED_ROWS):
            tilt = weights.tilt_of(begin, min(begin + _WEIGHED_ROWS, self.shape[0]))
            n_pos, n_neg, _, _ = row_sides(tilt)
            places = []
            for k, (wanted, there) in enumerate(((of_pos, n_pos), (of_neg, n_neg))):
                own = wanted[slice(*np.searchsorted(wanted, [upto[k], upto[k] + there]))]
                places.append(own - upto[k])
                upto[k] += there
            found = rows_of_places(tilt, *places)
            rows.append(found + begin)
            tilts.append(tilt[found])
        return self.subset(np.concatenate(rows)), np.concatenate(tilts)

    @property
    def passes(self) -> float:
        """What has been read, in products with the whole matrix."""
        return self.entries_read / max(self.n_entries, 1)


def resolve_threads(n_threads: int | None) -> int:
    """The number of threads: as given, else OMP_NUM_THREADS, else one a core at hand.

    Else one in a worker of a pool, of threads or of processes, whose others have the other cores:
    those are daemons.
    """
    if n_threads is not None:
        return n_threads
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()  # "4,2": nested levels
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if current_thread().daemon or current_process().daemon:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
