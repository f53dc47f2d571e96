"""How good a model is, as far as its own fit can tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from .models import Kept


def measured(model: Any, kept: Kept) -> dict[str, Any]:
    """What was measured, and on which rows: held out, in the folds; nothing on rows fitted on."""
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
    return found


__all__ = ["measured"]
