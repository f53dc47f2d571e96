"""A random forest on the columns as they are."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ...designs.base import resolve_threads
from ...trees import TreeEnsemble, from_model
from ..fold_path import FoldFit, Rows
from .contenders import Data

Array = NDArray[np.float64]

#: More trees move scores less than their folds differ.
_TREES = 200


@dataclass(frozen=True)
class Forest:
    """A random forest with scikit-learn's defaults, except the number of trees."""

    name: str
    seed: int
    features: str = "columns as given"
    loss: str = "Gini"
    setting: str = ""

    def path(
        self, data: Data, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold."""
        began, test = time.perf_counter(), data.folds.held_out(fold)
        model = self._fitted(data, data.folds.training(fold))
        decisions = model.decision_function(_safe_indexing(data.X, test))
        return np.array([0.0]), [data.fit_of(model, decisions, test, began)]

    def beyond(self, setting: float) -> float | None:
        """There is one setting only."""
        return None

    def final(self, data: Data, setting: float) -> Any:
        """The forest of all rows."""
        return self._fitted(data, data.all_rows)

    def _fitted(self, data: Data, rows: Rows) -> TreeEnsemble:
        from sklearn.ensemble import RandomForestClassifier

        X, y, weights = data.part(data.used(rows))
        threads = resolve_threads(data.n_threads)
        forest = RandomForestClassifier(_TREES, n_jobs=threads, random_state=self.seed)
        return from_model(forest.fit(X, y, **weights))


__all__ = ["Forest"]
