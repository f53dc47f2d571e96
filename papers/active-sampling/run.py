"""Experiments of the active sampling paper: python papers/active-sampling/run.py COMMAND.

A command is a module with `measure(args)`, which gives rows of figures, and `report(rows, args)`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import compare
import curves
import findings
import gammas
from contenders import sets_at_hand
from pages import read_csv, write_csv
from sets import QUICK, SOURCES

COMMANDS = {"compare": compare, "curves": curves, "gamma": gammas, "findings": findings}
HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data"


def main(given: Sequence[str] | None = None) -> None:
    """Run the command that the arguments name."""
    args = _arguments(given)
    args.out.mkdir(parents=True, exist_ok=True)
    for name in COMMANDS if args.command == "all" else [args.command]:
        figures = args.out / f"{name}.csv"
        if args.report and not figures.exists():
            raise SystemExit(f"There is no {figures} to report: run {name} without --report first.")
        if not args.report:
            began = time.process_time()
            rows = COMMANDS[name].measure(args)
            write_csv(figures, rows)
            print(f"{name}: {(time.process_time() - began) / 60:.1f} minutes of CPU")
        COMMANDS[name].report(read_csv(figures), args)
        print(f"Wrote {name} to {args.out}")


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in (*COMMANDS, "all"):
        about = "All of them." if name == "all" else COMMANDS[name].__doc__
        command = commands.add_parser(name, description=about)
        command.add_argument("--data", type=Path, default=DATA, help="folder of the data sets")
        command.add_argument("--sets", type=_sets, help="names with commas between; all without it")
        command.add_argument("--pools", type=int, help="initial pools, at the most")
        command.add_argument("--seed", type=int, default=0, help="of all random draws")
        command.add_argument("--quick", action="store_true", help="two sets, two pools, one fold")
        command.add_argument(
            "--report", action="store_true", help="write the pages again from the figures there are"
        )
        command.add_argument("--out", type=Path, help="folder for the results")
    args = parser.parse_args(given)
    args.out = args.out or HERE / ("results-quick" if args.quick else "results")
    args.folds = 1 if args.quick else None
    args.pools = args.pools or (2 if args.quick else None)
    if not args.report:
        args.sets = sets_at_hand(args.data, args.sets or (QUICK if args.quick else tuple(SOURCES)))
    return args


def _sets(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SOURCES:
            raise argparse.ArgumentTypeError(f"no set {name!r}; there are {', '.join(SOURCES)}")
    return names


if __name__ == "__main__":
    main()
