"""table_pipeline: a table of numbers, categories and dates made into numbers, then ranked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils import check_array

from .arrow import word_of
from .dates import DateParts
from .kinds import is_missing, kind_of_cells

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


__all__ = ["table_pipeline"]
