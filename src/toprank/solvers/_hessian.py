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
#: Scores that agree as far as this are those of the same data.
_SAME_SCORES = 1e-9


@dataclass(frozen=True)
class KeptHessian:
    """A Hessian that outlives its fit, for another one on the same data to begin with.

    Whether the data are the same is told by the scores that the same weights give.
    """

    c: Array
    gram: Array
    border: Array
    taken: Array
    scores: Array

    def fits(self, scores: Array) -> bool:
        """Whether it belongs to the data that give these scores."""
        if scores.shape != self.scores.shape:
            return False
        reach = float(np.abs(self.scores).max())
        return reach > 0 and float(np.abs(scores - self.scores).max()) <= _SAME_SCORES * reach


class Hessian:
    """X' diag(c) X and X'c for one curvature c after another.

    A quadratic loss has the same curvature at a row from step to step, but for the rows that
    cross a kink; then only those are read.
    """

    def __init__(self, design: Design, kept: KeptHessian | None = None) -> None:
        self._design = design
        self._c: Array | None = None
        self._gram, self._border, self._taken = np.empty((0, 0)), np.empty(0), np.empty(0)
        if kept is not None:
            self._c, self._gram, self._border = kept.c, kept.gram.copy(), kept.border.copy()
            self._taken = kept.taken.copy()

    def at(self, c: Array) -> tuple[Array, Array]:
        """X' diag(c) X and X'c, c >= 0 finite and one entry a row; not to be written to."""
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
        self._taken = np.zeros(self._design.shape[1])
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

    def keep(self, scores: Array) -> KeptHessian | None:
        """What another fit on these data may begin with, where w gives these scores."""
        if self._c is None:
            return None
        return KeptHessian(self._c, self._gram, self._border, self._taken, scores)
