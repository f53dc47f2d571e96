"""A metric of many resamples of the same rows, from one sort."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from ._influence import SortedRows
from ._precision_recall import (
    average_precision,
    average_precision_of,
    recall_at_precision,
    recall_at_precision_of,
)
from ._ranking import Ranking
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

FloatArray = NDArray[np.float64]

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


__all__ = ["OF_RANKING", "resample", "reweighted"]
