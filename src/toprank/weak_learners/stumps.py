"""All decision stumps over the columns of X."""

from __future__ import annotations

from collections import deque

import numpy as np

from .._core import StumpTable
from ..designs import MemoryDesign
from ..inputs.class_split import Split, between
from .base import Array, Pick, WeakLearners


class Stumps(WeakLearners):
    """h(x) = +1 if x_k > t else -1, for all features k and t midway between values that follow.

    A row whose value is missing (NaN) is on the side of the cut that does better: so every
    threshold makes two learners, and "there is a value" makes one more.
    """

    def __init__(self, design: MemoryDesign, split: Split) -> None:
        super().__init__(split)
        self._threads = design.n_threads
        self._table = StumpTable(design.matrix, self.rows, design.n_threads)

    @property
    def n_learners(self) -> int:
        """The thresholds of all features."""
        return self._table.n_stumps

    def edges(self, s: Array) -> Array:
        """By sums from the ends of each column, which was sorted once."""
        return self._table.edges(s, self._threads)

    def decreases(self, w: Array, p: float) -> Array:
        """Exact: on two values J has its minimum in closed form, whatever p is."""
        return self._table.decreases(w, self.n_positive, p, self._threads)

    def pick_edge(self, s: Array, feature: int) -> Pick:
        """The stump with the lowest threshold of those that are best."""
        return Pick(feature, *self._table.best_edge(s, feature))

    def best_edges(self, s: Array, count: int) -> list[Pick]:
        """One stump of a feature; with fewer features than asked for, others of each.

        Between its best cut and either end the sums of a column rise or fall farthest up to
        another cut; so again on both sides of that one.
        """
        found = super().best_edges(s, count)
        known = {pick[:3] for pick in found}
        sides = deque(
            (pick.feature, self.column(pick) == side) for pick in found for side in (1.0, -1.0)
        )
        for _ in range(count - len(found)):
            if not sides:
                break
            feature, rows = sides.popleft()
            cut = self.pick_edge(np.where(rows, s, 0.0), feature)
            column = self.column(cut)
            if cut[:3] in known or not (rows & (column > 0)).any() or (column > 0)[rows].all():
                continue
            known.add(cut[:3])
            found.append(cut._replace(merit=float(s @ column)))
            sides.extend((feature, rows & (column == side)) for side in (1.0, -1.0))
        return sorted(found, key=lambda pick: -abs(pick.merit))

    def pick_decrease(self, w: Array, p: float, feature: int) -> Pick:
        """The stump with the lowest threshold of those that are best."""
        return Pick(feature, *self._table.best_decrease(w, self.n_positive, p, feature))

    def column(self, pick: Pick) -> Array:
        """+1 above the threshold and -1 below it."""
        return self._table.column(pick.feature, pick.cut, pick.missing_above)

    def levels(self, feature: int) -> Array:
        """The different values of a feature, increasing."""
        return self._table.levels(feature)

    def threshold(self, pick: Pick) -> float:
        """A number at or above the lower value and below the higher one, halfway if there is."""
        if pick.cut < 0:
            return -np.inf
        levels = self.levels(pick.feature)
        return between(levels[pick.cut], levels[pick.cut + 1])


__all__ = ["Stumps"]
