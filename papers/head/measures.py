"""Measures of a ranking. They need no toprank, so that other environments can compute them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from common.rows import Row


def measures(y: Any, scores: Any) -> Row:
    """Average precision, partial AUC up to a false positive rate of .01, and precision@100."""
    return {
        "ap": float(average_precision_score(y, scores)),
        "pauc": partial_auc(y, scores, 0.01),
        "p100": precision_at(y, scores, min(100, len(y))),
    }


def daily_measures(y: Any, scores: Any, day: Any, customer: Any) -> Row:
    """AUC, average precision, and CP@100."""
    return {
        "auc": float(roc_auc_score(y, scores)),
        "ap": float(average_precision_score(y, scores)),
        "cp100": card_precision(y, scores, day, customer),
    }


def partial_auc(labels: Any, scores: Any, most: float) -> float:
    """Area under the ROC curve up to a false positive rate, over that rate."""
    false, true, _ = roc_curve(labels, scores, drop_intermediate=False)
    inside = np.searchsorted(false, most, side="right")
    end = np.interp(most, false, true)
    x, y = np.array([*false[:inside], most]), np.array([*true[:inside], end])
    return float(np.diff(x) @ (y[1:] + y[:-1]) / (2.0 * most))


def precision_at(y: Any, scores: Any, k: int) -> float:
    """Share of positives among the k highest scores; the expected share over orders of ties."""
    y, scores = np.asarray(y), np.asarray(scores)
    last = np.partition(scores, -k)[-k]
    above, tied = scores > last, scores == last
    return float((y[above].sum() + (k - above.sum()) * y[tied].mean()) / k)


def card_precision(y: Any, scores: Any, day: Any, customer: Any, k: int = 100) -> float:
    """Mean over days of the share of compromised customers among the first k customers.

    A customer's score is the highest of the day. Customers found on one day leave the later ones.
    """
    found: set[int] = set()
    daily = []
    for today in np.unique(day):
        best: dict[int, float] = {}
        fraud: dict[int, int] = {}
        own = day == today
        for c, s, t in zip(customer[own], scores[own], y[own], strict=True):
            if c not in found:
                best[c] = max(s, best.get(c, -np.inf))
                fraud[c] = max(t, fraud.get(c, 0))
        hits = [c for c in sorted(best, key=lambda c: best[c], reverse=True)[:k] if fraud[c]]
        daily.append(len(hits) / k)
        found.update(hits)
    return float(np.mean(daily))
