"""Sums over rows, taken block by block where the rows are.

For a loss that is a sum over rows once (w, b) are known, all that a solver or a certificate needs
is a handful of sums. A block of rows is scored, its terms are added up, and it is forgotten:
nothing of the length of the matrix need live. Blocks depend on its shape only, and are added in
their order, so that the sums are the same to the bit whoever computed them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .base import Design

Array = NDArray[np.float64]

#: Entries of a block: what a core keeps in its cache, but enough to be worth a call.
_BLOCK_ENTRIES = 1 << 18


class RowTerms(Protocol):
    """A loss that is a sum over rows, as `losses.RowSum` is."""

    @property
    def order(self) -> NDArray[np.int64] | None:
        """The rows it is a sum over, in the order in which its methods take them; None: all."""

    def part(self, begin: int, end: int) -> Any:
        """The terms of the rows from `begin` up to `end`, which are its rows from 0 on."""

    def value_at(self, s: Array, b: float) -> float:
        """The sum of the terms."""

    def slope_at(self, s: Array, b: float) -> Array:
        """Their slopes."""

    def curvature_at(self, s: Array, b: float) -> Array:
        """Their curvatures."""


@dataclass(frozen=True)
class Ask:
    """Which point, and what is wanted there; small, and fit to be sent elsewhere.

    value        sum_r f_r(x_r.w + b), always
    gradient     X'v and the sum of v, v_r = f_r'(x_r.w + b)
    curvature    X'c and the sum of c, c_r = f_r''(x_r.w + b)
    gram         X' diag(c) X
    """

    loss: RowTerms
    w: Array
    b: float = 0.0
    gradient: bool = True
    curvature: bool = False
    gram: bool = False


@dataclass
class Sums:
    """What came back; what was not asked for is zero."""

    value: float
    pull: Array
    slope: float
    curved_pull: Array
    curvature: float
    gram: Array

    @classmethod
    def none(cls, ask: Ask) -> Sums:
        """The sums over no row."""
        d = len(ask.w)
        square = (d, d) if ask.gram else (0, 0)
        return cls(0.0, np.zeros(d), 0.0, np.zeros(d), 0.0, np.zeros(square))

    def __iadd__(self, other: Sums) -> Sums:
        self.value += other.value
        self.pull += other.pull
        self.slope += other.slope
        self.curved_pull += other.curved_pull
        self.curvature += other.curvature
        self.gram += other.gram
        return self


def blocks(design: Design) -> Iterator[tuple[int, int]]:
    """The ranges of rows that sums are taken over, one after the other."""
    n = design.shape[0]
    in_a_row = max(design.n_entries / max(n, 1), 1.0)
    step = max(int(_BLOCK_ENTRIES / in_a_row), 1)
    for begin in range(0, n, step):
        yield begin, min(begin + step, n)


def reduce_rows(design: Design, ask: Ask) -> Sums:
    """The sums over all rows."""
    total = Sums.none(ask)
    for begin, end in blocks(design):
        total += reduce_block(design, ask, begin, end)
    return total


def reduce_block(design: Design, ask: Ask, begin: int, end: int) -> Sums:
    """The sums over the rows from `begin` up to `end`."""
    whole = end - begin == design.shape[0]
    part = ask.loss if whole else ask.loss.part(begin, end)
    rows = part.order
    if not whole:
        rows = np.arange(begin, end) if rows is None else rows + begin
    sums, s = Sums.none(ask), design.scores(ask.w, rows)
    sums.value = part.value_at(s, ask.b)
    if ask.gradient:
        v = part.slope_at(s, ask.b)
        sums.pull, sums.slope = design.pull_back(v, rows), float(v.sum())
    if ask.curvature or ask.gram:
        c = part.curvature_at(s, ask.b)
        sums.curved_pull, sums.curvature = design.pull_back(c, rows), float(c.sum())
        if ask.gram:
            sums.gram = design.gram(c, rows)
    return sums


__all__ = ["Ask", "RowTerms", "Sums", "blocks", "reduce_block", "reduce_rows"]
