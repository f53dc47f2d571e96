"""Boosted trees in the race: of scikit-learn, or of LightGBM, with their number chosen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing

from ...designs.base import resolve_threads
from ..fold_path import FoldFit, Rows
from .contenders import Data

Array = NDArray[np.float64]

#: How many trees are tried, while more of them gain.
_NUMBERS = (25, 50, 100, 200, 400)
#: The number stops growing after so many steps without a gain.
_PATIENCE = 2
#: Leaves of a tree: the usual number.
_LEAVES = 31


@dataclass(frozen=True)
class Trees:
    """Gradient boosting of trees on the columns as they are."""

    name: str
    #: "scikit-learn" or "lightgbm".
    library: str
    seed: int
    leaves: int = _LEAVES
    features: str = "columns as given"
    loss: str = "logistic"
    setting: str = "trees"

    def path(
        self, data: Data, training: Rows, test: Rows, settings: Array | None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold with more and more trees."""
        X, y, weights = data.part(data.used(training))
        held_out = _safe_indexing(data.X, test)
        found: list[FoldFit] = []
        numbers = _NUMBERS if settings is None else tuple(int(number) for number in settings)
        model = self._model(data)
        for number in numbers:
            began = time.perf_counter()
            model = self._grown(model, number, numbers[-1], X, y, weights)
            first = FirstTrees(model, number)
            decisions = first.decision_function(held_out)
            found.append(data.fit_of(first, decisions, test, began))
            best = int(np.argmax(np.nan_to_num([fit.score for fit in found])))
            if settings is None and len(found) - 1 - best >= _PATIENCE:
                break
        return np.array(numbers[: len(found)], dtype=np.float64), found

    def final(self, data: Data, setting: float) -> Any:
        """So many trees of all rows."""
        X, y, weights = data.part(data.used(np.arange(len(data.y))))
        number = int(setting)
        return FirstTrees(self._grown(self._model(data), number, number, X, y, weights), number)

    def _model(self, data: Data) -> Any:
        if self.library == "lightgbm":
            lightgbm = import_lightgbm()
            return lightgbm.LGBMClassifier(
                num_leaves=self.leaves,
                random_state=self.seed,
                deterministic=True,
                force_row_wise=True,
                n_jobs=resolve_threads(data.n_threads),
                verbose=-1,
            )
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            max_leaf_nodes=self.leaves,
            early_stopping=False,
            warm_start=True,
            random_state=self.seed,
        )

    def _grown(
        self, model: Any, number: int, most: int, X: Any, y: Any, weights: dict[str, Array]
    ) -> Any:
        """The model with so many trees at the least, the first of which it may have."""
        if self.library == "scikit-learn":
            return model.set_params(max_iter=number).fit(X, y, **weights)
        if hasattr(model, "n_features_"):
            return model  # it has them all: LightGBM scores by the first of them alone
        return model.set_params(n_estimators=most).fit(X, y, **weights)


class FirstTrees(ClassifierMixin, BaseEstimator):
    """The first trees of a boosted model, which may have grown more since."""

    def __init__(self, model: Any, n_trees: int) -> None:
        self.model = model
        self.n_trees = n_trees

    classes_ = np.array([0, 1])

    def decision_function(self, X: Any) -> Array:
        """The sum of the trees."""
        if hasattr(self.model, "booster_"):
            scores = self.model.booster_.predict(X, raw_score=True, num_iteration=self.n_trees)
        elif self.model.n_iter_ == self.n_trees:
            scores = self.model.decision_function(X)
        else:
            stages = self.model.staged_decision_function(X)
            scores = next(islice(stages, self.n_trees - 1, None))
        return np.asarray(scores, dtype=np.float64).reshape(-1)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 where the sum is above zero, else 0."""
        return (self.decision_function(X) > 0.0).astype(np.int64)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def import_lightgbm() -> Any:
    """LightGBM, or how to get it."""
    try:
        import lightgbm
    except ImportError as error:
        raise ImportError(
            "trees='lightgbm' needs LightGBM: pip install lightgbm, or pass trees=True for "
            "scikit-learn's boosted trees."
        ) from error
    return lightgbm


__all__ = ["FirstTrees", "Trees", "import_lightgbm"]
