"""Output of the commands: results on standard output, all else on standard error."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import click

from ..inputs.printable import printable, printable_json

#: Packages that commands need, and the extra that has them.
_EXTRAS = {"pandas": "cli", "pyarrow": "cli", "rich": "cli", "matplotlib": "plot", "onnx": "onnx"}
#: Where a command's context says that only results and errors are wanted.
QUIET = "toprank.quiet"
#: And which file its options come from.
CONFIG = "toprank.config"
P = ParamSpec("P")
R = TypeVar("R")


class UsageError(click.ClickException):
    """Input that cannot be worked on, in one sentence."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the sentence."""
        click.echo(f"toprank: {printable(self.format_message())}", err=True)


class StrictError(UsageError):
    """A warning that --strict makes an error."""

    exit_code = 3


class Interrupted(UsageError):
    """Ctrl-C, with the exit code that shells give to it."""

    exit_code = 130


def report_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command say what is amiss in a sentence: errors end it with 2, Ctrl-C with 130."""

    @functools.wraps(command)
    def spoken(*args: P.args, **kwargs: P.kwargs) -> R:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            for category in (DeprecationWarning, FutureWarning):  # for who writes code
                warnings.simplefilter("ignore", category)
            warnings.showwarning = _note
            try:
                return command(*args, **kwargs)
            except KeyboardInterrupt as error:
                raise Interrupted("stopped.") from error
            except OSError as error:
                if isinstance(error, BrokenPipeError):
                    raise
                where = f"{error.filename}: " if error.filename else ""
                raise UsageError(f"{where}{error.strerror or error}.") from error
            except ImportError as error:
                extra = _EXTRAS.get(str(error.name).partition(".")[0])
                if extra is None:
                    raise
                what = f"this needs {error.name}; install toprank[{extra}]."
                raise UsageError(what) from error
            except ValueError as error:
                raise UsageError(" ".join(str(error).split())) from error

    return spoken


def _note(message: Any, *_: Any, **__: Any) -> None:
    print_line(f"note: {' '.join(str(message).split())}")


def _quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def print_line(text: str, *, always: bool = False) -> None:
    """Print a line to standard error; with --quiet only if it must `always` be seen."""
    if always or not _quiet():
        click.echo(printable(text, keep="\n"), err=True)


def command_of(context: click.Context) -> str:
    """The command that is running, as it would be typed again."""
    said = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.DEFAULT_MAP)
    words = ["toprank", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        # What --config says is written out; such options as --quiet change nothing.
        if name not in context.params or context.get_parameter_source(name) not in said:
            continue
        value = context.params[name]
        values = value if isinstance(value, tuple) else (value,)
        if isinstance(parameter, click.Argument):
            words += [str(one) for one in values]
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[-1])
        else:
            words += [word for one in values for word in (parameter.opts[-1], str(one))]
    return shlex.join(words)


def print_json(value: Any) -> None:
    """The result, for programs."""
    click.echo(printable_json(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)))


def print_table(columns: list[str], rows: list[list[str]], numbers: tuple[int, ...] = ()) -> None:
    """The result, for people; only line breaks of a cell are kept."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=any(columns))
    for k, name in enumerate(columns):
        justify: Any = "right" if k in numbers else "left"
        table.add_column(Text(printable(name)), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell, keep="\n")) for cell in row))
    if sys.stdout.isatty():
        Console(file=sys.stdout).print(table)
        return
    text = io.StringIO()
    Console(file=text, width=200).print(table)
    for line in text.getvalue().splitlines():  # without the blanks that fill a cell
        click.echo(line.rstrip())


class ProgressLine:
    """The line that shows how far a command is; `rich` draws it again several times a second."""

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._clock = what, clock
        self._more, self._done, self._total = "", 0, 0
        self._began = self._ended = clock()

    def __call__(self, more: str) -> None:
        """Show how far it is, in words."""
        self._more = f": {more}"

    def step(self, name: str, done: int, total: int) -> None:
        """Show which of `total` candidates runs, after `done` of them; "" where one has ended."""
        if done > self._done:
            self._ended = self._clock()
        self._done, self._total = done, total
        if name:
            self(f"{name} ({done + 1} of {max(total, done + 1)})")
        elif done >= total:
            self("the best, on all rows")

    def __str__(self) -> str:
        now, left = self._clock(), 0.0
        if self._done:  # the candidates that are left take as long as those before, on average
            each = (self._ended - self._began) / self._done
            left = each * (self._total - self._done) - (now - self._ended)
        times = [(", {}", now - self._began), (", about {} left", left)]
        shown = [text.format(_duration(seconds)) for text, seconds in times if seconds >= 1]
        return "".join([self._what, self._more, *shown])

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(printable(str(self)))


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


@contextlib.contextmanager
def progress_line(what: str) -> Iterator[ProgressLine]:
    """Show that work goes on, and how far it is, on a terminal; elsewhere nothing."""
    line = ProgressLine(what)
    if _quiet() or not sys.stderr.isatty():
        yield line
        return
    from rich.console import Console

    with Console(stderr=True).status(line):
        yield line


__all__ = [
    "CONFIG",
    "QUIET",
    "ProgressLine",
    "StrictError",
    "UsageError",
    "command_of",
    "print_json",
    "print_line",
    "print_table",
    "progress_line",
    "report_errors",
]
