"""Pieces of work within a time, and the code that their results depend on."""

from __future__ import annotations

import ast
import time
from functools import cache
from hashlib import sha256
from pathlib import Path

import toprank
from common.rows import Row
from common.study import Argument, at_least
from common.tasks import Task, results_of

#: What of toprank a result is made anew for; for a change of a solver, delete the kept results.
CODE = ("selection", "features")
MINUTES = Argument(
    "--minutes", type=at_least(0), help="begin no piece of work after so many; report what there is"
)


def collected(tasks: list[Task], kept: Path, minutes: float | None) -> list[Row]:
    """The results; those that time allows if it is limited, and all that are kept."""
    if minutes is None:
        return results_of(tasks, kept)
    began = time.monotonic()
    for task in tasks:
        if time.monotonic() - began >= 60 * minutes:
            break
        results_of([task], kept)
    return results_of([task for task in tasks if task.path(kept).exists()], kept)


@cache
def code_of_toprank() -> str:
    """A number for the code that chooses and makes features, whatever its comments say."""
    found = sha256()
    for folder in CODE:
        for file in sorted((Path(toprank.__file__).parent / folder).rglob("*.py")):
            found.update(ast.dump(_without_docstrings(ast.parse(file.read_bytes()))).encode())
    return found.hexdigest()[:12]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree
