"""AUC by either rule for ties, over folds."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

import toprank
from common.rows import Row
from common.tasks import Task, results_of

Array = NDArray[np.float64]
FOLDS = 5
#: Raised whenever what a stored row means has changed.
VERSION = 1
#: Scores that differ by less, relative to the largest, are the same but for rounding.
_SAME = 9


class Scored(NamedTuple):
    """Scores of test rows by a method with a setting, and whether its fit stopped short."""

    method: str
    setting: str
    scores: Array
    short: bool = False


Method = Callable[[Any, Any, Any], Iterator[Scored]]


def folds_of(args: Namespace) -> int:
    """How many of the folds are run."""
    return 1 if args.quick else FOLDS


def rows_by_task(args: Namespace, parts: dict[str, partial[list[Row]]]) -> list[Row]:
    """The rows of every part, kept once it is done: a run that was stopped goes on from there."""
    tasks = [
        Task(
            label,
            partial(_rows, part),
            {
                "of": part.func.__module__,
                "given": [str(value) for value in part.args],
                "version": VERSION,
                "toprank": toprank.__version__,
            },
        )
        for label, part in parts.items()
    ]
    found = results_of(tasks, args.out / "cache")
    return [row for one in found for row in one["rows"]]


def _rows(part: Callable[[], list[Row]]) -> Row:
    return {"rows": part()}


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
    `constant` the share of folds in which all test rows have the same score; `short` is the number
    of folds whose fit stopped short, of `folds`.
    """
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    short: Counter[tuple[str, str]] = Counter()
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    for fold, (learnt, ranked) in enumerate(split):
        if fold >= folds:
            break
        for method in methods:
            for name, setting, scores, stopped in method(X[learnt], y[learnt], X[ranked]):
                figures = (*two_aucs(scores, y[ranked]), float(np.ptp(scores) < 1e-12))
                if clean is not None:
                    figures = (*figures, two_aucs(scores, clean[ranked])[0])
                found.setdefault((name, setting), []).append(figures)
                short[name, setting] += stopped
    rows = []
    for (name, setting), figures_of_folds in found.items():
        means = np.mean(figures_of_folds, axis=0).round(6).tolist()
        row = dict(zip(("half", "one", "constant", "clean"), means, strict=False))
        counts = {"folds": len(figures_of_folds), "short": short[name, setting]}
        rows.append({"method": name, "setting": setting, **row, **counts})
    return rows
