"""Trees: `predict` of a TreeEnsemble and of the model that it is made from.

    python benchmarks/trees.py            # three minutes; writes benchmarks/TREES.md
    python benchmarks/trees.py --quick    # a tenth of the rows, printed

Both take turns on the same rows, each on one thread; the least time of the processor counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before anything loads OpenMP: one thread for everybody.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})

import lightgbm
import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import tables
from machine import describe
from toprank.trees import from_model

HERE = Path(__file__).resolve().parent
ROWS, COLUMNS, REPEATS = 100_000, 30, 7
#: Columns with gaps, and a column of this many categories.
GAPS, CITY, CITIES = slice(0, 5), 29, 40

INTRODUCTION = """\
`predict` on 100 000 rows of 30 columns, in seconds of the processor: the least of 7 turns, on one
thread. A ratio below 1 says that the ensemble is faster. Models are trained on 50 000 other rows.
With gaps, a tenth of the entries of five columns is missing, and one column holds 40 categories,
which the boosted models split as such. The columns float32, contributions and from_model are the
seconds of `predict` on the rows in float32, of `contributions`, and of making the ensemble. The
difference is the largest between raw scores."""


def data(rows: int, seed: int, gaps: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose labels need products of columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, COLUMNS))
    X[:, CITY] = rng.integers(0, CITIES, rows)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3.0 * X[:, CITY]) + X[:, 6:12].sum(axis=1) / 3.0
    y = (signal + rng.normal(size=rows) > 0.5).astype(np.int64)
    if gaps:
        X[:, GAPS] = np.where(rng.random((rows, 5)) < 0.1, np.nan, X[:, GAPS])
    return X, y


def cases() -> list[tuple[str, bool, Any, dict[str, Any]]]:
    """Names, whether rows have gaps, unfitted models, and further arguments of `fit`."""
    hist, light = HistGradientBoostingClassifier, lightgbm.LGBMClassifier
    forest = {"n_jobs": 1, "random_state": 0}
    boosted = {"max_iter": 100, "early_stopping": False, "random_state": 0}
    leaves = {"verbose": -1, "n_jobs": 1, "random_state": 0}
    large = {**leaves, "n_estimators": 400, "num_leaves": 63}
    split = {"categorical_feature": [CITY]}
    return [
        ("HistGradientBoosting, 100 trees", False, hist(**boosted), {}),
        ("the same, gaps and categories", True, hist(categorical_features=[CITY], **boosted), {}),
        ("LightGBM, 100 trees", False, light(**leaves), {}),
        ("the same, gaps and categories", True, light(**leaves), split),
        ("LightGBM, 400 trees of 63 leaves", False, light(**large), {}),
        (
            "RandomForest, 100 trees of depth 8",
            False,
            RandomForestClassifier(100, max_depth=8, **forest),
            {},
        ),
        ("RandomForest, 100 whole trees", False, RandomForestClassifier(100, **forest), {}),
        ("the same, gaps", True, RandomForestClassifier(100, **forest), {}),
        ("ExtraTrees, 100 whole trees", False, ExtraTreesClassifier(100, **forest), {}),
    ]


def seconds(work: Callable[[], Any]) -> float:
    """Of the processor."""
    began = time.process_time()
    work()
    return time.process_time() - began


def raw_scores(model: Any, X: np.ndarray) -> np.ndarray:
    """The source's scores that the ensemble must have."""
    if isinstance(model, lightgbm.LGBMClassifier):
        return model.predict(X, raw_score=True)
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def row_of(name: str, gaps: bool, model: Any, options: dict[str, Any], rows: int) -> list[str]:
    """One model."""
    model.fit(*data(rows // 2, 0, gaps), **options)
    X, _ = data(rows, 1, gaps)
    made = seconds(lambda: from_model(model))
    trees = from_model(model)
    short = X.astype(np.float32)
    contenders = {
        "theirs": lambda: model.predict(X),
        "ours": lambda: trees.predict(X),
        "float32": lambda: trees.predict(short),
        "contributions": lambda: trees.contributions(X),
    }
    least = dict.fromkeys(contenders, np.inf)
    for _ in range(REPEATS):
        for own, work in contenders.items():
            least[own] = min(least[own], seconds(work))
    difference = np.abs(raw_scores(model, X) - trees.decision_function(X)).max()
    assert (model.predict(X) == trees.predict(X)).all()
    print(name, least, difference, flush=True)
    return [
        name,
        f"{len(trees.feature):,}",
        tables.seconds(least["theirs"]),
        tables.seconds(least["ours"]),
        tables.ratio(least["ours"] / least["theirs"]),
        tables.seconds(least["float32"]),
        tables.seconds(least["contributions"]),
        tables.seconds(made),
        tables.gap(difference) if difference else "0",
    ]


def commit() -> str:
    """The commit of the sources."""
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        cwd=HERE,
        check=False,
    )
    return found.stdout.strip() or "unknown"


def main() -> None:
    """Measure all models, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, printed only")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")  # of LightGBM and names of columns
    rows = ROWS // 10 if quick else ROWS
    about = [describe(), f"* commit {commit()}; LightGBM {lightgbm.__version__}"]
    heads = ["model", "nodes", "theirs", "ours", "ratio", "float32", "contributions", "from_model"]
    measured = [row_of(*case, rows) for case in cases()]
    lines = ["# Trees: TreeEnsemble and its source", "    python benchmarks/trees.py"]
    page = "\n\n".join(
        [*lines, "\n".join(about), INTRODUCTION, tables.table([*heads, "difference"], measured)]
    )
    if quick:
        print(page)
    else:
        (HERE / "TREES.md").write_text(page + "\n")


if __name__ == "__main__":
    main()
