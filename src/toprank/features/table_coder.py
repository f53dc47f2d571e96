"""TableCoder: the columns of a table as numbers, categories as codes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .dates import kept_parts, parts_of
from .frames import Column, Columns, as_kind, natural

Array = NDArray[np.float64]

#: The most words of a category with a code of their own: boosted trees have 255 bins a column, and
#: one is for all other words.
MOST_WORDS = 254
#: Words of fewer rows are pooled, as `table_pipeline` does.
LEAST_ROWS = 10


class TableCoder:
    """Codes a table: numbers unchanged, dates as their parts, categories by frequency.

    The most frequent word of a category has code 0. Rare and unknown words share the last code.
    Missing cells are NaN.
    """

    #: Names of the columns of the table.
    names: list[str]
    #: The kind of each: "number", "category", "date", "span", or None of one that is left out.
    kinds: list[str | None]
    #: The words of each category in the order of their codes.
    words: dict[int, list[str]]
    #: The number of rare words of each category.
    pooled: dict[int, int]
    #: The columns of the table with missing cells.
    gaps: list[int]
    #: The parts of each date.
    parts: dict[int, list[str]]
    #: Whether each date has a time zone, None where that is not known.
    zoned: dict[int, bool | None]
    #: The column of the table that each coded column is of.
    owners: NDArray[np.int64]
    #: The number of codes of each coded column, the one of rare words included; 0 of numbers.
    levels: NDArray[np.int64]

    def fit(self, table: Columns, counted: NDArray[np.bool_] | None = None) -> Self:
        """See the kinds of the columns, by the rows that are counted."""
        self.names = list(table.names)
        self.kinds, self.gaps = [], []
        self.words, self.pooled, self.parts, self.zoned = {}, {}, {}, {}
        owners: list[int] = []
        levels: list[int] = []
        for j, (name, raw) in enumerate(zip(table.names, table.columns, strict=True)):
            column = natural(raw, name)
            kind = None if column is None else self._see(j, column, counted)
            self.kinds.append(kind)
            width = 0 if kind is None else len(self.parts[j]) if j in self.parts else 1
            owners += [j] * width
            levels += [len(self.words[j]) + 1] if kind == "category" else [0] * width
        if not owners:
            raise ValueError("X has no column to learn from: all are empty (NaN) or constant.")
        self.owners, self.levels = np.array(owners), np.array(levels)
        return self

    def _see(self, j: int, column: Column, counted: NDArray[np.bool_] | None) -> str | None:
        values = column.values if counted is None else column.values[counted]
        if _missing(values).any():
            self.gaps.append(j)
        if column.kind == "category":
            counts = np.bincount(values + 1, minlength=len(column.words) + 1)
            if np.count_nonzero(counts) < 2:
                return None
            order = sorted(
                range(len(column.words)), key=lambda k: (-counts[k + 1], column.words[k])
            )
            frequent = [k for k in order if counts[k + 1] >= LEAST_ROWS][:MOST_WORDS]
            self.words[j] = [column.words[k] for k in frequent]
            self.pooled[j] = int(np.count_nonzero(counts[1:])) - len(frequent)
        elif column.kind != "number":
            self.parts[j], self.zoned[j] = kept_parts(_seconds(values)), column.zoned
        return column.kind

    def transform(self, table: Columns) -> Array:
        """Code the rows of a table with the same columns."""
        coded = np.empty((table.n_rows, len(self.owners)))
        place = 0
        for j, (name, raw) in enumerate(zip(self.names, table.columns, strict=True)):
            kind = self.kinds[j]
            if kind is None:
                continue
            column = as_kind(raw, self._wanted(j, kind), name)
            if kind == "number":
                coded[:, place] = column.values
            elif kind == "category":
                coded[:, place] = self._codes(j, column)
            else:
                parts = parts_of(_seconds(column.values))
                for part in self.parts[j]:
                    coded[:, place] = parts[part]
                    place += 1
                continue
            place += 1
        return coded

    def _wanted(self, j: int, kind: str) -> Column:
        return Column(kind, np.empty(0), zoned=self.zoned.get(j))

    def _codes(self, j: int, column: Column) -> Array:
        code_of = {word: float(code) for code, word in enumerate(self.words[j])}
        pooled = float(len(code_of))
        codes: Array = np.array([*(code_of.get(word, pooled) for word in column.words), np.nan])
        return np.asarray(codes[column.values])

    def typical(self, coded: Array) -> Array:
        """Return a row to compare with: medians, the most frequent categories, a middle date."""
        row = np.zeros(coded.shape[1])
        for k, n_codes in enumerate(self.levels):
            values = coded[:, k]
            there = values[~np.isnan(values)]
            if n_codes:
                counts = np.bincount(there.astype(np.int64), minlength=1)
                rest = len(values) - len(there)
                row[k] = np.nan if rest > counts.max() else float(np.argmax(counts))
            elif len(there):
                row[k] = np.median(there)
        for j, parts in self.parts.items():
            own = np.flatnonzero(self.owners == j)
            if parts != ["days"]:
                days = np.array(np.floor(row[own[0]]), dtype="datetime64[D]")
                middle = parts_of(_seconds(days[np.newaxis]))
                for place, part in zip(own, parts, strict=True):
                    row[place] = row[place] if part == "hour" else middle[part][0]
        return row

    def groups(self) -> list[NDArray[np.intp]]:
        """Return for each column of the table the coded columns that are of it."""
        return [np.flatnonzero(self.owners == j) for j in range(len(self.names))]

    @property
    def plain(self) -> bool:
        """Whether every column of the table is a column of numbers."""
        return set(self.kinds) == {"number"}


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where codes, numbers or dates are missing."""
    if values.dtype.kind == "i":
        return np.asarray(values < 0)
    return np.asarray(np.isnan(values) if values.dtype.kind == "f" else np.isnat(values))


def _seconds(values: NDArray[Any]) -> NDArray[Any]:
    """Dates to the second, which leaves room for any year; spans of time unchanged."""
    return values.astype("datetime64[s]") if values.dtype.kind == "M" else values


__all__ = ["LEAST_ROWS", "MOST_WORDS", "TableCoder"]
