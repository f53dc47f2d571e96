"""Metrics of an order of positive and negative rows.

Every metric is ``metric(y_true, scores, *, sample_weight=None, ...) -> float`` and reads nothing
but the order of the scores: a strictly increasing function of them changes no metric. The one
exception is ``auc(margin=...)``.

* Labels: any two; `pos_label` is the positive one. Without it the greater is, which is said with a
  `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.
* Ties: each docstring says how they count. Where a metric would depend on the order of tied rows
  it is the expected value over all their orders, in closed form, unless it says otherwise.
* Weights: a row of weight w counts as w equal rows, in every metric. A row of weight 0 is as if
  absent (save that its score must be a number). Weights that are not whole numbers extend this.
* Errors: a metric raises ValueError where it is undefined and never returns NaN.
* Cost: one sort, then linear scans. `ranking_report` takes all metrics from the same sort.
"""

from typing import TYPE_CHECKING, Any

from ..exceptions import warn_caller
from ._at_k import lift_at_k, precision_at_k, recall_at_k
from ._discounted import average_reciprocal_rank, dcg, ndcg
from ._intervals import Difference, Interval, interval, paired_difference
from ._precision_recall import average_precision, recall_at_precision
from ._report import ranking_report
from ._roc import auc, partial_auc, positives_at_top, tpr_at_fpr
from ._scorers import SCORERS, get_scorer
from ._t_test import TTest, corrected_t_test

__all__ = [
    "SCORERS",
    "Difference",
    "Interval",
    "TTest",
    "auc",
    "average_precision",
    "average_reciprocal_rank",
    "corrected_t_test",
    "dcg",
    "get_scorer",
    "interval",
    "lift_at_k",
    "ndcg",
    "paired_difference",
    "partial_auc",
    "positives_at_top",
    "precision_at_k",
    "ranking_report",
    "recall_at_k",
    "recall_at_precision",
    "tpr_at_fpr",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name != "compare":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warn_caller(
            "toprank.metrics.compare is deprecated and ends in version 0.4: use "
            "toprank.metrics.paired_difference.",
            FutureWarning,
            about=name,
        )
        return paired_difference
