"""A random forest on the columns as they are."""

from __future__ import annotations

from dataclasses import dataclass

from ...designs.base import resolve_threads
from ...trees import TreeEnsemble, from_model
from ..fold_path import Rows
from .contenders import Data, OneSetting

#: More trees move scores less than their folds differ.
_TREES = 200


@dataclass(frozen=True)
class Forest(OneSetting):
    """A random forest with scikit-learn's defaults, except the number of trees."""

    name: str
    seed: int
    features: str = "columns as given"
    loss: str = "Gini"
    setting: str = ""

    def _fitted(self, data: Data, rows: Rows) -> TreeEnsemble:
        from sklearn.ensemble import RandomForestClassifier

        X, y, weights = data.part(data.used(rows))
        threads = resolve_threads(data.n_threads)
        forest = RandomForestClassifier(_TREES, n_jobs=threads, random_state=self.seed)
        return from_model(forest.fit(X, y, **weights))


__all__ = ["Forest"]
