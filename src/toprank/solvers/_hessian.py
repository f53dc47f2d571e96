"""The Hessian of a loss of scores, kept from one Newton step to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..designs import Design

Array = NDArray[np.float64]

#: Above this share of rows with another curvature, a sum from scratch costs no more.
_MOST_CHANGED = 0.5
#: What may have been taken off a diagonal entry since the last sum from scratch, in units of what
#: is left: the digits an entry lost are those of this number.
_MOST_TAKEN = 30.0


class Hessian:
    """X' diag(c) X for one curvature c after another.

    A quadratic loss has the same curvature at a row from step to step, but for the rows that
    cross a kink; then only those are read.
    """

    def __init__(self, design: Design) -> None:
        self._design = design
        self._c: Array | None = None
        self._sum = np.empty((0, 0))
        self._taken = np.empty(0)

    def at(self, c: Array) -> Array:
        """X' diag(c) X, c >= 0 finite and one entry a row; not to be written to."""
        last, self._c = self._c, c.copy()
        if last is not None:
            rows = np.flatnonzero(c != last)
            if len(rows) <= _MOST_CHANGED * np.count_nonzero(c) and self._update(rows, c, last):
                return self._sum
        self._sum, self._taken = self._gram(c), np.zeros(self._design.shape[1])
        return self._sum

    def _update(self, rows: NDArray[np.int64], c: Array, last: Array) -> bool:
        """Add what the rows gained and take off what they lost; False where too much was."""
        change = c[rows] - last[rows]
        up, down = change > 0, change < 0
        if up.any():
            self._sum += self._design.gram(change[up], rows[up])
        if down.any():
            lost = self._design.gram(-change[down], rows[down])
            self._sum -= lost
            self._taken += lost.diagonal()
        return bool((self._taken <= _MOST_TAKEN * self._sum.diagonal()).all())

    def _gram(self, c: Array) -> Array:
        rows = np.flatnonzero(c)
        return self._design.gram(c) if len(rows) == len(c) else self._design.gram(c[rows], rows)
