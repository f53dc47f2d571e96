"""Checks of options and paths that need no package: a mistake is answered at once."""

from __future__ import annotations

import csv
import difflib
import errno
import os
from collections.abc import Iterable
from math import nan
from typing import Any

import click

from ..files.tables import Table
from ..inputs.model_names import HEADS, check_name
from .targets import check_model, check_report, is_converted
from .telling import Refusal

#: How a zip begins, which a model file is.
_ZIP = b"PK\x03\x04"


def check_fit(options: dict[str, Any]) -> None:
    """Refuse options of `fit`, and split those that hold several names."""
    check_model(options["output"], options["data"], force=options["force"])
    _check_ranker(**options)
    if not is_converted(options["data"]):
        _check_learning(check_table(options["data"], options["format"]), **options)
    options |= _split_names(options, "ignored", "categories")


def check_convert(options: dict[str, Any]) -> None:
    """Refuse options of `convert`, and split those that hold several names."""
    check_table(options["data"], options["format"])
    options |= _split_names(options, "ignore", "category")


def check_compare(options: dict[str, Any]) -> None:
    """Refuse options of `compare`, and split those that hold several names."""
    data, new = options["data"], options["new"]
    check_report(options["report"], options["markdown"], data, new)
    options |= _split_names(options, "ignore", "categories", "models")
    for name in options["models"]:
        check_name(name)
    _check_learning(check_table(data, options["format"]), **options)
    if new is not None:
        check_table(new, None)


def check_table(path: str, format: str | None) -> Table:
    """Return the table of a file that is there, and whose format is known."""
    table = Table(path, format)
    if path != "-" and not os.path.isdir(path):
        _check_readable(path)
    return table


def check_model_file(path: str) -> None:
    """Refuse a file that is not there, or that is no model file at the first glance."""
    _check_readable(path)
    with open(path, "rb") as file:
        if file.read(len(_ZIP)) != _ZIP:
            raise Refusal(f"{path} cannot be read: it is no model file of toprank.")


def _check_readable(path: str) -> None:
    os.stat(path)
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def _check_learning(
    table: Table, *, label: str | None, time: str | None, group: str | None, **_: Any
) -> None:
    """Refuse options of `fit` and `compare` that cannot be met by any such table."""
    if label is None and not table.sparse:
        raise Refusal("--label COLUMN is missing: the column that says yes or no.")
    if time is not None and group is not None:
        raise Refusal("--time and --group make folds of different kinds: pass one of them.")


def _check_ranker(
    *,
    model: str,
    alpha: float | None,
    folds: int | None,
    budget: float | None,
    no_trees: bool = False,
    effort: str | None = None,
    **_: Any,
) -> None:
    """Refuse an unknown model, and options that it does not go with."""
    check_name(model)
    head = model.lower() == "head"
    races = model.lower() in HEADS and "candidates" not in HEADS[model.lower()].options
    if model.lower() in HEADS and alpha is not None:
        raise Refusal(f"--alpha is for one linear model; {model} chooses its settings itself.")
    if not races and budget is not None:
        raise Refusal("--budget is for --model head, which tries several models.")
    if not head and effort is not None:
        raise Refusal(f"--effort is for --model head, and the model is {model}.")
    if not races and no_trees:
        raise Refusal(f"--no-trees leaves trees out of --model head, and the model is {model}.")
    if alpha is not None and folds is not None:
        raise Refusal("--alpha sets what --cv chooses: pass one of them.")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that asks for the nearest known name, if one is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; is it {near[0]!r}?" if near else "."


def capacity_of(text: str | None) -> int | float | None:
    """How many rows can be looked at: "200", "2%" or "0.02"."""
    if text is None:
        return None
    try:
        number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        number = nan
    if not text.endswith("%") and 1 <= number < 2**63 and number == int(number):
        return int(number)
    if 0 < number < 1:
        return number
    raise Refusal(
        f"K is a number of rows such as 200, or a share such as 2% or 0.02, not {text!r}."
    )


def check_capacity(_: click.Context, __: click.Parameter, value: Any) -> Any:
    """Refuse a K, or several, that is none; a callback of options."""
    for text in (value,) if isinstance(value, str) else value or ():
        capacity_of(text)
    return value


def _split_names(options: dict[str, Any], *several: str) -> dict[str, tuple[str, ...]]:
    """Return options that hold names, which may be repeated or separated by commas.

    A name that has a comma is written in double quotes.
    """
    return {
        option: tuple(
            name for text in options[option] for name in next(csv.reader([text]), []) if name
        )
        for option in several
    }


__all__ = [
    "capacity_of",
    "check_capacity",
    "check_compare",
    "check_convert",
    "check_fit",
    "check_model_file",
    "check_table",
    "nearest",
]
