"""Table 2: eight systems on the sets at hand, their figures, who beats whom, seconds."""

from __future__ import annotations

from argparse import Namespace
from functools import partial

from common.data import DATA, at_hand
from common.pages import write_page
from common.rows import Row, chosen
from common.study import Argument, at_least, names_among
from common.tasks import Task, results_of
from sets import QUICK, SOURCES, file_of
from systems import SYSTEMS, plan
from tables import pieces
from trial import Cell, settled, solve, time_fit

ARGUMENTS = (
    DATA,
    Argument("--sets", type=names_among(SOURCES), help="names with commas between; all without it"),
    Argument(
        "--trials",
        type=at_least(1),
        help="so many for every system on every set, all lambdas, all rows; 30 are the paper's, "
        "and take days",
    ),
    Argument("--jobs", type=at_least(1), default=1, help="trials at a time"),
)


def measure(args: Namespace) -> list[Row]:
    """Every trial, then a fit on all rows with what most trials chose; each piece is kept."""
    kept = args.out / "cache"
    cells = cells_of(args)
    trials = [
        Task(
            f"{cell.name} {cell.system} trial {trial}",
            partial(solve, cell, trial, args.data),
            cell.matters(args.data) | {"trial": trial},
        )
        for trial in range(max(cell.plan.trials for cell in cells))
        for cell in cells
        if trial < cell.plan.trials
    ]
    rows = results_of(trials, kept, args.jobs)
    times = []
    for cell in (one for one in cells if one.plan.trials):
        alpha, ratio = settled(chosen(rows, set=cell.name, system=cell.system))
        what = {"time": True, "alpha": alpha, "ratio": ratio}
        work = partial(time_fit, cell, alpha, ratio, args.data)
        label = f"{cell.name} {cell.system} time"
        times.append(Task(label, work, cell.matters(args.data) | what))
    return rows + results_of(times, kept)  # one at a time: they are timed


def cells_of(args: Namespace) -> list[Cell]:
    """Every system on every set that is there."""
    wanted = args.sets or (QUICK if args.quick else SOURCES)
    return [
        Cell(name, system, plan(system, name, args.trials, args.quick), args.seed)
        for name in at_hand(wanted, args.data, file_of)
        for system in SYSTEMS
    ]


def report(rows: list[Row], args: Namespace) -> None:
    """Write table2.md."""
    write_page(args.out / "table2.md", *pieces(rows, quick=args.quick))
