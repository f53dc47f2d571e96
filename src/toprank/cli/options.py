"""Options that commands share, and options that come from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import click

from .checks import check_capacity, nearest
from .output import CONFIG, QUIET, UsageError

_FORMATS = click.Choice(["csv", "tsv", "parquet", "feather", "svmlight", "npz"])
format_option = click.option(
    "--format", type=_FORMATS, help="Format of DATA, if its name does not say; CSV for -."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
positive_option = click.option(
    "--positive",
    metavar="LABEL",
    help="The label to rank first. [1 of 0/1 and -1/1, true; else the rarer one, if it is less "
    "than half as frequent as the other; else it must be given]",
)
capacity_option = click.option(
    "--capacity",
    metavar="K",
    callback=check_capacity,
    help="Rows that can be looked at: 200, or 2%.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Exit code 3 if a column gives the label away."
)
id_option = click.option("--id", metavar="COLUMN", help="Column that names rows; not learnt from.")


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command has."""
    for option in (
        click.option(
            "--config",
            metavar="FILE",
            is_eager=True,
            expose_value=False,
            callback=_read_config,
            help="TOML with values of options; the command line wins.",
        ),
        click.option(
            "--quiet",
            "-q",
            is_flag=True,
            expose_value=False,
            callback=_be_quiet,
            help="Print the result and errors only.",
        ),
    ):
        command = option(command)
    return command


def _be_quiet(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[QUIET] = value


def _read_config(context: click.Context, _: click.Parameter, path: str | None) -> None:
    """Values of options: keys at the top are for every command, a table [fit] for one."""
    if path is None:
        return
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}.") from error
    context.meta[CONFIG] = path
    commands = _commands(context)
    values: dict[str, Any] = {}
    own = str(context.info_name)
    for key, value in found.items():
        if isinstance(value, dict):
            if key not in commands:
                _refuse(f"{path}: there is no command {key!r}", key, list(commands))
            names = _names(commands[key])
            for inner in value:
                if inner not in names:
                    _refuse(f"{path}: `toprank {key}` has no option {inner!r}", inner, list(names))
            continue
        if not any(key in _names(command) for command in commands.values()):
            every = {name for command in commands.values() for name in _names(command)}
            _refuse(f"{path}: no command has an option {key!r}", key, sorted(every))
        values[key] = value
    values |= found.get(own, {})
    names = _names(context.command)
    context.default_map = {
        names[key].name or key: _checked(value, names[key], key, path)
        for key, value in values.items()
        if key in names
    }


def _commands(context: click.Context) -> dict[str, click.Command]:
    group = context.find_root().command
    return dict(group.commands) if isinstance(group, click.Group) else {}


def _names(command: click.Command) -> dict[str, click.Parameter]:
    """The parameters of a command by what they are called: options without dashes, arguments."""
    found = {}
    for parameter in command.params:
        if parameter.name not in ("config", "help"):
            for name in parameter.opts:
                found[name.lstrip("-")] = parameter
    return found


def _refuse(what: str, key: str, known: list[str]) -> None:
    raise UsageError(f"{what}{nearest(key, known)}")


def _checked(value: Any, parameter: click.Parameter, key: str, path: str) -> Any:
    flag = getattr(parameter, "is_flag", False)
    if flag != isinstance(value, bool):
        wanted = "true or false" if flag else "no truth value"
        raise UsageError(f"{path}: {key!r} must be {wanted}, not {value!r}.")
    if getattr(parameter, "multiple", False):
        return tuple(value) if isinstance(value, list) else (value,)
    if isinstance(value, list):
        raise UsageError(f"{path}: {key!r} takes one value, not {value!r}.")
    return value


__all__ = [
    "capacity_option",
    "common",
    "format_option",
    "id_option",
    "json_option",
    "positive_option",
    "strict_option",
]
