"""How the columns of a large table become numbers: told by a look at it, then done in parts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import as_kinds, frame_of, kinds_of
from .errors import TableError
from .tables import Table

#: Cells of the rows by which medians, categories and scales are told: all of a smaller table.
CELLS = 20_000_000
#: Cells that tell a column of words: to read all of them as numbers would be an error for each.
_TRIED = 100

Columns = dict[str, Any]
#: Rows of a table, and their places in it.
Sample = tuple[Any, NDArray[np.int64]]
Tell = Callable[[int, str], None]


class Unforeseen(Exception):
    """A value is missing where the first look met none: look at all rows."""


def kinds_and_sample(
    table: Table, others: list[str], categories: Collection[str], tell: Tell, *, look_at_all: bool
) -> tuple[dict[str, str], Columns]:
    """The kind of every column to learn from, and rows from all over the table.

    All rows are looked at, unless the file itself says that there are only numbers.
    """
    quick = None if look_at_all else _of_numbers(table, others)
    sample, rows = _look(table, others, tell) if quick is None else quick
    kinds = kinds_of(sample, table.name, texts=table.texts, categories=categories, first=rows)
    if not kinds:
        raise TableError(f"{table.name} has no column to learn from beside the label.")
    return kinds, as_kinds(sample, kinds, table.name, rows)


def _look(table: Table, others: list[str], tell: Tell) -> Sample:
    """Every so many rows, and of each column a row where it is missing, if there is one."""
    import pyarrow as pa

    first, every = 0, 1
    kept: list[tuple[NDArray[np.int64], Any]] = []
    lacking: dict[str, tuple[NDArray[np.int64], Any]] = {}
    for batch in table.batches():
        if first == 0:
            check_columns(table, others)
        batch = batch.select([own for own in batch.schema.names if own not in others])
        rows, width = np.arange(first, first + batch.num_rows), max(batch.num_columns, 1)
        for own in batch.schema.names:
            if own not in lacking and (missing := _missing(batch.column(own))).any():
                row = int(np.argmax(missing))
                lacking[own] = rows[row : row + 1], batch.slice(row, 1)
        kept.append(_thinned(rows, batch, every))
        first += len(rows)
        while sum(len(own) for own, _ in kept) * width > CELLS:
            every *= 2
            kept = [_thinned(own, part, every) for own, part in kept]
        tell(first, "looking at the rows")
    if not first:
        raise TableError(f"{table.name} has no rows.")
    parts = [*kept, *lacking.values()]
    rows, order = np.unique(np.concatenate([rows for rows, _ in parts]), return_index=True)
    return pa.Table.from_batches([part for _, part in parts]).take(order), rows


def _missing(column: Any) -> NDArray[np.bool_]:
    """Where a cell is missing: NaN is a number to Arrow, and "NAN" a text."""
    import pyarrow as pa

    if pa.types.is_string(column.type):
        with contextlib.suppress(pa.ArrowInvalid):  # a word: then none is such a number
            column.slice(0, _TRIED).cast(pa.float64())
            column = column.cast(pa.float64())
    return np.asarray(column.is_null(nan_is_null=True))


def _thinned(rows: NDArray[np.int64], batch: Any, every: int) -> tuple[NDArray[np.int64], Any]:
    if every == 1:
        return rows, batch
    own = np.flatnonzero(rows % every == 0)
    return rows[own], batch.take(own)


def check_columns(table: Table, named: list[str]) -> None:
    """Refuse columns that are not there; the first rows must have been read."""
    for own in named:
        if own not in table.columns:
            shown = ", ".join(repr(one) for one in table.columns[:8])
            raise TableError(f"{table.name} has no column {own!r}; its columns are {shown}.")


def _of_numbers(table: Table, others: list[str]) -> Sample | None:
    """Rows from all over a Parquet file whose columns are numbers, none of them missing.

    None where the file does not say so.
    """
    if table.format != "parquet":
        return None
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(table.path, pre_buffer=False) as file:
            about, schema = file.metadata, file.schema_arrow
            table.columns[:] = schema.names
            check_columns(table, others)
            own = [k for k, name in enumerate(schema.names) if name not in others]
            types = [schema.field(k).type for k in own]
            plain = all(pa.types.is_integer(one) or pa.types.is_floating(one) for one in types)
            if not plain or about.num_columns != len(schema.names) or not _none_missing(about, own):
                return None
            rows = max(CELLS // max(len(own), 1), 1)
            groups = about.num_row_groups
            count = max(min(groups, rows * groups // max(about.num_rows, 1)), 1)
            chosen = np.unique(np.linspace(0, groups - 1, count).astype(int)).tolist()
            names = [schema.names[k] for k in own]
            each = max(rows // len(chosen), 1)
            parts = [file.read_row_group(k, columns=names).slice(0, each) for k in chosen]
            before = np.cumsum([0, *(about.row_group(k).num_rows for k in range(groups))])
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{table.name} is no parquet file, or a truncated one.") from error
    found = pa.concat_tables(parts)
    numbers = [np.asarray(column) for column in found.columns]
    if any(np.isnan(x).any() for x in numbers if x.dtype.kind == "f"):
        return None
    places = zip(chosen, parts, strict=True)
    return found, np.concatenate([before[k] + np.arange(part.num_rows) for k, part in places])


def _none_missing(about: Any, columns: list[int]) -> bool:
    """Whether a Parquet file says that no value of these columns is missing."""
    for k in range(about.num_row_groups):
        group = about.row_group(k)
        for column in columns:
            known = group.column(column).statistics
            if known is None or not known.has_null_count or known.null_count:
                return False
    return int(about.num_row_groups) > 0


def prepare(sample: Columns, *, scale: bool) -> tuple[Any, list[str]]:
    """Transformers fitted on a sample, and the names of the columns they make."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from ..features import table_pipeline

    steps = [*table_pipeline().steps, *([("scale", StandardScaler())] if scale else [])]
    pipeline = Pipeline(steps).fit(frame_of(sample))
    return pipeline, [str(name) for name in pipeline.get_feature_names_out()]


class Preparation:
    """Columns as numbers: by the transformers or, of numbers alone, at a tenth of their cost."""

    def __init__(self, pipeline: Any, kinds: dict[str, str]) -> None:
        self._pipeline = pipeline
        (_, numbers), *scaling = pipeline.steps
        self._numbers = [name for name, kind in kinds.items() if kind == "number"]
        fitted = {name: step for name, step, _ in numbers.transformers_}
        flags = fitted["number"].steps[-1][1].indicator_ if self._numbers else None
        flagged = [] if flags is None else [self._numbers[k] for k in flags.features_]
        #: Columns of numbers of which none was missing.
        self._whole = [name for name in self._numbers if name not in flagged]
        self._plain = len(self._whole) == len(kinds)
        self._scaler = scaling[0][1] if scaling else None

    def __call__(self, columns: Columns) -> NDArray[np.float64]:
        """The numbers of some rows."""
        if any(np.isnan(columns[name]).any() for name in self._whole):
            raise Unforeseen
        if not self._plain:
            return np.asarray(self._pipeline.transform(frame_of(columns)))
        X = np.column_stack(list(columns.values()))
        return X if self._scaler is None else (X - self._scaler.mean_) / self._scaler.scale_


__all__ = ["CELLS", "Preparation", "Unforeseen", "check_columns", "kinds_and_sample", "prepare"]
