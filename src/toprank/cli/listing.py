"""`toprank top`: the rows to look at first, why they are there, and how many are sure."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.tables import Table
from .models import Kept
from .scoring import scored
from .telling import Refusal, say
from .why import Reason, reasons

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Head:
    """The first rows of a list, the best first, and what is promised of them."""

    rows: NDArray[np.int64]
    names: NDArray[Any]
    scores: Array
    n_rows: int
    #: For each row the columns that put it there, the strongest first.
    why: list[list[Reason]]
    promise: str | None = None
    at_least: int | None = None


def top(
    model: Any,
    kept: Kept,
    table: Table,
    id: str | None,
    k: int | float | None,
    confidence: float,
    n_reasons: int,
) -> Head:
    """The k rows with the highest scores; of equal ones the first."""
    wanted = kept.capacity if k is None else k
    if wanted is None:
        raise Refusal("-k is missing: say how many rows, here or by `toprank fit --capacity`.")
    with _twice(table, n_reasons > 0) as again:
        head, scores = _first_rows(model, kept, again, id, wanted)
        say(kept.ranked_first(), always=True)
        if wanted > head.n_rows:
            say(
                f"note: {table.name} has {head.n_rows:,} rows, fewer than the {wanted:,} wanted: "
                "all are listed."
            )
        if n_reasons:
            head = replace(head, why=reasons(model, kept, again, head.rows, n_reasons))
    if kept.calibration_scores is None:
        return head
    return _promised(head, kept, scores, confidence)


@contextlib.contextmanager
def _twice(table: Table, needed: bool) -> Iterator[Table]:
    """A table that can be read twice: standard input is copied to a file first."""
    if table.path != "-" or not needed:
        yield table
        return
    with tempfile.NamedTemporaryFile(prefix="toprank-") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        copied = Table(file.name, table.format)
        copied.name = table.name
        yield copied


def _first_rows(
    model: Any, kept: Kept, table: Table, id: str | None, wanted: int | float
) -> tuple[Head, Array]:
    every: list[Array] = []
    names: list[NDArray[Any]] = []
    places = best = np.empty(0)
    first = 0
    for part in scored(model, kept, table, id, None, labelled=False):
        every.append(part.scores)
        places = np.concatenate([places, np.arange(first, first + len(part.scores))])
        best = np.concatenate([best, part.scores])
        names.append(part.names)
        first += len(part.scores)
        if isinstance(wanted, int):  # of a share it is not known yet how many that is
            keep = np.sort(np.argsort(-best, kind="stable")[:wanted])
            places, best, names = places[keep], best[keep], [np.concatenate(names)[keep]]
    n = min(first, wanted if isinstance(wanted, int) else int(np.ceil(wanted * first - 1e-9)))
    order = np.argsort(-best, kind="stable")[:n]
    rows, called = places[order].astype(np.int64), np.concatenate(names)[order]
    return Head(rows, called, best[order], first, [[] for _ in rows]), np.concatenate(every)


def _promised(head: Head, kept: Kept, scores: Array, confidence: float) -> Head:
    from ..guarantees import HeadBound

    bound = HeadBound(confidence=confidence)
    bound.fit(kept.calibration_positive, kept.calibration_scores)
    statement = bound.of(scores)
    statement.check()
    k = len(head.rows)
    return replace(head, promise=statement.text(k), at_least=int(statement.lower()[k - 1]))


__all__ = ["Head", "top"]
