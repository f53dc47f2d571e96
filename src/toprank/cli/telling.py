"""What the program says: results on standard output, all else on standard error."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import click

from ..printable import printable, printable_json

#: Packages that commands need, and the extra that has them.
_EXTRAS = {"pandas": "cli", "pyarrow": "cli", "rich": "cli", "matplotlib": "plot", "onnx": "onnx"}
#: Where a command's context says that only results and errors are wanted.
QUIET = "toprank.quiet"
#: And which file its options come from.
CONFIG = "toprank.config"

P = ParamSpec("P")
R = TypeVar("R")


class Refusal(click.ClickException):
    """Input that cannot be worked on, in one sentence."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the sentence."""
        click.echo(f"toprank: {printable(self.format_message())}", err=True)


class Strict(Refusal):
    """A warning that --strict makes an error."""

    exit_code = 3


class Stopped(Refusal):
    """Ctrl-C, with the exit code that shells give to it."""

    exit_code = 130


def speaking(command: Callable[P, R]) -> Callable[P, R]:
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
                raise Stopped("stopped.") from error
            except OSError as error:
                if isinstance(error, BrokenPipeError):
                    raise
                where = f"{error.filename}: " if error.filename else ""
                raise Refusal(f"{where}{error.strerror or error}.") from error
            except ImportError as error:
                extra = _EXTRAS.get(str(error.name).partition(".")[0])
                if extra is None:
                    raise
                what = f"this needs {error.name}; install toprank[{extra}]."
                raise Refusal(what) from error
            except ValueError as error:
                raise Refusal(" ".join(str(error).split())) from error

    return spoken


def _note(message: Any, *_: Any, **__: Any) -> None:
    say(f"note: {' '.join(str(message).split())}")


def _quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def say(text: str, *, always: bool = False) -> None:
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


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show that work goes on, and how far it is, on a terminal; elsewhere nothing."""
    if _quiet() or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(printable(what))) as status:
        yield lambda more: status.update(Text(printable(f"{what}: {more}")))


__all__ = [
    "CONFIG",
    "QUIET",
    "Refusal",
    "Strict",
    "command_of",
    "print_json",
    "print_table",
    "say",
    "speaking",
    "working",
]
