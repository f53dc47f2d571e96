"""`toprank fit`: from a table to a model file, and what the fit can measure."""

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
    fingerprint_of,
    frame_of,
    kinds_of,
    labels_of,
    positive_word,
    words_of,
)
from ..files.errors import TableError
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
    time_notes,
    warn_of_leaks,
)
from .models import FitRecord, build, ranked_first
from .output import UsageError, print_line, progress_line
from .split import hold_out, order_of, words_of_groups


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
    #: Lines on the columns, for `print_line`.
    notes: tuple[str, ...] = ()
    #: Columns that give the label away.
    leaks: tuple[Leak, ...] = ()

    @property
    def y(self) -> NDArray[np.int64]:
        """Return 1 for rows with the positive label, else 0."""
        return np.asarray(self.labels == self.positive, dtype=np.int64)

    def print_notes(self, named: str | None, *, leaks: bool = True) -> None:
        """Print which label is ranked first, `named` by an option or not; leaks and notes."""
        positive = self.labels == self.positive
        plain = named is not None or is_plain((self.negative, self.positive))
        count, why = int(np.count_nonzero(positive)), "" if plain else ", the rarer label"
        print_line(ranked_first(self.positive, count, len(positive), why=why), always=True)
        if leaks:
            warn_of_leaks(self.leaks, sparse=self.kinds is None)
        for note in self.notes:
            print_line(f"note: {note}")


@dataclass(frozen=True)
class FitOptions:
    """Options of the command."""

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


def fit_table(options: FitOptions) -> tuple[Any, FitRecord]:
    """Read, fit, calibrate, write."""
    if is_data_set(options.data):
        from .convert import fit_data_set

        return fit_data_set(options)
    table = Table(options.data, options.format)
    with progress_line("reading"):
        rows = read(table, options)
        _release()
    y = rows.y
    model = build(
        options.model,
        alpha=options.alpha,
        folds=options.folds,
        time=options.time,
        group=options.group,
        capacity=options.capacity,
        list_size=options.list_size or rows.list_size,
        budget=options.budget,
        n_rows=len(y),
        sparse=table.sparse,
        no_trees=options.no_trees,
        effort=options.effort,
    )
    rows.print_notes(options.positive)
    if options.strict:
        refuse_leaks(rows.leaks)
    record = FitRecord(
        table=table.name,
        n_rows=len(y),
        n_positive=int(y.sum()),
        label=None if table.sparse else options.label,
        positive=rows.positive,
        negative=rows.negative,
        id=options.id,
        kinds=rows.kinds,
        from_zero=rows.from_zero,
        capacity=options.capacity,
        list_size=options.list_size or rows.list_size,
        time=options.time,
        group=options.group,
        fingerprint=rows.fingerprint,
        leaks=[leak.column for leak in rows.leaks],
    )
    with progress_line(f"fitting {options.model} to {len(y):,} rows") as line, watching(line.step):
        record = _fitted(model, rows, y, record, options)
    save(model, options.output, metadata=record.metadata())
    return model, record


