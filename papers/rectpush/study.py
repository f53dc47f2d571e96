"""Section 6.3: logistic regression, TopPush, RectPush and its approximation on real data."""

from __future__ import annotations

from argparse import Namespace
from functools import partial

import study_split
from common.data import DATA, at_hand
from common.pages import write_page
from common.rows import Row, write_rows
from common.study import Argument, at_least, names_among
from common.tasks import Task, results_of
from study_data import QUICK, SOURCES
from study_report import pieces, rows_of_splits
from study_split import Split

ARGUMENTS = (
    DATA,
    Argument("--sets", type=names_among(SOURCES), help="names with commas between; all without it"),
    Argument("--splits", type=at_least(1), help="10, or 3 if quick"),
    Argument(
        "--all", action="store_true", help="all splits and methods of the large sets too: hours"
    ),
    Argument("--jobs", type=at_least(1), default=1, help="splits at a time"),
    Argument("--p", type=at_least(1, float), default=4.0, help="RectPushApp's p"),
)


def measure(args: Namespace) -> list[Row]:
    """Every split of every set; each is kept, so that a run goes on where the last one ended."""
    kept = args.out / "cache"
    tasks = [
        Task(
            f"{split.name} split {split.split}",
            partial(study_split.solve, split, args.data, kept),
            split.matters(args.data),
        )
        for split in plan(args)
    ]
    return results_of(tasks, kept, args.jobs)


def plan(args: Namespace) -> list[Split]:
    """The splits to do of the sets that are there: every set's first, then every set's second."""
    n_splits = args.splits or (3 if args.quick else 10)
    powers = tuple(range(15, -21, -3 if args.quick else -1))
    wanted = args.sets or (QUICK if args.quick else SOURCES)
    names = at_hand(wanted, args.data, lambda name: SOURCES[name].file)

    def most(cap: int) -> int:
        return n_splits if args.all else min(cap, n_splits)

    return [
        Split(name, split, powers, args.p, args.seed, early=split < most(SOURCES[name].early))
        for split in range(n_splits)
        for name in names
        if split < most(SOURCES[name].splits)
    ]


def report(rows: list[Row], args: Namespace) -> None:
    """Write study.md, and study.csv with every split."""
    write_page(args.out / "study.md", *pieces(rows, quick=args.quick))
    write_rows(args.out / "study.csv", rows_of_splits(rows))
