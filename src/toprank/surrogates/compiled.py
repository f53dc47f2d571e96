"""Sums over rows in the form that the compiled kernels take: plain arrays and numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from ..inputs.class_split import RowWeights
from .composed import Linear
from .standard import SURROGATES, Pieces, Surrogate

Array = NDArray[np.float64]

#: The scalar losses that the kernels support, by name.
_KINDS = {**SURROGATES, Linear.name: Linear()}


@dataclass(frozen=True)
class CompiledRows:
    """sum_r |c_r| l(-z_r) over the rows with c_r > 0, and sum_r |c_r| h(z_r) over the others.

    z = X w + b. A row of weight zero is absent. An `Ask` takes it in place of a loss.
    """

    #: The c_r of the rows of the matrix; None in a copy that is sent to remote rows.
    rows: RowWeights
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
        """Return the sums of these two losses; None if the kernels do not support both."""
        positives, negatives = l.pieces(), h.pieces()
        if positives is None or negatives is None:
            return None
        return cls(rows, positives, negatives)

    @property
    def compiled(self) -> CompiledRows:
        """Itself, as a loss has such sums."""
        return self

    @property
    def tilt(self) -> Array:
        """Return c_r of every row of the matrix, as a vector: for rows in memory."""
        return self.rows.tilt

    @property
    def kernel(self) -> tuple[Array, Pieces, Pieces]:
        """The arguments that compiled kernels take: the c_r, l and h."""
        return self.tilt, self.positives, self.negatives

    @cached_property
    def sides(self) -> tuple[int, int, float, float]:
        """Number of rows on each side, and the sums of their c_r."""
        return self.rows.sides

    @property
    def steepest(self) -> float:
        """The largest k, but at least one: the limit of a shift of the slopes."""
        of = (self.positives, self.negatives)
        return max(1.0, *(max(side.low, side.high) for side in of))

    @property
    def kinked(self) -> bool:
        """True if curvatures jump: then a step holds only while the same rows have curvature."""
        return "squared_hinge" in (self.positives.kind, self.negatives.kind)

    @cached_property
    def bend(self) -> float:
        """sum_r |c_r| l''(0), the rough size of the curvature of the sum."""
        _, _, above, below = self.sides
        sides = zip((self.positives, self.negatives), (above, -below), strict=True)
        return sum(
            weight * side.low * float(_KINDS[side.kind].curvature(np.zeros(1))[0])
            for side, weight in sides
        )

    def weighted(self, tilt: Array) -> CompiledRows:
        """Return the same losses of other rows, with these signed weights."""
        return CompiledRows(RowWeights(tilt), self.positives, self.negatives)

    def alone(self) -> CompiledRows:
        """Return the two losses without weights: small, to be sent to remote rows."""
        return replace(self, rows=None)  # type: ignore[arg-type]
