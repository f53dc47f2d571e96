"""Comparisons made of scores, without a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from toprank import BBR
from toprank.selection import Comparison
from toprank.selection.comparison.cells import Cell, Data
from toprank.selection.head.setup import Capacity


def compared(
    *,
    n: int = 400,
    n_positive: int = 80,
    lead: float = 1.0,
    models: tuple[str, ...] = ("logistic", "bbr"),
    facts: dict[str, Any] | None = None,
    notes: list[list[str]] | None = None,
    tied: bool = False,
    capacity: float | Capacity | None = 0.1,
    metrics: tuple[str, ...] = ("average_precision", "auc"),
    X: Any = None,
) -> Comparison:
    """Four folds of rows whose positives score higher: by one, and by `lead` more for "bbr"."""
    rng = np.random.default_rng(0)
    y = np.zeros(n, dtype=np.int64)
    y[rng.permutation(n)[:n_positive]] = 1
    X = rng.normal(size=(n, 3)) if X is None else X
    folds = [(np.flatnonzero(np.arange(n) % 4 != k), np.arange(n)[k::4]) for k in range(4)]
    cells = {}
    noise = rng.normal(size=n)
    for model in models:
        for k, (_, test) in enumerate(folds):
            gain = 1.0 + (lead if model == "bbr" else 0.0)
            scores = noise[test] + gain * y[test] + 0.1 * rng.normal(size=len(test))
            if tied:
                scores = np.round(scores / 3.0)
            own = {"seconds": 0.5, "notes": notes or [], "setting": "alpha 1", **(facts or {})}
            cells[model, k] = Cell(scores, own)
    return Comparison(
        {model: BBR() for model in models},
        list(metrics),
        Data(X, y, None, None),
        folds,
        cells,
        capacity=Capacity(capacity) if isinstance(capacity, float) else capacity,
        confidence=0.95,
    )
