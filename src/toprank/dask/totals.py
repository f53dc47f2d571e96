"""The two classes of rows that are elsewhere."""

from __future__ import annotations

import numpy as np

from ..inputs.class_split import Split


class ClassTotals(Split):
    """The two classes of rows that are elsewhere: two rows stand for them.

    They weigh what the classes do, and know how many rows those have.
    """

    @classmethod
    def made(cls, counts: tuple[int, int], weights: tuple[float, float]) -> ClassTotals:
        """Of so many positive and negative rows, which weigh so much."""
        one, total = np.ones(1), sum(weights)
        shares = weights[0] / total, weights[1] / total
        made = cls(2, np.zeros(1, np.int64), np.ones(1, np.int64), one, one, *shares)
        made.__dict__["_counts"] = counts
        return made

    @property
    def counts(self) -> tuple[int, int]:
        """How many rows the two classes have."""
        counts: tuple[int, int] = self.__dict__["_counts"]
        return counts

    def weighing(self, of_pos: float, of_neg: float) -> ClassTotals:
        """The same rows with weights that sum to these numbers."""
        made = ClassTotals(2, self.pos, self.neg, of_pos * self.p, of_neg * self.q, *self.shares)
        made.__dict__["_counts"] = self.counts
        return made


__all__ = ["ClassTotals"]
