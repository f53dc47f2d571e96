"""Where commands write: refused before any work if something would be lost."""

from __future__ import annotations

import os
import sys

import click

from .._atomic import check_target
from ..files.tables import FORMATS, PACKED
from .telling import CONFIG, Refusal

#: Names of tables, arrays and reports, which no model may have.
_TABLES = (*FORMATS, ".xlsx", ".xls", ".json", ".jsonl", ".npy", ".html", ".htm", ".md")
#: How names of lists end.
LISTS = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
#: The same in a sentence.
LIST_NAMES = ".csv, .tsv or .jsonl (.gz, .zst), .parquet or .xlsx"

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
        raise Refusal(f"{path}: lists are written as {LIST_NAMES}.")
    return ending


def check_report(report: str | None, markdown: str | None, *inputs: str | None) -> None:
    """Refuse a report that cannot be written, or that is one of the inputs."""
    for option, path, endings in (
        ("--report", report, (".html", ".htm", ".json")),
        ("--markdown", markdown, (".md",)),
    ):
        if path is not None and not path.lower().endswith(endings):
            raise Refusal(f"{option} {path}: the name must end in {' or '.join(endings)}.")
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
        raise Refusal(f"{path}: {what} end in {wanted}, not in {ending}: name another file.")


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
        raise Refusal(f"{what}: name another, or pass --force to replace it.")
    if not click.confirm(f"{what}. Replace it?", err=True):
        raise Refusal(f"{what}, and nothing was done.")


__all__ = [
    "LIST_NAMES",
    "check_list",
    "check_list_name",
    "check_model",
    "check_model_name",
    "check_output",
    "check_report",
    "confirm",
    "force_option",
    "is_converted",
    "report_paths",
]
