"""`toprank fit`: from a table to a model file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.columns import as_kinds, kinds_of, labels_of, words_of
from ..files.errors import TableError
from ..files.model import save
from ..files.tables import Table
from .models import Kept, build
from .telling import Refusal, say, working

#: Labels that say themselves which is positive, as words.
_PLAIN = ({"0", "1"}, {"-1", "1"}, {"False", "True"})


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    data: str
    output: str
    format: str | None
    label: str | None
    positive: str | None
    model: str
    alpha: float | None
    folds: int | None
    capacity: int | float | None
    list_size: int | None
    budget: float | None
    id: str | None
    calibrate: float | None


def fit(wanted: Wanted) -> tuple[Any, Kept]:
    """Read, fit, calibrate, write."""
    table = Table(wanted.data, wanted.format)
    with working("reading") as _:
        X, labels, kinds = _read(table, wanted)
    negative, positive = two_labels(labels, wanted.positive, table.name)
    y = (labels == positive).astype(np.int64)
    model = build(
        wanted.model,
        alpha=wanted.alpha,
        folds=wanted.folds,
        capacity=wanted.capacity,
        list_size=wanted.list_size,
        budget=wanted.budget,
        n_rows=len(y),
        sparse=table.sparse,
    )
    kept = Kept(
        table=table.name,
        n_rows=len(y),
        n_positive=int(y.sum()),
        label=None if table.sparse else wanted.label,
        positive=positive,
        negative=negative,
        id=wanted.id,
        kinds=None if isinstance(kinds, bool) else kinds,
        from_zero=kinds is True,
        capacity=wanted.capacity,
    )
    with working(f"fitting {wanted.model} to {len(y):,} rows") as _:
        if wanted.calibrate is None:
            model.fit(X, y)
        else:
            kept = _fit_and_calibrate(model, X, y, kept, wanted.calibrate)
    save(model, wanted.output, metadata=kept.metadata())
    return model, kept


def _read(table: Table, wanted: Wanted) -> tuple[Any, NDArray[Any], dict[str, str] | bool]:
    """Columns, labels as words, and the kinds of the columns, or whether they begin at 0."""
    if table.sparse:
        if wanted.label is not None or wanted.id is not None:
            raise Refusal(
                "svmlight files have labels in their first column and no names: leave "
                "--label and --id out."
            )
        X, numbers, from_zero = table.matrix()
        return X, words_of(numbers), from_zero
    if wanted.label is None:
        raise Refusal("--label COLUMN is missing: the column that says yes or no.")
    frame = table.whole(as_text=() if wanted.id is None else (wanted.id,))
    frame.columns = [str(name) for name in frame.columns]
    if not len(frame):
        raise TableError(f"{table.name} has no rows.")
    labels = labels_of(frame, wanted.label, table.name)
    if wanted.id is not None and wanted.id not in frame.columns:
        raise TableError(f"{table.name} has no column {wanted.id!r}, which --id names.")
    frame = frame.drop(columns=[name for name in (wanted.label, wanted.id) if name is not None])
    kinds = kinds_of(frame)
    empty = [name for name in frame.columns if name not in kinds]
    if empty:
        say(f"note: left out, because nothing is in them: {', '.join(map(repr, empty[:8]))}.")
    if not kinds:
        raise TableError(f"{table.name} has no column to learn from beside the label.")
    return as_kinds(frame, kinds, table.name, 0), labels, kinds


def two_labels(labels: NDArray[Any], positive: str | None, table: str) -> tuple[str, str]:
    """The negative and the positive label."""
    found, counts = np.unique(labels.astype(str), return_counts=True)
    shown = ", ".join(
        f"{word!r} ({count:,} rows)"
        for word, count in zip(found.tolist()[:5], counts[:5], strict=True)
    )
    if len(found) != 2:
        raise TableError(
            f"{table}: there must be two labels, and there are {len(found)}: {shown}"
            f"{', ...' if len(found) > 5 else ''}."
        )
    if positive is not None:
        if positive not in found:
            raise TableError(f"{table}: --positive {positive} is no label; there are {shown}.")
    else:
        positive = str(found[-1])
        if set(found) not in _PLAIN:
            say(f"note: {positive!r} is ranked first, of {shown}; --positive says otherwise.")
    (negative,) = set(found) - {positive}
    return str(negative), positive


def _fit_and_calibrate(model: Any, X: Any, y: Any, kept: Kept, share: float) -> Kept:
    """Fit on some rows, and keep the scores of the others."""
    from sklearn.model_selection import train_test_split
    from sklearn.utils import _safe_indexing

    rest, held_out = train_test_split(
        np.arange(len(y)), test_size=share, stratify=y, random_state=0
    )
    model.fit(_safe_indexing(X, rest), y[rest])
    scores = model.decision_function(_safe_indexing(X, held_out))
    return replace(kept, calibration_scores=scores, calibration_positive=y[held_out] == 1)


__all__ = ["Wanted", "fit", "two_labels"]
