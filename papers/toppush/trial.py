"""One trial of one system on one set: parameters by cross-validation, a fit, its test figures."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

import toprank
from common.data import digest
from common.fits import Fit, fit_watched
from common.rows import Row
from printed import MEASURES
from sets import FOLDS, Labels, Part, file_of, load, parts_of
from systems import SYSTEMS, Plan, System
from toprank.exceptions import TrivialSolutionWarning
from toprank.metrics import positives_at_top, ranking_report

#: Raised whenever what a stored result means has changed.
VERSION = 1
#: Measures of a row: the paper's, and the AUC that its longer version has.
SHOWN = (*MEASURES, "AUC")
#: A short fit is timed again until its fits have taken so many seconds, and so often at most.
ENOUGH, OFTEN = 0.5, 5


@dataclass(frozen=True)
class Cell:
    """A system on a set, and the plan for it."""

    name: str
    system: str
    plan: Plan
    seed: int

    def matters(self, data: Path) -> dict[str, Any]:
        """All that its results depend on, save which trial it is; their number does not count."""
        said = asdict(self)
        del said["plan"]["trials"]
        if not SYSTEMS[self.system].steps:
            del said["plan"]["steps"]
        return said | {
            "data": digest(data / f"{file_of(self.name)}.npz"),
            "version": VERSION,
            "folds": FOLDS,
            "toprank": toprank.__version__,
            "sklearn": sklearn.__version__,
        }


def solve(cell: Cell, trial: int, data: Path) -> Row:
    """The figures of a trial."""
    began = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        # Trivial fits are counted: their scores need not warn of it as well.
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        whole, folds = parts_of(data, cell.name, trial, cell.seed, cell.plan.rows)
        alpha, ratio, fits = choose(cell, folds)
        model = made(cell, alpha, ratio, whole.y)
        fits.append(fit_watched(model, whole.X, whole.y))
        figures = measures(whole.y_held, model.decision_function(whole.X_held))
    return {
        "set": cell.name,
        "system": cell.system,
        "trial": trial,
        "alpha": alpha,
        "ratio": ratio,
        **figures,
        "fits": len(fits),
        "short": sum(one.short for one in fits),
        "trivial": int(fits[-1].trivial),
        "rows": len(whole.y),
        "seconds": time.process_time() - began,
    }


def choose(cell: Cell, folds: Sequence[Part]) -> tuple[float, float, list[Fit]]:
    """Lambda and cost ratio of the most positives at the top; of equals the first, largest one."""
    system, plan = SYSTEMS[cell.system], cell.plan
    settings = list(product(plan.ratios, plan.alphas))
    found = np.zeros((len(folds), len(settings)))
    fits = []
    for row, part in zip(found, folds, strict=True):
        model = None
        for column, (ratio, alpha) in enumerate(settings):
            model = following(model, made(cell, alpha, ratio, part.y), system)
            fits.append(fit_watched(model, part.X, part.y))
            row[column] = positives_at_top(part.y_held, model.decision_function(part.X_held))
    ratio, alpha = settings[int(found.mean(axis=0).argmax())]
    return alpha, ratio, fits


def made(cell: Cell, alpha: float, ratio: float, y: Labels) -> Any:
    """The system's estimator with these parameters, for rows with these labels."""
    system = SYSTEMS[cell.system]
    model = system.make(alpha, ratio, y)
    return model.set_params(max_iter=cell.plan.steps) if system.steps else model


def following(last: Any, new: Any, system: System) -> Any:
    """The new model, or the last one with its parameters where it can go on from there."""
    if not system.warm:
        return new
    return (last or new).set_params(**new.get_params() | {"warm_start": True})


def measures(y: Labels, scores: np.ndarray) -> dict[str, float]:
    """The paper's measures, and AUC."""
    report = ranking_report(y, scores)
    names = ("positives_at_top", "average_precision", "ndcg", "auc")
    return {shown: report[name] for shown, name in zip(SHOWN, names, strict=True)}


def settled(rows: Sequence[Row]) -> tuple[float, float]:
    """The parameters that most trials chose; of equals the first that was met."""
    return Counter((row["alpha"], row["ratio"]) for row in rows).most_common(1)[0][0]


def time_fit(cell: Cell, alpha: float, ratio: float, data: Path) -> Row:
    """CPU seconds of a cold fit, the least of a few: on all rows, or as many as the plan allows."""
    X, y = load(data, cell.name)
    if cell.plan.rows is not None and cell.plan.rows < len(y):
        some = StratifiedShuffleSplit(1, train_size=cell.plan.rows, random_state=cell.seed)
        rows, _ = next(some.split(y, y))
        X, y = X[rows], y[rows]
    fits: list[Fit] = []
    with threadpool_limits(1):
        while not fits or (len(fits) < OFTEN and sum(one.seconds for one in fits) < ENOUGH):
            model = made(cell, alpha, ratio, y)
            fits.append(fit_watched(model, X, y))
    return {
        "set": cell.name,
        "system": cell.system,
        "trial": "time",
        "alpha": alpha,
        "ratio": ratio,
        **dict.fromkeys(SHOWN, ""),
        "fits": len(fits),
        "short": int(fits[-1].short),
        "trivial": int(fits[-1].trivial),
        "rows": len(y),
        "seconds": min(one.seconds for one in fits),
    }
