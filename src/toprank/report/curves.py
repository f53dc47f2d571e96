"""Precision and gains of every model, over the rows that folds held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics._ranking import Ranking
from ..selection import Comparison

#: Points of a curve.
_POINTS = 120
#: Pictures show the first k rows, and so many times as many.
_SHOWN = 5
#: Models whose curves are drawn: more cannot be told apart.
_MOST = 6


def curves_of(comparison: Comparison, head: dict[str, Any]) -> dict[str, Any]:
    """The curves of the best models; logistic regression is always one of them."""
    size = head["list_size"]
    ranked = sorted(comparison.models, key=lambda model: -comparison.interval(model)[0])
    chosen = ranked[:_MOST]
    if comparison.reference not in chosen:
        chosen = [*chosen[:-1], comparison.reference]
    k = np.unique(np.rint([*np.geomspace(1, size, _POINTS), head["k"]]))
    # Half of the points lie where the list is looked at.
    near = np.linspace(0.0, shown_share(head), _POINTS // 2)
    shares = np.unique([*near, head["share"], *np.linspace(near[-1], 1.0, _POINTS // 2)])
    models = {}
    for model in chosen:
        rows, standing = comparison.standing(model)
        weight = None if comparison.data.weight is None else comparison.data.weight[rows]
        ranking = Ranking.of(comparison.positive[rows], standing, weight, None)
        units = k / size * ranking.total
        found = np.interp(units, ranking.seen, ranking.positives_seen)
        gains = np.interp(shares * ranking.total, ranking.seen, ranking.positives_seen)
        models[model] = {
            "precision": _rounded(found / units),
            "gains": _rounded(gains / ranking.positives_seen[-1]),
        }
    return {"k": k.astype(int).tolist(), "share": _rounded(shares), "models": models}


def shown_share(head: dict[str, Any]) -> float:
    """Return the share of a list that pictures show: several times the share looked at."""
    return float(min(1.0, _SHOWN * head["share"]))


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 7) for value in values]


__all__ = ["curves_of", "shown_share"]
