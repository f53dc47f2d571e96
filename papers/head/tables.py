"""All systems on all tables: AP, partial AUC, precision@100, CPU seconds."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path

from common.data import DATA, at_hand
from common.pages import write_page
from common.rows import Row
from common.study import Argument, at_least, names_among
from common.tasks import Task
from measures import measures
from pieces import LIMIT, MINUTES, automl_rows, collected, commit, with_earlier
from remarks import FEWER_SPLITS, LEGEND
from sets import DEVELOPMENT, QUICK, ROWS, SETS, parts, split_settings
from summary import chosen_table, commits, costs, differences, figures, given_up
from systems import CATBOOST, FOREST, NAMES, SYSTEMS, TUNED, installed, measured, settings_of

#: The systems that the others are compared with.
REFERENCES = (TUNED, FOREST, CATBOOST, "AutoGluon")
ARGUMENTS = (
    DATA,
    Argument("--sets", type=names_among(SETS), help="names with commas between; all without it"),
    Argument("--splits", type=at_least(1), default=5, help="splits of every set"),
    NAMES,
    ROWS,
    MINUTES,
    LIMIT,
)


def measure(args: Namespace) -> list[Row]:
    """Every system on every split; each piece is kept, and a second run goes on."""
    names = at_hand(args.sets or (QUICK if args.quick else SETS), args.data)
    systems = installed(args.systems)
    splits, sizes = (2, [300]) if args.quick else (args.splits, args.rows)
    tasks = [
        Task(
            f"{rows} rows {name} split {seed} {system}",
            partial(solve, name, system, rows, seed, args.data, args.limit),
            {
                "set": name,
                "rows": rows,
                "seed": seed,
                "split": split_settings(name, rows),
                **settings_of(system),
            },
        )
        for seed in range(args.seed, args.seed + splits)
        for rows in sizes
        for name in names
        for system in systems
    ]
    rows = collected(tasks, args.out / "cache", args.minutes)
    rows = with_earlier(rows, args.out / "tables.json", "rows", "set", "seed", "system")
    return sorted(rows, key=place_of)


def place_of(row: Row) -> tuple[int, ...]:
    """Return the sort key of a row in the file."""
    system = list(SYSTEMS).index(row["system"])
    return row["rows"], SETS.index(row["set"]), row["seed"], system


def solve(
    name: str, system: str, rows: int, seed: int, folder: Path, limit: int | None = None
) -> Row:
    """One system on one split, tuned by average precision."""
    part = parts(name, folder, rows, seed)
    head = {"set": name, "system": system, "rows": rows, "seed": seed, "commit": commit()}
    return head | measured(system, part, seed, partial(measures, part.y_test), limit)


def report(rows: list[Row], args: Namespace) -> None:
    """Write tables.md."""
    rows = [*rows, *(row for row in automl_rows(args) if row["set"] in SETS)]
    pieces = ["# HeadRanker and its rivals on tables", LEGEND, commits(rows)]
    for size in sorted({row["rows"] for row in rows}):
        every = [row for row in rows if row["rows"] == size]
        own = [row for row in every if "given_up" not in row]
        judged = [row for row in own if row["set"] not in DEVELOPMENT]
        pieces.append(f"## Up to {size} training rows")
        for other in [name for name in REFERENCES if any(row["system"] == name for row in own)]:
            pieces += [f"### Against {other}", "Judged sets:", differences(judged, other)]
            pieces += ["All sets:", differences(own, other)]
        pieces += ["### CPU seconds, one thread", costs(own)]
        pieces += ["### Average precision", FEWER_SPLITS, figures(own, "ap")]
        pieces += [given_up(every), chosen_table(own, "###")]
    write_page(args.out / "tables.md", *pieces)
