"""`toprank score`: scores of a table, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.arrow import codes_of, words_of_codes
from ..features.table import FastNumbers, is_of_table
from ..files.columns import as_kinds, check_columns, frame_of, labels_of, words_of
from ..files.errors import TableError
from ..files.tables import Table
from .list_files import ScoreFile
from .models import FitRecord
from .output import progress_line

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """Some rows with their scores; labels are there if they were asked for."""

    names: NDArray[Any]
    scores: Array
    labels: NDArray[Any] | None


def scored(
    model: Any,
    record: FitRecord,
    table: Table,
    id: str | None,
    label: str | None,
    *,
    labelled: bool,
) -> Iterator[Scored]:
    """The rows of a table, some at a time."""
    if table.sparse != (record.kinds is None):
        has = "sparse rows" if table.sparse else "columns with names"
        raise TableError(f"{table.name} has {has}, and the model was trained on other rows.")
    first = 0
    with progress_line("scoring") as tell:
        for part in (
            _sparse(model, record, table, labelled)
            if record.kinds is None
            else _dense(model, record, table, id, str(label) if labelled else None)
        ):
            yield part
            first += len(part.scores)
            tell(f"{first:,} rows")
    if not first:
        raise TableError(f"{table.name} has no rows.")


def _sparse(model: Any, record: FitRecord, table: Table, labelled: bool) -> Iterator[Scored]:
    first = 0
    for X, numbers in table.matrices(int(model.n_features_in_), from_zero=record.from_zero):
        names = np.arange(first + 1, first + len(numbers) + 1)
        labels = None
        if labelled:
            labels = words_of_codes(*words_of(numbers, table.name, first))
        yield Scored(names, np.asarray(model.decision_function(X)), labels)
        first += len(numbers)


def _dense(
    model: Any, record: FitRecord, table: Table, id: str | None, label: str | None
) -> Iterator[Scored]:
    kinds = record.kinds or {}
    known = {id, label, record.id, record.label, record.time, record.group}
    scorer = Scorer(model)
    first = 0
    for batch in table.batches([*kinds, *(own for own in (id, label) if own is not None)]):
        if not batch.num_rows:
            continue
        others = [own for own in table.columns if own not in known]
        check_columns(batch, kinds, table.name, others)
        labels = None if label is None else labels_of(batch, label, table, first)
        names = names_of(batch, id, table.name, first)
        scores = scorer(as_kinds(batch, kinds, table.name, first))
        yield Scored(names, scores, labels)
        first += batch.num_rows


def names_of(batch: Any, id: str | None, table: str, first: int) -> NDArray[Any]:
    """Return the names of rows from a column, or numbers from 1."""
    if id is None:
        return np.arange(first + 1, first + batch.num_rows + 1)
    if id not in batch.schema.names:
        raise TableError(f"{table} has no column {id!r} with ids; --id names another.")
    return words_of_codes(*codes_of(batch.column(id)))


def score_table(
    model: Any,
    record: FitRecord,
    table: Table,
    id: str | None,
    output: str | None,
    *,
    as_json: bool,
) -> int:
    """Write a score for every row, in the order of the table; how many rows."""
    rows = 0
    with ScoreFile(output, id, lines=as_json and output is None) as file:
        for part in scored(model, record, table, id, None, labelled=False):
            file.write(part.names, part.scores)
            rows += len(part.scores)
    return rows


class Scorer:
    """Scores of columns as `as_kinds` makes them."""

    def __init__(self, model: Any) -> None:
        self._model = model
        steps = getattr(model, "steps", [])
        self._fast = FastNumbers(steps[0][1]) if steps and is_of_table(steps[0][1]) else None

    def __call__(self, columns: dict[str, Any]) -> Array:
        """A score for every row."""
        if self._fast is None:
            return np.asarray(self._model.decision_function(frame_of(columns)))
        return np.asarray(self._model[1:].decision_function(self._fast(columns)))


__all__ = ["Scored", "Scorer", "names_of", "score_table", "scored"]
