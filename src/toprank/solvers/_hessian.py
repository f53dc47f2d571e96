"""The Hessian of a loss of scores, kept from one Newton step to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..designs import Design

Array = NDArray[np.float64]

#: Above this share of rows with another curvature, a sum from scratch costs no more.
_MOST_CHANGED = 0.5
#: What may have been taken off a diagonal entry since the last sum from scratch, in units of what
#: is left: the digits an entry lost are those of this number.
_MOST_TAKEN = 30.0
#: What a step with an inherited Hessian must leave of the gap, at most, for it to be trusted on.
_GOOD_STEP = 0.3


@dataclass(frozen=True)
class KeptHessian:
    """A Hessian that outlives its fit, for another one on the same data to begin with."""

    c: Array
    gram: Array
    border: Array
    taken: Array


class Hessian:
    """X' diag(c) X and X'c for one curvature c after another.

    A quadratic loss has the same curvature at a row from step to step, but for the rows that
    cross a kink; then only those are read.
    """

    def __init__(self, design: Design, kept: KeptHessian | None = None) -> None:
        self._design = design
        self._c: Array | None = None
        self._gram, self._border, self._taken = np.empty((0, 0)), np.empty(0), np.empty(0)
        #: Whether the sums are an earlier fit's, which may have been on other data.
        self.inherited = kept is not None
        if kept is not None:
            self._c, self._gram, self._border = kept.c, kept.gram.copy(), kept.border.copy()
            self._taken = kept.taken.copy()

    def at(self, c: Array) -> tuple[Array, Array]:
        """X' diag(c) X and X'c, c >= 0 finite and one entry per row; not to be written to."""
        last, self._c = self._c, c.copy()
        if last is not None:
            rows = np.flatnonzero(c != last)
            if len(rows) <= _MOST_CHANGED * np.count_nonzero(c) and self._update(rows, c, last):
                return self._gram, self._border
        rows = np.flatnonzero(c)
        if len(rows) == len(c):
            self._gram, self._border = self._design.gram(c), self._design.pull_back(c)
        else:
            self._gram = self._design.gram(c[rows], rows)
            self._border = self._design.pull_back(c[rows], rows)
        self._taken, self.inherited = np.zeros(self._design.shape[1]), False
        return self._gram, self._border

    def _update(self, rows: NDArray[np.int64], c: Array, last: Array) -> bool:
        """Add what the rows gained and take off what they lost; False where too much was."""
        if len(rows) == 0:
            return True
        change = c[rows] - last[rows]
        up, down = change > 0, change < 0
        if up.any():
            self._gram += self._design.gram(change[up], rows[up])
        if down.any():
            lost = self._design.gram(-change[down], rows[down])
            self._gram -= lost
            self._taken += lost.diagonal()
        self._border += self._design.pull_back(change, rows)
        return bool((self._taken <= _MOST_TAKEN * self._gram.diagonal()).all())

    def doubt(self, gap: float, gap_before: float) -> None:
        """Begin anew where inherited sums did not make a step what Newton's steps are."""
        if self.inherited and not gap <= _GOOD_STEP * gap_before:
            self._c, self.inherited = None, False

    def keep(self) -> KeptHessian | None:
        """What another fit on these data may begin with."""
        if self._c is None:
            return None
        return KeptHessian(self._c, self._gram, self._border, self._taken)


def learn(matrix: Array, step: Array, change: Array) -> None:
    """The curvature that a step has shown: the update of Broyden, Fletcher, Goldfarb and Shanno."""
    product, image = float(step @ change), matrix @ step
    bent = float(step @ image)
    if product > 1e-8 * bent > 0.0:
        matrix -= np.outer(image, image / bent)
        matrix += np.outer(change, change / product)