def _release() -> None:
    """Return freed memory to the system: 0.16 of 0.45 GB after a table of 600 000 rows."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError, TypeError):  # there is no such call outside glibc
        ctypes.CDLL(None).malloc_trim(0)


def read(table: Table, options: Any) -> Rows:
    """The table, by the columns that options name: --label, --id, --time, --group and the like."""
    return _sparse(table, options) if table.sparse else _dense(table, options)


def _sparse(table: Table, options: Any) -> Rows:
    named = {
        "--label": options.label,
        "--id": options.id,
        "--time": options.time,
        "--group": options.group,
        "--ignore": options.ignored,
        "--category": options.categories,
    }
    if given := [option for option, value in named.items() if value]:
        raise UsageError(
            "svmlight files have labels in their first column and no names: leave "
            f"{' and '.join(given)} out."
        )
    X, numbers, from_zero = table.matrix()
    labels = words_of_codes(*words_of(numbers, table.name))
    two = two_labels(labels, options.positive, table.name)
    leaks = tuple(find_leaks(X, labels == two[1]))
    return Rows(X, labels, *two, fingerprint_of(X, labels), None, from_zero, leaks=leaks)


def _dense(table: Table, options: Any) -> Rows:
    rows = table.whole()
    labels = labels_of(rows, options.label, table)
    two = two_labels(labels, options.positive, table.name)
    columns_of_options = {"--id": options.id, "--time": options.time, "--group": options.group}
    named = [(option, own) for option, own in columns_of_options.items() if own is not None]
    named += [("--ignore", own) for own in options.ignored]
    named += [("--category", own) for own in options.categories]
    for option, own in named:
        if own not in rows.column_names:
            raise TableError(f"{table.name} has no column {own!r}, which {option} names.")
    not_learnt = {options.label} | {own for option, own in named if option != "--category"}
    groups, list_size, notes = None, None, list[str]()
    if options.group is not None:
        groups = words_of_groups(rows[options.group], options.group, table.name)
    if options.time is not None:
        order, groups, times = order_of(rows[options.time], options.time, table.name)
        rows, labels = rows.take(order), labels[order]
        list_size, notes = time_notes(times, groups, options)
    ids = None if options.id is None else names_in(rows, options.id)
    rows = rows.select([own for own in rows.column_names if own not in not_learnt])
    kinds = kinds_of(rows, table.name, texts=table.texts, categories=options.categories)
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
    if options.time is None and options.group is None:
        notes += order_notes(X, leaks, table.name)
    own = fingerprint_of(columns, labels)
    more: dict[str, Any] = {"groups": groups, "ids": ids, "list_size": list_size}
    return Rows(X, labels, *two, own, kinds, notes=tuple(notes), leaks=leaks, **more)


def names_in(rows: Any, id: str) -> NDArray[Any]:
    """Return the names of rows from a column."""
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


def _fitted(model: Any, rows: Rows, y: Any, record: FitRecord, options: FitOptions) -> FitRecord:
    """Fit, on all rows or but those held out, whose scores are kept; and what came of it."""
    from sklearn.utils import _safe_indexing

    from ..selection import HeadRanker

    every = np.arange(len(y))
    rest, held_out = every, every[:0]
    if options.calibrate is not None:
        by_time = options.time is not None
        rest, held_out = hold_out(y, options.calibrate, by_time=by_time, groups=rows.groups)
    by_folds = {}
    if rows.groups is not None and _folds(model):
        prefix = "ranker__" if hasattr(model, "steps") else ""
        by_time = options.time is not None and isinstance(model, HeadRanker)
        by_folds = {f"{prefix}{'time' if by_time else 'groups'}": rows.groups[rest]}
    X = _safe_indexing(rows.X, rest) if len(held_out) else rows.X
    model.fit(X, y[rest], **by_folds)
    if len(held_out):
        scores = model.decision_function(_safe_indexing(rows.X, held_out))
        record = replace(record, calibration_scores=scores, calibration_positive=y[held_out] == 1)
    return replace(record, metrics=measured(model, record, y[rest] == 1))


def _folds(model: Any) -> bool:
    """Return whether a model makes folds itself."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return "cv" in last.get_params(deep=False)


def measured(model: Any, record: FitRecord, positive: Any) -> dict[str, Any]:
    """Return measures on held-out rows and in the folds, none on rows of the fit.

    `positive` says which of the rows that were fitted on are positive.
    """
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    found: dict[str, Any] = {}
    if hasattr(last, "_leaderboard"):
        board = last._leaderboard
        best = int(np.argmax(board["chosen"]))
        found["folds"] = {
            "measure": str(last.scoring_),
            "mean": float(board["mean"][best]),
            "error": float(board["error"][best]),
        }
    elif hasattr(last, "mean_scores_"):
        best = int(np.argmin(np.abs(last.alphas_ - last.alpha_)))
        found["folds"] = {
            "measure": str(last.scoring),
            "mean": float(last.mean_scores_[best]),
            "error": float(last.score_errors_[best]),
        }
    if record.calibration_scores is not None:
        from ..metrics import ranking_report

        n = len(record.calibration_scores)
        k = record.capacity if isinstance(record.capacity, float) else None
        report = ranking_report(
            record.calibration_positive, record.calibration_scores, k=[k or min(n, 10)]
        )
        found["held_out"] = {"rows": n, **{name: float(own) for name, own in report.items()}}
    if (top := _expected_positives(last, record, positive)) is not None:
        found["top"] = top
    return found


def _expected_positives(last: Any, record: FitRecord, positive: Any) -> dict[str, Any] | None:
    """Return how many of the first k rows of a list are positive, on average, or None."""
    from ..metrics import precision_at_k

    n, k = record.list_size or record.n_rows, record.capacity
    if k is None:
        k = 100 if n >= 1000 else 10
    share, k = (k, max(round(k * n), 1)) if isinstance(k, float) else (k / n, k)
    if not k < n:
        return None
    scores, folds = getattr(last, "oof_scores_", None), getattr(last, "folds_", None)
    if scores is not None and folds is not None:
        parts = [test[np.isfinite(scores[test])] for _, test in folds]
        found = [precision_at_k(positive[own], scores[own], k=share) for own in parts if len(own)]
        mean, by = float(np.mean(found)), "cross-validation"
        error = float(np.std(found, ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0
    elif record.calibration_scores is not None:
        scores, positive = record.calibration_scores, record.calibration_positive
        mean, by = precision_at_k(positive, scores, k=share), f"{len(scores):,} rows held out"
        error = float(np.sqrt(mean * (1.0 - mean) / max(share * len(scores), 1.0)))
    else:
        return None
    low, high = max(mean - 2.0 * error, 0.0), min(mean + 2.0 * error, 1.0)
    return {"k": k, "of": n, "positives": k * mean, "low": k * low, "high": k * high, "by": by}


__all__ = ["FitOptions", "Rows", "fit_table", "measured", "names_in", "read", "two_labels"]
