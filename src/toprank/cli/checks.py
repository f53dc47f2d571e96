"""Checks of options and paths that need no other package: mistakes are reported at once."""

from __future__ import annotations

import csv
import difflib
import errno
import os
import sys
from collections.abc import Iterable
from math import nan
from typing import Any

import click

from .._atomic import check_target
from ..files.tables import FORMATS, PACKED, Table
from ..inputs.model_names import HEADS, check_name
from .output import CONFIG, UsageError

#: How a zip begins, which a model file is.
_ZIP = b"PK\x03\x04"
#: Names of tables, arrays and reports, which no model may have.
_TABLES = (*FORMATS, ".xlsx", ".xls", ".json", ".jsonl", ".npy", ".html", ".htm", ".md")
#: How names of lists end.
LISTS = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
#: The same in a sentence.
LIST_NAMES = ".csv, .tsv or .jsonl (.gz, .zst), .parquet or .xlsx"


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
            raise UsageError(f"{path} cannot be read: it is no model file of toprank.")


def _check_readable(path: str) -> None:
    os.stat(path)
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def _check_learning(
    table: Table, *, label: str | None, time: str | None, group: str | None, **_: Any
) -> None:
    """Refuse options of `fit` and `compare` that cannot be met by any such table."""
    if label is None and not table.sparse:
        raise UsageError("--label COLUMN is missing: the column that says yes or no.")
    if time is not None and group is not None:
        raise UsageError("--time and --group make folds of different kinds: pass one of them.")


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
        raise UsageError(f"--alpha is for one linear model; {model} chooses its settings itself.")
    if not races and budget is not None:
        raise UsageError("--budget is for --model head, which tries several models.")
    if not head and effort is not None:
        raise UsageError(f"--effort is for --model head, and the model is {model}.")
    if not races and no_trees:
        raise UsageError(f"--no-trees leaves trees out of --model head, and the model is {model}.")
    if alpha is not None and folds is not None:
        raise UsageError("--alpha sets what --cv chooses: pass one of them.")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that asks for the nearest known name, if one is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; is it {near[0]!r}?" if near else "."


def capacity_of(text: str | None) -> int | float | None:
    """Return the number or share of rows that "200", "2%" or "0.02" stands for."""
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
    raise UsageError(
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


force_option = click.option(
    "--force", is_flag=True, help="Replace files that exist without a question."
)


def check_output(path: str | None, *inputs: str | None) -> None:
    """Refuse an output that cannot be written, or that is one of the inputs."""
    if path is None:
        return
    context = click.get_current_context(silent=True)
    config = None if context is None else context.meta.get(CONFIG)
    check_target(path, [one for one in (*inputs, config) if one is not None and _is_read(one)])


def _is_read(path: str) -> bool:
    """Return whether a path is a file, standard input or a converted table; no other folder is."""
    return not os.path.isdir(path) or is_converted(path)


def is_converted(path: str) -> bool:
    """Return whether a path is a folder that `toprank convert` made, by its first glance."""
    return os.path.isfile(os.path.join(path, "meta.json"))


def check_list(path: str | None, *inputs: str) -> None:
    """Refuse a list that cannot be written, or that is one of the inputs."""
    check_list_name(path)
    check_output(path, *inputs)


def check_list_name(path: str | None) -> str:
    """Return the ending of a list, without that of its packing."""
    packing = next((end for end in PACKED if (path or "").endswith(end)), "")
    plain = (path or ".csv").removesuffix(packing)
    ending = next((end for end in LISTS if plain.endswith(end)), "")
    if not ending or (packing and ending in (".parquet", ".xlsx")):
        raise UsageError(f"{path}: lists are written as {LIST_NAMES}.")
    return ending


def check_report(report: str | None, markdown: str | None, *inputs: str | None) -> None:
    """Refuse a report that cannot be written, or that is one of the inputs."""
    for option, path, endings in (
        ("--report", report, (".html", ".htm", ".json")),
        ("--markdown", markdown, (".md",)),
    ):
        if path is not None and not path.lower().endswith(endings):
            raise UsageError(f"{option} {path}: the name must end in {' or '.join(endings)}.")
    for path in report_paths(report, markdown):
        check_output(path, *inputs)


def report_paths(report: str | None, markdown: str | None) -> list[str]:
    """Return what is written: the JSON first, then the page, then Markdown."""
    paths = []
    if report is not None:
        stem, ending = os.path.splitext(report)
        paths += [f"{stem}.json", *([] if ending.lower() == ".json" else [report])]
    return [*paths, *([] if markdown is None else [markdown])]


def check_model_name(path: str, *, onnx: bool = False) -> None:
    """Refuse names of tables for a model, and those of the other kind of model file."""
    name = path.lower()
    for packing in PACKED:
        name = name.removesuffix(packing)
    other = ".toprank" if onnx else ".onnx"
    ending = os.path.splitext(name)[1]
    if ending in _TABLES or ending == other:
        what = "ONNX files" if onnx else "model files"
        wanted = ".onnx" if onnx else ".toprank"
        raise UsageError(f"{path}: {what} end in {wanted}, not in {ending}: name another file.")


def check_model(path: str, *inputs: str | None, force: bool, onnx: bool = False) -> None:
    """Refuse a model file that cannot be written, and ask before one is replaced."""
    check_model_name(path, onnx=onnx)
    check_output(path, *inputs)
    if os.path.exists(path):
        confirm(f"{path} exists", force=force)


def confirm(what: str, *, force: bool) -> None:
    """Go on if files may be replaced: by --force, or by an answer on a terminal."""
    if force:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{what}: name another, or pass --force to replace it.")
    if not click.confirm(f"{what}. Replace it?", err=True):
        raise UsageError(f"{what}, and nothing was done.")


__all__ = [
    "LIST_NAMES",
    "capacity_of",
    "check_capacity",
    "check_compare",
    "check_convert",
    "check_fit",
    "check_list",
    "check_list_name",
    "check_model",
    "check_model_file",
    "check_model_name",
    "check_output",
    "check_report",
    "check_table",
    "confirm",
    "force_option",
    "is_converted",
    "nearest",
    "report_paths",
]
