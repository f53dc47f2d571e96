"""Experiments of the RectPush paper, made again: python papers/rectpush/run.py COMMAND.

A command is a module with `add_arguments(parser)` and `run(args)`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import study
import synthetic

COMMANDS = {"synthetic": synthetic, "study": study}


def main(given: Sequence[str] | None = None) -> None:
    """Run the command that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        command = commands.add_parser(name, description=module.__doc__)
        command.add_argument("--quick", action="store_true", help="a small form, in seconds")
        command.add_argument("--seed", type=int, default=0, help="of all random draws")
        command.add_argument(
            "--out",
            type=Path,
            default=Path(__file__).parent / "results",
            help="folder for the results; papers/rectpush/results without it",
        )
        module.add_arguments(command)
    args = parser.parse_args(given)
    args.out.mkdir(parents=True, exist_ok=True)
    COMMANDS[args.command].run(args)


if __name__ == "__main__":
    main()
