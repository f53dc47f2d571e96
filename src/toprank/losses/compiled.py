"""Sums over rows as the compiled kernels know them: plain arrays and numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from ..inputs.row_weights import GivenWeights, RowWeights
from ..surrogates import SURROGATES, Linear, Pieces, Surrogate

Array = NDArray[np.float64]

#: The losses that the kernels know, by name.
_KINDS = {**SURROGATES, Linear.name: Linear()}


@dataclass(frozen=True)
class CompiledRows:
    """sum_r |c_r| l(-z_r) over the rows with c_r > 0, and sum_r |c_r| h(z_r) over the others.

    z = X w + b. A row of weight zero is absent.
    """

    #: Where c_r of every row of the matrix is known; None where the rows are, and know it.
    rows: RowWeights | None
    #: l.
    positives: Pieces
    #: h.
    negatives: Pieces

    @classmethod
    def of(
        cls,
        rows: RowWeights,
        l: Surrogate,  # noqa: E741
        h: Surrogate,
    ) -> CompiledRows | None:
        """The sums of these two losses, where the kernels know both."""
        positives, negatives = l.pieces(), h.pieces()
        if positives is None or negatives is None:
            return None
        return cls(rows, positives, negatives)

    @cached_property
    def tilt(self) -> Array:
        """c_r of every row of the matrix, as a vector: for rows in memory."""
        assert self.rows is not None
        return self.rows.tilt_of(0, self.rows.n_rows)

    @cached_property
    def sides(self) -> tuple[int, int, float, float]:
        """How many rows each side has, and what their c_r sum to."""
        assert self.rows is not None
        return self.rows.sides

    @property
    def steepest(self) -> float:
        """The largest k, and one at the least: what a shift of the slopes is limited by."""
        of = (self.positives, self.negatives)
        return max(1.0, *(max(side.low, side.high) for side in of))

    @property
    def kinked(self) -> bool:
        """Whether curvatures jump: then a step is right only while the same rows are bent."""
        return "squared_hinge" in (self.positives.kind, self.negatives.kind)

    @cached_property
    def bend(self) -> float:
        """sum_r |c_r| l''(0): how much the sum can bend, roughly."""
        _, _, above, below = self.sides
        sides = zip((self.positives, self.negatives), (above, -below), strict=True)
        return sum(
            weight * side.low * float(_KINDS[side.kind].curvature(np.zeros(1))[0])
            for side, weight in sides
        )

    def weighted(self, tilt: Array) -> CompiledRows:
        """The same losses of other rows, which have these weights."""
        return CompiledRows(GivenWeights(tilt), self.positives, self.negatives)

    def alone(self) -> CompiledRows:
        """The two losses without their rows: small, to be sent to where those are."""
        return replace(self, rows=None)


@dataclass(frozen=True)
class CompiledTerms:
    """Compiled sums where a loss is asked for: of a sample, or of a loss without its ceiling."""

    compiled: CompiledRows

    @property
    def rows(self) -> RowWeights:
        """Where the weights of the rows are known."""
        assert self.compiled.rows is not None
        return self.compiled.rows
