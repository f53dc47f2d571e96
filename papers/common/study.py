"""The command line of a study: python papers/STUDY/run.py COMMAND."""

from __future__ import annotations

import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from common.rows import Row, read_rows, write_rows


class Missing(SystemExit):
    """Raised where a command lacks what it needs. `all` skips such commands."""


class Argument:
    """An argument that some commands have besides the usual ones, as argparse takes it."""

    def __init__(self, flag: str, **settings: Any) -> None:
        self.flag, self.settings = flag, settings


class Command(Protocol):
    """An experiment, usually a module; it may list further `ARGUMENTS`."""

    def measure(self, args: Namespace) -> Sequence[Row]:
        """What takes the time: rows of figures."""

    def report(self, rows: list[Row], args: Namespace) -> None:
        """Pages and pictures in `args.out`, from the rows alone."""


@dataclass(frozen=True)
class Study:
    """A paper's experiments by name, and the folder that they are in.

    Each command has --quick, --seed, --report and --out, and those that its `ARGUMENTS` list. Its
    rows are kept in `results/COMMAND.json` (or .csv, as `kind` says), so that --report can write
    the pages again without measuring.
    """

    paper: str
    folder: Path
    commands: Mapping[str, Command]
    quick: str  #: what --quick does
    kind: str = "json"

    def main(self, given: Sequence[str] | None = None) -> None:
        """Run the command that the arguments name, or all of them that have what they need."""
        args = self._arguments(given)
        args.out.mkdir(parents=True, exist_ok=True)
        names = list(self.commands) if args.command == "all" else [args.command]
        skipped = 0
        for name in names:
            try:
                self._run(name, args)
            except Missing as error:
                skipped += 1
                if skipped == len(names):
                    raise
                print(f"{name}: skipped. {error}")

    def _run(self, name: str, args: Namespace) -> None:
        figures = args.out / f"{name}.{self.kind}"
        if args.report and not figures.exists():
            raise Missing(f"There is no {figures} to report: run {name} without --report first.")
        if not args.report:
            began = time.process_time()
            write_rows(figures, self.commands[name].measure(args))
            print(f"{name}: {(time.process_time() - began) / 60:.1f} minutes of CPU")
        self.commands[name].report(read_rows(figures), args)
        print(f"Wrote {name} to {args.out}")

    def _arguments(self, given: Sequence[str] | None) -> Namespace:
        parser = ArgumentParser(description=f"Experiments of the {self.paper} paper, made again.")
        parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
        for name, command in self.commands.items():
            own = parsers.add_parser(name, description=command.__doc__, help=command.__doc__)
            self._add(own, [command])
        every = parsers.add_parser("all", description="All commands.", help="All of them.")
        self._add(every, self.commands.values())
        args = parser.parse_args(given)
        args.out = args.out or self.folder / ("results-quick" if args.quick else "results")
        return args

    def _add(self, parser: ArgumentParser, commands: Collection[Command]) -> None:
        parser.add_argument("--quick", action="store_true", help=self.quick)
        parser.add_argument("--seed", type=int, default=0, help="of all random draws")
        parser.add_argument(
            "--report", action="store_true", help="write the pages again from the figures there are"
        )
        parser.add_argument(
            "--out", type=Path, help="folder for the results; `results` beside run.py without it"
        )
        # Two commands may list the same argument.
        further = {a: None for command in commands for a in getattr(command, "ARGUMENTS", ())}
        for argument in further:
            parser.add_argument(argument.flag, **argument.settings)


def names_among(known: Collection[str]) -> Callable[[str], list[str]]:
    """The type of an argument that holds some of these names, with commas between."""

    def names(text: str) -> list[str]:
        for name in text.split(","):
            if name not in known:
                raise ArgumentTypeError(f"no set {name!r}; there are {', '.join(known)}")
        return text.split(",")

    return names


def at_least(least: int, kind: Callable[[str], Any] = int) -> Callable[[str], Any]:
    """The type of an argument that is a finite number, whole if `kind` is int, of at least this."""

    def number(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value < float("inf"):
            what = "a whole number" if kind is int else "a number"
            raise ArgumentTypeError(f"{text!r} is not {what} of at least {least}")
        return value

    return number
