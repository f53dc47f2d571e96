"""table_pipeline and its steps: imputing, one-hot categories, dates, names of origins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils import check_array

from .arrow import is_missing, kind_of_cells, word_of
from .dates import DateParts

#: What a missing category is called.
MISSING = "(missing)"


def table_pipeline(
    ranker: Any = None, *, max_categories: int = 50, min_frequency: int = 10
) -> Pipeline:
    """Make a pipeline for a table as it comes: numbers, categories, dates, missing values.

    Columns are told apart by their types when the pipeline is fitted; one of Python objects is
    numbers, or dates, if all of its cells are. Missing numbers are filled
    with the median and flagged by a column of their own. Categories become a column each, a
    missing one included; rare ones are pooled, and one that was not seen in `fit` counts as rare,
    or as none where there is no pool. Dates are taken apart by `DateParts`.

    Parameters
    ----------
    ranker : estimator, optional
        The last step, such as `HeadRanker()`. Without it the pipeline only makes numbers.
    max_categories : int, default=50
        The most columns that one column of categories becomes: the rest are pooled.
    min_frequency : int, default=10
        Categories of fewer training rows are pooled.

    Returns
    -------
    Pipeline
        Of the step "numbers", a `ColumnTransformer` with dense output, and the step "ranker".

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank import LogisticRank
    >>> from toprank.features import table_pipeline
    >>> table = pd.DataFrame({
    ...     "age": [31.0, None, 54.0, 40.0],
    ...     "job": ["clerk", "nurse", None, "clerk"],
    ...     "since": pd.to_datetime(["2020-01-31", "2021-05-01", "2019-08-01", None]),
    ... })
    >>> pipeline = table_pipeline(LogisticRank(1e-2), min_frequency=1).fit(table, [0, 1, 0, 1])
    >>> [str(name) for name in pipeline[:-1].get_feature_names_out()[:5]]
    ['age', 'missingindicator_age', 'job_(missing)', 'job_clerk', 'job_nurse']
    """
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=max_categories,
        min_frequency=min_frequency,
        sparse_output=False,
    )
    numbers = ColumnTransformer(
        [
            ("number", make_pipeline(_step(as_floats), _imputer()), of_kind("number")),
            ("category", make_pipeline(_step(as_words), one_hot), of_kind("category")),
            ("date", make_pipeline(DateParts(), _imputer()), of_kind("date")),
        ],
        sparse_threshold=0.0,  # what follows squashes, bins and splits columns: they are dense
        verbose_feature_names_out=False,
    )
    return Pipeline([("numbers", numbers), *([] if ranker is None else [("ranker", ranker)])])


def _imputer() -> SimpleImputer:
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def _step(function: Callable[[Any], Any]) -> FunctionTransformer:
    return FunctionTransformer(function, feature_names_out="one-to-one")


class of_kind:
    """Chooses the columns of a kind, for a `ColumnTransformer`: a class, so that it pickles."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, X: Any) -> list[Any]:
        """The names of the columns, or their places where there are no names."""
        names, dtypes = getattr(X, "columns", None), getattr(X, "dtypes", None)
        if names is None or dtypes is None:
            kinds = [kind_of(X.dtype)] * X.shape[1]
            if X.dtype == object:
                kinds = [kind_of_cells(column) for column in X.T]
            return [place for place, kind in enumerate(kinds) if kind == self.kind]
        kinds = [
            kind_of_cells(X[name]) if _of_objects(dtype) else kind_of(dtype)
            for name, dtype in zip(names, dtypes, strict=True)
        ]
        return [name for name, kind in zip(names, kinds, strict=True) if kind == self.kind]


def _of_objects(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def kind_of(dtype: Any) -> str:
    """Whether a column holds a number, a date or a category, by its type in pandas or polars."""
    if hasattr(dtype, "is_numeric"):
        if dtype.is_temporal():
            return "date"
        return "number" if dtype.is_numeric() or str(dtype) == "Boolean" else "category"
    kind = getattr(dtype, "kind", "O")
    if kind in "mM":
        return "date"
    return "number" if kind in "biuf" else "category"


def as_floats(X: Any) -> NDArray[np.float64]:
    """Numbers and truth values of any type as floats, missing ones NaN."""
    dtypes = [X.dtype] if hasattr(X, "dtype") else list(X.dtypes)
    if any(map(_of_objects, dtypes)):
        cells = np.array(X, dtype=object)
        gaps = [is_missing(cell) for cell in cells.ravel()]
        cells[np.reshape(gaps, cells.shape)] = np.nan
    else:
        cells = X
    try:
        floats: NDArray[np.float64] = check_array(cells, dtype=np.float64, ensure_all_finite=False)
    except (TypeError, ValueError) as error:
        row, column, cell = _first_no_number(np.asarray(X, dtype=object))
        raise ValueError(
            f"{_column(X, column)} held numbers in fit, and holds {cell!r} in row {row}: make a "
            "number of it, or mark it as missing (NaN)."
        ) from error
    if (infinite := np.isinf(floats)).any():
        row, column = np.argwhere(infinite)[0]
        raise ValueError(
            f"{_column(X, column)} is infinite in row {row}: replace it, or mark it as missing "
            "(NaN)."
        )
    return floats


def _column(X: Any, place: int) -> str:
    names = getattr(X, "columns", None)
    return f"Column {place} of the numbers" if names is None else f"Column {names[place]!r}"


def _first_no_number(cells: NDArray[Any]) -> tuple[int, int, Any]:
    for (row, column), cell in np.ndenumerate(cells):
        try:
            float("nan" if is_missing(cell) else cell)
        except (TypeError, ValueError):
            return row, column, cell
    raise ValueError("The columns of numbers cannot be read.")


def as_words(X: Any) -> NDArray[Any]:
    """Categories of any type as words, so that a column may mix types."""
    cells = np.array(X, dtype=object)
    words = [MISSING if is_missing(cell) else word_of(cell) for cell in cells.ravel()]
    return np.array(words, dtype=object).reshape(cells.shape)


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


__all__ = ["FastNumbers", "encoded_words", "is_of_table", "kinds_in", "origins", "table_pipeline"]
