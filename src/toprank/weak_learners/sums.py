"""Weighted sums of weak learners on any rows, whole or stage by stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..designs import ColumnReader, Design
from .base import Array, Rows


class LearnerSum(ABC):
    """f(x) = sum_t weight_t h_t(x)."""

    @abstractmethod
    def scores(self, design: Design) -> Array:
        """The score of every row."""

    @abstractmethod
    def stages(self, design: Design) -> Iterator[Array]:
        """The scores after the first term, after the second, and so on."""


class ColumnSum(LearnerSum):
    """f(x) = sum_t weight_t x_k(t)."""

    def __init__(self, features: Rows, weights: Array, n_features: int) -> None:
        self._features, self._weights = features, weights
        self.coef = np.zeros(n_features)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            np.add.at(self.coef, features, weights)
        if not (finite := np.isfinite(self.coef)).all():
            raise ValueError(
                f"The weight of column {int(finite.argmin())} of X overflows float64: the column "
                "is too narrow. Multiply it by a power of two, 2.0**1000 for example, or remove it."
            )

    def scores(self, design: Design) -> Array:
        """X w."""
        return design.scores(self.coef)

    def stages(self, design: Design) -> Iterator[Array]:
        """A column at a time."""
        scores, columns = np.zeros(design.shape[0]), design.by_columns()
        for feature, weight in zip(self._features, self._weights, strict=True):
            places, x = columns.stored(int(feature))
            scores[places] += weight * x
            yield scores.copy()


class StumpSum(LearnerSum):
    """f(x) = sum_t weight_t h_t(x), h_t = 1 if x_k > threshold_t else `low`.

    Parameters
    ----------
    features, thresholds, missing_above, weights : arrays of one entry a stump
        `missing_above` says on which side a missing value is.
    low : {-1.0, 0.0}
        What a stump is below its threshold.
    """

    def __init__(
        self,
        features: Rows,
        thresholds: Array,
        missing_above: NDArray[np.bool_],
        weights: Array,
        low: float,
    ) -> None:
        self._features, self._thresholds, self._weights = features, thresholds, weights
        self._missing_above, self._low = missing_above, low

    def scores(self, design: Design) -> Array:
        """By steps: for every feature the sum of the weights whose threshold lies below."""
        order = np.lexsort((self._thresholds, self._features))
        used, begins = np.unique(self._features[order], return_index=True)
        scores, columns = np.zeros(design.shape[0]), design.by_columns()
        for feature, own in zip(used, np.split(order, begins)[1:], strict=True):
            sums = np.concatenate([[0.0], np.cumsum(self._weights[own])])
            levels = self._low * sums[-1] + (1.0 - self._low) * sums
            sides = np.where(self._missing_above[own], 1.0, self._low)
            lost = float(self._weights[own] @ sides)
            thresholds = self._thresholds[own]
            _add_steps(scores, columns, int(feature), thresholds, levels, lost)
        return scores

    def stages(self, design: Design) -> Iterator[Array]:
        """A stump at a time."""
        scores, columns = np.zeros(design.shape[0]), design.by_columns()
        for k, weight in enumerate(self._weights):
            levels = weight * np.array([self._low, 1.0])
            lost = float(levels[int(self._missing_above[k])])
            threshold = self._thresholds[k : k + 1]
            _add_steps(scores, columns, int(self._features[k]), threshold, levels, lost)
            yield scores.copy()


def _add_steps(
    scores: Array,
    columns: ColumnReader,
    feature: int,
    thresholds: Array,
    levels: Array,
    lost: float,
) -> None:
    """Add levels[number of thresholds below x] to every row, `lost` where x is missing."""
    places, x = columns.stored(feature)
    found = levels[np.searchsorted(thresholds, x, side="left")]
    if (missing := np.isnan(x)).any():
        found[missing] = lost
    if len(x) < len(scores):  # the other rows hold zeros
        zero = levels[np.searchsorted(thresholds, 0.0, side="left")]
        scores += zero
        found -= zero
    scores[places] += found


def importances(features: Rows, weights: Array, n_features: int) -> Array:
    """The share of every feature in the sizes of the weights; zeros where there are none."""
    sizes = np.zeros(n_features)
    np.add.at(sizes, features, np.abs(weights))
    total = float(sizes.sum())
    return sizes / total if total > 0.0 else sizes


__all__ = ["ColumnSum", "LearnerSum", "StumpSum", "importances"]
