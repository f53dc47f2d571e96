"""What `table_pipeline` made of a table: which column each number came of, and the numbers fast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from .dates import DateParts
from .table import MISSING

Array = NDArray[np.float64]

#: The steps of `table_pipeline`, and what is the first of each.
_STEPS = {"number": "as_floats", "category": "as_words", "date": "DateParts"}


def is_of_table(step: Any) -> bool:
    """Whether a step is the one that `table_pipeline` begins with, fitted."""
    return (
        isinstance(step, ColumnTransformer)
        and hasattr(step, "transformers_")
        and [name for name, _, _ in step.transformers] == list(_STEPS)
        and all(_first(pipe) == _STEPS[name] for name, pipe, _ in step.transformers)
    )


def _first(pipe: Any) -> str:
    first = pipe[0] if hasattr(pipe, "steps") else pipe
    return first.func.__name__ if hasattr(first, "func") else type(first).__name__


def _parts(numbers: ColumnTransformer) -> Iterator[tuple[str, Any, list[Any]]]:
    """The kinds that the table has: their name, pipeline and columns."""
    for name, pipe, columns in numbers.transformers_:
        if name in _STEPS and len(columns):
            yield name, pipe, list(columns)


def origins(numbers: ColumnTransformer) -> list[Any]:
    """The column of the table that each number was made of."""
    found = []
    for name, pipe, columns in _parts(numbers):
        if name == "category":
            found += [columns[j] for j in _places(pipe[-1])]
            continue
        own = columns
        if isinstance(pipe[0], DateParts):
            both = zip(columns, pipe[0].parts_, strict=True)
            own = [column for column, parts in both for _ in parts]
        flagged = pipe[-1].indicator_.features_
        found += own + [own[j] for j in flagged]
    return found


def _places(encoder: Any) -> list[int]:
    """Which column each column of a one-hot encoder came of."""
    columns = [str(j) for j in range(encoder.n_features_in_)]
    return [int(name.partition("_")[0]) for name in encoder.get_feature_names_out(columns)]


class FastNumbers:
    """The same numbers as the fitted step gives, bit for bit, of columns that are coded already.

    A category is encoded once, however many rows it is in.
    """

    def __init__(self, numbers: ColumnTransformer) -> None:
        self._parts = list(_parts(numbers))
        self._places = {
            name: np.array(_places(pipe[-1])) for name, pipe, _ in self._parts if name == "category"
        }

    def __call__(self, columns: Mapping[str, Any]) -> Array:
        """Of floats, (codes, words) and dates by the names of columns."""
        made = []
        for name, pipe, own in self._parts:
            if name == "number":
                made.append(pipe[-1].transform(np.column_stack([columns[one] for one in own])))
            elif name == "category":
                made.append(self._one_hot(pipe[-1], [columns[one] for one in own]))
            else:
                import pandas as pd

                made.append(pipe.transform(pd.DataFrame({one: columns[one] for one in own})))
        return np.hstack(made) if len(made) > 1 else np.asarray(made[0])

    def _one_hot(self, encoder: Any, coded: list[tuple[NDArray[np.int64], list[str]]]) -> Array:
        most = max(len(words) for _, words in coded) + 1
        cells = np.full((most, len(coded)), MISSING, dtype=object)
        for j, (_, words) in enumerate(coded):
            cells[: len(words), j] = words
        rows = encoder.transform(cells)  # the last row is of missing cells
        made = np.empty((len(coded[0][0]), rows.shape[1]))
        places = self._places["category"]
        for j, (codes, _) in enumerate(coded):
            own = np.flatnonzero(places == j)
            if len(own):
                made[:, own[0] : own[-1] + 1] = rows[codes, own[0] : own[-1] + 1]
        return made


__all__ = ["FastNumbers", "is_of_table", "origins"]
