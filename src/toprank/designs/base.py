"""What every solver may ask of the matrix."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


class Design(ABC):
    """An N x d matrix X that can be multiplied; where `rows` is given, only those take part.

    Every product counts what it read in `entries_read`, so that work can be told in passes.
    """

    shape: tuple[int, int]
    #: How many entries a product with the whole matrix reads.
    n_entries: int
    entries_read: int = 0

    @abstractmethod
    def scores(self, w: Array, rows: Rows | None = None) -> Array:
        """S = X w."""

    @abstractmethod
    def pull_back(self, v: Array, rows: Rows | None = None) -> Array:
        """G = X'v."""

    @abstractmethod
    def gram(self, c: Array, rows: Rows | None = None) -> Array:
        """H = X' diag(c) X, c >= 0."""

    @abstractmethod
    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """The diagonal of X' diag(c) X."""

    @abstractmethod
    def squared_norms(self, rows: Rows | None = None) -> Array:
        """|x|^2 of every row."""

    @abstractmethod
    def take(self, rows: Rows) -> Array:
        """The rows themselves, dense."""

    @property
    def passes(self) -> float:
        """What has been read, in products with the whole matrix."""
        return self.entries_read / max(self.n_entries, 1)


def resolve_threads(n_threads: int | None) -> int:
    """The number of threads: as given, else OMP_NUM_THREADS, else one a core at hand."""
    if n_threads is not None:
        return n_threads
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()  # "4,2": nested levels
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
