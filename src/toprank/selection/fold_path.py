"""The path of alphas of one fold: fitted on row numbers, scored on the rows held out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing

from ..convex import ConvexRanker
from ..designs import Design
from ..metrics._scorers import takes_weights
from ..split import Split
from ..validation import LabelledRows
from .path import follow

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class FoldFit:
    """The fit of one fold at one alpha, and what it is worth on the rows held out."""

    ranker: Any
    #: The decision function of the rows held out.
    decisions: Array
    #: NaN where those rows are all of one class.
    score: float
    converged: bool
    seconds: float


@dataclass(frozen=True)
class Judge:
    """How rows held out are scored: by their decisions alone, or by the rows themselves."""

    scorer: Callable[..., float]
    #: Whether the scorer reads decisions only, so that no row need be copied for it.
    by_decisions: bool

    def __call__(
        self, ranker: ConvexRanker, decisions: Array, rows: LabelledRows, test: Rows
    ) -> float:
        """The score of the rows held out."""
        options = {}
        if rows.weight is not None and takes_weights(self.scorer):
            options["sample_weight"] = rows.weight[test]
        if self.by_decisions:
            # Labels 0 and 1, the positive one second, leave nothing to the order of labels.
            labels = rows.positive[test].astype(np.intp)
            return self.scorer(_Decided(decisions), np.arange(len(test)), labels, **options)
        X, y = _safe_indexing(rows.X, test), np.asarray(rows.y)[test]
        return self.scorer(ranker, X, y, **options)


class _Decided(ClassifierMixin, BaseEstimator):
    """Stands for a ranker whose scores are known: its rows are their numbers."""

    classes_ = np.array([0, 1])
    fitted_ = True

    def __init__(self, decisions: Array) -> None:
        self.decisions = decisions

    def decision_function(self, rows: Rows) -> Array:
        """The scores of these rows."""
        return self.decisions[rows]


def fold_path(
    ranker: ConvexRanker,
    rows: LabelledRows,
    training: Rows,
    test: Rows,
    alphas: Iterable[float],
    judge: Callable[..., float],
) -> list[FoldFit]:
    """Fit a fold along the alphas; the rows that it does not train on have no weight.

    So nothing is copied, and the folds share one matrix.
    """
    own = replace(rows, split=rows.split.only(training), weight=_only(rows.weight, training, rows))
    both = _both_classes(rows.split.only(test))
    fits, began = [], time.perf_counter()
    for fitted, learnt in follow(ranker, own, alphas):
        decisions = _decisions(fitted, rows.design, test)
        score = judge(fitted, decisions, rows, test) if both else np.nan
        now = time.perf_counter()
        fits.append(FoldFit(fitted, decisions, float(score), learnt.converged, now - began))
        began = now
    return fits


def _only(weight: Array | None, training: Rows, rows: LabelledRows) -> Array:
    kept = np.zeros(rows.design.shape[0])
    kept[training] = 1.0 if weight is None else weight[training]
    return kept


def _both_classes(split: Split) -> bool:
    return len(split.pos) > 0 and len(split.neg) > 0


def _decisions(ranker: ConvexRanker, design: Design, rows: Rows) -> Array:
    w, offset = ranker.coef_[0], design.offset
    shift = 0.0 if offset is None else float(offset @ w)
    return np.asarray(design.scores(w, rows) + (shift + ranker.intercept_[0]))


__all__ = ["FoldFit", "Judge", "fold_path"]
