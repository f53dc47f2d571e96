"""RankerCV on a cluster: rows are held out by chance, and stay where they are."""

from __future__ import annotations

import time
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..estimators.convex import ConvexRanker
from ..estimators.ranker import SEEN
from ..estimators.validation import LabelledRows
from ..metrics._scorers import find_scorer, score_decisions
from ..selection.fold_path import FoldFit, Judge
from ..selection.path import follow

Array = NDArray[np.float64]

#: Maximum number of decisions of a fold, for all its alphas, that are collected in memory.
MOST_DECISIONS = 200_000_000


def check_folds(cv: Any, groups: Any, judge: Judge) -> int:
    """Return the number of folds, or raise an error if `cv` needs the rows in memory."""
    if groups is not None or not isinstance(cv, Integral) or isinstance(cv, bool) or cv < 2:
        raise TypeError(
            f"cv={cv!r} splits rows by their numbers or groups, and these are on a cluster: pass "
            "how many folds, 2 or more, without groups, and rows are held out by chance."
        )
    if not judge.by_decisions:
        raise TypeError(
            "This scoring looks at the rows held out, and these are on a cluster: name a measure "
            "of toprank.metrics, such as 'average_precision', which looks at their scores alone."
        )
    return int(cv)


def like_of(cv: Any) -> ConvexRanker:
    """Return a copy of the estimator with the attributes of the data."""
    ranker = clone(cv.estimator)
    ranker._validate_params()
    ranker.__dict__.update({name: value for name, value in vars(cv).items() if name in SEEN})
    return ranker  # type: ignore[no-any-return]


class ClusterPaths:
    """Fits every fold of a RankerCV along alphas; the counterpart of `MemoryPaths`."""

    folds = None

    def __init__(self, cv: Any, rows: LabelledRows, groups: Any) -> None:
        self.ranker, self._design = like_of(cv), rows.design
        self._judge = Judge(find_scorer(cv.scoring, self.ranker))
        n_folds = check_folds(cv.cv, groups, self._judge)
        self._training = [self._design.without_fold(k, n_folds) for k in range(n_folds)]  # type: ignore[attr-defined]

    def unit(self) -> float:
        """Return the mean square of the rows, the unit of alphas."""
        return float(self._design.mean_square())  # type: ignore[attr-defined]

    def __call__(self, alphas: Array) -> list[list[FoldFit]]:
        """Each fold along these alphas, each fit started from the one before."""
        n_folds = len(self._training)
        held_out = self._design.shape[0] / n_folds * len(alphas)
        if held_out > MOST_DECISIONS:
            raise ValueError(
                f"The {held_out:.0f} decisions of a fold are too many to collect in memory: take "
                "more folds, fewer alphas, or a sample of the rows."
            )
        return [self._fold(k, alphas) for k in range(n_folds)]

    def _fold(self, k: int, alphas: Array) -> list[FoldFit]:
        fits, times, began = [], [], time.perf_counter()
        for found in follow(self.ranker, self._training[k], alphas):
            fits.append(found)
            times.append(time.perf_counter() - began)
            began = time.perf_counter()
        w = np.array([fitted.coef_[0] for fitted, _ in fits])
        b = np.array([fitted.intercept_[0] for fitted, _ in fits])
        positive, decisions, weight = self._design.held_out(w, b, k, len(self._training))  # type: ignore[attr-defined]
        both = bool(positive.any() and not positive.all())
        scores = [
            score_decisions(self._judge.scorer, positive, one, weight) if both else np.nan
            for one in decisions.T
        ]
        return [
            FoldFit(fitted, np.empty(0), both, float(score), learnt.converged, seconds)
            for (fitted, learnt), score, seconds in zip(fits, scores, times, strict=True)
        ]


__all__ = ["ClusterPaths", "check_folds", "like_of"]
