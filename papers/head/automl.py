"""AutoGluon and FLAML, in environments without toprank: python papers/head/automl.py.

Their packages exclude each other, so each has an environment of its own. A run measures the
systems that are installed and keeps the rows of the others.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import numpy as np

from common.data import DATA, at_hand
from common.rows import Row
from common.study import Study
from common.tasks import Task
from measures import daily_measures, measures
from pieces import MINUTES, collected, commit, with_earlier
from sets import HANDBOOK, QUICK, TIMED, Parts, parts, split_settings, week

#: Twelve of the tables, the most training rows of them, and start days of the handbook.
SETS = (
    "svmguide3", "sick-euthyroid", "abalone7", "mammography", "spambase", "magic", "letter",
    *TIMED, "ijcnn1", "covtype", "a9a", "census-income",
)  # fmt: skip
ROWS, FIRST_DAYS = 6000, (101, 115)
#: Seconds that each may take for a fit.
SECONDS = {"AutoGluon": 120, "FLAML": 30}
QUICK_SECONDS = {"AutoGluon": 20, "FLAML": 5}
ARGUMENTS = (DATA, MINUTES)

Fit = Callable[[Parts, int, int], Any]


def autogluon(part: Parts, seconds: int, seed: int) -> Any:
    """Return the scores of AutoGluon's bagged models. It draws its own folds and has no seed."""
    import pandas as pd
    from autogluon.tabular import TabularPredictor

    names = [f"x{j}" for j in range(part.X.shape[1])]
    train = pd.DataFrame(part.X, columns=names).assign(label=part.y)
    with TemporaryDirectory() as folder:
        predictor = TabularPredictor(
            label="label",
            problem_type="binary",
            eval_metric="average_precision",
            path=folder,
            verbosity=0,
        )
        predictor.fit(
            train,
            presets="best_quality",
            time_limit=seconds,
            num_cpus=1,
            num_gpus=0,
            dynamic_stacking=False,  # it would take a quarter of the time
            # On one core, starting Ray's workers would take half of the time.
            ag_args_ensemble={"fold_fitting_strategy": "sequential_local"},
        )
        for failure in predictor.model_failures().to_dict("records"):
            if failure["exc_type"] != "TimeLimitExceeded":
                print(f"{failure['model']} failed: {failure['exc_type']}: {failure['exc_str']}")
        return predictor.predict_proba(pd.DataFrame(part.X_test, columns=names))[1].to_numpy()


def flaml(part: Parts, seconds: int, seed: int) -> Any:
    """Scores by FLAML; its folds follow time where the rows do."""
    from flaml import AutoML

    model = AutoML()
    model.fit(
        part.X,
        part.y,
        task="classification",
        metric="ap",
        time_budget=seconds,
        n_jobs=1,
        seed=seed,
        split_type="auto" if part.time is None else "time",
        verbose=0,
    )
    return np.asarray(model.predict_proba(part.X_test))[:, 1]


class System(NamedTuple):
    """A system, its distribution, and the modules to import before the clock starts."""

    fit: Fit
    package: str
    modules: tuple[str, ...]

    def is_installed(self) -> bool:
        """Return whether this environment has the system."""
        return find_spec(self.modules[0]) is not None


BOOSTING = ("lightgbm", "catboost", "xgboost")
SYSTEMS = {
    "AutoGluon": System(
        autogluon,
        "autogluon.tabular",
        ("autogluon", "autogluon.tabular", "torch", "fastai.tabular.all", *BOOSTING),
    ),
    "FLAML": System(flaml, "flaml", ("flaml", *BOOSTING)),
}


def measure(args: Namespace) -> list[Row]:
    """Measure both on two splits of every set and on two weeks of the handbook."""
    names = at_hand(QUICK if args.quick else [*SETS, HANDBOOK], args.data)
    rows, budgets = (300, QUICK_SECONDS) if args.quick else (ROWS, SECONDS)
    tasks = [
        Task(
            f"automl {name} split {split} {system}",
            partial(solve, name, system, rows, args.seed, split, budgets[system], args.data),
            {
                "automl": system,
                "seconds": budgets[system],
                "set": name,
                "rows": rows,
                "seed": args.seed,
                "split": (split, *split_settings(name, rows)),
            },
        )
        for split in (0, 1)
        for name in names
        for system in SYSTEMS
    ]
    kept = args.out / "cache"
    possible = [
        task
        for task in tasks
        if SYSTEMS[task.matters["automl"]].is_installed() or task.path(kept).exists()
    ]
    if not possible:
        raise SystemExit("Neither AutoGluon nor FLAML is installed: README.md has the commands.")
    found = collected(possible, kept, args.minutes)
    return with_earlier(found, args.out / "automl.json", "set", "rows", "first", "seed", "system")


def solve(
    name: str, system: str, rows: int, seed: int, split: int, seconds: int, folder: Path
) -> Row:
    """One system on one split."""
    run, package, modules = SYSTEMS[system]
    for module in modules:
        import_module(module)
    row = {"set": name, "system": system, "commit": commit(), "version": version(package)}
    if name == HANDBOOK:
        made = week(folder, FIRST_DAYS[split])
        part, row = made.parts, row | {"rows": 0, "first": FIRST_DAYS[split], "seed": seed}
        figures = partial(daily_measures, day=made.day, customer=made.customer)
    else:
        part = parts(name, folder, rows, seed + split)
        row, figures = row | {"rows": rows, "first": None, "seed": seed + split}, measures
    began, began_wall = cpu_seconds(), time.monotonic()
    scores = run(part, seconds, seed + split)
    # Less CPU time than wall time means that the core was shared: the limits are wall time.
    spent = {"seconds": cpu_seconds() - began, "wall": time.monotonic() - began_wall}
    return row | figures(part.y_test, scores) | spent


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its finished child processes."""
    usages = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def report(rows: list[Row], args: Namespace) -> None:
    """Leave the page to `tables` and `handbook`, which read the rows."""


STUDY = Study(
    "head of the list",
    Path(__file__).resolve().parent,
    {"automl": sys.modules[__name__]},
    quick="two small sets, few rows, seconds instead of minutes",
)


def main(given: list[str] | None = None) -> None:
    """Run with the arguments of the command line, or with these."""
    STUDY.main(["automl", *(sys.argv[1:] if given is None else given)])


if __name__ == "__main__":
    main()
