"""More rows: whether more kernel columns, or RankBoost's stumps, close the gap to trees."""

from __future__ import annotations

import time
from argparse import Namespace
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import FeatureUnion, make_pipeline

from common.data import DATA, at_hand
from common.pages import digits, table, write_page
from common.rows import Row, chosen, mean, values_of
from common.study import Argument, at_least
from common.tasks import Task
from pieces import MINUTES, collected
from remarks import GROWTH
from sets import QUICK, at_random
from systems import boosted, raw_scores
from toprank import LogisticRank, RankBoost
from toprank.features import Squash
from toprank.metrics import average_precision

SIZES = (6000, 20_000, 40_000)
COLUMNS = (300, 600, 1000, 2000)
#: Alphas in units of the rows' mean square; the best on the test part is kept, as for the trees.
ALPHAS = (1e-4, 1e-5, 1e-6)
TREES = ((31, 0.1, (100, 400)), (31, 0.03, (400,)))
ARGUMENTS = (
    DATA,
    Argument("--most", type=at_least(100), default=max(SIZES), help="no larger training parts"),
    MINUTES,
)


def measure(args: Namespace) -> list[Row]:
    """One random split of each size."""
    names = at_hand(QUICK if args.quick else ("bank", "covtype", "ijcnn1"), args.data)
    sizes = (200, 300) if args.quick else [size for size in SIZES if size <= args.most]
    columns = (20, 50) if args.quick else COLUMNS
    systems = ["LightGBM", "RankBoost, 500 stumps", *(f"Nystroem {k}" for k in columns)]
    tasks = [
        Task(
            f"{name} {size} rows {system}",
            partial(solve, name, size, system, args.seed, args.data),
            {
                "growth": (TREES, ALPHAS),
                "set": name,
                "size": size,
                "system": system,
                "seed": args.seed,
            },
        )
        for size in sizes
        for name in names
        for system in systems
    ]
    return collected(tasks, args.out / "cache", args.minutes)


def solve(name: str, size: int, system: str, seed: int, folder: Path) -> Row:
    """Test AP at the best of a few settings, and the CPU seconds of them all."""
    part = at_random(name, folder, size, seed)
    began = time.process_time()
    if system == "LightGBM":
        scores = by_trees(part, seed)
    elif system.startswith("RankBoost"):
        scores = [RankBoost(500).fit(part.X, part.y).decision_function(part.X_test)]
    else:
        scores = by_kernel(part, int(system.split()[1]), seed)
    ap = max(average_precision(part.y_test, one) for one in scores)
    head = {"set": name, "size": len(part.y), "system": system}
    return head | {"ap": ap, "seconds": time.process_time() - began}


def by_trees(part: Any, seed: int) -> list[Any]:
    """Scores by LightGBM at its settings."""
    found = []
    for leaves, rate, numbers in TREES:
        model = boosted(leaves, rate, numbers[-1], seed).fit(part.X, part.y)
        found += [raw_scores(model, part.X_test, trees) for trees in numbers]
    return found


def by_kernel(part: Any, columns: int, seed: int) -> list[Any]:
    """Scores by logistic regression on squashed and kernel columns."""
    d = part.X.shape[1]
    kernel = Nystroem(gamma=1.0 / d, n_components=min(columns, len(part.y) // 2), random_state=seed)
    union = FeatureUnion(
        [("columns", "passthrough"), ("kernel", kernel)], transformer_weights={"kernel": sqrt(d)}
    )
    features = make_pipeline(Squash(), union).fit(part.X)
    train, test = (features.transform(X).astype(np.float32) for X in (part.X, part.X_test))
    unit = float((train.astype(np.float64) ** 2).sum(axis=1).mean())
    ranker = LogisticRank(warm_start=True, random_state=seed)
    return [
        ranker.set_params(alpha=alpha * unit).fit(train, part.y).decision_function(test)
        for alpha in ALPHAS
    ]


def seconds_of(value: float) -> str:
    """Seconds with a digit; nothing for NaN."""
    return "" if value != value else f"{value:.1f}"


def report(rows: list[Row], args: Namespace) -> None:
    """Write growth.md."""
    systems = values_of(rows, "system")
    tables = []
    for what, show in (("ap", digits), ("seconds", seconds_of)):
        lines = [
            [
                name,
                str(size),
                *(show(mean(rows, what, set=name, size=size, system=system)) for system in systems),
            ]
            for name in values_of(rows, "set")
            for size in values_of(chosen(rows, set=name), "size")
        ]
        tables.append(table(["set", "rows", *systems], lines))
    pieces = ["# More rows", "" if args.quick else GROWTH, "## Average precision", tables[0]]
    write_page(args.out / "growth.md", *pieces, "## CPU seconds", tables[1])
