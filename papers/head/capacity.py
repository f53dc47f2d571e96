"""A capacity of 200 rows on two tables, and one table in the order of time."""

from __future__ import annotations

import time
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np

from common.data import DATA, at_hand
from common.pages import digits, table, write_page
from common.rows import Row, values_of
from common.tasks import Task, results_of
from pieces import commit
from remarks import CAPACITY
from sets import ROWS, at_random, in_order
from summary import commits
from systems import SYSTEMS, settings_of
from toprank import HeadRanker
from toprank.metrics import precision_at_k

TAKEN = 200
ARGUMENTS = (DATA, ROWS)
OTHERS = ("logistic regression", "LightGBM", "LightGBM, tuned")


def measure(args: Namespace) -> list[Row]:
    """Each set split at random; bank in the order of its file, which is that of time, too."""
    rows = 600 if args.quick else args.rows[0]
    runs = [(name, False) for name in at_hand(["bank", "census-income"], args.data)]
    runs += [(name, True) for name, _ in runs if name == "bank"]
    tasks = [
        Task(
            f"{name}{' in order' if ordered else ''} {system} {rows} rows",
            partial(solve, name, ordered, system, rows, args.seed, args.data),
            {
                "capacity": TAKEN,
                "set": name,
                "ordered": ordered,
                "rows": rows,
                "seed": args.seed,
                **settings_of(system),
            },
        )
        for name, ordered in runs
        for system in [*OTHERS, "HeadRanker"]
    ]
    return results_of(tasks, args.out / "cache")


def solve(name: str, ordered: bool, system: str, rows: int, seed: int, folder: Path) -> Row:
    """Precision among the 200 rows that a system would take."""
    part = in_order(name, folder, rows) if ordered else at_random(name, folder, rows, seed)
    began, why = time.process_time(), ""
    if system == "HeadRanker":
        ranker = HeadRanker(capacity=TAKEN, list_size=len(part.y_test), random_state=seed)
        ranker.fit(part.X, part.y, time=part.time if ordered else None)
        taken, why = ranker.select(part.X_test), ranker.why_
        precision = float(np.mean(part.y_test[taken]))
    else:
        scores, why = SYSTEMS[system].run(part, seed)
        precision = precision_at_k(part.y_test, scores, k=TAKEN)
    run = f"{name}, in order of time" if ordered else name
    return {
        "run": run,
        "system": system,
        "precision": precision,
        "positives": float(np.mean(part.y_test)),
        "seconds": time.process_time() - began,
        "why": why,
        "commit": commit(),
    }


def report(rows: list[Row], args: Namespace) -> None:
    """Write capacity.md."""
    pieces = [f"# {TAKEN} rows can be looked at", CAPACITY, commits(rows)]
    for run in values_of(rows, "run"):
        own = [row for row in rows if row["run"] == run]
        lines = [
            [row["system"], digits(row["precision"], 3), f"{row['seconds']:.1f}"] for row in own
        ]
        share = f"{100 * own[0]['positives']:.1f} % of the test rows are positive."
        pieces += [f"## {run}", share, table(["", f"precision@{TAKEN}", "CPU s"], lines)]
        pieces += [f"> {row['why']}" for row in own if row["system"] == "HeadRanker"]
    write_page(args.out / "capacity.md", *pieces)
