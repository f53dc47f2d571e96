"""The matrix of a fit whose rows are on a cluster: it can be summed over, and no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from .reducer import Reducer

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


class ClusterDesign(Design):
    """N rows that are parts on workers. What is asked for goes there, and sums come back.

    The two classes stand for their rows: a loss of these rows is a loss of two rows that weigh
    what the classes weigh, and `each` is what a positive and a negative row of weight one has of
    that.
    """

    elsewhere = True

    def __init__(
        self,
        reducer: Reducer,
        shape: tuple[int, int],
        n_entries: int,
        each: tuple[float, float],
        lengths: list[int],
    ) -> None:
        self.reducer, self.shape, self.n_entries = reducer, shape, n_entries
        self.each, self.lengths = each, lengths

    def over_parts(
        self,
        kernel: Callable[..., Any],
        args: tuple[Any, ...],
        add: Callable[[list[Any]], Any],
        size: int = 0,
    ) -> Any:
        """What a kernel makes of every part, added in their order; counted as one pass."""
        self.entries_read += self.n_entries
        return self.reducer(kernel, args, add, size)

    def scores(self, w: Array, rows: Rows | None = None) -> Array:
        """Not here."""
        raise _refusal()

    def pull_back(self, v: Array, rows: Rows | None = None) -> Array:
        """Not here."""
        raise _refusal()

    def gram(self, c: Array, rows: Rows | None = None) -> Array:
        """Not here."""
        raise _refusal()

    def gram_diagonal(self, c: Array, rows: Rows | None = None) -> Array:
        """Not here."""
        raise _refusal()

    def squared_norms(self, rows: Rows | None = None) -> Array:
        """Not here."""
        raise _refusal()

    def subset(self, rows: Rows) -> Design:
        """Not here."""
        raise _refusal()

    def take(self, rows: Rows) -> Array:
        """Not here."""
        raise _refusal()


def _refusal() -> TypeError:
    return TypeError("The rows are on a cluster, where only sums over them are to be had.")


__all__ = ["ClusterDesign"]
