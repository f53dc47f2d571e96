"""Boosted trees in the race: of scikit-learn, or of LightGBM, with their number chosen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing

from ...designs.base import resolve_threads
from ...trees import TreeEnsemble, from_model
from ..fold_path import FoldFit
from .contenders import Data

Array = NDArray[np.float64]

#: How many trees are tried. The next number follows while the last is the best.
_NUMBERS = (50, 100, 200, 400)
#: And half of the first, which takes no time of its own.
_FEWEST = 25
#: The most of them for fewer than so many rows, which gain little from more.
_MOST, _ROWS_FOR_MORE = 200, 10_000
#: Leaves of a tree: the usual number.
_LEAVES = 31
#: Bins of a column: with some thousand rows more of them take longer and gain nothing.
_BINS = 63
#: From so many rows on there are as many bins as scikit-learn has by itself.
_ROWS_FOR_BINS = 20_000
#: A leaf has so many rows at the least, as scikit-learn has it by itself.
_LEAF_ROWS = 20
#: Of so many columns or more each split looks at half: a little better on wide tables.
_WIDE, _HALF = 50, 0.5


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
    #: The number of codes of each column of categories, 0 of numbers; None without categories.
    levels: NDArray[np.int64] | None = None

    def path(
        self, data: Data, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold with more and more trees."""
        test = data.folds.held_out(fold)
        own = data.part(data.used(data.folds.training(fold)))
        held_out = _safe_indexing(data.X, test)
        grown = self._begun(data, *own) if after is None else after.ranker
        lines = self._lines(len(own[1])) if settings is None else [[int(n) for n in settings]]
        found: list[FoldFit] = []
        for numbers in lines:
            began = time.perf_counter()
            grown = self._grown(grown, numbers[-1], *own)
            for number, decisions in zip(numbers, grown.stages(held_out, numbers), strict=True):
                found.append(data.fit_of(grown.first(number), decisions, test, began))
                began = time.perf_counter()
            if int(np.argmax(np.nan_to_num([fit.score for fit in found]))) < len(found) - 1:
                break
        return np.array([fit.ranker.n_trees for fit in found], dtype=np.float64), found

    def _lines(self, n_rows: int) -> list[list[int]]:
        """Numbers of trees that are scored together, and what follows while they gain."""
        most = _MOST if n_rows < _ROWS_FOR_MORE else _NUMBERS[-1]
        first, *others = (number for number in _NUMBERS if number <= most)
        return [[_FEWEST, first], *([number] for number in others)]

    def beyond(self, setting: float) -> float | None:
        """The first fold has tried all there are."""
        return None

    def final(self, data: Data, setting: float) -> Any:
        """So many trees of all rows."""
        own = data.part(data.used(data.all_rows))
        return self._grown(self._begun(data, *own), int(setting), *own).as_arrays(data.X.shape[1])

    def _begun(self, data: Data, X: Any, y: Any, weights: dict[str, Array]) -> FirstTrees:
        """No trees so far, of the columns that can be split."""
        columns = None
        if self.library == "scikit-learn" and len(y) > 2 * _LEAF_ROWS:
            # Of any other column all but a few values are the same, and that is the median.
            there = np.array([_varies(values) for values in X.T])
            if there.any() and not there.all():
                columns = np.flatnonzero(there)
        levels = np.zeros(X.shape[1], dtype=np.int64) if self.levels is None else self.levels
        if columns is not None:
            levels = levels[columns]
        return FirstTrees(self._model(data, len(y), levels), 0, columns)

    def _model(self, data: Data, n_rows: int, levels: NDArray[np.int64]) -> Any:
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
            categorical_features=levels > 0 if levels.any() else None,
            max_bins=_BINS if n_rows < _ROWS_FOR_BINS and levels.max() <= _BINS else 255,
            min_samples_leaf=_LEAF_ROWS,
            max_features=_HALF if len(levels) >= _WIDE else 1.0,
            early_stopping=False,
            warm_start=True,
            random_state=self.seed,
        )

    def _grown(
        self, begun: FirstTrees, number: int, X: Any, y: Any, weights: dict[str, Any]
    ) -> FirstTrees:
        """So many trees; the first of them may be there."""
        X = begun.seen(X)
        if self.library == "scikit-learn":
            model = begun.model.set_params(max_iter=number).fit(X, y, **weights)
        else:
            before = begun.model.booster_ if begun.n_trees else None
            model = clone(begun.model).set_params(n_estimators=number - begun.n_trees)
            if self.levels is not None and self.levels.any():
                weights = weights | {"categorical_feature": np.flatnonzero(self.levels).tolist()}
            model.fit(X, y, init_model=before, **weights)
        return FirstTrees(model, number, begun.columns)


def _varies(values: Array) -> bool:
    """Return whether enough values of a column differ from its median, or are missing."""
    gaps = np.isnan(values)
    if not gaps.any():
        return bool((values != np.median(values)).sum() >= _LEAF_ROWS)
    there = values[~gaps]
    most = len(values) - len(there), int((there == np.median(there)).sum()) if len(there) else 0
    return len(values) - max(most) >= _LEAF_ROWS


class FirstTrees(ClassifierMixin, BaseEstimator):
    """The first trees of a boosted model of some columns; it may have grown more since."""

    def __init__(self, model: Any, n_trees: int, columns: NDArray[np.int64] | None = None) -> None:
        self.model = model
        self.n_trees = n_trees
        self.columns = columns

    classes_ = np.array([0, 1])

    def as_arrays(self, width: int) -> TreeEnsemble:
        """Return the same trees as plain arrays, for rows with all columns."""
        if self.columns is None:
            return from_model(self.model, n_trees=self.n_trees)
        return from_model(self.model, n_trees=self.n_trees, columns=self.columns, n_features=width)

    def seen(self, X: Any) -> Any:
        """The columns that the trees see."""
        return X if self.columns is None else X[:, self.columns]

    def first(self, number: int) -> FirstTrees:
        """Fewer of them."""
        return FirstTrees(self.model, number, self.columns)

    def decision_function(self, X: Any) -> Array:
        """The sum of the trees."""
        return self.stages(X, [self.n_trees])[0]

    def stages(self, X: Any, numbers: list[int]) -> list[Array]:
        """The sums of the first so many trees, for rising numbers of them."""
        X, model = self.seen(X), self.model
        if hasattr(model, "booster_"):
            made = [model.booster_.predict(X, raw_score=True, num_iteration=n) for n in numbers]
        elif numbers == [model.n_iter_]:
            made = [model.decision_function(X)]
        else:
            every = enumerate(islice(model.staged_decision_function(X), numbers[-1]), start=1)
            made = [scores for number, scores in every if number in numbers]
        return [np.asarray(scores, dtype=np.float64).reshape(-1) for scores in made]

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
