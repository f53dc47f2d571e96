"""A linear score on a feature set, along alpha."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ...convex import ConvexRanker
from ..fold_path import FoldFit, fold_path
from ..grid import mean_square
from ..path import checked, near_zero
from .contenders import Data
from .making import Making

Array = NDArray[np.float64]

#: Alphas in units of the rows' mean square: the first one, the step from each to the next, and
#: the last there can be.
_FIRST, _STEP, _LAST = 1e-1, 1e-1, 1e-8
#: The path ends after so many alphas without a gain,
_PATIENCE = 2
#: which is a rise by this share of the best,
_GAIN = 1e-3
#: or once the score is this share below the best: small alphas are the dear ones.
_FALLEN = 0.01
#: Along a path few passes are the cheapest way for so many rows: the Hessian of one alpha does for
#: the next. Of fewer rows Newton's method leaves nothing to chance.
_FEW_PASSES_ROWS = 1000


@dataclass(frozen=True)
class Linear:
    """A linear score of a feature set, at the best of many alphas."""

    name: str
    features: str
    loss: str
    making: Making
    ranker: ConvexRanker
    setting: str = "alpha"

    def path(
        self, data: Data, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold along alpha, the largest first."""
        training, test = data.folds.training(fold), data.folds.held_out(fold)
        features, Z = self.making.of_fold(data, fold)
        ranker, rows = checked(self._quick(data, Z), Z, data.y, data.weight, "HeadRanker")
        rows = near_zero(ranker, rows)
        scores: list[float] = []

        def judged(fitted: Any, decisions: Array, _: Any, __: Any) -> float:
            scores.append(data.score(piped(features, fitted), decisions, test))
            return scores[-1]

        alphas: Any = settings
        if alphas is None:
            alphas = falling(mean_square(rows.design, rows.split.only(training)), scores)
        fits = fold_path(ranker, rows, training, test, alphas, judged)
        models = [replace(fit, ranker=piped(features, fit.ranker)) for fit in fits]
        return np.array([fit.ranker.alpha for fit in fits]), models

    def beyond(self, setting: float) -> float | None:
        """The next alpha."""
        return setting * _STEP

    def final(self, data: Data, setting: float) -> Any:
        """The features and the score of all rows."""
        features, Z = self.making.of_all(data)
        own = data.used(data.all_rows)
        _, y, weights = data.part(own)
        ranker = clone(self.ranker).set_params(alpha=setting, n_threads=data.n_threads)
        return piped(features, ranker.fit(_safe_indexing(Z, own), y, **weights))

    def _quick(self, data: Data, Z: Any) -> ConvexRanker:
        """The ranker as a fold fits it."""
        ranker = clone(self.ranker).set_params(n_threads=data.n_threads)
        if Z.shape[0] >= _FEW_PASSES_ROWS and "solver" in ranker.get_params():
            ranker.set_params(solver="few-passes")
        return ranker  # type: ignore[no-any-return]


def falling(unit: float, scores: list[float]) -> Iterator[float]:
    """Alphas, the largest first, until the scores have not risen for two of them, or fallen."""
    factor, best, since = _FIRST, -np.inf, 0
    while factor >= 0.99 * _LAST:
        yield factor * (unit or 1.0)
        factor *= _STEP
        if not scores:
            continue
        since = since + 1 if scores[-1] <= best + _GAIN * abs(best) else 0
        best = max(best, scores[-1])
        if since >= _PATIENCE or scores[-1] < best - _FALLEN * abs(best):
            return


def piped(features: Any, ranker: Any) -> Pipeline:
    """Features and the score on them, fitted or not."""
    return Pipeline([("features", features), ("ranker", ranker)])


__all__ = ["Linear", "falling", "piped"]
