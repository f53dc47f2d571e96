"""Rankers that learn by steps, from all rows at hand or from blocks of rows as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .base import Ranker
from .designs import MemoryDesign
from .split import Split
from .validation import check_block_labels, check_labels, check_matrix, check_weights

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """Rows that have been checked: all of them, or those of one call of `partial_fit`."""

    design: MemoryDesign
    split: Split
    #: As they were given.
    weight: Array | None

    def share_threshold(self, w: Array) -> float | None:
        """The score that the positives' share of the rows lies above; None if a class lacks."""
        if not (len(self.split.pos) and len(self.split.neg)):
            return None
        return self.split.share_threshold(self.design.scores(w))


@dataclass
class Stream:
    """Where the steps have come to: the weights, their number, and the mean of some of them."""

    w: Array
    t: int
    mean: Array
    n_averaged: int = 0

    @classmethod
    def of(cls, n_weights: int) -> Stream:
        """Before the first step."""
        return cls(np.zeros(n_weights), 0, np.zeros(n_weights))

    def average_with(self, total: Array, count: int) -> None:
        """Let the mean take in a sum of `count` more weights."""
        self.n_averaged += count
        self.mean = self.mean + (total - count * self.mean) / self.n_averaged


class StreamRanker(Ranker):
    """A ranker that learns by steps: what `fit` and `partial_fit` check, and what they set."""

    random_state: Any
    verbose: int
    t_: int
    n_iter_: int

    #: Whether weights count as they are, and not only as shares of their sum.
    _sums_weights: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def _all_rows(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Block:
        """What `fit` is given, checked."""
        design = check_matrix(self, X, reset=True, n_threads=self.n_threads)
        weight = self._checked_weights(sample_weight, design)
        self.classes_, split = check_labels(y, sample_weight, design, self.pos_label)
        return Block(design, split, weight)

    def _block(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> Block:
        """What `partial_fit` is given, checked. A block may lack a class."""
        design = check_matrix(self, X, reset=not hasattr(self, "_stream"), n_threads=self.n_threads)
        weight = self._checked_weights(sample_weight, design)
        positive = check_block_labels(self, y, classes, design)
        return Block(design, Split.of(positive, weight, one_class=True), weight)

    def _checked_weights(self, weight: ArrayLike | None, design: MemoryDesign) -> Array | None:
        summed = self._sums_weights
        return None if weight is None else check_weights(weight, design.shape[0], summed=summed)

    def _set(self, w: Array, threshold: float | None) -> None:
        """Set the score w.x, less its threshold; None leaves the threshold where it was."""
        if threshold is None:
            threshold = -float(self.intercept_[0]) if hasattr(self, "intercept_") else 0.0
        self.coef_ = w[np.newaxis].copy()
        self.intercept_ = np.array([-threshold])


__all__ = ["Block", "Stream", "StreamRanker"]
