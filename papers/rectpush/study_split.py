"""One split of one data set: lambda by cross-validation, a fit, its test figures."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

import toprank
from common.data import digest
from early_rectpush import EarlyRectPush
from study_data import load, path_of
from toprank import RectPush, RectPushApp, TopPush
from toprank.exceptions import TrivialSolutionWarning
from toprank.metrics import average_precision, ranking_report

#: Raised whenever what a stored result means has changed.
VERSION = 3
FOLDS = 5
#: Steps after which the authors' program is cut off.
STEPS = 10_000

EARLY = "TopPush, early stopped"
EARLY_RECT = "RectPush, early stopped"
LONGER = "Logistic, longer grid"
#: Powers of two below the paper's grid that the longer one has as well.
BELOW = 15
#: The published procedures are slow: they choose from powers this far apart, up to this one.
COARSE = 5


@dataclass(frozen=True)
class Split:
    """All that a result depends on, save the data; the folders do not count."""

    name: str
    split: int
    powers: tuple[int, ...]
    p: float
    seed: int
    early: bool  #: whether the early stopped procedures are run too

    def matters(self, data: Path) -> dict[str, Any]:
        """The same with the data's content and the versions."""
        return asdict(self) | {
            "data": digest(path_of(data, self.name)),
            "version": VERSION,
            "folds": FOLDS,
            "steps": STEPS,
            "below": BELOW,
            "coarse": COARSE,
            "methods": sorted(methods(self.p, self.early)),
            "toprank": toprank.__version__,
            "sklearn": sklearn.__version__,
        }


@dataclass(frozen=True)
class Method:
    """An estimator of a lambda and a number of rows, and the lambdas to choose from."""

    make: Callable[[float, int], Any]
    warm: bool = True  #: each fit of a path starts from the last
    coarse: bool = False  #: few lambdas
    longer: str | None = None  #: the row that chooses from the longer grid, if there is one

    def grids(self, name: str, powers: tuple[int, ...]) -> dict[str, list[int]]:
        """Powers of two by row of the table, the largest first, the last row's all of them."""
        step = powers[0] - powers[1] if len(powers) > 1 else 1
        # From the lower end, which is where they choose.
        few = [power for power in powers[:: -max(COARSE // step, 1)] if power <= COARSE][::-1]
        grids = {name: few if self.coarse and few else list(powers)}
        if self.longer:
            below = range(powers[-1] - step, powers[-1] - BELOW - 1, -step)
            grids[self.longer] = [*powers, *below]
        return grids


def methods(p: float, early: bool) -> dict[str, Method]:
    """The methods of the paper, in its order, and maybe two of them as it solves them."""

    def logistic(alpha: float, n_rows: int) -> Any:
        C = 1.0 / (alpha * n_rows)
        return LogisticRegression(C=C, solver="newton-cholesky", max_iter=200)

    def early_toppush(alpha: float, _: int) -> Any:
        return TopPush(alpha, solver="paper", stopping="relative", max_iter=STEPS, n_threads=1)

    def early_rectpush(alpha: float, _: int) -> Any:
        return EarlyRectPush(alpha, max_iter=STEPS)

    exact = {
        "Logistic": Method(logistic, longer=LONGER),
        "TopPush": Method(lambda alpha, _: TopPush(alpha, n_threads=1)),
        "RectPush": Method(lambda alpha, _: RectPush(alpha, n_threads=1)),
        "RectPushApp": Method(lambda alpha, _: RectPushApp(alpha, p, n_threads=1)),
    }
    if not early:
        return exact
    # A stop before the optimum depends on the start, and the published one is cold.
    return exact | {
        EARLY: Method(early_toppush, warm=False, coarse=True),
        EARLY_RECT: Method(early_rectpush, warm=False, coarse=True),
    }


class Fits:
    """Fits of one method, with a count of what they warned of."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.n_fits = self.n_trivial = 0
        self.unfinished: Counter[str] = Counter()

    def fit(self, model: Any, X: Any, y: NDArray[np.int8], power: int) -> Any:
        """Fit a model, or fit it again."""
        new = self.method.make(2.0**power, len(y))
        model = new if model is None else model.set_params(**new.get_params())
        if self.method.warm:
            model.set_params(warm_start=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        self.n_fits += 1
        self.n_trivial += bool(getattr(model, "trivial_", False))
        for warning in caught:
            if issubclass(warning.category, ConvergenceWarning):
                self.unfinished[str(power)] += 1
            elif not issubclass(warning.category, TrivialSolutionWarning):
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno
                )
        return model


def solve(task: Split, data: Path, kept: Path) -> dict[str, Any]:
    """The figures of a split by every method."""
    with threadpool_limits(1), warnings.catch_warnings():
        # Trivial fits are counted: their scores need not warn of it as well.
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        X, y = load(data, task.name, kept)
        cut = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=1000 * task.seed + task.split)
        train, test = next(cut.split(y, y))
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1000 * task.seed + task.split)
        parts = [
            (X[train[a]], y[train[a]], X[train[b]], y[train[b]])
            for a, b in folds.split(train, y[train])
        ]
        whole = X[train], y[train], X[test], y[test]
        figures: dict[str, Any] = {}
        for name, method in methods(task.p, task.early).items():
            figures |= one_method(method, method.grids(name, task.powers), parts, whole)
    return {**asdict(task), "n_train": len(train), "n_test": len(test), "methods": figures}


def one_method(
    method: Method, grids: dict[str, list[int]], parts: list[Any], whole: Any
) -> dict[str, Any]:
    """Choose lambda by the folds' mean AP, the largest of the best; fit, and measure."""
    begun = time.process_time()
    fits = Fits(method)
    *_, longest = grids.values()
    precision = np.zeros((len(parts), len(longest)))
    for row, (X, y, X_held, y_held) in zip(precision, parts, strict=True):
        model = None
        for column, power in enumerate(longest):
            model = fits.fit(model if method.warm else None, X, y, power)
            row[column] = average_precision(y_held, model.decision_function(X_held))
    mean = precision.mean(axis=0)
    X, y, X_test, y_test = whole
    figures = {}
    for name, grid in grids.items():
        power = grid[int(mean[: len(grid)].argmax())]
        fitting = time.process_time()
        model = fits.fit(None, X, y, power)
        fitted = time.process_time()
        figures[name] = {
            "power": power,
            "at_end": power == grid[-1],
            "cv_ap": mean[: len(grid)].tolist(),
            "test": measures(y_test, model.decision_function(X_test)),
            "fit_seconds": fitted - fitting,
            "seconds": fitted - begun,
            "n_fits": fits.n_fits,
            "n_trivial": fits.n_trivial,
            "trivial": bool(getattr(model, "trivial_", False)),
            "unfinished": dict(fits.unfinished),
        }
        # The next row's share: what it needs beyond the rows before it.
        begun, fits = fitted, Fits(method)
    return figures


def measures(y: NDArray[np.int8], scores: NDArray[np.float64]) -> dict[str, float]:
    """The measures of Table 4; DCG is divided by the number of positives, as there."""
    report = ranking_report(y, scores, k=10)
    return {
        "AUC": report["auc"],
        "ARR": report["average_reciprocal_rank"],
        "DCG": report["dcg"] / int(y.sum()),
        "AP": report["average_precision"],
        "PTop": report["positives_at_top"],
        "Prec@10": report["precision_at_10"],
    }
