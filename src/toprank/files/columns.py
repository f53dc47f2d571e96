"""What the columns of a table hold: a number, a category or a date, the same in every batch."""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.arrow import codes_of, dates_of, numbers_of, plain_type, words_of_codes
from ..features.frames import DATE, merged
from ..inputs.labels import decided_positive
from .errors import TableError, UndecidedLabelsError
from .tables import Table

#: A column of which so many cells are numbers was meant to be one.
_MOSTLY = 0.9
#: Columns of a table that are listed.
_SHOWN = 8
#: Whole numbers as texts write them; labels that are the same number are the same.
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?")


#: How many rows of a table came before some, or the place of each where they are a sample.
Before = int | NDArray[np.int64]


def _row(before: Before, row: int) -> int:
    """The number of a row in its table, from 1 on."""
    return (before + row if isinstance(before, int) else int(before[row])) + 1


def kinds_of(
    table: Any, name: str, *, texts: bool, categories: Collection[str], first: Before = 0
) -> dict[str, str]:
    """The kind of every column that holds something; truth values are categories.

    `categories` are that, whatever they hold. Of `texts` numbers are made; a column of numbers with
    a word in it is refused.
    """
    kinds = {}
    for own in table.column_names:
        column = table[own]
        if column.null_count == len(column):
            continue
        kinds[own] = "category" if own in categories else _kind(column, own, name, texts, first)
    return kinds


def _kind(column: Any, own: str, name: str, texts: bool, first: Before) -> str:
    found = plain_type(column)
    if found is None:
        raise TableError(
            f"{name}: column {own!r} holds {column.type}, of which nothing can be made: leave it "
            "out by --ignore."
        )
    if found != "text":
        return found
    codes, words = codes_of(column)
    if texts:
        _, bad = numbers_of(words)
        if not bad.any():
            return "number"
        wrong = bad[codes] & (codes >= 0)
        there = int((codes >= 0).sum())
        numbers = there - int(wrong.sum())
        if numbers >= _MOSTLY * there and not all(map(DATE.fullmatch, words)):
            row = int(np.argmax(wrong))
            raise TableError(
                f"{name}, row {_row(first, row)}, column {own!r}: {words[codes[row]]!r} is no "
                f"number, and {numbers:,} of {there:,} cells are; mend it, or pass "
                f"--category {own}."
            )
    return "date" if all(DATE.fullmatch(word.strip()) for word in words) else "category"


def as_kinds(batch: Any, kinds: dict[str, str], name: str, first: Before) -> dict[str, Any]:
    """The columns, each as its kind: floats, (codes, words), or datetime64.

    `first` rows came before, of the table of that name.
    """
    check_columns(batch, kinds, name)
    return {own: _made(batch.column(own), own, kind, name, first) for own, kind in kinds.items()}


def check_columns(
    batch: Any, kinds: Collection[str], name: str, others: Collection[str] = ()
) -> None:
    """Refuse a table that lacks columns which a model was trained on.

    One of `others` may be a missing column under a new name.
    """
    there = set(batch.schema.names)
    missing = [own for own in kinds if own not in there]
    if not missing:
        return
    named = ", ".join(repr(own) for own in missing[:_SHOWN])
    named += f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    new = [repr(own) for own in others if own not in kinds]
    instead = f"; it has {', '.join(new[:_SHOWN])}, which the model does not use" if new else ""
    if len(missing) > len(kinds) / 2 and len(kinds) > 1:
        raise TableError(
            f"{name} is not such a table as the model was trained on: {len(missing)} of "
            f"{len(kinds)} columns are missing: {named}{instead}."
        )
    what = "no column" if len(missing) == 1 else "none of the columns"
    raise TableError(f"{name} has {what} {named}, which the model was trained on{instead}.")


def _made(column: Any, own: str, kind: str, name: str, first: Before) -> Any:
    if kind == "category":
        return codes_of(column)
    made, bad = numbers_of(column) if kind == "number" else dates_of(column)
    what = "no number" if kind == "number" else "no date, such as 2025-01-31"
    if kind == "number" and not bad.any():
        bad, what = np.isinf(made), "no finite number"
    if bad.any():
        row = int(np.argmax(bad))
        raise TableError(
            f"{name}, row {_row(first, row)}, column {own!r}: {_told(column[row])} is {what}."
        )
    return made


def _told(cell: Any) -> str:
    """A cell as a sentence shows it; Python's own dates end sooner than Arrow's."""
    try:
        return repr(cell.as_py())
    except OverflowError:
        return str(cell.cast("string"))


