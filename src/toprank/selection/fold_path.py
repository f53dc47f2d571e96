"""The fits of folds along a path of alphas, scored on held-out rows, and their table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ..designs import Design, Room
from ..estimators.convex import ConvexRanker
from ..estimators.validation import LabelledRows
from ..inputs.class_split import Split
from ..inputs.folds import Folds, check_classes, make_folds
from ..metrics._scorers import reads_scores_only, score_decisions, takes_weights
from ..solvers import one_blas_thread
from .path import follow

Rows = NDArray[np.int64]
Array = NDArray[np.float64]

#: Entries of a matrix of whose folds each is copied in turn: less than it takes to read the rows
#: that are left out along with the others. Folds of a larger one share it.
MOST_COPIED = 1 << 24
#: The next alpha beyond an end is as far off as the last two are apart, but no more than this.
_LARGEST_STEP = 10.0


@dataclass(frozen=True)
class FoldFit:
    """The fit of a fold at one alpha, and its score on the held-out rows."""

    ranker: Any
    #: The decision function of the rows held out.
    decisions: Array
    #: Whether those rows are of both classes; their score is NaN where they are not.
    both_classes: bool
    score: float
    converged: bool
    seconds: float


@dataclass(frozen=True)
class Judge:
    """Scores held-out rows, by their decisions alone or by the rows themselves."""

    scorer: Callable[..., float]

    @property
    def by_decisions(self) -> bool:
        """Return whether the scorer reads decisions only, so that no row is copied."""
        return reads_scores_only(self.scorer)

    def __call__(
        self, ranker: ConvexRanker, decisions: Array, rows: LabelledRows, test: Rows
    ) -> float:
        """Return the score of the held-out rows."""
        weight = None if rows.weight is None else rows.weight[test]
        if self.by_decisions:
            return score_decisions(self.scorer, rows.positive[test], decisions, weight)
        X, y = _safe_indexing(rows.X, test), np.asarray(rows.y)[test]
        if weight is None or not takes_weights(self.scorer):
            return self.scorer(ranker, X, y)
        return self.scorer(ranker, X, y, sample_weight=weight)


def fold_path(
    ranker: ConvexRanker,
    rows: LabelledRows,
    training: Rows,
    test: Rows,
    alphas: Iterable[float],
    judge: Callable[..., float],
    rooms: tuple[Room | None, Room | None] = (None, None),
) -> list[FoldFit]:
    """Fit a fold along the alphas, and score the rows that it holds out.

    The two rooms are for the rows of both, where folds are fitted one after the other.
    """
    # The rows of a file are scored where they are: a copy of a fold may not fit in memory.
    held_out = rows.design.subset(test, rooms[1]) if rows.design.stores_scores else None
    own, both = _training(rows, training, rooms[0]), _both_classes(rows, test)
    fits, began = [], time.perf_counter()
    with one_blas_thread():  # once for all: every fit would set the limit and lift it
        for fitted, learnt in follow(ranker, own, alphas):
            decisions = _decisions(fitted, rows.design, test, held_out)
            score = float(judge(fitted, decisions, rows, test)) if both else np.nan
            now = time.perf_counter()
            fits.append(FoldFit(fitted, decisions, both, score, learnt.converged, now - began))
            began = now
    return fits


def _training(rows: LabelledRows, training: Rows, room: Room | None) -> LabelledRows:
    """The rows that a fold is fitted on: a copy of a few, or all with no weight for the others.

    A row that a splitter names twice counts twice.
    """
    times = np.bincount(training, minlength=rows.split.n_rows)
    weight = times.astype(np.float64)
    if rows.weight is not None:
        weight *= rows.weight
    if rows.design.n_entries > MOST_COPIED:
        split = Split.of(rows.positive, weight)
        return replace(rows, split=split, weight=weight)
    kept = np.flatnonzero(times)
    own = None if rows.weight is None and times.max() == 1 else weight[kept]
    split = Split.of(rows.positive[kept], own)
    return LabelledRows(rows.design.subset(kept, room), split, own)


def _both_classes(rows: LabelledRows, test: Rows) -> bool:
    """Return whether held-out rows of nonzero weight are of both classes."""
    positive = rows.positive[test]
    if rows.weight is not None:
        positive = positive[rows.weight[test] > 0.0]
    return bool(positive.any() and not positive.all())


def _decisions(ranker: ConvexRanker, design: Design, test: Rows, held_out: Design | None) -> Array:
    w, offset = ranker.coef_[0], design.offset
    shift = 0.0 if offset is None else float(offset @ w)
    scores = design.scores(w, test) if held_out is None else held_out.scores(w)
    return np.asarray(scores + (shift + ranker.intercept_[0]))


def folds_of(cv: Any, rows: LabelledRows, groups: Any) -> Folds:
    """Return the folds, or raise an error if one of them trains on rows of one class only."""
    return checked_folds(make_folds(cv, rows.split, rows.X, np.asarray(rows.y), groups), rows)


def checked_folds(folds: Folds, rows: LabelledRows) -> Folds:
    """Return the folds, or raise an error if one of them trains on rows of one class only."""
    tilt = rows.split.tilt
    for k in range(folds.count):
        own = tilt[folds.training(k)]
        check_classes(float(own.max(initial=0.0)), -float(own.min(initial=0.0)))
    return folds


class Table:
    """The fits of all folds at all alphas, which are in decreasing order."""

    def __init__(self, alphas: Array) -> None:
        self.alphas = alphas
        self.folds: list[list[FoldFit]] = []

    def add(self, folds: list[list[FoldFit]], alphas: Array | None = None) -> None:
        """Add the fits of all folds: the first ones, or at alphas beyond an end of the others."""
        if alphas is None:
            self.folds = folds
        elif alphas[0] > self.alphas[0]:
            self.alphas = np.concatenate([alphas, self.alphas])
            self.folds = [new + old for new, old in zip(folds, self.folds, strict=True)]
        else:
            self.alphas = np.concatenate([self.alphas, alphas])
            self.folds = [old + new for new, old in zip(folds, self.folds, strict=True)]
        if not any(fit.both_classes for fits in self.folds for fit in fits):
            raise ValueError(
                "Every fold of cv holds out rows of one class only, which no measure can score: "
                "take fewer folds, or stratified ones."
            )
        wrong = ~np.isfinite(self.means)
        if wrong.any():
            raise ValueError(
                f"scoring gives no number for alpha={self.alphas[wrong][0]:g}: is it defined on "
                "every fold?"
            )

    @property
    def scores(self) -> Array:
        """Return the score of each fold at each alpha, without folds that cannot be scored."""
        scored = [fits for fits in self.folds if fits[0].both_classes]
        return np.array([[fit.score for fit in fits] for fits in scored])

    @property
    def scored(self) -> int:
        """Return the number of folds that can be scored."""
        return len(self.scores)

    @property
    def means(self) -> Array:
        """Return the mean score at every alpha."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def errors(self) -> Array:
        """Return the standard error of the mean, zero for a single fold."""
        scores = self.scores
        if len(scores) < 2:
            return np.zeros(scores.shape[1])
        return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(len(scores)))

    @property
    def best(self) -> int:
        """Return the index of the largest mean, the larger alpha of equal ones."""
        return int(np.argmax(self.means))

    @property
    def one_error(self) -> int:
        """Return the index of the largest alpha within one standard error of the best."""
        best, means = self.best, self.means
        return int(np.argmax(means >= means[best] - self.errors[best]))

    def beyond(self, place: int, count: int, flat: float) -> Array | None:
        """Alphas beyond the end of the grid that `place` is at; None if it is at none.

        None too where the scores are flat: within `flat` standard errors of the neighbour's.
        """
        means, errors, last = self.means, self.errors, len(self.alphas) - 1
        if last == 0 or 0 < place < last:
            return None
        neighbour = 1 if place == 0 else last - 1
        if means[place] - means[neighbour] <= flat * errors[place]:
            return None
        ratio = np.clip(
            self.alphas[place] / self.alphas[neighbour], 1.0 / _LARGEST_STEP, _LARGEST_STEP
        )
        more: Array = self.alphas[place] * ratio ** np.arange(1, count + 1)
        return more[::-1] if place == 0 else more

    def tidy(self) -> dict[str, NDArray[Any]]:
        """Return a row for each fold and alpha."""
        rows = [
            (
                fit.ranker.alpha,
                k,
                fit.score,
                fit.ranker.certificate_.relative_gap,
                fit.ranker.trivial_,
                fit.ranker.n_iter_,
                fit.seconds,
            )
            for k, fits in enumerate(self.folds)
            for fit in fits
        ]
        names = ("alpha", "fold", "score", "relative_gap", "trivial", "n_iter", "seconds")
        return {
            name: np.array(column)
            for name, column in zip(names, zip(*rows, strict=True), strict=True)
        }


__all__ = ["FoldFit", "Judge", "Table", "fold_path"]
