"""Fitted attributes: the leaderboard, the threshold, and weights of linear scores."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from ...estimators.sklearn_api import sigmoid
from ...features.table_coder import CodedNumbers
from ...inputs.class_split import share_threshold
from ...inputs.dispatch import cluster_of, require_local
from ...inputs.labels import known_positive
from ...metrics._scorers import find_scorer, reads_scores_only, score_decisions, takes_weights
from .race_data import RaceData, RaceResult
from .setup import Capacity

Array = NDArray[np.float64]


class NotLinear(Exception):
    """Raised for a score that is not linear in the columns of X."""


class HeadAttributes:
    """The leaderboard, `score` by the measure that chose, and the weights of a linear score.

    `coef_` and `intercept_` exist for linear scores of standardised columns, and of sparse columns
    as given or with largest entry 1.
    """

    classes_: NDArray[Any]
    scoring_: Any
    threshold_: float
    _coder: Any
    _leaderboard: dict[str, NDArray[Any]]

    @property
    def leaderboard_(self) -> Any:
        """Return a row for each candidate, the chosen one first, then by mean."""
        self._check_fitted()  # type: ignore[attr-defined]
        order = best_first(self._leaderboard)
        board = {name: values[order] for name, values in self._leaderboard.items()}
        try:
            from pandas import DataFrame
        except ImportError:
            return board
        return DataFrame(board, index=order)

    @property
    def best_score_(self) -> float:
        """Return the mean score of the chosen candidate over the folds."""
        self._check_fitted()  # type: ignore[attr-defined]
        return float(self._leaderboard["mean"][self._leaderboard["chosen"].astype(bool)][0])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score rows by the measure that chose among the candidates, `scoring_`.

        Rankers with different capacities have different measures. To compare them, pass the same
        `scoring` to all of them, or to the search.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        float
            The measure. It is an estimate for new rows only if these rows had no part in the fit.
        """
        self._check_fitted()  # type: ignore[attr-defined]
        scorer = find_scorer(self.scoring_, self)
        cluster = cluster_of(X, y)
        if not reads_scores_only(scorer):
            require_local(X, "This scoring", "bring the rows here, X.compute()")
            return self._scored_by(scorer, X, y, sample_weight)
        if cluster is not None:
            positive, scores, sample_weight = cluster.scored(self, X, y, sample_weight)
        else:
            scores = self._decide(X)  # type: ignore[attr-defined]
            positive = known_positive(y, self.classes_, self.classes_[1], len(scores))
        return score_decisions(scorer, positive, scores, sample_weight)

    def _scored_by(self, scorer: Any, X: Any, y: Any, sample_weight: Any) -> float:
        """Call a scorer as the folds call it, with labels 0 and 1."""
        positive = known_positive(y, self.classes_, self.classes_[1], len(y))
        binary: Any = copy(self)
        binary.pos_label, binary.classes_ = None, np.array([0, 1])
        weights = {"sample_weight": sample_weight} if takes_weights(scorer) else {}
        return float(scorer(binary, X, positive.astype(np.int64), **weights))

    @property
    def coef_(self) -> Array:
        """Return the weights of the columns of X, if the chosen score is linear in them."""
        return self._linear("coef_")[0]

    @property
    def intercept_(self) -> Array:
        """Return the constant of a linear decision function."""
        return self._linear("intercept_")[1]

    def _linear(self, name: str) -> tuple[Array, Array]:
        if (model := vars(self).get("best_estimator_")) is None:
            raise AttributeError(name)
        try:
            coef, intercept = self._terms_of(model)
        except NotLinear as error:
            raise AttributeError(name) from error
        return coef[np.newaxis], np.array([intercept - self.threshold_])

    def _terms_of(self, model: Any) -> tuple[Array, float]:
        if self._coder is not None and not self._coder.plain:
            raise NotLinear("categories, dates and empty columns are not numbers")
        return weights_of(model)

    def _why_lacking(self, name: str) -> str:
        """Return what to add to the error where an attribute is missing."""
        model = vars(self).get("best_estimator_")
        if name in ("coef_", "intercept_"):
            if model is None:
                return ": it is not fitted yet."
            try:
                self._terms_of(model)
            except NotLinear as error:
                return f": the chosen score is not linear in the columns of X, because {error}."
        if name == "feature_importances_":
            return (
                ": how much each column moves scores is "
                "np.abs(ranker.explain(X).contributions).mean(axis=0)."
            )
        return str(super()._why_lacking(name))  # type: ignore[misc]