def frame_of(columns: dict[str, Any]) -> Any:
    """Return the columns as a data frame that shares their memory."""
    import pandas as pd

    return pd.DataFrame(
        {
            own: pd.Categorical.from_codes(*merged(*made)) if isinstance(made, tuple) else made
            for own, made in columns.items()
        },
        copy=False,
    )


#: What a column can hold.
KINDS = {"number", "category", "date"}


def labels_of(batch: Any, label: str, table: Table, first: int = 0) -> NDArray[Any]:
    """The labels as words: 1, 1.0 and "1" are the same one."""
    name = table.name
    if label not in batch.schema.names:
        more = ", ..." if len(table.columns) > _SHOWN else ""
        shown = ", ".join(repr(own) for own in table.columns[:_SHOWN])
        raise TableError(f"{name} has no column {label!r}; its columns are {shown}{more}.")
    codes, words = codes_of(batch.column(label))
    refuse_missing_label(codes < 0, name, first, label)
    return words_of_codes(codes, [plain_word(word) for word in words])


def refuse_missing_label(
    missing: NDArray[np.bool_], name: str, first: int, label: str | None = None
) -> None:
    """Refuse rows without a label; `first` rows of the table came before them."""
    if missing.any():
        of = "" if label is None else f", column {label!r}"
        row = first + int(np.argmax(missing)) + 1
        raise TableError(f"{name}, row {row}{of}: the label is missing.")


def plain_word(word: str) -> str:
    """A label as a word: 1.0 is 1."""
    return str(int(word.partition(".")[0])) if _WHOLE.fullmatch(word) else word


def words_of(labels: NDArray[Any], name: str, first: int = 0) -> tuple[Any, list[str]]:
    """Labels that are numbers as codes and words; `first` rows of the table came before."""
    refuse_missing_label(np.isnan(labels), name, first)
    found, codes = np.unique(labels, return_inverse=True)
    return codes, [str(int(x)) if float(x).is_integer() else str(x) for x in found.tolist()]


def positive_word(counts: dict[str, int], named: str | None, table: str) -> str:
    """Return the label to rank first of two with their counts: the `named` one, if it is there.

    Without a name `labels.decided_positive` decides, or the table is refused.
    """
    shown = " and ".join(
        f"{word!r} ({count:,} {'row' if count == 1 else 'rows'})"
        for word, count in sorted(counts.items())
    )
    if named is not None:
        if named not in counts:
            raise TableError(f"{table}: --positive {named} is no label; there are {shown}.")
        return named
    positive = decided_positive(counts)
    if positive is None:
        raise UndecidedLabelsError(
            f"{table} has the labels {shown}, and neither is less than half as frequent as the "
            "other: pass --positive with the one to rank first."
        )
    return str(positive)


def fingerprint_of(columns: Any, labels: Any) -> str:
    """SHA-256 of columns as `as_kinds` makes them, or of a CSR matrix, and of the labels."""
    made = sha256()
    if isinstance(columns, dict):
        for name, column in columns.items():
            made.update(f"\n{name}\n".encode())
            made.update(_bytes(column))
    else:
        made.update(repr(columns.shape).encode())
        for part, dtype in ((columns.indptr, np.int64), (columns.indices, np.int64)):
            made.update(part.astype(dtype).tobytes())
        made.update(columns.data.astype(np.float64).tobytes())
    made.update(_bytes(_coded(labels)))
    return made.hexdigest()


def _coded(labels: Any) -> tuple[Any, list[str]]:
    words, codes = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    return codes, words.tolist()


def _bytes(column: Any) -> bytes:
    """The same bytes for the same cells."""
    if isinstance(column, tuple):  # words may have been met in another order
        codes, words = column
        order = np.argsort(np.array(words, dtype=object), kind="stable")
        rank = np.empty(len(words) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(words)), -1
        return "\n".join(words[j] for j in order).encode() + rank[codes].tobytes()
    if column.dtype.kind == "f":
        return bytes(np.where(np.isnan(column), np.nan, column + 0.0).tobytes())
    return bytes(column.astype(np.int64).tobytes())


__all__ = [
    "KINDS",
    "as_kinds",
    "check_columns",
    "fingerprint_of",
    "frame_of",
    "kinds_of",
    "labels_of",
    "plain_word",
    "positive_word",
    "refuse_missing_label",
    "words_of",
]
