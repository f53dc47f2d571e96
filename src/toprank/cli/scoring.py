"""`toprank score`, `top` and `evaluate`: a model file and a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.columns import as_kinds, labels_of, types_of, words, words_of
from ..files.errors import TableError
from ..files.tables import Table
from .models import Kept
from .score_files import ScoreFile
from .telling import Refusal, working

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """Some rows with their scores; labels are there if they were asked for."""

    names: NDArray[Any]
    scores: Array
    labels: NDArray[Any] | None


def scored(
    model: Any, kept: Kept, table: Table, id: str | None, label: str | None, *, labelled: bool
) -> Iterator[Scored]:
    """The rows of a table, some at a time."""
    if table.sparse != (kept.kinds is None):
        has = "sparse rows" if table.sparse else "columns with names"
        raise TableError(f"{table.name} has {has}, and the model was trained on other rows.")
    first = 0
    with working("scoring") as tell:
        if kept.kinds is None:
            for X, numbers in table.matrices(int(model.n_features_in_), from_zero=kept.from_zero):
                scores = model.decision_function(X)
                names = np.arange(first + 1, first + len(scores) + 1)
                yield Scored(names, scores, words_of(numbers) if labelled else None)
                first += len(scores)
                tell(f"{first:,} rows")
            return
        types = types_of(kept.kinds) | ({} if id is None else {id: str})
        for frame in table.chunks(types):
            frame.columns = [str(name) for name in frame.columns]
            if not len(frame):
                continue
            labels = labels_of(frame, str(label), table.name, first) if labelled else None
            names = _names(frame, id, table.name, first)
            scores = model.decision_function(as_kinds(frame, kept.kinds, table.name, first))
            yield Scored(names, scores, labels)
            first += len(frame)
            tell(f"{first:,} rows")
    if not first:
        raise TableError(f"{table.name} has no rows.")


def _names(frame: Any, id: str | None, table: str, first: int) -> NDArray[Any]:
    """What rows are called: by a column, or numbered from 1."""
    if id is None:
        return np.arange(first + 1, first + len(frame) + 1)
    if id not in frame.columns:
        raise TableError(f"{table} has no column {id!r} with ids; --id names another.")
    return words(frame[id])


def score(model: Any, kept: Kept, table: Table, id: str | None, output: str | None) -> int:
    """Write a score for every row, in the order of the table; how many rows."""
    rows = 0
    with ScoreFile(output, id) as file:
        for part in scored(model, kept, table, id, None, labelled=False):
            file.write(part.names, part.scores)
            rows += len(part.scores)
    return rows


@dataclass(frozen=True)
class Head:
    """The first rows of a list, the best first, and what is promised of them."""

    rows: NDArray[np.int64]
    names: NDArray[Any]
    scores: Array
    n_rows: int
    promise: str | None = None
    at_least: int | None = None


def top(
    model: Any,
    kept: Kept,
    table: Table,
    id: str | None,
    k: int | float | None,
    confidence: float,
) -> Head:
    """The k rows with the highest scores; of equal ones the first."""
    wanted = kept.capacity if k is None else k
    if wanted is None:
        raise Refusal("-k is missing: say how many rows, here or by `toprank fit --capacity`.")
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
    head = Head(places[order].astype(np.int64), np.concatenate(names)[order], best[order], first)
    if kept.calibration_scores is None:
        return head
    return _promised(head, kept, np.concatenate(every), confidence)


def _promised(head: Head, kept: Kept, scores: Array, confidence: float) -> Head:
    from ..guarantees import HeadBound

    bound = HeadBound(confidence=confidence)
    bound.fit(kept.calibration_positive, kept.calibration_scores)
    statement = bound.of(scores)
    statement.check()
    k = len(head.rows)
    return Head(
        head.rows,
        head.names,
        head.scores,
        head.n_rows,
        promise=statement.text(k),
        at_least=int(statement.lower(k)),
    )


def evaluate(
    model: Any, kept: Kept, table: Table, label: str | None, ks: tuple[int | float, ...]
) -> dict[str, Any]:
    """Every metric, of a table with labels."""
    from ..metrics import ranking_report

    label = kept.label if label is None else label
    if label is None and not table.sparse:
        raise Refusal("--label COLUMN is missing: the model was trained on rows without names.")
    parts = list(scored(model, kept, table, None, label, labelled=True))
    scores = np.concatenate([part.scores for part in parts])
    labels = np.concatenate([part.labels for part in parts if part.labels is not None])
    strange = ~np.isin(labels.astype(str), (kept.positive, kept.negative))
    if strange.any():
        row = int(np.argmax(strange))
        raise TableError(
            f"{table.name}, row {row + 1}: the label {labels[row]!r} is neither {kept.positive!r} "
            f"nor {kept.negative!r}, which the model was trained on."
        )
    positive = labels == kept.positive
    if positive.all() or not positive.any():
        raise TableError(f"{table.name} has rows of one label only: there is nothing to compare.")
    few = [k for k in ks if isinstance(k, float) or k <= len(scores)]
    if len(few) < len(ks):
        raise TableError(f"{table.name} has {len(scores)} rows, fewer than -k {max(ks)}.")
    metrics = ranking_report(positive, scores, k=list(ks))
    return {"rows": len(scores), "positives": int(positive.sum()), "metrics": metrics}


def to_terminal() -> bool:
    """Whether people read the output."""
    return sys.stdout.isatty()


__all__ = ["Head", "Scored", "evaluate", "score", "scored", "to_terminal", "top"]
