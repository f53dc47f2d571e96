"""`toprank fit`: from a table to a model file."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.arrow import codes_of, numbers_of, words_of_codes
from ..files.columns import (
    as_kinds,
    frame_of,
    kinds_of,
    labels_of,
    positive_word,
    words_of,
)
from ..files.errors import TableError
from ..files.fingerprint import fingerprint_of
from ..files.mapped import is_data_set
from ..files.model import save
from ..files.tables import Table
from ..inputs.labels import is_plain
from ..inputs.leaks import Leak, find_leaks
from ..selection.head.race import watching
from .column_notes import (
    constant_columns,
    left_out_notes,
    name_notes,
    order_notes,
    refuse_leaks,
    tell_leaks,
    time_notes,
)
from .models import Kept, build, ranked_first
from .splitting import hold_out, order_of, words_of_groups
from .telling import Refusal, say, working


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
    time: str | None = None
    group: str | None = None
    ignored: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    force: bool = False
    strict: bool = False
    no_trees: bool = False
    effort: str | None = None


@dataclass(frozen=True)
class Rows:
    """A table as it is learnt from."""

    X: Any
    labels: NDArray[Any]
    negative: str
    positive: str
    fingerprint: str
    #: The kind of every column; None where rows are sparse.
    kinds: dict[str, str] | None
    from_zero: bool = False
    #: What rows are kept together by: words, or numbers of times.
    groups: NDArray[Any] | None = None
    #: What rows are called.
    ids: NDArray[Any] | None = None
    #: The length of a list, by the times of the rows.
    list_size: int | None = None
    #: Lines on the columns, for `say`.
    notes: tuple[str, ...] = ()
    #: Columns that give the label away.
    leaks: tuple[Leak, ...] = ()

    @property
    def y(self) -> NDArray[np.int64]:
        """Return 1 for rows with the positive label, else 0."""
        return np.asarray(self.labels == self.positive, dtype=np.int64)

    def tell(self, named: str | None, *, leaks: bool = True) -> None:
        """Print which label is ranked first, `named` by an option or not; leaks and notes."""
        positive = self.labels == self.positive
        plain = named is not None or is_plain((self.negative, self.positive))
        count, why = int(np.count_nonzero(positive)), "" if plain else ", the rarer label"
        say(ranked_first(self.positive, count, len(positive), why=why), always=True)
        if leaks:
            tell_leaks(self.leaks, sparse=self.kinds is None)
        for note in self.notes:
            say(f"note: {note}")


def fit(wanted: Wanted) -> tuple[Any, Kept]:
    """Read, fit, calibrate, write."""
    if is_data_set(wanted.data):
        from .converting import fit_data_set

        return fit_data_set(wanted)
    table = Table(wanted.data, wanted.format)
    with working("reading"):
        rows = read(table, wanted)
        _release()
    y = rows.y
    model = build(
        wanted.model,
        alpha=wanted.alpha,
        folds=wanted.folds,
        time=wanted.time,
        group=wanted.group,
        capacity=wanted.capacity,
        list_size=wanted.list_size or rows.list_size,
        budget=wanted.budget,
        n_rows=len(y),
        sparse=table.sparse,
        no_trees=wanted.no_trees,
        effort=wanted.effort,
    )
    rows.tell(wanted.positive)
    if wanted.strict:
        refuse_leaks(rows.leaks)
    kept = Kept(
        table=table.name,
        n_rows=len(y),
        n_positive=int(y.sum()),
        label=None if table.sparse else wanted.label,
        positive=rows.positive,
        negative=rows.negative,
        id=wanted.id,
        kinds=rows.kinds,
        from_zero=rows.from_zero,
        capacity=wanted.capacity,
        list_size=wanted.list_size or rows.list_size,
        time=wanted.time,
        group=wanted.group,
        fingerprint=rows.fingerprint,
        leaks=[leak.column for leak in rows.leaks],
    )
    with working(f"fitting {wanted.model} to {len(y):,} rows") as line, watching(line.step):
        kept = _fitted(model, rows, y, kept, wanted)
    save(model, wanted.output, metadata=kept.metadata())
    return model, kept


def _release() -> None:
    """Return freed memory to the system: 0.16 of 0.45 GB after a table of 600 000 rows."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError, TypeError):  # there is no such call outside glibc
        ctypes.CDLL(None).malloc_trim(0)


def read(table: Table, wanted: Any) -> Rows:
    """The table, by the columns that options name: --label, --id, --time, --group and the like."""
    return _sparse(table, wanted) if table.sparse else _dense(table, wanted)


def _sparse(table: Table, wanted: Any) -> Rows:
    named = {
        "--label": wanted.label,
        "--id": wanted.id,
        "--time": wanted.time,
        "--group": wanted.group,
        "--ignore": wanted.ignored,
        "--category": wanted.categories,
    }
    if given := [option for option, value in named.items() if value]:
        raise Refusal(
            "svmlight files have labels in their first column and no names: leave "
            f"{' and '.join(given)} out."
        )
    X, numbers, from_zero = table.matrix()
    labels = words_of_codes(*words_of(numbers, table.name))
    two = two_labels(labels, wanted.positive, table.name)
    leaks = tuple(find_leaks(X, labels == two[1]))
    return Rows(X, labels, *two, fingerprint_of(X, labels), None, from_zero, leaks=leaks)


