"""The head of the list: TopPush, RectPush and logistic regression where TopPush is trivial."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

import tables
from data import DataSet, choose
from options import Options
from toprank import RectPush, TopPush
from toprank.exceptions import TrivialSolutionWarning
from toprank.metrics import auc, average_precision, partial_auc, precision_at_k

SETS = ["a9a", "ijcnn1", "magic"]
QUICK_SETS = ["german"]
ALPHAS = np.geomspace(1.0, 1e-6, 7)
SPLITS, FOLDS = 5, 5

INTRODUCTION = f"""\
{SPLITS} random splits 2:1, stratified; alpha out of 1, 0.1, ..., 1e-6 by average precision in
{FOLDS}-fold cross-validation on the training part. Test means and, in brackets, standard errors.
Rows have length 1, dense columns are standardised first. LogisticRegression is unweighted.
"trivial" is the share of the final fits whose optimum is w = 0: every row gets the same score, and
the measures are those of a list in random order."""

MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "AP": average_precision,
    "precision@10": lambda y, s: precision_at_k(y, s, k=10),
    "precision@50": lambda y, s: precision_at_k(y, s, k=50),
    "precision@m": lambda y, s: precision_at_k(y, s, k=int(np.sum(y))),
    "pAUC(.01)": lambda y, s: partial_auc(y, s, max_fpr=0.01),
    "AUC": auc,
}


def logistic(alpha: float, rows: int) -> LogisticRegression:
    """Unweighted logistic regression of the same regularisation, relative to the mean loss."""
    return LogisticRegression(C=1.0 / (alpha * rows), solver="newton-cholesky", max_iter=1000)


METHODS: dict[str, Callable[[float, int], Any]] = {
    "TopPush": lambda alpha, _rows: TopPush(alpha),
    "RectPush": lambda alpha, _rows: RectPush(alpha),
    "LogisticRegression": logistic,
}


def chosen_alpha(make: Callable[[float, int], Any], X: Any, y: np.ndarray) -> float:
    """The alpha of the best cross-validated average precision."""
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))

    def held_out(alpha: float, kept: np.ndarray, held: np.ndarray) -> float:
        ranker = make(alpha, len(kept)).fit(X[kept], y[kept])
        return average_precision(y[held], ranker.decision_function(X[held]))

    def score(alpha: float) -> float:
        return float(np.mean([held_out(alpha, *fold) for fold in folds]))

    return max(ALPHAS, key=score)


def run_set(data: DataSet, options: Options) -> list[list[str]]:
    """The lines of a set, one a method."""
    X = data.X if isinstance(data.X, np.ndarray) else data.X.tocsr()
    y = data.y
    splits = StratifiedShuffleSplit(SPLITS, test_size=1 / 3, random_state=0).split(X, y)
    found: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    trivial = dict.fromkeys(METHODS, 0)
    for number, (train, test) in enumerate(splits):
        for name, make in METHODS.items():
            ranker = make(chosen_alpha(make, X[train], y[train]), len(train))
            scores = ranker.fit(X[train], y[train]).decision_function(X[test])
            found[name].append([measure(y[test], scores) for measure in MEASURES.values()])
            trivial[name] += bool(getattr(ranker, "trivial_", False))
        options.tell(f"head: {data.name}, split {number + 1} of {SPLITS}")
    lines = []
    for name, values in found.items():
        means = np.mean(values, axis=0)
        errors = np.std(values, axis=0, ddof=1) / np.sqrt(SPLITS)
        cells = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(means, errors, strict=True)]
        lines.append([data.name, name, *cells, f"{trivial[name]}/{SPLITS}"])
    return lines


def report(options: Options) -> str:
    """Compare the heads of the lists and write the section."""
    names = options.names or (QUICK_SETS if options.quick else SETS)
    rows: list[list[str]] = []
    for source in choose(names, quick=options.quick):
        data = source.load(options.folder)
        if data is None:
            options.tell(f"head: {source.name} is not here")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrivialSolutionWarning)
            rows += run_set(data, options)
    if not rows:
        return "## The head of the list\n\nNone of the data sets asked for is here."
    heads = ["data", "method", *MEASURES, "trivial"]
    return "\n\n".join(["## The head of the list", INTRODUCTION, tables.table(heads, rows)])
