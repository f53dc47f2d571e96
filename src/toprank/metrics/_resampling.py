"""Standard errors of metrics, by the influence of single rows and by resampling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..inputs.arguments import check_count
from ._at_k import (
    lift_at_k,
    lift_at_k_of,
    precision_at_k,
    precision_at_k_of,
    recall_at_k,
    recall_at_k_of,
)
from ._discounted import (
    average_reciprocal_rank,
    average_reciprocal_rank_of,
    dcg,
    dcg_of,
    ndcg,
    ndcg_of,
)
from ._precision_recall import (
    average_precision,
    average_precision_of,
    recall_at_precision,
    recall_at_precision_of,
)
from ._ranking import Ranking, group_ends
from ._roc import (
    auc,
    auc_of,
    partial_auc,
    partial_auc_of,
    positives_at_top,
    positives_at_top_of,
    tpr_at_fpr,
    tpr_at_fpr_of,
)

Rows = NDArray[np.int64]

FloatArray = NDArray[np.float64]


class SortedRows:
    """Rows by descending score, with their labels and the ends of their tie groups."""

    def __init__(self, positive: NDArray[np.bool_], scores: FloatArray) -> None:
        self.order = np.argsort(-scores, kind="stable")
        self.positive, self.scores = positive[self.order], scores[self.order]
        self.n, self.m = len(scores), int(positive.sum())
        ends = group_ends(self.scores)
        sizes = np.diff(ends, prepend=-1)
        #: The first place of each tie group.
        self.starts = ends - sizes + 1
        #: The first and the last place of each row's tie group.
        self.first, self.last = np.repeat(self.starts, sizes), np.repeat(ends, sizes)


def precision_error(rows: SortedRows, share: float) -> float:
    """Of precision at a share of the list; the cut is estimated too."""
    y, k, near = *_cut(rows, share), _near_the_cut(rows, share)
    top, f = np.arange(rows.n) < k, k / rows.n
    return _error(top * (y - near) / f)  # and a constant, of which no error comes


def recall_error(rows: SortedRows, share: float) -> float:
    """Of recall at a share of the list."""
    y, k, near = *_cut(rows, share), _near_the_cut(rows, share)
    top = np.arange(rows.n) < k
    recall, base = y[:k].sum() / rows.m, rows.m / rows.n
    return _error((y * (top - recall) - near * top) / base)  # and a constant


def average_precision_error(rows: SortedRows) -> float:
    """Of average precision, tie groups as units."""
    y, last = rows.positive, rows.last
    rank, hits = last + 1.0, np.cumsum(y)[last]
    value = float(np.sum(y * hits / rank)) / rows.m

    def not_above(values: FloatArray) -> FloatArray:
        """The sum over the rows that do not score higher."""
        return np.asarray(np.cumsum(values[::-1])[::-1][rows.first])

    gained, lost = not_above(y / rank), not_above(y * hits / rank**2)
    return _error((y * (hits / rank - value) + y * gained - lost) * rows.n / rows.m)


def partial_auc_error(rows: SortedRows, max_fpr: float) -> float:
    """Of the partial AUC up to a false-positive rate: both classes' placement values."""
    positives = np.sort(rows.scores[rows.positive])
    negatives = np.sort(rows.scores[~rows.positive])
    m, n = len(positives), len(negatives)
    over = n - 0.5 * (
        np.searchsorted(negatives, positives, "left")
        + np.searchsorted(negatives, positives, "right")
    )
    of_positives = np.maximum(0.0, max_fpr - over / n) / max_fpr
    cut = negatives[max(ceil(n * (1.0 - max_fpr)) - 1, 0)]
    reached = 1.0 - np.searchsorted(positives, negatives, "left") / m
    of_negatives = np.where(negatives > cut, np.mean(positives > cut) - reached, 0.0) / max_fpr
    return sqrt(float(of_positives.var(ddof=1)) / m + float(of_negatives.var(ddof=1)) / n)


def _cut(rows: SortedRows, share: float) -> tuple[NDArray[np.bool_], int]:
    return rows.positive, max(round(share * rows.n), 1)


def _near_the_cut(rows: SortedRows, share: float) -> float:
    """The share of positives among the rows next to the cut, which another sample would move."""
    k, reach = round(share * rows.n), max(5, int(sqrt(rows.n)) // 2)
    return float(rows.positive[max(0, k - reach) : k + reach].mean())


def _error(influence: FloatArray) -> float:
    return float(influence.std(ddof=1)) / sqrt(len(influence))


__all__ = [
    "SortedRows",
    "average_precision_error",
    "partial_auc_error",
    "precision_error",
    "recall_error",
]

#: What each metric is of a ranking.
OF_RANKING: dict[Callable[..., float], Callable[..., float]] = {
    auc: auc_of,
    average_precision: average_precision_of,
    average_reciprocal_rank: average_reciprocal_rank_of,
    dcg: dcg_of,
    lift_at_k: lift_at_k_of,
    ndcg: ndcg_of,
    partial_auc: partial_auc_of,
    positives_at_top: positives_at_top_of,
    precision_at_k: precision_at_k_of,
    recall_at_k: recall_at_k_of,
    recall_at_precision: recall_at_precision_of,
    tpr_at_fpr: tpr_at_fpr_of,
}


def reweighted(rows: SortedRows, counts: FloatArray) -> Ranking:
    """The ranking of the rows, each as often as counted."""
    ordered = counts[rows.order]
    positives = np.add.reduceat(np.where(rows.positive, ordered, 0.0), rows.starts)
    negatives = np.add.reduceat(np.where(rows.positive, 0.0, ordered), rows.starts)
    there = positives + negatives > 0
    return Ranking(positives[there], negatives[there], int(np.count_nonzero(counts)))


def resample(
    positive: NDArray[np.bool_], n_resamples: int, random_state: Any
) -> Iterator[FloatArray]:
    """Counts of rows drawn with replacement, as many as there are; both classes are drawn."""
    n, random = len(positive), check_random_state(random_state)
    for _ in range(check_count("n_resamples", n_resamples, 2)):
        while True:
            counts = np.bincount(random.randint(n, size=n), minlength=n).astype(np.float64)
            drawn = float(counts[positive].sum())
            if 0.0 < drawn < n:
                break
        yield counts
