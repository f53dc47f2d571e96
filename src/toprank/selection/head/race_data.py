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
    """Why a contender cannot race for these rows."""


@dataclass(frozen=True)
class RaceData:
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

    def bind(self, candidate: Any) -> Any:
        """The contender as it races for these rows."""
        return candidate

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


class Candidate(Protocol):
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
        self, data: RaceData, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold at these settings; without any, at as many as seem worth it.

        `after` is a fit of the fold at the setting before these, to go on from.
        """

    def next_setting(self, setting: float) -> float | None:
        """The setting after one that seems to be the best; None if there is none."""

    def final(self, data: RaceData, setting: float) -> Any:
        """The model fitted on all rows."""


class SingleFit:
    """A contender without settings: fitted once for each fold."""

    def path(
        self, data: RaceData, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold."""
        began, test = time.perf_counter(), data.folds.held_out(fold)
        model = self._fitted(data, data.folds.training(fold))
        decisions = decisions_of(model, _safe_indexing(data.X, test))
        return np.array([0.0]), [data.fit_of(model, decisions, test, began)]

    def next_setting(self, setting: float) -> float | None:
        """There is one setting only."""
        return None

    def final(self, data: RaceData, setting: float) -> Any:
        """The estimator fitted on all rows."""
        return self._fitted(data, data.all_rows)

    def _fitted(self, data: RaceData, rows: Rows) -> Any:
        """Fit some rows."""
        raise NotImplementedError


@dataclass
class RaceResult:
    """A contender that has raced: its folds at every setting, or why it has none."""

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
        """Whether it has scores."""
        return self.table is not None

    @cached_property
    def best(self) -> int:
        """The place of its best setting."""
        assert self.table is not None
        return self.table.best

    @property
    def setting(self) -> float:
        """Its best setting."""
        return float(self.table.alphas[self.best]) if self.table is not None else float("nan")

    @property
    def mean(self) -> float:
        """The mean score of the folds, at its best setting."""
        return float(self.table.means[self.best]) if self.table is not None else float("nan")

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(self.table.errors[self.best]) if self.table is not None else float("nan")

    @property
    def fold_scores(self) -> Array:
        """The scores of the folds that can be scored."""
        assert self.table is not None
        return np.asarray(self.table.scores[:, self.best])

    @property
    def fits(self) -> list[FoldFit]:
        """The fit of every fold at its best setting."""
        assert self.table is not None
        return [fits[self.best] for fits in self.table.folds]

    def difference(self, other: RaceResult) -> tuple[float, float]:
        """The mean of the differences of the folds' scores, and its standard error."""
        d = self.fold_scores - other.fold_scores
        error = float(d.std(ddof=1) / np.sqrt(len(d))) if len(d) > 1 else 0.0
        return float(d.mean()), error

    def keep_best(self) -> None:
        """Forget the fits at other settings than the best."""
        if self.table is not None:
            self.scores_of_settings = self.table.scores
            keep_best = Table(self.table.alphas[[self.best]])
            keep_best.folds = [[fit] for fit in self.fits]
            self.table = keep_best
            self.best = 0


__all__ = ["Candidate", "LeftOut", "RaceData", "RaceResult", "SingleFit"]
