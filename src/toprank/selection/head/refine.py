"""The second stage: a linear winner moved so that more positives are within the capacity."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...methods import QuantileSigmoid
from ..fold_path import FoldFit
from .blocks import scored
from .contenders import Data
from .linear import Linear, piped

Array = NDArray[np.float64]

#: How strongly the weights are tied to those of the first stage, in units of the rows' mean square.
_TIES = (1.0, 1e-1, 1e-2, 1e-3)


@dataclass(frozen=True)
class Refined:
    """`QuantileSigmoid` on the features of a linear contender, from its weights."""

    first: Linear
    #: That of the first stage.
    alpha: float
    #: The share of the list that counts.
    fraction: float
    setting: str = "mu"
    family: str = "linear scores"

    @property
    def name(self) -> str:
        """What the leaderboard calls it."""
        return f"{self.first.name}, refined"

    @property
    def note(self) -> str:
        """What the leaderboard says of the rows."""
        return self.first.note

    @property
    def features(self) -> str:
        """Those of the first stage."""
        return self.first.features

    @property
    def loss(self) -> str:
        """Its own."""
        return f"positives outside the capacity, from {self.first.loss}"

    def path(
        self, data: Data, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold with the weights tied less and less."""
        test, learning = data.folds.held_out(fold), self.first.making.learning(data, fold)
        features, Z, y, _ = learning
        if settings is None:
            square = Z.multiply(Z) if hasattr(Z, "multiply") else np.square(Z)
            settings = np.array(_TIES) * float(square.sum() / len(y) or 1.0)
        found = []
        for mu in settings:
            began = time.perf_counter()
            ranker = self._ranker(data, mu).fit(Z, y, **learning.options)
            (decisions,) = scored(features, [ranker], data.X, test)
            found.append(data.fit_of(piped(features, ranker), decisions, test, began))
        return settings, found

    def beyond(self, setting: float) -> float | None:
        """No setting but those of the list."""
        return None

    def final(self, data: Data, setting: float) -> Any:
        """Both stages on all rows."""
        features, Z, y, _ = learning = self.first.making.learning(data)
        return piped(features, self._ranker(data, setting).fit(Z, y, **learning.options))

    def _ranker(self, data: Data, mu: float) -> QuantileSigmoid:
        start = clone(self.first.ranker).set_params(alpha=self.alpha, n_threads=data.n_threads)
        return QuantileSigmoid(self.fraction, start=start, mu=float(mu), n_threads=data.n_threads)


__all__ = ["Refined"]
