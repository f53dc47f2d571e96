"""Kernel features before linear rankers: what they gain, and what they cost."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tables
from data import choose
from options import Options
from toprank import BBR, RankSVM, RectPushApp, TopPush
from toprank.exceptions import TrivialSolutionWarning
from toprank.metrics import auc, average_precision, partial_auc, positives_at_top

SETS = ["letter", "magic", "mammography"]
QUICK_SETS = ["mammography"]
SPLITS, QUICK_SPLITS = 3, 1
COMPONENTS = 300
#: Widths of the kernel exp(-g |x - x'|^2 / d) for d standardised columns.
WIDTHS = (0.1, 0.5, 2.0)
ALPHAS = (1e-2, 1e-4, 1e-6)
#: Parameters are chosen on so many rows and judged on the rest, to keep the run short.
TUNING_ROWS = 3000

CAVEATS = f"""\
* {SPLITS} random splits 2:1, stratified; columns standardised. alpha (1e-2, 1e-4, 1e-6) and, with
  features, the width g of the kernel exp(-g |x - x'|^2 / d) (0.1, 0.5, 2) are chosen by average
  precision: fits on {TUNING_ROWS} rows of the training part, judged on the rest of it. Then the
  pipeline is fitted to the whole training part.
* {COMPONENTS} features by either map; "columns" are the columns as they are.
* Seconds are of that last fit, features included, on one thread; `times` is how many times the fit
  on columns that is.
* "trivial" counts final fits whose optimum is w = 0.
* HistGradientBoosting has its default settings."""

MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "AP": average_precision,
    "pAUC(.01)": lambda y, s: partial_auc(y, s, max_fpr=0.01),
    "at top": positives_at_top,
    "AUC": auc,
}

MAPS: dict[str, Callable[[float], Any] | None] = {
    "columns": None,
    "Nystroem": lambda gamma: Nystroem(gamma=gamma, n_components=COMPONENTS, random_state=0),
    "RBFSampler": lambda gamma: RBFSampler(gamma=gamma, n_components=COMPONENTS, random_state=0),
}


def logistic(alpha: float, rows: int) -> LogisticRegression:
    """Unweighted logistic regression of the same regularisation, relative to the mean loss."""
    return LogisticRegression(C=1.0 / (alpha * rows), solver="newton-cholesky", max_iter=1000)


METHODS: dict[str, Callable[[float, int], Any]] = {
    "TopPush": lambda alpha, _rows: TopPush(alpha),
    "RectPushApp": lambda alpha, _rows: RectPushApp(alpha),
    "RankSVM": lambda alpha, _rows: RankSVM(alpha),
    "BBR": lambda alpha, _rows: BBR(alpha),
    "LogisticRegression": logistic,
}


def pipeline(kernel: str, gamma: float, ranker: Any) -> Any:
    """The features, if any, and the ranker."""
    make = MAPS[kernel]
    return make_pipeline(make(gamma), ranker) if make else make_pipeline(ranker)


def chosen(method: str, kernel: str, X: Any, y: np.ndarray) -> tuple[float, float]:
    """The gamma and alpha with the best average precision on rows left out of the fit."""
    splits = StratifiedShuffleSplit(1, train_size=TUNING_ROWS, random_state=0)
    kept, held = next(iter(splits.split(X, y)))
    make, best, at = MAPS[kernel], -1.0, (1.0, ALPHAS[0])
    for gamma in [g / X.shape[1] for g in (WIDTHS if make else WIDTHS[:1])]:
        here, there = X[kept], X[held]
        if make:
            features = make(gamma).fit(here)
            here, there = features.transform(here), features.transform(there)
        for alpha in ALPHAS:
            ranker = METHODS[method](alpha, len(kept)).fit(here, y[kept])
            found = average_precision(y[held], ranker.decision_function(there))
            if found > best:
                best, at = found, (gamma, alpha)
    return at


def run_set(name: str, X: np.ndarray, y: np.ndarray, options: Options) -> list[list[str]]:
    """The lines of a set, one for each method and map."""
    n_splits = QUICK_SPLITS if options.quick else SPLITS
    splits = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0)
    found: dict[tuple[str, str], list[list[float]]] = {}
    trivial: dict[tuple[str, str], int] = {}
    for number, (train, test) in enumerate(splits.split(X, y)):
        for method in METHODS:
            for kernel in MAPS:
                gamma, alpha = chosen(method, kernel, X[train], y[train])
                model = pipeline(kernel, gamma, METHODS[method](alpha, len(train)))
                began = time.perf_counter()
                model.fit(X[train], y[train])
                taken = time.perf_counter() - began
                scores = model.decision_function(X[test])
                values = [measure(y[test], scores) for measure in MEASURES.values()]
                found.setdefault((method, kernel), []).append([*values, taken])
                flat = bool(getattr(model[-1], "trivial_", False))
                trivial[method, kernel] = trivial.get((method, kernel), 0) + flat
        trees = HistGradientBoostingClassifier(random_state=0)
        began = time.perf_counter()
        trees.fit(X[train], y[train])
        taken = time.perf_counter() - began
        scores = trees.decision_function(X[test])
        values = [measure(y[test], scores) for measure in MEASURES.values()]
        found.setdefault(("HistGradientBoosting", "columns"), []).append([*values, taken])
        options.tell(f"nonlinear: {name}, split {number + 1} of {n_splits}")
    lines = []
    for (method, kernel), values in found.items():
        *means, seconds = np.mean(values, axis=0)
        plain = float(np.mean(found[method, "columns"], axis=0)[-1])
        cells = [f"{mean:.3f}" for mean in means]
        cells += [tables.seconds(float(seconds)), tables.ratio(float(seconds) / plain)]
        cells.append(f"{trivial.get((method, kernel), 0)}/{n_splits}")
        lines.append([name, method, kernel, *cells])
    return lines


def report(options: Options) -> str:
    """Compare the features and write the section."""
    names = options.names or (QUICK_SETS if options.quick else SETS)
    rows: list[list[str]] = []
    for source in choose(names, quick=options.quick):
        raw = source.read(options.folder)
        if raw is None:
            options.tell(f"nonlinear: {source.name} is not here")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrivialSolutionWarning)
            X = StandardScaler().fit_transform(np.asarray(raw[0], dtype=np.float64))
            rows += run_set(source.name, X, np.asarray(raw[1], dtype=np.int64), options)
    if not rows:
        return "## Kernel features\n\nNone of the data sets asked for is here."
    heads = ["data", "method", "features", *MEASURES, "seconds", "times", "trivial"]
    return "\n\n".join(["## Kernel features", tables.table(heads, rows)])
