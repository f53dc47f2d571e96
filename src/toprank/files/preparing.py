"""How the columns of a large table become numbers: told by a look at it, then done in chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import as_kinds, kinds_of, types_of
from .errors import TableError
from .tables import Table

#: Cells of the rows by which medians, categories and scales are told: all of a smaller table.
_CELLS = 20_000_000


class Unforeseen(Exception):
    """A value of a kind that the first look did not meet: look at all rows."""


def numbers_of(pipeline: Any, rows: Any) -> NDArray[np.float64]:
    """The numbers of some rows; one that is missing where none was before is unforeseen."""
    plain = pipeline.steps[0][1].transformers_[0][1]
    flags = plain.steps[-1][1].indicator_ if hasattr(plain, "steps") else None
    if flags is not None:
        named = list(pipeline.steps[0][1].transformers_[0][2])
        seen = {named[k] for k in flags.features_}
        if rows[[name for name in named if name not in seen]].isna().to_numpy().any():
            raise Unforeseen
    return np.asarray(pipeline.transform(rows))


def plain_numbers(pipeline: Any, frame: Any, names: list[str], dtype: str) -> Any:
    """The same at a tenth of the cost: of columns that are numbers, none missing; else None."""
    (numbers, *scaling), width = [step for _, step in pipeline.steps], len(names)
    plain = list(numbers.transformers_[0][2]) == names and not any(
        len(columns) for _, _, columns in numbers.transformers_[1:]
    )
    flags = numbers.transformers_[0][1].steps[-1][1].indicator_ if plain else None
    if not plain or flags is None or len(flags.features_):
        return None
    own = frame[names]
    if any(not isinstance(kind, np.dtype) or kind.kind not in "iuf" for kind in own.dtypes):
        return None
    with np.errstate(over="ignore"):
        X = own.to_numpy(dtype=np.float64 if scaling else dtype)
    for scaler in scaling:
        X = (X - scaler.mean_) / scaler.scale_
    with np.errstate(over="ignore"):
        kept = np.ascontiguousarray(X, dtype=dtype)
    return kept if kept.shape[1] == width and np.isfinite(kept).all() else None


def kinds_and_sample(
    table: Table,
    others: list[str],
    tell: Callable[[int, str], None],
    *,
    look_at_all: bool,
) -> tuple[dict[str, str], Any]:
    """The kind of every column to learn from, and rows from all over the table.

    All rows are looked at, unless the file itself says that there are only numbers.
    """
    quick = None if look_at_all else table.number_sample(_CELLS, others)
    if quick is not None:
        frame = quick.drop(columns=[name for name in others if name in quick.columns])
        _check_columns(table, quick, others)
        kinds = kinds_of(frame)
        numbers = len(kinds) == len(frame.columns) and set(kinds.values()) == {"number"}
        if numbers and not frame.isna().to_numpy().any():
            return kinds, as_kinds(frame, kinds, table.name, 0)
    kinds, mixed, sample = _look(table, others, {}, tell)
    if mixed:  # what was read as a number in one chunk and as text in another is text
        kinds, _, sample = _look(table, others, types_of(kinds), tell)
    if not kinds:
        raise TableError(f"{table.name} has no column to learn from beside the label.")
    return kinds, as_kinds(sample, kinds, table.name, 0)


def _check_columns(table: Table, frame: Any, others: list[str]) -> None:
    for name in others:
        if name not in frame.columns:
            shown = ", ".join(repr(str(one)) for one in list(frame.columns)[:8])
            raise TableError(f"{table.name} has no column {name!r}; its columns are {shown}.")


def _look(
    table: Table, others: list[str], types: dict[str, Any], tell: Callable[[int, str], None]
) -> tuple[dict[str, str], bool, Any]:
    """Kinds by all rows, whether a column was of several, and every so many rows."""
    import pandas as pd

    kinds: dict[str, str] = {}
    mixed, first, every = False, 0, 1
    kept: list[Any] = []
    lacking: dict[str, Any] = {}
    for frame in table.chunks(types):
        frame.columns = [str(name) for name in frame.columns]
        if first == 0:
            _check_columns(table, frame, others)
        frame = frame.drop(columns=others)
        for name, kind in kinds_of(frame).items():
            if kinds.setdefault(name, kind) != kind:
                kinds[name], mixed = "category", True
        frame.index = range(first, first + len(frame))
        for name in frame.columns:
            if name not in lacking and frame[name].isna().any():
                lacking[name] = frame[frame[name].isna()].iloc[:1]
        kept.append(frame[frame.index % every == 0])
        first += len(frame)
        while sum(map(len, kept)) * max(len(frame.columns), 1) > _CELLS:
            every *= 2
            kept = [one[one.index % every == 0] for one in kept]
        tell(first, "looking")
    if not first:
        raise TableError(f"{table.name} has no rows.")
    # A column with a missing value anywhere has one in the sample too.
    sample = pd.concat([*kept, *lacking.values()])
    sample = sample[~sample.index.duplicated()].sort_index()
    return {name: kinds[name] for name in sample.columns if name in kinds}, mixed, sample


def prepare(sample: Any, *, scale: bool) -> tuple[Any, list[str]]:
    """Transformers fitted on a sample, and the names of the columns they make."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from ..features import table_pipeline

    steps = [*table_pipeline().steps, *([("scale", StandardScaler())] if scale else [])]
    pipeline = Pipeline(steps).fit(sample)
    return pipeline, [str(name) for name in pipeline.get_feature_names_out()]


__all__ = ["Unforeseen", "kinds_and_sample", "numbers_of", "plain_numbers", "prepare"]
