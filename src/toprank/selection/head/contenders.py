"""What races: linear scores on feature sets along alpha, and estimators as they are given."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from ...convex import ConvexRanker
from ...folds import Folds
from ..fold_path import FoldFit, Judge, Rows, fold_path
from ..grid import mean_square
from ..path import checked, near_zero

Array = NDArray[np.float64]

#: Alphas in units of the rows' mean square: the first one, the step from each to the next, and
#: the last there can be.
_FIRST, _STEP, _LAST = 1e-1, 1e-1, 1e-8
#: The path ends after so many alphas without a gain.
_PATIENCE = 2


@dataclass(frozen=True)
class Data:
    """The rows of a race: labels are 0 and 1, the positive ones 1."""

    X: Any
    y: NDArray[np.int64]
    weight: Array | None
    folds: Folds
    judge: Judge
    n_threads: int | None = None

    def used(self, rows: Rows) -> Rows:
        """Those of the rows that have a weight."""
        return rows if self.weight is None else rows[self.weight[rows] > 0.0]

    def part(self, rows: Rows) -> tuple[Any, NDArray[np.int64], dict[str, Array]]:
        """Rows, labels, and options of a fit on them: their weights, if any."""
        weights = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        return _safe_indexing(self.X, rows), self.y[rows], weights

    def both_classes(self, test: Rows) -> bool:
        """Whether rows held out are of both classes."""
        own = self.y[self.used(test)]
        return bool(own.any() and not own.all())

    def score(self, model: Any, decisions: Array, test: Rows) -> float:
        """What the rows held out are worth; NaN if they are all of one class."""
        if not self.both_classes(test):
            return float("nan")
        return float(self.judge(model, decisions, self._rows, test))

    def fit_of(self, model: Any, decisions: Array, test: Rows, began: float) -> FoldFit:
        """The fit of a fold, begun at a time of the performance counter."""
        score, both = self.score(model, decisions, test), self.both_classes(test)
        return FoldFit(model, decisions, both, score, True, time.perf_counter() - began)

    @property
    def _rows(self) -> Any:
        return _Labelled(self.X, self.y, self.weight)


@dataclass(frozen=True)
class _Labelled:
    """What a judge reads of rows."""

    X: Any
    y: NDArray[np.int64]
    weight: Array | None

    @property
    def positive(self) -> NDArray[np.bool_]:
        return np.asarray(self.y == 1)


class Contender(Protocol):
    """Something that races: fitted in folds at one setting or several."""

    @property
    def name(self) -> str:
        """What the leaderboard calls it."""

    @property
    def features(self) -> str:
        """Its feature set."""

    @property
    def loss(self) -> str:
        """What it minimises."""

    @property
    def setting(self) -> str:
        """What its settings are: "alpha", "trees", or "" if there is one only."""

    def path(
        self, data: Data, training: Rows, test: Rows, settings: Array | None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold at these settings; without any, at as many as seem worth it."""

    def final(self, data: Data, setting: float) -> Any:
        """The model fitted on all rows."""


def decisions_of(model: Any, X: Any) -> Array:
    """The scores of a fitted classifier of labels 0 and 1."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} in candidates has neither decision_function nor "
            "predict_proba: pass a classifier."
        )
    return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)


@dataclass(frozen=True)
class Linear:
    """A linear score of a feature set, at the best of many alphas."""

    name: str
    features: str
    loss: str
    #: Makes the features of so many rows and columns.
    maker: Callable[[int, int], Any]
    ranker: ConvexRanker
    setting: str = "alpha"

    def path(
        self, data: Data, training: Rows, test: Rows, settings: Array | None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold along alpha, the largest first."""
        own = data.used(training)
        features = self.maker(len(own), data.X.shape[1])
        features.fit(_safe_indexing(data.X, own), data.y[own])
        ranker = clone(self.ranker).set_params(n_threads=data.n_threads)
        Z = features.transform(data.X)
        ranker, rows = checked(ranker, Z, data.y, data.weight, "HeadRanker")
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

    def final(self, data: Data, setting: float) -> Any:
        """The features and the score of all rows."""
        X, y, weights = data.part(data.used(np.arange(len(data.y))))
        features = self.maker(*X.shape)
        ranker = clone(self.ranker).set_params(alpha=setting, n_threads=data.n_threads)
        options = {f"ranker__{name}": value for name, value in weights.items()}
        return piped(features, ranker).fit(X, y, **options)


def falling(unit: float, scores: list[float]) -> Iterator[float]:
    """Alphas, the largest first, until the scores have not risen for two of them."""
    factor = _FIRST
    while factor >= 0.99 * _LAST:
        yield factor * (unit or 1.0)
        factor *= _STEP
        if scores and len(scores) - 1 - int(np.argmax(scores)) >= _PATIENCE:
            return


def piped(features: Any, ranker: Any) -> Pipeline:
    """Features and the score on them, fitted or not."""
    return Pipeline([("features", features), ("ranker", ranker)])


@dataclass(frozen=True)
class Given:
    """An estimator of the user's, fitted as it is."""

    name: str
    estimator: Any
    features: str = "its own"
    loss: str = "its own"
    setting: str = ""

    def path(
        self, data: Data, training: Rows, test: Rows, settings: Array | None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold."""
        began = time.perf_counter()
        model = self._fitted(data, training)
        decisions = decisions_of(model, _safe_indexing(data.X, test))
        return np.array([np.nan]), [data.fit_of(model, decisions, test, began)]

    def final(self, data: Data, setting: float) -> Any:
        """The estimator fitted on all rows."""
        return self._fitted(data, np.arange(len(data.y)))

    def _fitted(self, data: Data, rows: Rows) -> Any:
        X, y, weights = data.part(data.used(rows))
        # Its parameters are the user's, so they are checked, as this ranker's own have been.
        with config_context(skip_parameter_validation=False):
            return clone(self.estimator).fit(X, y, **self._weights(weights))

    def _weights(self, given: dict[str, Array]) -> dict[str, Array]:
        """The weights as a fit takes them, if they differ."""
        if not given or np.ptp(given["sample_weight"]) == 0.0:
            return {}
        if has_fit_parameter(self.estimator, "sample_weight"):
            return given
        if isinstance(self.estimator, Pipeline):
            name, last = self.estimator.steps[-1]
            if has_fit_parameter(last, "sample_weight"):
                return {f"{name}__sample_weight": given["sample_weight"]}
        raise ValueError(
            f"The fit of {self.name!r} in candidates takes no sample_weight: leave it out, or fit "
            "without weights."
        )


__all__ = ["Contender", "Data", "Given", "Linear", "decisions_of", "falling", "piped"]
