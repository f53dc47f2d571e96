"""Features made for the folds of a race, no more often than need be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sklearn.utils import _safe_indexing

from ..fold_path import Rows
from .contenders import Data


@dataclass
class Making:
    """Makes a feature set: once for all folds where labels have no part in it, or once a fold.

    Scales, quantiles and kernel rows that come from all rows tell a fold nothing of the labels
    that it holds out. Where groups are kept together, or folds follow time, they would still be
    of rows that a fold should know nothing of: then each fold makes its own.
    """

    #: The transformer for so many rows and columns, not fitted.
    maker: Callable[[int, int], Any]
    #: Whether it goes by the labels.
    supervised: bool = False
    #: The transformer of all rows and what it makes of them, where the folds share it.
    whole: tuple[Any, Any] | None = None
    #: Those of single folds, by their numbers.
    known: dict[int, Any] = field(default_factory=dict)

    def of_fold(self, data: Data, fold: int) -> tuple[Any, Any]:
        """The transformer of a fold, and what it makes of all rows."""
        if data.exchangeable and not self.supervised:
            return self.of_all(data)
        if fold in self.known:
            return self.known[fold], self.known[fold].transform(data.X)
        features, made = self._made(data, data.folds.training(fold))
        self.known[fold] = features
        return features, made

    def of_all(self, data: Data) -> tuple[Any, Any]:
        """The transformer of all rows, and what it makes of them."""
        if self.whole is None:
            self.whole = self._made(data, data.all_rows)
        return self.whole

    def forget(self) -> None:
        """Let go of what was made; it can be made again."""
        self.whole = None
        self.known.clear()

    def _made(self, data: Data, rows: Rows) -> tuple[Any, Any]:
        """The transformer fitted on some rows, and what it makes of all."""
        own = data.used(rows)
        features = self.maker(len(own), data.X.shape[1])
        if len(own) == len(data.y) and (own == data.all_rows).all():
            return features, features.fit_transform(data.X, data.y)  # kernels are not made twice
        features.fit(_safe_indexing(data.X, own), data.y[own])
        return features, features.transform(data.X)


__all__ = ["Making"]