def _dense(table: Table, wanted: Any) -> Rows:
    rows = table.whole()
    labels = labels_of(rows, wanted.label, table)
    two = two_labels(labels, wanted.positive, table.name)
    options = {"--id": wanted.id, "--time": wanted.time, "--group": wanted.group}
    named = [(option, own) for option, own in options.items() if own is not None]
    named += [("--ignore", own) for own in wanted.ignored]
    named += [("--category", own) for own in wanted.categories]
    for option, own in named:
        if own not in rows.column_names:
            raise TableError(f"{table.name} has no column {own!r}, which {option} names.")
    not_learnt = {wanted.label} | {own for option, own in named if option != "--category"}
    groups, list_size, notes = None, None, list[str]()
    if wanted.group is not None:
        groups = words_of_groups(rows[wanted.group], wanted.group, table.name)
    if wanted.time is not None:
        order, groups, times = order_of(rows[wanted.time], wanted.time, table.name)
        rows, labels = rows.take(order), labels[order]
        list_size, notes = time_notes(times, groups, wanted)
    ids = None if wanted.id is None else names_in(rows, wanted.id)
    rows = rows.select([own for own in rows.column_names if own not in not_learnt])
    kinds = kinds_of(rows, table.name, texts=table.texts, categories=wanted.categories)
    columns = as_kinds(rows, kinds, table.name, 0)
    constant = constant_columns(columns)
    notes += left_out_notes([own for own in rows.column_names if own not in kinds], constant)
    columns = {own: column for own, column in columns.items() if own not in constant}
    kinds = {own: kinds[own] for own in columns}
    if not kinds:
        same = ": the others have the same in every row" if constant else ""
        raise TableError(f"{table.name} has no column to learn from beside the label{same}.")
    X = frame_of(columns)
    leaks = tuple(find_leaks(X, labels == two[1]))
    notes += name_notes(X, table.name)
    if wanted.time is None and wanted.group is None:
        notes += order_notes(X, leaks, table.name)
    own = fingerprint_of(columns, labels)
    more: dict[str, Any] = {"groups": groups, "ids": ids, "list_size": list_size}
    return Rows(X, labels, *two, own, kinds, notes=tuple(notes), leaks=leaks, **more)


def names_in(rows: Any, id: str) -> NDArray[Any]:
    """What rows are called, by a column of theirs."""
    return words_of_codes(*codes_of(rows[id]))


def two_labels(labels: NDArray[Any], positive: str | None, table: str) -> tuple[str, str]:
    """Return the negative and the positive label."""
    found, counts = np.unique(labels.astype(str), return_counts=True)
    shown = ", ".join(
        f"{word!r} ({count:,} {'row' if count == 1 else 'rows'})"
        for word, count in zip(found.tolist()[:5], counts[:5], strict=True)
    )
    if len(found) != 2:
        numbers = len(found) > 5 and not numbers_of(found.tolist())[1].any()
        number = "is one" if len(found) == 1 else f"are {len(found):,}"
        alike = len({word.strip().casefold() for word in found.tolist()}) == 2 < len(found)
        raise TableError(
            f"{table}: there must be two labels, and there {number}: {shown}"
            f"{', ...' if len(found) > 5 else ''}."
            f"{' Write each in one way: some differ by capitals or blanks only.' if alike else ''}"
            f"{' It looks like a column of numbers: is it the one meant?' if numbers else ''}"
        )
    count_of = dict(zip(found.tolist(), counts.tolist(), strict=True))
    chosen = positive_word(count_of, positive, table)
    (negative,) = set(count_of) - {chosen}
    return negative, chosen


def _fitted(model: Any, rows: Rows, y: Any, kept: Kept, wanted: Wanted) -> Kept:
    """Fit, on all rows or but those held out, whose scores are kept; and what came of it."""
    from sklearn.utils import _safe_indexing

    from ..selection import HeadRanker
    from .measuring import measured

    every = np.arange(len(y))
    rest, held_out = every, every[:0]
    if wanted.calibrate is not None:
        by_time = wanted.time is not None
        rest, held_out = hold_out(y, wanted.calibrate, by_time=by_time, groups=rows.groups)
    options = {}
    if rows.groups is not None and _folds(model):
        prefix = "ranker__" if hasattr(model, "steps") else ""
        by_time = wanted.time is not None and isinstance(model, HeadRanker)
        options = {f"{prefix}{'time' if by_time else 'groups'}": rows.groups[rest]}
    X = _safe_indexing(rows.X, rest) if len(held_out) else rows.X
    model.fit(X, y[rest], **options)
    if len(held_out):
        scores = model.decision_function(_safe_indexing(rows.X, held_out))
        kept = replace(kept, calibration_scores=scores, calibration_positive=y[held_out] == 1)
    return replace(kept, metrics=measured(model, kept, y[rest] == 1))


def _folds(model: Any) -> bool:
    """Whether a model has folds of its own."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return "cv" in last.get_params(deep=False)


__all__ = ["Rows", "Wanted", "fit", "names_in", "read", "two_labels"]
