"""The path of alphas of one fold: fitted on row numbers, scored on the rows held out."""

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
from ..metrics._scorers import reads_scores_only, score_decisions, takes_weights
from ..solvers import one_blas_thread
from .path import follow

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Entries of a matrix of whose folds each is copied in turn: less than it takes to read the rows
#: that are left out along with the others. Folds of a larger one share it.
MOST_COPIED = 1 << 24


@dataclass(frozen=True)
class FoldFit:
    """The fit of one fold at one alpha, and what it is worth on the rows held out."""

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
    """How rows held out are scored: by their decisions alone, or by the rows themselves."""

    scorer: Callable[..., float]

    @property
    def by_decisions(self) -> bool:
        """Whether decisions are all that is read, so that no row need be copied."""
        return reads_scores_only(self.scorer)

    def __call__(
        self, ranker: ConvexRanker, decisions: Array, rows: LabelledRows, test: Rows
    ) -> float:
        """The score of the rows held out."""
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
    held_out = rows.design.subset(test, rooms[1]) if rows.design.keeps_scores else None
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
    """Whether rows of both classes, of weight above zero, are held out."""
    positive = rows.positive[test]
    if rows.weight is not None:
        positive = positive[rows.weight[test] > 0.0]
    return bool(positive.any() and not positive.all())


def _decisions(ranker: ConvexRanker, design: Design, test: Rows, held_out: Design | None) -> Array:
    w, offset = ranker.coef_[0], design.offset
    shift = 0.0 if offset is None else float(offset @ w)
    scores = design.scores(w, test) if held_out is None else held_out.scores(w)
    return np.asarray(scores + (shift + ranker.intercept_[0]))


__all__ = ["FoldFit", "Judge", "fold_path"]
