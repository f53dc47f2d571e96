"""Rows of a race, the interface of a candidate, and the result of its fits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ..._compat import cached_property
from ...inputs.folds import Folds
from ...inputs.mapped_arrays import check_lengths
from ..fold_path import FoldFit, Judge, Rows, Table
from .features import decisions_of

Array = NDArray[np.float64]


class LeftOut(Exception):
    """Raised for a candidate that cannot be fitted to these rows."""


@dataclass(frozen=True)
class RaceData:
    """Rows of a race, with labels 0 and 1. The positive rows have 1."""

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
        """Return the indices of all rows."""
        return np.arange(len(self.y))

    @property
    def lead(self) -> int:
        """Return the first fold that can be scored, or the first of all if none can."""
        folds = range(self.folds.count)
        return next((k for k in folds if self.both_classes(self.folds.held_out(k))), 0)

    def used(self, rows: Rows) -> Rows:
        """Return the rows of nonzero weight."""
        return rows if self.weight is None else rows[self.weight[rows] > 0.0]

    def part(self, rows: Rows) -> tuple[Any, NDArray[np.int64], dict[str, Array]]:
        """Return rows, labels, and options of a fit: the weights, if there are any."""
        check_lengths(self.X)
        weights = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        every = len(rows) == len(self.y) and (rows == self.all_rows).all()
        return self.X if every else _safe_indexing(self.X, rows), self.y[rows], weights

    def both_classes(self, test: Rows) -> bool:
        """Return whether held-out rows are of both classes."""
        own = self.y[self.used(test)]
        return bool(own.any() and not own.all())

    def score(self, model: Any, decisions: Array, test: Rows) -> float:
        """Return the score of held-out rows, NaN if they are all of one class."""
        if not self.both_classes(test):
            return float("nan")
        return float(self.judge(model, decisions, self._rows, test))

    def fit_of(self, model: Any, decisions: Array, test: Rows, began: float) -> FoldFit:
        """Return the fit of a fold that began at a time of the performance counter."""
        score, both = self.score(model, decisions, test), self.both_classes(test)
        return FoldFit(model, decisions, both, score, True, time.perf_counter() - began)

    def bind(self, candidate: Any) -> Any:
        """Return the candidate as it is fitted to these rows."""
        return candidate

    @property
    def _rows(self) -> Any:
        return _Labelled(self.X, self.y, self.weight)


@dataclass(frozen=True)
class _Labelled:
    """Rows as a judge reads them."""

    X: Any
    y: NDArray[np.int64]
    weight: Array | None

    @property
    def positive(self) -> NDArray[np.bool_]:
        return np.asarray(self.y == 1)


class Candidate(Protocol):
    """Something that is fitted in folds, at one setting or several."""

    @property
    def name(self) -> str:
        """Return the name on the leaderboard."""

    @property
    def features(self) -> str:
        """Return the feature set."""

    @property
    def loss(self) -> str:
        """Return the loss."""

    @property
    def family(self) -> str:
        """Return the kind of model, of which an ensemble of few positives takes the best one."""

    @property
    def setting(self) -> str:
        """Return the name of the setting: "alpha", "trees", "mu", or "" without settings."""

    def path(
        self, data: RaceData, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold at these settings, or at as many as are worth their time if None.

        `after` is a fit of the fold at the setting before, to start from.
        """

    def next_setting(self, setting: float) -> float | None:
        """Return the setting to try after the best so far, or None."""

    def final(self, data: RaceData, setting: float) -> Any:
        """Return the model fitted to all rows."""


class SingleFit:
    """A candidate without settings, fitted once for each fold."""

    def path(
        self, data: RaceData, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold."""
        began, test = time.perf_counter(), data.folds.held_out(fold)
        model = self._fitted(data, data.folds.training(fold))
        decisions = decisions_of(model, _safe_indexing(data.X, test))
        return np.array([0.0]), [data.fit_of(model, decisions, test, began)]

    def next_setting(self, setting: float) -> float | None:
        """Return None: there are no settings."""
        return None

    def final(self, data: RaceData, setting: float) -> Any:
        """Return the estimator fitted to all rows."""
        return self._fitted(data, data.all_rows)

    def _fitted(self, data: RaceData, rows: Rows) -> Any:
        """Fit some rows."""
        raise NotImplementedError


@dataclass
class RaceResult:
    """Result of a candidate: its folds at every setting, or a note on why it has none."""

    candidate: Candidate
    table: Table | None
    seconds: float
    #: Why it was dropped, or what else there is to say.
    note: str = ""
    #: Whether it may be chosen.
    eligible: bool = True
    #: The score of every fold at every setting, also at those whose fits are gone.
    scores_of_settings: Array | None = None
    #: The score of every fold by what the other folds choose, of an ensemble.
    nested_scores: Array | None = None

    @property
    def ran(self) -> bool:
        """Return whether the candidate has scores."""
        return self.table is not None

    @cached_property
    def best(self) -> int:
        """Return the index of the best setting."""
        assert self.table is not None
        return self.table.best

    @property
    def setting(self) -> float:
        """Return the best setting."""
        return float(self.table.alphas[self.best]) if self.table is not None else float("nan")

    @property
    def mean(self) -> float:
        """Return the mean score of the folds at the best setting."""
        return float(self.table.means[self.best]) if self.table is not None else float("nan")

    @property
    def error(self) -> float:
        """Return the standard error of the mean."""
        return float(self.table.errors[self.best]) if self.table is not None else float("nan")

    @property
    def fold_scores(self) -> Array:
        """Return the scores of the folds that can be scored."""
        assert self.table is not None
        return np.asarray(self.table.scores[:, self.best])

    @property
    def fits(self) -> list[FoldFit]:
        """Return the fit of every fold at the best setting."""
        assert self.table is not None
        return [fits[self.best] for fits in self.table.folds]

    def difference(self, other: RaceResult) -> tuple[float, float]:
        """Return the mean difference of the folds' scores, and its standard error."""
        d = self.fold_scores - other.fold_scores
        error = float(d.std(ddof=1) / np.sqrt(len(d))) if len(d) > 1 else 0.0
        return float(d.mean()), error

    def keep_best(self) -> None:
        """Drop the fits at other settings than the best."""
        if self.table is not None:
            self.scores_of_settings = self.table.scores
            best = Table(self.table.alphas[[self.best]])
            best.folds = [[fit] for fit in self.fits]
            self.table = best
            self.best = 0


__all__ = ["Candidate", "LeftOut", "RaceData", "RaceResult", "SingleFit"]
