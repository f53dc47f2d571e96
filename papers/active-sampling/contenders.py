"""The paper's methods with its settings, and one measurement."""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from common.data import DATA, at_hand
from common.rows import Row
from common.study import Argument, at_least, names_among
from common.tasks import watched
from printed import SAMPLED
from sets import QUICK, SOURCES, Part, Range, parts
from toprank import ASCRC, CRR, WSVM, ASRankSVM, RankSVM

Array = NDArray[np.float64]
Job = tuple[Row, str, dict[str, Any], int]
#: The paper's settings. The total weight of the losses is to be C B = 800 for every method.
C, BUDGET, BATCH = 0.1, 8000, 100
#: What the total weight has to be multiplied by for its figures of the sampling methods.
TWICE = 2
HARD = ("Hard-Close", "Hard-Correct")
#: Methods whose result hangs on the seed.
BY_CHANCE = ("CRR", *SAMPLED)
#: What every command can be asked for.
OPTIONS = (
    DATA,
    Argument("--sets", type=names_among(SOURCES), help="names with commas between; all without it"),
    Argument("--pools", type=at_least(1), help="initial pools, at the most"),
)


def contender(
    method: str, seed: int, *, times: float = 1, budget: int | None = None, **options: Any
) -> Any:
    """A method of the tables, as it was run for them; `times` multiplies its total weight."""
    budget = budget or BUDGET
    options = {"alpha": 1.0 / (C * budget * times), "n_threads": 1, "random_state": seed, **options}
    exact = {"WSVM": WSVM, "ERankSVM": RankSVM, "CRR": CRR}
    if method in exact:
        return exact[method](**options)
    known = {"n_pairs": budget, "batch_size": BATCH, "strategy": method.lower()}
    kind = ASCRC if "gamma" in options else ASRankSVM
    return kind(**{"weighting": "paper", **known, **options})


def measure(ranker: Any, part: Part) -> Row:
    """Fit and rank: test AUC, training AUC, CPU seconds of the fit, whether it stopped short."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        began = time.process_time()
        ranker.fit(part.X, part.y)
        seconds = time.process_time() - began
    return {
        "auc": ranker.score(part.X_test, part.y_test),
        "training_auc": ranker.score(part.X, part.y),
        "seconds": seconds,
        "short": sum(issubclass(one.category, ConvergenceWarning) for one in caught),
    }


def seed_of(seed: int, fold: int, pool: int) -> int:
    """Another seed for every fold and pool."""
    return 10_000 * seed + 100 * fold + pool


def sets_of(args: Namespace) -> list[str]:
    """The sets that are asked for and there; says which are not."""
    wanted = args.sets or (QUICK if args.quick else tuple(SOURCES))
    return at_hand(wanted, args.data, lambda name: SOURCES[name].file)


def most_pools(args: Namespace, name: str, most: int) -> int:
    """How many initial pools a set gets."""
    return min(most, args.pools or (2 if args.quick else most), SOURCES[name].pools)


def measure_all(
    args: Namespace,
    jobs: Sequence[Job],
    names: Sequence[str],
    *,
    columns: Range | None = None,
    folds: int | None = None,
) -> list[Row]:
    """Every job on every part of every set, with as many pools as it asks for and the set has.

    A job is what its rows say of it, a method, its options and the most pools. `columns` is
    another range of the sets' columns, `folds` fewer folds.
    """
    rows = []
    for name in watched(names):
        for part in parts(args.data, name, folds=1 if args.quick else folds, columns=columns):
            for said, method, options, most in jobs:
                pools = most_pools(args, name, most) if method in (*BY_CHANCE, *HARD) else 1
                for pool in range(pools):
                    ranker = contender(method, seed_of(args.seed, part.fold, pool), **options)
                    place = {"set": name, "fold": part.fold, "pool": pool}
                    rows.append({**place, **said, **measure(ranker, part)})
    return rows


def per_pool(rows: Sequence[Row], what: str = "auc", **wanted: Any) -> Array:
    """The mean over folds for every pool, of the rows that have the wanted entries."""
    chosen = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    pools = sorted({row["pool"] for row in chosen})
    return np.array([np.mean([r[what] for r in chosen if r["pool"] == p]) for p in pools])


def names_in(rows: Sequence[Row]) -> list[str]:
    """The sets of some rows in the paper's order."""
    return [name for name in SOURCES if any(row["set"] == name for row in rows)]
