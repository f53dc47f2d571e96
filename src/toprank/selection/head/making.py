"""Features made for the folds of a race, no more often than need be, nor of too many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ..fold_path import Rows
from .blocks import most_rows, transformed
from .contenders import Data

Array = NDArray[np.float64]

#: What the positives may have of a sample.
_POSITIVES = 0.5


class Learning(NamedTuple):
    """Rows that a fit learns from: their features, labels and weights."""

    features: Any
    Z: Any
    y: NDArray[np.int64]
    weight: Array | None

    @property
    def options(self) -> dict[str, Array]:
        """The weights as options of `fit`."""
        return {} if self.weight is None else {"sample_weight": self.weight}


@dataclass
class Making:
    """Makes a feature set: once for all folds where labels have no part in it, or once a fold.

    Scales, quantiles and kernel rows that come from all rows tell a fold nothing of the labels
    that it holds out. Where groups are kept together, or folds follow time, they would still be
    of rows that a fold should know nothing of: then each fold makes its own.

    Where the features of all rows would take too much memory, a fit learns from a sample.
    """

    #: The transformer for so many rows and columns, not fitted.
    maker: Callable[[int, int], Any]
    #: Whether it goes by the labels.
    supervised: bool = False
    #: The most rows that a fit learns from; None for as many as memory allows.
    most: int | None = None
    #: Decides the sample.
    seed: int = 0
    #: The transformer of all rows and what it makes of them, where the folds share it.
    whole: tuple[Any, Any] | None = None
    #: Those of single folds, by their numbers.
    known: dict[int, Any] = field(default_factory=dict)
    #: The transformer of all rows, where what it makes has been released.
    ready: Any = None
    #: What the leaderboard says of the sample.
    note: str = ""

    def of_fold(self, data: Data, fold: int) -> tuple[Any, Any]:
        """Return the transformer of a fold, and what it makes of all rows, or None if too much."""
        if data.exchangeable and not self.supervised:
            return self.of_all(data)
        if fold in self.known:
            return self.known[fold], self._all(self.known[fold], data)
        features, made = self._made(data, data.folds.training(fold))
        self.known[fold] = features
        return features, made

    def of_all(self, data: Data) -> tuple[Any, Any]:
        """Return the transformer of all rows, and what it makes of them, or None if too much."""
        if self.whole is None and self.ready is not None:
            self.whole = self.ready, self._all(self.ready, data)
        if self.whole is None:
            self.whole = self._made(data, data.all_rows)
        return self.whole

    def release(self) -> None:
        """Let go of what the transformer of all rows made, and keep that."""
        if self.whole is not None:
            self.ready, self.whole = self.whole[0], None

    def learning(self, data: Data, fold: int | None = None) -> Learning:
        """Return what a fit on the training rows of a fold, or on all rows, learns from."""
        features, Z = self.of_all(data) if fold is None else self.of_fold(data, fold)
        rows = data.used(data.all_rows if fold is None else data.folds.training(fold))
        if Z is None:
            return self.sampled(features, data, rows)
        weight = None if data.weight is None else data.weight[rows]
        every = fold is None and len(rows) == len(data.y)
        return Learning(features, Z if every else _safe_indexing(Z, rows), data.y[rows], weight)

    def sampled(self, features: Any, data: Data, rows: Rows) -> Learning:
        """Return a sample of rows, the positives first to be kept, weighted for those left out."""
        rows = data.used(rows)
        count = self._most(features, data)
        taken, times = drawn(data.y[rows], count, self.seed)
        taken = rows[taken]
        weight = None if data.weight is None else data.weight[taken]
        if times is not None:
            weight = times if weight is None else weight * times
        every = len(data.used(data.all_rows))
        if count < every:
            self.note = f"learnt from {count} of {every} rows"
        return Learning(features, transformed(features, data.X, taken), data.y[taken], weight)

    def forget(self) -> None:
        """Let go of what was made; it can be made again."""
        self.whole = self.ready = None
        self.known.clear()

    def _made(self, data: Data, rows: Rows) -> tuple[Any, Any]:
        """Return the transformer fitted on some rows, and what it makes of all."""
        own = self._few(data.used(rows))
        features = self.maker(len(own), data.X.shape[1])
        every = len(own) == len(data.y) and (own == data.all_rows).all()
        X, y = (data.X, data.y) if every else (_safe_indexing(data.X, own), data.y[own])
        if (seen := _fit(features, X, y, self.seed)) < len(own):
            self.note = f"features seen in {seen} of {len(own)} rows"
        del X
        return features, self._all(features, data)

    def _all(self, features: Any, data: Data) -> Any:
        """Return what a transformer makes of all rows, or None if that takes too much memory."""
        if len(data.y) > self._most(features, data):
            return None
        return transformed(features, data.X)

    def _few(self, rows: Rows) -> Rows:
        """Return the rows that a transformer is fitted on: no more than a fit learns from."""
        if self.most is None or len(rows) <= self.most:
            return rows
        return np.sort(np.random.default_rng(self.seed).permutation(rows)[: self.most])

    def _most(self, features: Any, data: Data) -> int:
        """Return the most rows that a fit learns from."""
        most = most_rows(features, data.X)
        return most if self.most is None else min(most, self.most)


def drawn(y: NDArray[np.int64], count: int, seed: int) -> tuple[Rows, Array | None]:
    """Draw rows: all positives, or half of the sample, and negatives by chance.

    Returns the rows in their order, and how many rows each stands for, None if all are taken.
    """
    if count >= len(y):
        return np.arange(len(y)), None
    negative, positive = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    n_positive = min(len(positive), max(int(_POSITIVES * count), count - len(negative), 1))
    n_negative = min(len(negative), max(count - n_positive, 1))
    rng = np.random.default_rng(seed)
    taken = [
        rng.choice(rows, size, replace=False)
        for rows, size in ((positive, n_positive), (negative, n_negative))
    ]
    rows = np.sort(np.concatenate(taken))
    stands_for = len(negative) / n_negative, len(positive) / n_positive
    return rows, np.where(y[rows] == 1, stands_for[1], stands_for[0])


def _fit(features: Any, X: Any, y: Any, seed: int) -> int:
    """Fit a transformer; the steps of a pipeline make their features in blocks.

    Where a step makes more of all rows than may be in memory, the next ones see a sample. Returns
    the number of rows that the last step has seen.
    """
    if isinstance(features, Pipeline):
        for _, step in features.steps[:-1]:
            step.fit(X, y)
            most = most_rows(step, X)
            if len(y) > most:
                rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:most])
                X, y = _safe_indexing(X, rows), y[rows]
            X = transformed(step, X)
        features = features[-1]
    features.fit(X, y)
    return len(y)


__all__ = ["Learning", "Making", "drawn"]
