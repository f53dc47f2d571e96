"""The two classes of a training set, and the weights of their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Split:
    """Positive and negative rows with weights that sum to one on each side.

    A row of weight zero is in neither class: it is as if absent.
    """

    n_rows: int
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]

    @classmethod
    def of(
        cls, positive: NDArray[np.bool_], sample_weight: NDArray[np.float64] | None = None
    ) -> Split:
        """Split rows by a mask of the positive ones."""
        negative = ~positive
        if sample_weight is not None:
            weighted = sample_weight > 0
            positive, negative = positive & weighted, negative & weighted
        pos, neg = np.flatnonzero(positive), np.flatnonzero(negative)
        if not (len(pos) and len(neg)):
            side = "positive" if not len(pos) else "negative"
            raise ValueError(
                f"There is no {side} row with a weight above zero: "
                "ranking needs at least one row of each class."
            )

        def shares(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            if sample_weight is None:
                return rows, np.full(len(rows), 1.0 / len(rows))
            weight = sample_weight[rows]
            # Divided by the largest first: the sum of huge weights must not overflow.
            weight = weight / weight.max()
            share = weight / weight.sum()
            # What vanishes beside the largest weighs nothing: losses divide by shares.
            kept = share >= np.finfo(np.float64).tiny
            return rows[kept], share[kept]

        pos, p = shares(pos)
        neg, q = shares(neg)
        return cls(len(positive), pos, neg, p, q)

    def swapped(self) -> Split:
        """The classes with their roles exchanged."""
        return Split(self.n_rows, self.neg, self.pos, self.q, self.p)
