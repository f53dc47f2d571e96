"""Experiments of the soft margin paper: python papers/soft-margin/run.py COMMAND.

A command is a module with `measure(args)`, which gives rows of figures, and `report(rows, args)`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import artificial
import reuters
import times
import uci
from two_aucs import FOLDS

COMMANDS = {"artificial": artificial, "uci": uci, "reuters": reuters, "times": times}
HERE = Path(__file__).resolve().parent


def main(given: Sequence[str] | None = None) -> None:
    """Run the command that the arguments name."""
    args = _arguments(given)
    args.out.mkdir(parents=True, exist_ok=True)
    for name in COMMANDS if args.command == "all" else [args.command]:
        figures = args.out / f"{name}.json"
        if args.report and not figures.exists():
            raise SystemExit(f"There is no {figures} to report: run {name} without --report first.")
        if not args.report:
            began = time.process_time()
            rows = COMMANDS[name].measure(args)
            lines = ",\n".join(json.dumps(row) for row in rows)
            figures.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
            print(f"{name}: {(time.process_time() - began) / 60:.1f} minutes of CPU")
        COMMANDS[name].report(json.loads(figures.read_text(encoding="utf-8")), args)
        print(f"Wrote {name} to {args.out}")


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=[*COMMANDS, "all"])
    parser.add_argument(
        "--data", type=Path, default=HERE.parents[2] / "shared" / "data", help="folder of data sets"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all random draws")
    parser.add_argument("--quick", action="store_true", help="one fold, few rounds: to see it run")
    parser.add_argument("--report", action="store_true", help="write the pages again")
    parser.add_argument("--out", type=Path, help="folder for the results")
    args = parser.parse_args(given)
    args.out = args.out or HERE / ("results-quick" if args.quick else "results")
    args.folds = 1 if args.quick else FOLDS
    return args


if __name__ == "__main__":
    main()
