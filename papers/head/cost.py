"""What a choice costs: CPU seconds, the systems in turns, so that a busy machine is fair."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np

from common.data import DATA, at_hand
from common.pages import table, write_page
from common.rows import Row, chosen, values_of
from common.tasks import Task
from pieces import MINUTES, code_of_toprank, collected
from remarks import COST
from sets import QUICK, ROWS, SETS, parts
from systems import SYSTEMS, TUNED, seconds_of

#: Each system takes so many turns; the least counts, for others only ever add to it.
TURNS = 2
ARGUMENTS = (DATA, ROWS, MINUTES)
#: System, what it is measured in, and what was aimed at.
AIMS = (
    ("HeadRanker, fast", TUNED, 0.1),
    ("HeadRanker", TUNED, 1.5),
    ("HeadRanker, best", TUNED, 5.0),
)


def measure(args: Namespace) -> list[Row]:
    """One split of every set."""
    names = at_hand(QUICK if args.quick else SETS, args.data)
    rows = 300 if args.quick else args.rows[0]
    matters = {
        "cost": TURNS,
        "rows": rows,
        "seed": args.seed,
        "code": code_of_toprank(),
        "aims": AIMS,
    }
    tasks = [
        Task(
            f"cost {rows} rows {name}",
            partial(solve, name, rows, args.seed, args.data),
            {"set": name, **matters},
        )
        for name in names
    ]
    return collected(tasks, args.out / "cache", args.minutes)


def solve(name: str, rows: int, seed: int, folder: Path) -> Row:
    """The least CPU seconds of the systems on a set."""
    systems = dict.fromkeys(one for system, other, _ in AIMS for one in (system, other))
    part, least = parts(name, folder, rows, seed), dict.fromkeys(systems, float("inf"))
    for _ in range(TURNS):
        for system in least:
            seconds, *_ = seconds_of(SYSTEMS[system].run, part, seed)
            least[system] = min(least[system], seconds)
    return {"set": name, "rows": len(part.y), "columns": part.X.shape[1], "seconds": least}


def report(rows: list[Row], args: Namespace) -> None:
    """Write cost.md."""
    lines = []
    for name in values_of(rows, "set"):
        (own,) = chosen(rows, set=name)
        seconds = own["seconds"]
        ratios = [seconds[system] / seconds[other] for system, other, _ in AIMS]
        sizes = name, str(own["rows"]), str(own["columns"])
        lines.append([*sizes, f"{seconds[TUNED]:.2f}", *(f"{value:.2f}" for value in ratios)])
    names = [f"{system} / {other}" for system, other, _ in AIMS]
    head = ["set", "rows", "columns", f"{TUNED}, s", *names]
    words = []
    for system, other, aim in AIMS:
        found = [row["seconds"][system] / row["seconds"][other] for row in rows]
        middle, total = np.median(found), np.exp(np.mean(np.log(found)))
        verdict = "reached" if middle <= aim else "missed"
        words.append(
            f"* {system} over {other}: median {middle:.2f}, geometric mean {total:.2f}, "
            f"largest {max(found):.2f}; aim {aim:g}: {verdict}"
        )
    write_page(
        args.out / "cost.md", "# What a choice costs", COST, table(head, lines), "\n".join(words)
    )