def weights_of(model: Any) -> tuple[Array, float]:
    """Return the weights and the intercept of a fitted estimator, one weight for each column."""
    *before, last = _steps(model)
    if not hasattr(last, "decision_function") or not hasattr(last, "coef_"):
        raise NotLinear(f"{type(last).__name__} has no weights")
    coef, intercept = last.coef_, np.ravel(getattr(last, "intercept_", 0.0))
    coef = np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=np.float64)
    if coef.shape[:-1] not in ((), (1,)) or len(intercept) != 1:
        raise NotLinear(f"{type(last).__name__} has the weights of several scores")
    weights, offset = coef.ravel(), float(intercept[0])
    for step in reversed(before):
        centre, scale = _affine(step)
        if scale is not None:
            weights = weights / scale
        if centre is not None:
            offset -= float(weights @ centre)
    return weights, offset


def _steps(model: Any) -> Iterator[Any]:
    """Yield the steps of pipelines, and of pipelines inside them."""
    if not isinstance(model, Pipeline):
        yield model
        return
    for _, step in model.steps:
        if step is not None and step != "passthrough":
            yield from _steps(step)


def _affine(step: Any) -> tuple[Array | None, Array | None]:
    """Return the offset and the scale of each column, None for none."""
    if isinstance(step, CodedNumbers) and step.unchanged:
        return None, None
    if isinstance(step, StandardScaler):
        return (step.mean_ if step.with_mean else None), step.scale_
    if isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        return None, step.scale_
    if isinstance(step, FunctionTransformer) and step.func is None:
        return None, None
    raise NotLinear(f"its columns are made by {type(step).__name__}")


def threshold_and_calibration(
    scores: Array, data: RaceData, positive_share: float, capacity: Capacity | None
) -> dict[str, Any]:
    """Return threshold and calibration from held-out scores, NaN for rows not held out."""
    known = ~np.isnan(scores)
    if data.weight is not None:
        known &= data.weight > 0.0
    weight = None if data.weight is None else data.weight[known]
    if weight is not None and weight.mean() < 1.0:  # tiny weights would count as hardly any rows
        weight = weight / weight.mean()
    slope, offset = sigmoid(scores[known], data.y[known] == 1, weight)
    if capacity is not None:
        threshold = share_threshold(scores[known], weight, capacity.share)
    elif slope > 0.0:
        threshold = -offset / slope
    else:
        threshold = share_threshold(scores[known], weight, positive_share)
    return {"threshold_": float(threshold), "calibration_": (slope, offset)}


def leaderboard(results: list[RaceResult], chosen: RaceResult) -> dict[str, NDArray[Any]]:
    """Return a row for each candidate, in the order they ran; what is read first comes first."""
    columns: dict[str, list[Any]] = {
        "candidate": [result.candidate.name for result in results],
        "mean": [result.mean for result in results],
        "error": [result.error for result in results],
        "seconds": [result.seconds for result in results],
        "chosen": [result is chosen for result in results],
        "note": [result.note for result in results],
        "features": [result.candidate.features for result in results],
        "loss": [result.candidate.loss for result in results],
        "setting": [result.candidate.setting for result in results],
        "value": [result.setting for result in results],
        "alpha": [
            result.setting if result.candidate.setting == "alpha" else np.nan for result in results
        ],
    }
    return {
        name: np.array(values, dtype=object if isinstance(values[0], str) else None)
        for name, values in columns.items()
    }


def best_first(board: dict[str, NDArray[Any]]) -> NDArray[np.intp]:
    """Return the rows of a leaderboard: the chosen one, the others by mean, those without one."""
    mean = np.nan_to_num(board["mean"], nan=-np.inf)
    return np.lexsort((-mean, ~board["chosen"].astype(bool)))


__all__ = [
    "HeadAttributes",
    "NotLinear",
    "best_first",
    "leaderboard",
    "threshold_and_calibration",
    "weights_of",
]
