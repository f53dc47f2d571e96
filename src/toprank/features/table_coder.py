"""TableCoder: columns as numbers and codes. CodedNumbers: these as columns for linear scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

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


#: The most columns of one category.
_MOST_COLUMNS = 50


class CodedNumbers(TransformerMixin, BaseEstimator):
    """Make numbers without gaps of rows that `TableCoder` has coded.

    Missing numbers are filled with the median and flagged in a column of their own. The most
    frequent codes of a category become a column each, missing ones included. The others share one.

    Parameters
    ----------
    levels : ndarray of shape (n_features_in_,)
        The number of codes of each column; 0 of numbers.

    Attributes
    ----------
    medians_ : ndarray
        What fills each column of numbers.
    flagged_ : ndarray
        The columns of numbers with gaps.
    tables_ : list of ndarray
        For each column of categories the row of its columns for every code; the last but one is
        that of the code of rare words, the last that of missing cells.
    n_features_in_ : int
        Features seen during `fit`.
    """

    def __init__(self, levels: Any) -> None:
        self.levels = levels

    def fit(self, X: Array, y: Any = None) -> Self:
        """See medians, gaps, and which codes are frequent."""
        self.n_features_in_ = X.shape[1]
        numbers = np.flatnonzero(np.asarray(self.levels) == 0)
        gaps = np.isnan(X[:, numbers])
        some, every = np.atleast_1d(gaps.any(axis=0)), np.atleast_1d(gaps.all(axis=0))
        medians = np.zeros(len(numbers))
        for k, j in enumerate(numbers):
            if not every[k]:
                medians[k] = np.nanmedian(X[:, j]) if some[k] else np.median(X[:, j])
        self.medians_ = medians
        self.flagged_ = numbers[some & ~every]
        self.tables_ = [_table(X[:, j], int(self.levels[j])) for j in np.flatnonzero(self.levels)]
        return self

    def transform(self, X: Array) -> Array:
        """Make numbers of coded rows."""
        numbers = np.flatnonzero(np.asarray(self.levels) == 0)
        widths = [len(numbers), len(self.flagged_), *(table.shape[1] for table in self.tables_)]
        if widths[0] == sum(widths) == X.shape[1] and not np.isnan(X).any():
            return X
        made = np.empty((len(X), sum(widths)))
        filled = made[:, : len(numbers)]
        filled[:] = X[:, numbers]
        rows, columns = np.nonzero(np.isnan(filled))
        filled[rows, columns] = self.medians_[columns]
        starts = np.cumsum(widths)
        made[:, starts[0] : starts[1]] = np.isnan(X[:, self.flagged_])
        for k, (j, table) in enumerate(zip(np.flatnonzero(self.levels), self.tables_, strict=True)):
            codes = np.nan_to_num(X[:, j], nan=len(table) - 1).astype(np.int64)
            made[:, starts[k + 1] : starts[k + 2]] = table[codes]
        return made

    @property
    def unchanged(self) -> bool:
        """Whether rows without gaps pass unchanged."""
        return not (len(self.flagged_) or self.tables_)


def _table(codes: Array, n_codes: int) -> Array:
    """Return the row of columns for every code, and for a missing one."""
    there = codes[~np.isnan(codes)].astype(np.int64)
    counts = np.bincount(there, minlength=n_codes)
    frequent = counts[:-1] >= LEAST_ROWS
    ranks = np.argsort(-counts[:-1], kind="stable")[:_MOST_COLUMNS]
    kept = np.sort(ranks[frequent[ranks]])
    others = np.setdiff1d(np.arange(n_codes), kept)
    pool = [others] if counts[others].any() else []
    missing = [np.array([n_codes])] if len(there) < len(codes) else []
    members: list[Any] = [*([code] for code in kept), *pool, *missing]
    table = np.zeros((n_codes + 1, len(members)))
    for column, own in enumerate(members):
        table[own, column] = 1.0
    return table


__all__ = ["LEAST_ROWS", "MOST_WORDS", "CodedNumbers", "TableCoder"]
