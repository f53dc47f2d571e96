"""Pieces of work within a time, and the code that their results depend on."""

from __future__ import annotations

import ast
import multiprocessing
import resource
import signal
import subprocess
import time
from argparse import Namespace
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

from common.rows import Row, read_rows
from common.study import Argument, at_least
from common.tasks import Task, results_of

#: The code of toprank whose change makes a result out of date. After a change of a solver, delete
#: the kept results.
CODE = ("selection", "features", "trees")
MINUTES = Argument(
    "--minutes", type=at_least(0), help="begin no piece of work after so many; report what there is"
)
LIMIT = Argument("--limit", type=at_least(1), help="give up a fit after this many minutes of CPU")


def collected(tasks: list[Task], kept: Path, minutes: float | None) -> list[Row]:
    """The results; those that time allows if it is limited, and all that are kept."""
    if minutes is None:
        return results_of(tasks, kept)
    began = time.monotonic()
    for task in [task for task in tasks if not task.path(kept).exists()]:
        if time.monotonic() - began >= 60 * minutes:
            break
        results_of([task], kept)
    return results_of([task for task in tasks if task.path(kept).exists()], kept)


def with_earlier(rows: list[Row], path: Path, *keys: str) -> list[Row]:
    """The rows, and those of an earlier run that they do not replace."""
    earlier = read_rows(path) if path.exists() else []
    every = {tuple(row[key] for key in keys): row for row in [*earlier, *rows]}
    return list(every.values())


def automl_rows(args: Namespace) -> list[Row]:
    """Rows that automl.py has measured."""
    path = args.out / "automl.json"
    return read_rows(path) if path.exists() else []


def within(work: Callable[[], Row], minutes: int | None) -> Row:
    """The result of the work, or `given_up` if it takes more minutes of CPU."""
    if minutes is None:
        return work()
    processes = multiprocessing.get_context("fork")
    receiver, sender = processes.Pipe(duplex=False)
    child = processes.Process(target=_limited, args=(work, minutes, sender))
    child.start()
    sender.close()
    try:
        return receiver.recv()  # type: ignore[no-any-return]
    except EOFError:
        child.join()
        if child.exitcode != -signal.SIGXCPU:
            raise RuntimeError(f"The fit ended with exit code {child.exitcode}.") from None
        return {"given_up": minutes}
    finally:
        child.join()


def _limited(work: Callable[[], Row], minutes: int, sender: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (60 * minutes, 60 * minutes + 5))
    sender.send(work())


@cache
def commit() -> str:
    """Short name of the commit that is checked out; empty outside a repository."""
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip()


@cache
def code_of_toprank() -> str:
    """A number for the code that chooses and makes features, whatever its comments say."""
    spec = find_spec("toprank")  # without importing it: other systems do not need it
    if spec is None or spec.origin is None:
        raise SystemExit("HeadRanker cannot be measured: toprank is not installed.")
    found = sha256()
    for folder in CODE:
        for file in sorted((Path(spec.origin).parent / folder).rglob("*.py")):
            found.update(ast.dump(_without_docstrings(ast.parse(file.read_bytes()))).encode())
    return found.hexdigest()[:12]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree
