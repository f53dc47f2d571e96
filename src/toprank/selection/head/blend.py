"""Blends of scores: their places in the list, stretched at the top, and weighted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin

from .contenders import decisions_of

Array = NDArray[np.float64]

#: Beyond the scores that are known the curve goes on as over so many of them, or a tenth.
_END = 20
#: A curve of no more scores keeps them all.
_FEW = 1000
#: A curve of more keeps this many of the highest,
_EXACT = 200
#: and then one whose rank is this many times the rank before.
_APART = 1.01


def stretched(scores: Array) -> Array:
    """-log(1 - rank / (n + 1)), the highest score ranked n: a step at the head counts most."""
    return np.asarray(-np.log1p(-rankdata(scores) / (len(scores) + 1.0)))


class Stretch:
    """The same for scores of new rows: their place among scores that are known.

    Between two known scores, and beyond the last, the curve goes straight on, so that the order of
    rows is kept wherever they lie. A curve keeps a thousand scores, or about as many of more: the
    highest, and of the others those whose ranks are one percent apart.
    """

    def __init__(self, known: Array) -> None:
        scores, first = np.unique(known, return_index=True)
        values = stretched(known)[first]
        self.slopes = tuple(_slope(scores, values, low=low) for low in (True, False))
        kept = knots(len(scores))
        self.scores, self.values = scores[kept], values[kept]

    def __call__(self, scores: Array) -> Array:
        """The stretched places."""
        made = np.interp(scores, self.scores, self.values)
        below, above = self.slopes
        made = made + below * np.minimum(scores - self.scores[0], 0.0)
        return np.asarray(made + above * np.maximum(scores - self.scores[-1], 0.0))


def knots(n: int) -> NDArray[np.int64]:
    """Return which of n rising scores a curve keeps."""
    if n <= _FEW:
        return np.arange(n)
    ranks = list(range(_EXACT))
    while ranks[-1] < n - 1:
        ranks.append(min(int(ranks[-1] * _APART) + 1, n - 1))
    return np.asarray(n - 1 - np.array(ranks[::-1]))


def _slope(scores: Array, values: Array, *, low: bool) -> float:
    """Return how steeply the curve ends."""
    n = len(scores)
    if n < 2:
        return 1.0
    step = max(1, min(_END, n // 10))
    one, other = (0, step) if low else (n - 1 - step, n - 1)
    run = max(scores[other] - scores[one], np.finfo(float).tiny)  # the slope stays finite
    return float((values[other] - values[one]) / run)


class Blend(ClassifierMixin, BaseEstimator):
    """A weighted mean of several models' stretched places."""

    classes_ = np.array([0, 1])

    def __init__(
        self,
        models: tuple[Any, ...],
        curves: tuple[Stretch, ...],
        weights: tuple[float, ...],
    ) -> None:
        self.models = models
        self.curves = curves
        self.weights = weights

    def decision_function(self, X: Any) -> Array:
        """Return the blended score."""
        total: Any = 0.0
        for model, curve, weight in zip(self.models, self.curves, self.weights, strict=True):
            total = total + weight * curve(decisions_of(model, X))
        return np.asarray(total)

    def __sklearn_is_fitted__(self) -> bool:
        return True


__all__ = ["Blend", "Stretch", "knots", "stretched"]
