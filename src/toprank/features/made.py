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

#: A word that no table has.
_UNKNOWN = "\0"


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


def kinds_in(numbers: ColumnTransformer) -> Iterator[tuple[str, Any, list[Any]]]:
    """The kinds that the table has: their name, pipeline and columns."""
    for name, pipe, columns in numbers.transformers_:
        if name in _STEPS and len(columns):
            yield name, pipe, list(columns)


def origins(numbers: ColumnTransformer) -> list[Any]:
    """The column of the table that each number was made of."""
    found = []
    for name, pipe, columns in kinds_in(numbers):
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
        self._parts = list(kinds_in(numbers))

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
        # Codes of missing cells are -1, which is the last row.
        tables = encoded_words(encoder, [[*words, MISSING] for _, words in coded], unknown=False)
        both = zip(tables, coded, strict=True)
        return np.hstack([rows[codes] for rows, (codes, _) in both])


def encoded_words(encoder: Any, words: list[list[str]], *, unknown: bool = True) -> list[Array]:
    """For each column of a one-hot encoder the rows of its words, and of an unknown one."""
    most = max(map(len, words)) + unknown
    cells = np.full((most, len(words)), _UNKNOWN, dtype=object)
    for j, own in enumerate(words):
        cells[: len(own), j] = own
        if not unknown:
            cells[len(own) :, j] = own[-1]
    rows, places = encoder.transform(cells), np.array(_places(encoder))
    return [
        np.ascontiguousarray(rows[: len(own) + unknown][:, places == j])
        for j, own in enumerate(words)
    ]


__all__ = ["FastNumbers", "encoded_words", "is_of_table", "kinds_in", "origins"]
