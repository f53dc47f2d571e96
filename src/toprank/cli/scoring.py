"""`toprank score` and `evaluate`: a model file and a table, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.arrow import codes_of, words_of_codes
from ..files.columns import as_kinds, check_columns, labels_of, words_of
from ..files.errors import TableError
from ..files.tables import Table
from .models import Kept
from .score_files import ScoreFile
from .scorer import Scorer
from .telling import Refusal, working

Array = NDArray[np.float64]

#: Of the intervals of `evaluate`.
_CONFIDENCE = 0.95
#: Positives that an interval needs.
_FEWEST = 5


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
        for part in (
            _sparse(model, kept, table, labelled)
            if kept.kinds is None
            else _dense(model, kept, table, id, str(label) if labelled else None)
        ):
            yield part
            first += len(part.scores)
            tell(f"{first:,} rows")
    if not first:
        raise TableError(f"{table.name} has no rows.")


def _sparse(model: Any, kept: Kept, table: Table, labelled: bool) -> Iterator[Scored]:
    first = 0
    for X, numbers in table.matrices(int(model.n_features_in_), from_zero=kept.from_zero):
        names = np.arange(first + 1, first + len(numbers) + 1)
        labels = None
        if labelled:
            labels = words_of_codes(*words_of(numbers, table.name, first))
        yield Scored(names, np.asarray(model.decision_function(X)), labels)
        first += len(numbers)


def _dense(
    model: Any, kept: Kept, table: Table, id: str | None, label: str | None
) -> Iterator[Scored]:
    kinds = kept.kinds or {}
    known = {id, label, kept.id, kept.label, kept.time, kept.group}
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
    """What rows are called: by a column, or numbered from 1."""
    if id is None:
        return np.arange(first + 1, first + batch.num_rows + 1)
    if id not in batch.schema.names:
        raise TableError(f"{table} has no column {id!r} with ids; --id names another.")
    return words_of_codes(*codes_of(batch.column(id)))


def score(
    model: Any, kept: Kept, table: Table, id: str | None, output: str | None, *, as_json: bool
) -> int:
    """Write a score for every row, in the order of the table; how many rows."""
    rows = 0
    with ScoreFile(output, id, lines=as_json and output is None) as file:
        for part in scored(model, kept, table, id, None, labelled=False):
            file.write(part.names, part.scores)
            rows += len(part.scores)
    return rows


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
    return {
        "rows": len(scores),
        "positives": int(positive.sum()),
        "positive": kept.positive,
        "lists": [_found_in(positive, scores, k) for k in ks],
        "metrics": ranking_report(positive, scores, k=list(ks)),
    }


def _found_in(positive: NDArray[np.bool_], scores: Array, k: int | float) -> dict[str, Any]:
    """Return how many of the first k rows are positive, with a 95 % interval for such tables."""
    from ..metrics import interval, precision_at_k

    n, m = len(scores), int(positive.sum())
    count = k if isinstance(k, int) else max(1, round(k * n))
    found: dict[str, Any] = {
        "k": count,
        "found": count * float(precision_at_k(positive, scores, count)),
        "by_chance": count * m / n,
        "low": None,
        "high": None,
        "confidence": _CONFIDENCE,
    }
    if m >= _FEWEST:
        share = interval(f"precision_at_{count}", positive, scores, confidence=_CONFIDENCE)
        found["low"] = floor(round(count * share.low, 6))
        found["high"] = ceil(round(count * share.high, 6))
    return found


__all__ = ["Scored", "evaluate", "names_of", "score", "scored"]
