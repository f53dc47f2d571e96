"""Where commands write: refused before any work if something would be lost."""

from __future__ import annotations

import os
import sys

import click

from ..atomic import check_target
from .telling import CONFIG, Refusal

#: Names of tables and arrays, which no model may have.
_TABLES = (".csv", ".tsv", ".parquet", ".feather", ".xlsx", ".json", ".npz", ".npy", ".svmlight")
_PACKINGS = (".gz", ".zst")

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
    return not os.path.isdir(path) or os.path.isfile(os.path.join(path, "meta.json"))


def check_model_name(path: str, *, onnx: bool = False) -> None:
    """Refuse names of tables for a model, and those of the other kind of model file."""
    name = path.lower()
    for packing in _PACKINGS:
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


__all__ = ["check_model", "check_model_name", "check_output", "confirm", "force_option"]
