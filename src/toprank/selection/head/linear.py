"""Linear scores on a feature set, along alpha, and their second stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ...estimators.convex import ConvexRanker
from ...methods import QuantileSigmoid
from ..fold_path import FoldFit, Rows, fold_path
from ..path import checked, follow, mean_square, near_zero
from .features import FeatureCache, TrainingRows, release, scored
from .race_data import RaceData

Array = NDArray[np.float64]

#: Alphas in units of the rows' mean square: the first, the ratio of the next to each, the smallest.
_FIRST, _STEP, _LAST = 1e-1, 1e-1, 1e-8


@dataclass(frozen=True)
class LinearScore:
    """A linear score of a feature set, at the best of many alphas."""

    name: str
    features: str
    loss: str
    cache: FeatureCache
    ranker: ConvexRanker
    setting: str = "alpha"
    family: str = "linear scores"

    @property
    def note(self) -> str:
        """Return the note on the rows for the leaderboard."""
        return self.cache.note

    def path(
        self, data: RaceData, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold along alpha, the largest first."""
        training, test = data.folds.training(fold), data.folds.held_out(fold)
        features, Z = self.cache.of_fold(data, fold)
        if Z is None:
            return self._sample_path(
                data, self.cache.sampled(features, data, training), test, settings
            )
        ranker, rows = checked(self._fold_ranker(data, Z), Z, data.y, data.weight, "HeadRanker")
        rows = near_zero(ranker, rows)
        scores: list[float] = []

        def judged(fitted: Any, decisions: Array, _: Any, __: Any) -> float:
            scores.append(data.score(pipeline_of(features, fitted), decisions, test))
            return scores[-1]

        alphas: Any = settings
        if alphas is None:
            alphas = decreasing_alphas(mean_square(rows.design, rows.split.only(training)), scores)
        fits = fold_path(ranker, rows, training, test, alphas, judged)
        models = [replace(fit, ranker=pipeline_of(features, fit.ranker)) for fit in fits]
        return np.array([fit.ranker.alpha for fit in fits]), models

    def _sample_path(
        self, data: RaceData, training_rows: TrainingRows, test: Rows, settings: Array | None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a sample along alpha, and score the held-out rows in blocks."""
        features, Z, y, weight = training_rows
        ranker, rows = checked(self._fold_ranker(data, Z), Z, y, weight, "HeadRanker")
        rows = near_zero(ranker, rows)
        scores: list[float] = []
        alphas: Any = settings
        if alphas is None:
            alphas = decreasing_alphas(mean_square(rows.design, rows.split), scores)
        # Scores decide on the next alpha. Expensive features are made for two alphas at a time.
        together = (1 if self.cache.most is None else 2) if settings is None else len(settings)
        found: list[FoldFit] = []
        fits, began = follow(ranker, rows, alphas), time.perf_counter()
        while fitted := [one for one, _ in islice(fits, together)]:
            decisions = scored(features, fitted, data.X, test)
            for one, own in zip(fitted, decisions, strict=True):
                found.append(data.fit_of(pipeline_of(features, one), own, test, began))
                scores.append(found[-1].score)
            began = time.perf_counter()
        return np.array([fit.ranker["ranker"].alpha for fit in found]), found

    def next_setting(self, setting: float) -> float | None:
        """Return the next smaller alpha."""
        return setting * _STEP

    def final(self, data: RaceData, setting: float) -> Any:
        """Return the features and the score fitted to all rows."""
        rows = self.cache.training_rows(data)
        # The best alpha of a mean loss falls as rows are added, about as one over their number.
        alpha = setting / data.growth
        ranker = clone(self.ranker).set_params(alpha=alpha, n_threads=data.n_threads)
        model = pipeline_of(rows.features, ranker.fit(rows.Z, rows.y, **rows.options))
        del rows
        self.cache.clear()
        release(data.X)
        return model

    def _fold_ranker(self, data: RaceData, Z: Any) -> ConvexRanker:
        """Return the ranker as folds fit it."""
        ranker = clone(self.ranker).set_params(n_threads=data.n_threads)
        # Along a path few passes are cheapest for many rows: the Hessian of one alpha serves the
        # next.
        if Z.shape[0] >= 1000 and "solver" in ranker.get_params():
            ranker.set_params(solver="few-passes")
        return ranker  # type: ignore[no-any-return]


def decreasing_alphas(unit: float, scores: list[float]) -> Iterator[float]:
    """Yield alphas, the largest first, until scores have not risen for two of them, or fallen."""
    factor, best, since, read = _FIRST, -np.inf, 0, 0
    while factor >= 0.99 * _LAST:
        yield factor * (unit or 1.0)
        factor *= _STEP
        for score in scores[read:]:
            # A gain is a rise by at least 0.1 % of the best score.
            since = since + 1 if score <= best + 1e-3 * abs(best) else 0
            best = max(best, score)
            # Small alphas are expensive: stop after two without a gain, or below 0.99 of the best
            # score.
            is_over = since >= 2 or score < best - 0.01 * abs(best)
            # With few positives the first scores may fall by chance, so at least four alphas are
            # tried.
            if is_over and len(scores) >= 4:
                return
        read = len(scores)


def pipeline_of(features: Any, ranker: Any) -> Pipeline:
    """Return a pipeline of features and a ranker, fitted or not."""
    return Pipeline([("features", features), ("ranker", ranker)])


@dataclass(frozen=True)
class RefinedScore:
    """`QuantileSigmoid` on the features of a linear score, started from its weights."""

    first: LinearScore
    #: That of the first stage.
    alpha: float
    #: The share of the list that counts.
    fraction: float
    setting: str = "mu"
    family: str = "linear scores"

    @property
    def name(self) -> str:
        """Return the name on the leaderboard."""
        return f"{self.first.name}, refined"

    @property
    def note(self) -> str:
        """Return the note on the rows for the leaderboard."""
        return self.first.note

    @property
    def features(self) -> str:
        """Return the features of the first stage."""
        return self.first.features

    @property
    def loss(self) -> str:
        """Return the loss."""
        return f"positives outside the capacity, from {self.first.loss}"

    def path(
        self, data: RaceData, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold with the weights tied less and less."""
        test, training_rows = data.folds.held_out(fold), self.first.cache.training_rows(data, fold)
        features, Z, y, _ = training_rows
        if settings is None:
            square = Z.multiply(Z) if hasattr(Z, "multiply") else np.square(Z)
            # Strength of the tie to the weights of the first stage, in units of the rows' mean
            # square.
            settings = np.array((1.0, 1e-1, 1e-2, 1e-3)) * float(square.sum() / len(y) or 1.0)
        found = []
        for mu in settings:
            began = time.perf_counter()
            ranker = self._ranker(data, mu).fit(Z, y, **training_rows.options)
            (decisions,) = scored(features, [ranker], data.X, test)
            found.append(data.fit_of(pipeline_of(features, ranker), decisions, test, began))
        return settings, found

    def next_setting(self, setting: float) -> float | None:
        """Return None: all settings are tried."""
        return None

    def final(self, data: RaceData, setting: float) -> Any:
        """Return both stages fitted to all rows."""
        features, Z, y, _ = training_rows = self.first.cache.training_rows(data)
        return pipeline_of(features, self._ranker(data, setting).fit(Z, y, **training_rows.options))

    def _ranker(self, data: RaceData, mu: float) -> QuantileSigmoid:
        start = clone(self.first.ranker).set_params(alpha=self.alpha, n_threads=data.n_threads)
        return QuantileSigmoid(self.fraction, start=start, mu=float(mu), n_threads=data.n_threads)


__all__ = ["LinearScore", "RefinedScore", "decreasing_alphas", "pipeline_of"]
