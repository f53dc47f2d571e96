"""What is compared: logistic regression and LightGBM as one tunes them, and HeadRanker."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pieces import code_of_toprank
from toprank import HeadRanker
from toprank.metrics import get_scorer

Array = NDArray[np.float64]


#: Rows, labels, test rows, measure and seed in; the scores of test rows and what it chose out.
Run = Callable[[Array, NDArray[np.int64], Array, str, int], tuple[Array, str]]


class System(NamedTuple):
    """How it fits and scores, and all that its figures depend on besides the data."""

    run: Run
    settings: dict[str, Any]


#: Folds that everything is tuned with.
FOLDS = 3
#: Values of C for logistic regression.
CS = 10
#: Settings of tuned LightGBM: leaves, rate, and numbers of trees: 17 in all. A model with fewer
#: trees is the beginning of one with more, so that a fold is fitted four times, not seventeen.
GRID = (
    (7, 0.1, (25, 50, 100, 200)),
    (31, 0.1, (25, 50, 100, 200)),
    (7, 0.03, (75, 150, 300, 500)),
    (31, 0.03, (50, 100, 200, 300, 500)),
)


def logistic(X: Array, y: Any, X_test: Array, scoring: str, seed: int) -> tuple[Array, str]:
    """Logistic regression on standardised columns, C of ten values."""
    model = make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(Cs=CS, cv=FOLDS, scoring=get_scorer(scoring), max_iter=1000),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # C of 1e4 may stop short; versions deprecate its options
        model.fit(X, y)
    return model.decision_function(X_test), f"C={float(np.ravel(model[-1].C_)[0]):.3g}"


def boosted(leaves: int, rate: float, trees: int, seed: int) -> Any:
    """LightGBM on one thread."""
    return lightgbm.LGBMClassifier(
        n_estimators=trees,
        num_leaves=leaves,
        learning_rate=rate,
        random_state=seed,
        n_jobs=1,
        verbose=-1,
    )


def default_trees(X: Array, y: Any, X_test: Array, scoring: str, seed: int) -> tuple[Array, str]:
    """LightGBM as it comes."""
    model = boosted(31, 0.1, 100, seed).fit(X, y)
    return raw_scores(model, X_test, 100), ""


def tuned_trees(X: Array, y: Any, X_test: Array, scoring: str, seed: int) -> tuple[Array, str]:
    """LightGBM, the best of 17 settings."""
    scorer, found = get_scorer(scoring)._score_func, {}
    options = get_scorer(scoring)._kwargs
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    for leaves, rate, numbers in GRID:
        for train, test in folds:
            model = boosted(leaves, rate, numbers[-1], seed).fit(X[train], y[train])
            for trees in numbers:
                score = scorer(y[test], raw_scores(model, X[test], trees), **options)
                found.setdefault((leaves, rate, trees), []).append(score)
    leaves, rate, trees = max(found, key=lambda setting: np.mean(found[setting]))
    model = boosted(leaves, rate, trees, seed).fit(X, y)
    return raw_scores(model, X_test, trees), f"{leaves} leaves, rate {rate}, {trees} trees"


def seconds_of(run: Run, part: Any, seed: int) -> tuple[float, Array, str]:
    """CPU seconds of a fit tuned by average precision with its scores; those, and its choice."""
    began = time.process_time()
    scores, chosen = run(part.X, part.y, part.X_test, "average_precision", seed)
    return time.process_time() - began, scores, chosen


def raw_scores(model: Any, X: Array, trees: int) -> Array:
    """The scores by the first trees."""
    return np.asarray(model.booster_.predict(X, raw_score=True, num_iteration=trees))


def head_ranker(**options: Any) -> System:
    """HeadRanker with these options; its figures depend on its code as well."""

    def run(X: Array, y: Any, X_test: Array, scoring: str, seed: int) -> tuple[Array, str]:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        ranker = HeadRanker(scoring=scoring, cv=folds, random_state=seed, **options).fit(X, y)
        board = ranker.leaderboard_
        return ranker.decision_function(X_test), str(board["candidate"][board["chosen"]].item())

    return System(run, {"folds": FOLDS, "options": options, "code": code_of_toprank()})


LR, TUNED = "logistic regression", "LightGBM, tuned"
SYSTEMS: dict[str, System] = {
    LR: System(logistic, {"folds": FOLDS, "Cs": CS}),
    "LightGBM": System(default_trees, {"version": lightgbm.__version__}),
    TUNED: System(tuned_trees, {"version": lightgbm.__version__, "folds": FOLDS, "grid": GRID}),
    "HeadRanker": head_ranker(),
    "HeadRanker, trees=False": head_ranker(trees=False),
    "HeadRanker, fast": head_ranker(candidates="fast"),
}
