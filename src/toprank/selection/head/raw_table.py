"""Raw tables in a HeadRanker: coded once, and made into numbers inside each candidate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ...designs import MemoryDesign, as_design
from ...estimators.validation import LabelledRows, check_entries, check_matrix
from ...features.frames import Columns, columns_of, is_frame
from ...features.table_coder import CodedNumbers, TableCoder
from ...inputs.dispatch import cluster_of
from .blocks import medians
from .contenders import Contender, Data, Given
from .linear import Linear
from .trees import Trees

#: What to do about missing values in rows like those of a fit without any.
_FILL = " Or fit a DataFrame, or rows with missing values: new rows may have them then."


class HeadTable:
    """Checks of X: a table is coded by a `TableCoder`, other rows stay as they are."""

    feature_names_in_: NDArray[Any]
    n_features_in_: int
    _coder: TableCoder | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Self:
        if cluster_of(X) is not None:
            for name, dtype in dict(getattr(X, "dtypes", {})).items():
                if getattr(dtype, "kind", "O") not in "biuf":
                    raise TypeError(
                        f"Column {name!r} of X holds {dtype}: HeadRanker takes only numbers on a "
                        "cluster. Fit a sample in memory, X.sample(frac=0.1).compute(): the ranker "
                        "then scores the whole collection, with all its columns."
                    )
        fitted: Self = super()._fit(X, y, sample_weight, **options)  # type: ignore[misc]
        return fitted

    def _check(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> LabelledRows:
        self.__dict__.pop("_coder", None)
        table = self._table(X)
        if table is None:
            rows: LabelledRows = super()._check(X, y, sample_weight)  # type: ignore[misc]
            return rows
        ranker: Any = self
        weight = ranker._weights_of(table, sample_weight)
        coder = TableCoder().fit(table, None if weight is None else weight > 0.0)
        rows = ranker._labelled(as_design(coder.transform(table)), weight, X, y)
        self._coder = coder
        return rows

    def _table(self, X: Any) -> Columns | None:
        """Return the columns of a table or of rows with gaps; None of other rows."""
        if is_frame(X):
            return self._read(X, reset=True)
        if sparse.issparse(X):
            return None
        cells = np.array(X, dtype=object) if isinstance(X, list | tuple) and _has_texts(X) else X
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "OUSmM" and cells.ndim == 2:
            return self._read(cells, reset=True)
        rows = check_matrix(self, X, reset=True, entries=False).X
        if isinstance(rows, np.ndarray) and np.isnan(np.min(rows)):
            return columns_of(rows)
        return None

    def _read(self, X: Any, *, reset: bool) -> Columns:
        """Read a table; its columns must be those of the fit unless it is one."""
        if not reset and isinstance(X, np.ndarray):
            _check_n_features(self, X, reset=False)
        table = columns_of(X, None if reset else getattr(self, "feature_names_in_", None))
        if not table.n_rows or not table.columns:
            n, d = table.shape
            raise ValueError(f"Found array with {n} sample(s) and {d} feature(s): X holds nothing.")
        try:
            _check_feature_names(self, X, reset=reset)
        except ValueError as error:
            if set(table.names) >= set(self.feature_names_in_):
                raise ValueError(f"{error}Pass X[ranker.feature_names_in_].") from error
            raise
        _check_n_features(self, X, reset=reset)
        return table

    def _design(self, X: ArrayLike, *, reset: bool) -> MemoryDesign:
        if not reset and self._coder is not None:
            if sparse.issparse(X):
                raise TypeError(
                    "X is sparse, and the ranker was fitted on a table: pass the same columns."
                )
            if isinstance(X, list | tuple):
                X = np.array(X, dtype=object)
            return as_design(self._coder.transform(self._read(X, reset=False)))
        design = check_matrix(self, X, reset=reset, entries=False)
        check_entries(self, design, instead=_FILL)
        return design

    def _typical(self, X: Any) -> NDArray[np.float64] | None:
        """Return the row that `explain` compares with; None where rows are sparse."""
        if sparse.issparse(X):
            return None
        if self._coder is not None:
            return self._coder.typical(X)
        return medians(X)


def _has_texts(X: Any) -> bool:
    try:
        return np.asarray(X).dtype.kind in "OUS"
    except ValueError:
        return False


@dataclass(frozen=True)
class OfCoded:
    """Makes a feature set for coded rows, which become numbers first."""

    maker: Any
    levels: NDArray[np.int64]

    def __call__(self, n: int, d: int) -> Any:
        """Return the transformer, not fitted."""
        made = self.maker(n, d)
        steps = made.steps if isinstance(made, Pipeline) else [("made", made)]
        return Pipeline([("numbers", CodedNumbers(self.levels)), *steps])


def seated(contender: Contender, data: Data) -> Contender:
    """Return a candidate as it runs on these rows."""
    contender = data.seated(contender)
    levels = data.levels
    if levels is None:
        return contender
    if isinstance(contender, Linear):
        making = replace(contender.making, maker=OfCoded(contender.making.maker, levels))
        return replace(contender, making=making)
    if isinstance(contender, Trees):
        return replace(contender, levels=levels)
    if isinstance(contender, Given):
        own = contender.estimator
        steps = own.steps if isinstance(own, Pipeline) else [("estimator", own)]
        numbers = ("numbers", CodedNumbers(levels))
        return replace(contender, estimator=Pipeline([numbers, *steps]))
    return contender


__all__ = ["HeadTable", "seated"]
