"""How good a model is, as far as its own fit can tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from .models import Kept


def measured(model: Any, kept: Kept, positive: Any) -> dict[str, Any]:
    """What was measured, and on which rows: held out, in the folds; nothing on rows fitted on.

    `positive` says which of the rows that were fitted on are positive.
    """
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    found: dict[str, Any] = {}
    if hasattr(last, "_leaderboard"):
        board = last._leaderboard
        best = int(np.argmax(board["chosen"]))
        found["folds"] = {
            "measure": str(last.scoring_),
            "mean": float(board["mean"][best]),
            "error": float(board["error"][best]),
        }
    elif hasattr(last, "mean_scores_"):
        best = int(np.argmin(np.abs(last.alphas_ - last.alpha_)))
        found["folds"] = {
            "measure": str(last.scoring),
            "mean": float(last.mean_scores_[best]),
            "error": float(last.score_errors_[best]),
        }
    if kept.calibration_scores is not None:
        from ..metrics import ranking_report

        n = len(kept.calibration_scores)
        k = kept.capacity if isinstance(kept.capacity, float) else None
        report = ranking_report(
            kept.calibration_positive, kept.calibration_scores, k=[k or min(n, 10)]
        )
        found["held_out"] = {"rows": n, **{name: float(own) for name, own in report.items()}}
    if (top := _top(last, kept, positive)) is not None:
        found["top"] = top
    return found


def _top(last: Any, kept: Kept, positive: Any) -> dict[str, Any] | None:
    """Return how many of the first k rows of a list are positive, on average, or None."""
    from ..metrics import precision_at_k

    n, k = kept.list_size or kept.n_rows, kept.capacity
    if k is None:
        k = 100 if n >= 1000 else 10
    share, k = (k, max(round(k * n), 1)) if isinstance(k, float) else (k / n, k)
    if not k < n:
        return None
    scores, folds = getattr(last, "oof_scores_", None), getattr(last, "folds_", None)
    if scores is not None and folds is not None:
        parts = [test[np.isfinite(scores[test])] for _, test in folds]
        found = [precision_at_k(positive[own], scores[own], k=share) for own in parts if len(own)]
        mean, by = float(np.mean(found)), "cross-validation"
        error = float(np.std(found, ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0
    elif kept.calibration_scores is not None:
        scores, positive = kept.calibration_scores, kept.calibration_positive
        mean, by = precision_at_k(positive, scores, k=share), f"{len(scores):,} rows held out"
        error = float(np.sqrt(mean * (1.0 - mean) / max(share * len(scores), 1.0)))
    else:
        return None
    low, high = max(mean - 2.0 * error, 0.0), min(mean + 2.0 * error, 1.0)
    return {"k": k, "of": n, "positives": k * mean, "low": k * low, "high": k * high, "by": by}


__all__ = ["measured"]
