"""The systems that are compared: rivals as users tune them, and HeadRanker."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common.rows import Row
from common.study import Argument, Missing
from pieces import code_of_toprank, within
from sets import Parts

Array = NDArray[np.float64]
#: Takes a split and a seed; returns the scores of the test rows and a note on the model.
Run = Callable[[Parts, int], tuple[Array, str]]


class System(NamedTuple):
    """A system, the settings that its results depend on, and a package that may be missing."""

    run: Run
    settings: dict[str, Any]
    package: str = ""

    def is_installed(self) -> bool:
        """Return whether its package is installed."""
        return not self.package or find_spec(self.package) is not None


#: Folds that everything is tuned with.
FOLDS = 3
#: Number of values of C for logistic regression, and the limit on its iterations.
CS, ITERATIONS = 10, 200
#: Settings of tuned LightGBM: leaves, (rate, most trees), share of rows and columns per tree.
GRID = tuple(product((7, 31), ((0.03, 400), (0.1, 200)), (1.0, 0.5)))
#: Numbers of trees to choose from. A model with fewer trees is the start of one with more.
PREFIXES = (25, 50, 100, 200, 400)
#: Early stopping: most trees, rate, rounds without improvement, share of rows held out.
STOPPING = (1000, 0.05, 50, 0.2)


def folds_of(part: Parts, seed: int) -> list[Any]:
    """Folds for tuning; in time order, each fold trains on the rows before it."""
    if part.time is not None:
        return list(TimeSeriesSplit(FOLDS).split(part.X))
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(part.X, part.y))


def logistic(part: Parts, seed: int) -> tuple[Array, str]:
    """Logistic regression on standardised columns, C of ten values."""
    search = LogisticRegressionCV(
        Cs=CS, cv=folds_of(part, seed), scoring="average_precision", max_iter=ITERATIONS
    )
    model = make_pipeline(StandardScaler(), search)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # C of 1e4 may stop short; versions deprecate its options
        model.fit(part.X, part.y)
    return model.decision_function(part.X_test), f"C={float(np.ravel(search.C_)[0]):.3g}"


def boosted(leaves: int, rate: float, trees: int, seed: int, **options: Any) -> Any:
    """LightGBM on one thread."""
    return lightgbm.LGBMClassifier(
        n_estimators=trees,
        num_leaves=leaves,
        learning_rate=rate,
        random_state=seed,
        n_jobs=1,
        verbose=-1,
        **options,
    )


def default_trees(part: Parts, seed: int) -> tuple[Array, str]:
    """LightGBM with its defaults."""
    model = boosted(31, 0.1, 100, seed).fit(part.X, part.y)
    return raw_scores(model, part.X_test), ""


def stopped_trees(part: Parts, seed: int) -> tuple[Array, str]:
    """LightGBM with as many trees as held-out rows ask for, refitted on all rows."""
    most, rate, patience, share = STOPPING
    train, held_out = train_test_split(
        np.arange(len(part.y)),
        test_size=share,
        shuffle=part.time is None,
        stratify=part.y if part.time is None else None,
        random_state=seed if part.time is None else None,
    )
    model = boosted(31, rate, most, seed, metric="average_precision")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM 4.7 deprecates eval_set, which 4.6 needs
        model.fit(
            part.X[train],
            part.y[train],
            eval_set=[(part.X[held_out], part.y[held_out])],
            callbacks=[lightgbm.early_stopping(patience, verbose=False)],
        )
    trees = model.best_iteration_ or most
    model = boosted(31, rate, trees, seed).fit(part.X, part.y)
    return raw_scores(model, part.X_test), f"{trees} trees"


def tuned_trees(part: Parts, seed: int) -> tuple[Array, str]:
    """LightGBM, the best of eight settings and of their numbers of trees."""
    found: dict[Any, list[float]] = {}
    folds = folds_of(part, seed)
    for leaves, (rate, most), share in GRID:
        for train, test in folds:
            model = sampled(leaves, rate, most, share, seed).fit(part.X[train], part.y[train])
            for trees in [number for number in PREFIXES if number <= most]:
                scores = raw_scores(model, part.X[test], trees)
                score = average_precision_score(part.y[test], scores)
                found.setdefault((leaves, rate, trees, share), []).append(score)
    leaves, rate, trees, share = max(found, key=lambda setting: np.mean(found[setting]))
    model = sampled(leaves, rate, trees, share, seed).fit(part.X, part.y)
    note = f"{leaves} leaves, rate {rate}, {trees} trees, share {share}"
    return raw_scores(model, part.X_test), note


def sampled(leaves: int, rate: float, trees: int, share: float, seed: int) -> Any:
    """LightGBM whose trees see a share of the rows and of the columns."""
    sampling = {"subsample": share, "subsample_freq": 1, "colsample_bytree": share}
    return boosted(leaves, rate, trees, seed, **(sampling if share < 1.0 else {}))


def raw_scores(model: Any, X: Array, trees: int | None = None) -> Array:
    """The scores by the first trees, or by all."""
    return np.asarray(model.booster_.predict(X, raw_score=True, num_iteration=trees))


def forest(part: Parts, seed: int) -> tuple[Array, str]:
    """Random forest with scikit-learn's defaults."""
    model = RandomForestClassifier(n_jobs=1, random_state=seed).fit(part.X, part.y)
    return model.predict_proba(part.X_test)[:, 1], ""


