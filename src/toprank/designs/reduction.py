"""Sums over rows, taken block by block where the rows are.

For a loss that is a sum over rows once (w, b) are known, all that a solver or a certificate needs
is a handful of sums. A block of rows is scored, its terms are added up, and it is forgotten:
nothing of the length of the matrix need live. Blocks depend on its shape only, and are added in
their order, so that the sums are the same to the bit whoever computed them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .base import Design

Array = NDArray[np.float64]
Floats = NDArray[np.float32] | NDArray[np.float64]

#: Entries of a block: what a core keeps in its cache, but enough to be worth a call.
_BLOCK_ENTRIES = 1 << 18


@dataclass(frozen=True)
class Thinning:
    """A Gram matrix of few rows: those kept in proportion to what they add to it.

    A row of curvature c is kept with probability min(1, rate c (1 + |x|^2 / typical) / 2), and
    weighs more for it; at an infinite rate every row is kept.
    """

    rate: float = np.inf
    typical: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Line:
    """A direction (w, b) from a point, and the lengths of step that are asked about."""

    w: Array
    b: float
    steps: Array


@dataclass(frozen=True)
class Ask:
    """A point, and the sums wanted there; small enough to send to workers.

    The value, sum_r f_r(x_r.w + b), and the gradient, X'v and the sum of v, v_r = f_r'(x_r.w + b),
    are always computed. The others need a loss that compiled kernels support:

    shift        X'u, the sum of u and `bound`: v - eps u sums to zero for one eps, and its
                 conjugate exceeds that of v by eps^2 `bound`, beside its linear part, while
                 |eps| `CompiledRows.steepest` <= 1
    scores       x_r.w + b of every row
    squares      |x_r|^2 of every row
    single       in float32 arithmetic, but for sums over blocks of rows
    per_length   the scores are moved to where the loss is larger, those of a row of length one by
                 so much, and the sums that bounds need are taken: see `RowBounds`
    thin         X' diag(c) X with a last row and column of X'c and the sum of c, of few rows
    along        value, slope and curvature at several points of a line
    highest      so many negatives with the highest scores x_r.w; nothing else, if it is `only_top`

    Scores and squares are as long as the matrix: whoever can do without does not ask for them.
    """

    #: A `losses.RowSum`, or the `CompiledRows` of one.
    loss: Any
    w: Array
    b: float = 0.0
    shift: bool = False
    scores: bool = False
    squares: bool = False
    single: bool = False
    per_length: float | None = None
    thin: Thinning | None = None
    along: Line | None = None
    highest: int = 0
    only_top: bool = False

    @property
    def alone(self) -> Ask:
        """The same without the weights of the rows: small, to be sent to remote rows."""
        terms = self.loss.compiled
        return replace(self, loss=None if terms is None else terms.alone())

    @property
    def for_kernels(self) -> bool:
        """Whether only compiled kernels can answer."""
        asked = self.shift or self.scores or self.squares or self.single or self.highest > 0
        others = (self.per_length, self.thin, self.along)
        return asked or any(one is not None for one in others)


class RowBounds(NamedTuple):
    """Sums over rows that bounds of rounding are made of; z are the scores, b added."""

    #: v.z
    moment: float
    #: u.z
    shift_moment: float
    #: The sum of |v|.
    size: float
    #: The sum of |v z|.
    size_moment: float
    #: The sum of |v_r| |x_r|.
    pull_size: float
    #: The sum of u_r |x_r|.
    shift_size: float


class Highest(NamedTuple):
    """Rows with the highest scores, those first; of equal scores the earlier row is."""

    scores: Array
    rows: NDArray[np.int64]
    #: How many were asked for; a part may have fewer.
    wanted: int

    def joined(self, other: Highest) -> Highest:
        """The highest of both."""
        scores = np.concatenate([self.scores, other.scores])
        rows = np.concatenate([self.rows, other.rows])
        first = np.lexsort((rows, -scores))[: self.wanted]
        return Highest(scores[first], rows[first], self.wanted)


@dataclass
class Sums:
    """What came back; what was not asked for is zero, or None.

    Sums of parts of the rows add up to those of all: `+=`, in the order of the rows.
    """

    value: float
    pull: Array
    slope: float
    curvature: float
    shifted_pull: Array | None = None
    shift: float = 0.0
    bound: float = 0.0
    scores: Floats | None = None
    squares: Floats | None = None
    bounds: RowBounds | None = None
    #: The sum of |x|^2 over all rows, where it was taken.
    square_sum: float = 0.0
    #: The additions that a term went through, at the most, in a compiled pass.
    depth: int = 0
    #: The Gram matrix of few rows, and how many these are.
    thinned: Array | None = None
    kept: int = 0
    #: Value, slope and curvature, one row a step.
    line: Array | None = None
    highest: Highest | None = None
    #: What no negative's score is above, rounding included, where `per_length` was given.
    top: float = -np.inf

    @classmethod
    def none(cls, ask: Ask) -> Sums:
        """The sums over no row."""
        return cls(0.0, np.zeros(len(ask.w)), 0.0, 0.0)

    def __iadd__(self, other: Sums) -> Sums:
        for name in _ADDED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _ADDED_IF_ASKED:
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(
                self, name, theirs if mine is None else mine if theirs is None else mine + theirs
            )
        if other.bounds is not None:
            own = RowBounds(*[0.0] * 6) if self.bounds is None else self.bounds
            self.bounds = RowBounds(*(a + b for a, b in zip(own, other.bounds, strict=True)))
        if other.highest is not None:
            mine = self.highest
            self.highest = other.highest if mine is None else mine.joined(other.highest)
        self.top = max(self.top, other.top)
        self.depth = max(self.depth, other.depth) + 1
        return self


#: What adds up.
_ADDED = (
    "value",
    "pull",
    "slope",
    "curvature",
    "shift",
    "bound",
    "square_sum",
    "kept",
)
#: And what does where it was asked for.
_ADDED_IF_ASKED = ("shifted_pull", "thinned", "line")


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
    if ask.for_kernels:
        raise TypeError(
            "Shifted slopes, kept scores, float32 arithmetic and bounds are for losses that "
            "compiled kernels know, of a matrix in memory."
        )
    whole = end - begin == design.shape[0]
    part = ask.loss if whole else ask.loss.part(begin, end)
    rows = part.order
    if not whole:
        rows = np.arange(begin, end) if rows is None else rows + begin
    sums, s = Sums.none(ask), design.scores(ask.w, rows)
    sums.value = part.value_at(s, ask.b)
    v = part.slope_at(s, ask.b)
    sums.pull, sums.slope = design.pull_back(v, rows), float(v.sum())
    return sums


def kernels_answer(ask: Ask) -> bool:
    """Return whether the compiled pass gives all that is asked."""
    return ask.only_top or ask.loss.compiled is not None


__all__ = [
    "Ask",
    "Highest",
    "Line",
    "RowBounds",
    "Sums",
    "Thinning",
    "blocks",
    "kernels_answer",
    "reduce_block",
    "reduce_rows",
]
