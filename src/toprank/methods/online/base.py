"""Rankers that learn by steps, from all rows at hand or from blocks of rows as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...estimators.ranker import Ranker
from ...estimators.validation import LabelledRows

Array = NDArray[np.float64]


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
    t_: int
    _stream: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "random_state": ["random_state"],
    }

    def _block(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> LabelledRows:
        """What `partial_fit` is given, checked."""
        first = not hasattr(self, "_stream")
        return self._check_block(X, y, classes, sample_weight, first=first)

    def _score(self, w: Array, threshold: float | None) -> dict[str, Array]:
        """The attributes of the score w.x, less its threshold; None leaves that where it was."""
        if threshold is None:
            threshold = -float(self.intercept_[0]) if hasattr(self, "intercept_") else 0.0
        return {"coef_": w[np.newaxis].copy(), "intercept_": np.array([-threshold])}


__all__ = ["Stream", "StreamRanker"]
