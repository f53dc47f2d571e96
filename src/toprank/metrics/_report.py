"""All metrics from one sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ._at_k import lift_at_k_of, precision_at_k_of, recall_at_k_of
from ._discounted import average_reciprocal_rank_of, dcg_of, ndcg_of
from ._precision_recall import average_precision_of, recall_at_precision_of
from ._ranking import Ranking
from ._roc import auc_of, partial_auc_of, positives_at_top_of, tpr_at_fpr_of


def ranking_report(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: float | Sequence[float] = 0.1,
    max_fpr: float = 0.05,
    min_precision: float = 0.9,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> dict[str, float]:
    """Compute every metric of this module from one sort of the scores.

    Ties: each metric treats them by its own default, see there.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `auc`.
    k : int >= 1 or float in (0, 1), or several of these, default=0.1
        For precision, recall and lift at k, as in `precision_at_k`.
    max_fpr : float in (0, 1], default=0.05
        As in `partial_auc`; the rate at which `tpr_at_fpr` is taken, too.
    min_precision : float in (0, 1], default=0.9
        As in `recall_at_precision`.

    Returns
    -------
    dict of str to float
        By the names that `get_scorer` takes.

    Raises
    ------
    ValueError
        If a class has no weight, or an argument is malformed.

    Examples
    --------
    >>> from toprank.metrics import ranking_report
    >>> report = ranking_report([1, 0, 1, 0], [4, 3, 2, 1], k=2)
    >>> for name, value in report.items():
    ...     print(f"{name} {value:.3f}")
    auc 0.750
    partial_auc_0.05 0.500
    tpr_at_fpr_0.05 0.500
    positives_at_top 0.500
    average_precision 0.833
    recall_at_precision_0.9 0.500
    dcg 1.500
    ndcg 0.920
    average_reciprocal_rank 0.667
    precision_at_2 0.500
    recall_at_2 0.500
    lift_at_2 1.000
    """
    ranking = Ranking.of(y_true, scores, sample_weight, pos_label)
    report = {
        "auc": auc_of(ranking),
        f"partial_auc_{max_fpr}": partial_auc_of(ranking, max_fpr),
        f"tpr_at_fpr_{max_fpr}": tpr_at_fpr_of(ranking, max_fpr),
        "positives_at_top": positives_at_top_of(ranking),
        "average_precision": average_precision_of(ranking),
        f"recall_at_precision_{min_precision}": recall_at_precision_of(ranking, min_precision),
        "dcg": dcg_of(ranking),
        "ndcg": ndcg_of(ranking),
        "average_reciprocal_rank": average_reciprocal_rank_of(ranking),
    }
    for one in k if isinstance(k, Sequence) else (k,):
        report[f"precision_at_{one}"] = precision_at_k_of(ranking, one)
        report[f"recall_at_{one}"] = recall_at_k_of(ranking, one)
        report[f"lift_at_{one}"] = lift_at_k_of(ranking, one)
    return report
