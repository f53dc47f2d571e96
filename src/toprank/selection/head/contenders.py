"""What a race is about: the rows, what may race for them, and estimators as they are given."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from ...inputs.folds import Folds
from ...inputs.mapped_arrays import check_lengths
from ..fold_path import FoldFit, Judge, Rows
from .blocks import scored

Array = NDArray[np.float64]


class LeftOut(Exception):
    """Why a contender cannot race for these rows."""


@dataclass(frozen=True)
class Data:
    """The rows of a race: labels are 0 and 1, the positive ones 1."""

    X: Any
    y: NDArray[np.int64]
    weight: Array | None
    folds: Folds
    judge: Judge
    #: Whether rows are of no order and no groups, and each is held out once.
    exchangeable: bool = False
    n_threads: int | None = None
    #: Codes of each column as `TableCoder.levels` has them; None where X is numbers only.
    levels: NDArray[np.int64] | None = None
    #: Rows of the final fit over those of a fold on average, where folds follow time, else 1.
    growth: float = 1.0

    @property
    def all_rows(self) -> Rows:
        """The numbers of all rows."""
        return np.arange(len(self.y))

    @property
    def lead(self) -> int:
        """The first fold that can be scored; the first one if none can."""
        folds = range(self.folds.count)
        return next((k for k in folds if self.both_classes(self.folds.held_out(k))), 0)

    def used(self, rows: Rows) -> Rows:
        """Those of the rows that have a weight."""
        return rows if self.weight is None else rows[self.weight[rows] > 0.0]

    def part(self, rows: Rows) -> tuple[Any, NDArray[np.int64], dict[str, Array]]:
        """Rows, labels, and options of a fit on them: their weights, if any."""
        check_lengths(self.X)
        weights = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        every = len(rows) == len(self.y) and (rows == self.all_rows).all()
        return self.X if every else _safe_indexing(self.X, rows), self.y[rows], weights

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

    def seated(self, contender: Any) -> Any:
        """The contender as it races for these rows."""
        return contender

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
    def family(self) -> str:
        """Return the kind of model, of which an ensemble of few positives takes the best one."""

    @property
    def setting(self) -> str:
        """What its settings are: "alpha", "trees", or "" if there is one only."""

    def path(
        self, data: Data, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold at these settings; without any, at as many as seem worth it.

        `after` is a fit of the fold at the setting before these, to go on from.
        """

    def beyond(self, setting: float) -> float | None:
        """The setting after one that seems to be the best; None if there is none."""

    def final(self, data: Data, setting: float) -> Any:
        """The model fitted on all rows."""


def decisions_of(model: Any, X: Any) -> Array:
    """The scores of a fitted classifier of labels 0 and 1."""
    if hasattr(model, "decision_function"):
        if isinstance(model, Pipeline) and list(model.named_steps) == ["features", "ranker"]:
            return scored(model["features"], [model["ranker"]], X)[0]
        return np.asarray(model.decision_function(X), dtype=np.float64)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} in candidates has neither decision_function nor "
            "predict_proba: pass a classifier."
        )
    return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)


class OneSetting:
    """A contender without settings: fitted once for each fold."""

    def path(
        self, data: Data, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold."""
        began, test = time.perf_counter(), data.folds.held_out(fold)
        model = self._fitted(data, data.folds.training(fold))
        decisions = decisions_of(model, _safe_indexing(data.X, test))
        return np.array([0.0]), [data.fit_of(model, decisions, test, began)]

    def beyond(self, setting: float) -> float | None:
        """There is one setting only."""
        return None

    def final(self, data: Data, setting: float) -> Any:
        """The estimator fitted on all rows."""
        return self._fitted(data, data.all_rows)

    def _fitted(self, data: Data, rows: Rows) -> Any:
        """Fit some rows."""
        raise NotImplementedError


@dataclass(frozen=True)
class Given(OneSetting):
    """An estimator of the user's, fitted unchanged."""

    name: str
    estimator: Any
    features: str = "its own"
    loss: str = "its own"
    setting: str = ""

    @property
    def family(self) -> str:
        """Return a name that no other family has: each estimator of the user's is a family."""
        return f"{self.name}, as given"

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


__all__ = ["Contender", "Data", "Given", "LeftOut", "OneSetting", "decisions_of"]
