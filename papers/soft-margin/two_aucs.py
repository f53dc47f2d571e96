"""AUC by either rule for ties, over folds."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

Array = NDArray[np.float64]
FOLDS = 5
#: Scores that differ by less, relative to the largest, are the same but for rounding.
_SAME = 9


class Scored(NamedTuple):
    """Scores of test rows by a method with a setting."""

    method: str
    setting: str
    scores: Array


Method = Callable[[Any, Any, Any], Iterator[Scored]]


def folds_of(args: Namespace) -> int:
    """How many of the folds are run."""
    return 1 if args.quick else FOLDS


def two_aucs(scores: Array, y: NDArray[Any]) -> tuple[float, float]:
    """The share of pairs in order, ties counted one half, and ties counted as in order."""
    scale = max(float(np.abs(scores).max()), 1e-6)
    scores = np.round(scores / scale, _SAME)
    above, below = scores[y == 1], np.sort(scores[y == 0])
    upto = np.searchsorted(below, above, side="right").mean() / len(below)
    under = np.searchsorted(below, above, side="left").mean() / len(below)
    return float(under + upto) / 2.0, float(upto)


def cross_validated(
    methods: list[Method], X: Any, y: Any, *, clean: Any = None, folds: int = FOLDS, seed: int = 0
) -> list[dict[str, Any]]:
    """Means over the first `folds` of five stratified folds, a row for a method and a setting.

    `half` and `one` are the AUCs by the two rules, `clean` that against labels without noise,
    `constant` the share of folds in which all test rows have the same score.
    """
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    for fold, (learnt, ranked) in enumerate(split):
        if fold >= folds:
            break
        for method in methods:
            for name, setting, scores in method(X[learnt], y[learnt], X[ranked]):
                figures = (*two_aucs(scores, y[ranked]), float(np.ptp(scores) < 1e-12))
                if clean is not None:
                    figures = (*figures, two_aucs(scores, clean[ranked])[0])
                found.setdefault((name, setting), []).append(figures)
    rows = []
    for (name, setting), figures_of_folds in found.items():
        means = np.mean(figures_of_folds, axis=0).round(6).tolist()
        row = dict(zip(("half", "one", "constant", "clean"), means, strict=False))
        rows.append({"method": name, "setting": setting, **row})
    return rows