def catboost(part: Parts, seed: int) -> tuple[Array, str]:
    """CatBoost with its defaults."""
    from catboost import CatBoostClassifier  # not among the test dependencies: README.md

    model = CatBoostClassifier(
        thread_count=1, verbose=0, allow_writing_files=False, random_seed=seed
    ).fit(part.X, part.y)
    return np.asarray(model.predict(part.X_test, prediction_type="RawFormulaVal")), ""


def head_ranker(**options: Any) -> System:
    """HeadRanker with these options."""

    def run(part: Parts, seed: int) -> tuple[Array, str]:
        from toprank import HeadRanker

        random = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        ranker = HeadRanker(
            scoring="average_precision",
            cv=random if part.time is None else FOLDS,
            random_state=seed,
            **options,
        )
        ranker.fit(part.X, part.y, **({} if part.time is None else {"time": part.time}))
        board = ranker.leaderboard_
        (chosen,) = np.asarray(board["candidate"])[np.asarray(board["chosen"])]
        return ranker.decision_function(part.X_test), str(chosen)

    return System(run, {"folds": FOLDS, "options": options})


LR, TUNED, FOREST, CATBOOST = (
    "logistic regression",
    "LightGBM, tuned",
    "random forest",
    "CatBoost",
)
SYSTEMS: dict[str, System] = {
    LR: System(logistic, {"folds": FOLDS, "Cs": CS, "iterations": ITERATIONS}),
    "LightGBM": System(default_trees, {}),
    "LightGBM, early stopping": System(stopped_trees, {"stopping": STOPPING}),
    TUNED: System(tuned_trees, {"folds": FOLDS, "grid": GRID, "trees": PREFIXES}),
    FOREST: System(forest, {}),
    CATBOOST: System(catboost, {}, "catboost"),
    "HeadRanker": head_ranker(),
    "HeadRanker, fast": head_ranker(effort="fast"),
    "HeadRanker, best": head_ranker(effort="best"),
    "HeadRanker, trees=False": head_ranker(trees=False),
    "HeadRanker, linear": head_ranker(candidates="linear"),
}
NAMES = Argument(
    "--systems", nargs="+", choices=list(SYSTEMS), help="measure only these; all without it"
)


def installed(names: list[str] | None) -> list[str]:
    """Return these systems, or all, without those whose package is missing; print which are."""
    wanted = list(names or SYSTEMS)
    there = [name for name in wanted if SYSTEMS[name].is_installed()]
    missing = [name for name in wanted if name not in there]
    if not there:
        packages = " ".join(SYSTEMS[name].package for name in missing)
        raise Missing(f"{', '.join(missing)} is not installed: pip install {packages}.")
    for name in missing:
        print(f"{name}: skipped, {SYSTEMS[name].package} is not installed")
    return there


def settings_of(system: str) -> Row:
    """Return the settings that a system's results depend on; HeadRanker's include its code."""
    code = {"code": code_of_toprank()} if system.startswith("HeadRanker") else {}
    return {"system": system, **SYSTEMS[system].settings, **code}


def seconds_of(run: Run, part: Parts, seed: int) -> tuple[float, Array, str]:
    """CPU seconds of a fit and the scores of the test rows; those scores; the note."""
    began = time.process_time()
    scores, note = run(part, seed)
    return time.process_time() - began, scores, note


def measured(
    system: str, part: Parts, seed: int, measure: Callable[[Array], Row], minutes: int | None
) -> Row:
    """Figures of one fit, or how long it took before it was given up."""

    def work() -> Row:
        seconds, scores, note = seconds_of(SYSTEMS[system].run, part, seed)
        return {**measure(scores), "seconds": seconds, "chosen": note}

    return within(work, minutes)
