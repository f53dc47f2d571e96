"""The last solutions of a path of alphas: the next one is near the best point in their span.

That point is found by their scores alone: nothing of the matrix is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import span_minimum
from ..losses import CompiledRows

Array = NDArray[np.float64]
Floats = NDArray[np.float32] | NDArray[np.float64]

#: Solutions that are kept: an earlier one adds nothing.
_POINTS = 3
#: The best point of the span is found up to this share of the tolerance.
_ENOUGH = 0.01
#: Where the slope of all rows is known, so many of them are looked at, or somewhat more.
_ROWS = 6000
#: Rows of a block, of which some or all are looked at.
_BLOCK = 128


@dataclass(frozen=True)
class Trail:
    """The last solutions of a path, the latest first: w, b, and the scores X w + b."""

    points: tuple[tuple[Array, float, Floats], ...] = ()

    def with_point(self, w: Array, b: float, scores: Floats, *, single: bool) -> Trail:
        """The trail that goes on to a point."""
        kind = np.float32 if single else np.float64
        here = cast(Floats, np.ascontiguousarray(scores, kind))
        before = [point for point in self.points if point[2].dtype == kind]
        return Trail(((w, b, here), *before[: _POINTS - 1]))

    def best(
        self,
        terms: CompiledRows,
        alpha: float,
        tol: float,
        n_threads: int,
        *,
        free_bias: bool,
        pull: tuple[Array, float] | None = None,
    ) -> tuple[Array, float, Array]:
        """The best point for another alpha: w, b, and its coefficients.

        `pull` is the gradient of the losses at the latest point, for w and for b: with it some of
        the rows will do.
        """
        W = np.array([w for w, _, _ in self.points])
        b = np.array([b for _, b, _ in self.points])
        scores = [s for _, _, s in self.points]
        slope, stride = None, 1
        if pull is not None:
            stride = max(1, len(scores[0]) // max(_ROWS, _BLOCK))
            slope = W @ pull[0] + b * pull[1]
            slope = np.append(slope, pull[1]) if free_bias else slope
        c = np.zeros(len(W))
        c[0] = 1.0
        c, more, _ = span_minimum(
            scores,
            alpha * (W @ W.T),
            c,
            0.0,
            terms.tilt,
            terms.positives,
            terms.negatives,
            free_bias,
            _ENOUGH * tol,
            stride,
            slope,
            n_threads,
        )
        return c @ W, float(c @ b) + more, c

    def scores(self, c: Array) -> Array:
        """The scores of the point with such coefficients, without its b."""
        found = np.zeros(len(self.points[0][2]))
        for share, (_, b, scores) in zip(c, self.points, strict=True):
            found += share * (scores - b)
        return found


__all__ = ["Trail"]
