"""What a booster or column generation may ask of a set of weak learners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs.class_split import Split

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Merits nearer than this are equal, and the first learner wins: the order in which a sum was taken
#: must not decide.
EQUAL = 1e-12


class Pick(NamedTuple):
    """One weak learner: a column of X and, where it is a stump, where it is cut.

    `merit` is what it was picked for: above zero if the learner itself helps, else below.
    """

    feature: int
    cut: int
    missing_above: bool
    merit: float


class WeakLearners(ABC):
    """Functions h of a row, seen on the training rows: the positives first, then the negatives."""

    #: The most that any of them is away from zero on the training rows.
    largest: float = 1.0

    def __init__(self, split: Split) -> None:
        self.rows: Rows = np.concatenate([split.pos, split.neg])
        self.n_positive = len(split.pos)

    @property
    @abstractmethod
    def n_learners(self) -> int:
        """How many there are, constant ones left out."""

    @abstractmethod
    def edges(self, s: Array) -> Array:
        """The largest |sum_x s(x) h(x)| among the learners of each feature, s of sum zero."""

    @abstractmethod
    def decreases(self, w: Array, p: float) -> Array:
        """The farthest that J falls along a learner of each feature.

        J(t) = log sum_i w_i e^(-t h_i) + 1/p log sum_j w_j e^(p t h_j), i the positive rows and j
        the negative ones, on each of which w sums to one.
        """

    @abstractmethod
    def pick_edge(self, s: Array, feature: int) -> Pick:
        """The learner of a feature that has its largest |edge|; the first one among equals."""

    @abstractmethod
    def pick_decrease(self, w: Array, p: float, feature: int) -> Pick:
        """The learner of a feature along which J falls farthest; the first one among equals."""

    @abstractmethod
    def column(self, pick: Pick) -> Array:
        """The values of a learner on the training rows."""

    def best_edge(self, s: Array) -> Pick:
        """The learner of the largest |edge|; the first one among equals."""
        return self.pick_edge(s, _first_largest(self.edges(s)))

    def best_decrease(self, w: Array, p: float) -> Pick:
        """The learner along which J falls farthest; the first one among equals."""
        return self.pick_decrease(w, p, _first_largest(self.decreases(w, p)))

    def best_edges(self, s: Array, count: int) -> list[Pick]:
        """The best learners of the `count` best features, the largest |edge| first."""
        edges = self.edges(s)
        order = np.argsort(-edges, kind="stable")[:count]
        return [self.pick_edge(s, int(k)) for k in order if edges[k] > 0.0]


def _first_largest(values: Array) -> int:
    return int((values >= values.max() - EQUAL).argmax())


__all__ = ["Pick", "WeakLearners"]
