"""All systems on all tables: AP, partial AUC, precision at the head, CPU seconds."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from common.data import DATA, at_hand
from common.pages import write_page
from common.rows import Row
from common.study import Argument, at_least, names_among
from common.tasks import Task
from pieces import MINUTES, collected
from remarks import LEGEND, TABLES
from sets import QUICK, ROWS, SETS, TEST_ROWS, TEST_SHARE, parts
from summary import chosen_table, costs, differences, figures
from systems import LR, SYSTEMS, TUNED, seconds_of
from toprank.metrics import average_precision, partial_auc, precision_at_k

ARGUMENTS = (
    DATA,
    Argument("--sets", type=names_among(SETS), help="names with commas between; all without it"),
    Argument("--splits", type=at_least(1), default=5, help="random splits of every set"),
    Argument("--systems", nargs="+", choices=list(SYSTEMS), help="only these; all without it"),
    ROWS,
    MINUTES,
)


def measure(args: Namespace) -> list[Row]:
    """Every system on every split; each piece is kept, and a second run goes on."""
    names = at_hand(args.sets or (QUICK if args.quick else SETS), args.data)
    splits, sizes = (2, [300]) if args.quick else (args.splits, args.rows)
    tasks = [
        Task(
            f"{rows} rows {name} split {split} {system}",
            partial(solve, name, system, rows, args.seed + split, args.data),
            {
                "set": name,
                "rows": rows,
                "seed": args.seed + split,
                "test": (TEST_SHARE, TEST_ROWS),
                **SYSTEMS[system].settings,
            },
        )
        for split in range(splits)
        for rows in sizes
        for name in names
        for system in args.systems or SYSTEMS
    ]
    return collected(tasks, args.out / "cache", args.minutes)


def solve(name: str, system: str, rows: int, seed: int, folder: Path) -> Row:
    """One system on one split, tuned by average precision."""
    part = parts(name, folder, rows, seed)
    seconds, scores, chosen = seconds_of(SYSTEMS[system].run, part, seed)
    head = {"set": name, "system": system, "rows": rows, "seed": seed}
    return head | measures(part.y_test, scores) | {"seconds": seconds, "chosen": chosen}


def measures(y: Any, scores: Any) -> Row:
    """What the head of the list is worth."""
    m = int(np.sum(y))
    return {
        "ap": average_precision(y, scores),
        "pauc": partial_auc(y, scores, max_fpr=0.01),
        "p100": precision_at_k(y, scores, k=min(100, len(y))),
        "pm2": precision_at_k(y, scores, k=max(1, m // 2)),
    }


def report(rows: list[Row], args: Namespace) -> None:
    """Write tables.md."""
    pieces = ["# What lifts the head", LEGEND]
    for size in sorted({row["rows"] for row in rows}):
        own = [row for row in rows if row["rows"] == size]
        pieces += [
            f"## Training parts of up to {size} rows",
            f"### Against {TUNED}",
            differences(own, TUNED),
            f"### Against {LR}",
            differences(own, LR),
            "### CPU seconds, one thread",
            costs(own),
            "### Average precision, set by set",
            figures(own, "ap"),
            "### What HeadRanker chose",
            chosen_table(own),
        ]
    write_page(args.out / "tables.md", *pieces, "" if args.quick else TABLES)
