"""All systems on the Fraud Detection Handbook's weeks: AUC, AP, CP@100, CPU seconds."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path

from common.data import DATA, at_hand
from common.pages import digits, table, write_page
from common.rows import Row, chosen, mean, values_of
from common.tasks import Task
from measures import daily_measures
from pieces import LIMIT, MINUTES, automl_rows, collected, commit, with_earlier
from remarks import HANDBOOK_LEGEND
from sets import DELAY, DEVELOPMENT_DAY, FIRST_DAYS, HANDBOOK, TEST, TRAIN, week
from summary import chosen_table, commits, given_up
from systems import NAMES, SYSTEMS, installed, measured, settings_of

ARGUMENTS = (DATA, NAMES, MINUTES, LIMIT)
COLUMNS = {"auc": "AUC", "ap": "AP", "cp100": "CP@100"}


def measure(args: Namespace) -> list[Row]:
    """Every system on every start day; each piece is kept, and a second run goes on."""
    at_hand([HANDBOOK], args.data)
    systems = installed(args.systems)
    every = 20 if args.quick else 1
    tasks = [
        Task(
            f"handbook day {first} {system}",
            partial(solve, first, system, args.seed, args.data, every, args.limit),
            {
                "handbook": (TRAIN, DELAY, TEST),
                "first": first,
                "every": every,
                "seed": args.seed,
                **settings_of(system),
            },
        )
        for first in (FIRST_DAYS[:2] if args.quick else FIRST_DAYS)
        for system in systems
    ]
    rows = collected(tasks, args.out / "cache", args.minutes)
    rows = with_earlier(rows, args.out / "handbook.json", "first", "system", "seed")
    return sorted(rows, key=lambda row: (row["first"], list(SYSTEMS).index(row["system"])))


def solve(
    first: int, system: str, seed: int, folder: Path, every: int = 1, limit: int | None = None
) -> Row:
    """One system on one start day."""
    split = week(folder, first, every)
    head = {"set": HANDBOOK, "system": system, "first": first, "seed": seed, "commit": commit()}

    def daily(scores: object) -> Row:
        return daily_measures(split.parts.y_test, scores, split.day, split.customer)

    return head | measured(system, split.parts, seed, daily, limit)


def report(rows: list[Row], args: Namespace) -> None:
    """Write handbook.md."""
    automl = [row for row in automl_rows(args) if row["set"] == HANDBOOK]
    every = [*rows, *automl]
    own = [row for row in every if "given_up" not in row]
    common = values_of(automl, "first")
    judged = [row for row in rows if row in own and row["first"] != DEVELOPMENT_DAY]
    pieces = ["# HeadRanker and its rivals on the Fraud Detection Handbook's weeks"]
    pieces += [HANDBOOK_LEGEND, commits(every)]
    pieces += ["## Judged weeks", means(judged)]
    if automl:
        days = " and ".join(map(str, common))
        pieces += [f"## Weeks with AutoML: first days {days}"]
        pieces += [means([row for row in own if row["first"] in common])]
    for key, label in COLUMNS.items():
        pieces += [f"## {label}, week by week", weeks(own, key)]
    pieces += [given_up(every), chosen_table(own, "##")]
    write_page(args.out / "handbook.md", *pieces)


def means(rows: list[Row]) -> str:
    """Means over the weeks that a system has, and the number of them."""
    lines = [
        [
            system,
            str(len(chosen(rows, system=system))),
            *(digits(mean(rows, key, system=system), 3) for key in COLUMNS),
            f"{mean(rows, 'seconds', system=system):.1f}",
        ]
        for system in values_of(rows, "system")
    ]
    return table(["", "weeks", *COLUMNS.values(), "CPU s"], lines)


def weeks(rows: list[Row], key: str) -> str:
    """A measure of every system on every week."""
    days = sorted(values_of(rows, "first"))
    lines = [
        [system, *(digits(mean(rows, key, system=system, first=day), 3) for day in days)]
        for system in values_of(rows, "system")
    ]
    return table(["first day", *map(str, days)], lines)
