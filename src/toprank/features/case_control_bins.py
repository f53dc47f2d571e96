"""CaseControlBins: columns coded by quantiles of each class, so that trees can cut anywhere."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..inputs.cells import refuse_no_numbers
from .bin_edges import case_control_edges, code
from .rows import check_rows

Array = NDArray[np.float64]

#: Types of columns that hold categories, by the names that pandas and Polars give them.
_CATEGORIES = ("CategoricalDtype", "StringDtype", "Categorical", "Enum", "String", "Object")


class CaseControlBins(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace every value by its bin, with bin edges at quantiles of each class.

    Histogram-based gradient boosting cuts columns at quantiles of all rows. If positives are rare,
    the range where they live falls into a few of these bins, and trees cannot split it. Here half
    of the edges are quantiles of the positives and half are quantiles of the negatives, so trees
    behind this step can split where either class has its rows. The coding is monotone. It changes
    where trees can split, and nothing else.

    Parameters
    ----------
    n_edges : int, default=120
        Edges for each class. With two classes a column has at most ``2 * n_edges + 1`` codes, which
        fit into the 255 bins of LightGBM and scikit-learn.
    categorical : array-like of int, str or bool, default=None
        Indices, names or a boolean mask of columns to pass through unchanged. Columns of a pandas
        or Polars frame that hold categories, strings or objects always pass through.

    Attributes
    ----------
    edges_ : list of ndarray
        The edges of every column, strictly increasing. Empty for constant columns and for columns
        that pass through.
    categorical_ : ndarray of int
        Indices of the columns that pass through.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    BinsAndPairs : One-hot bins with the same edges, for linear scores.
    sklearn.preprocessing.KBinsDiscretizer : Bins at quantiles of all rows.

    Notes
    -----
    The code of a value x is the number of edges below x: 0 if x is at most the first edge. An edge
    lies halfway between two neighbouring training values. NaN is ignored by `fit` and stays NaN,
    and infinite values are ordered values. A class with at most `n_edges` distinct values in a
    column contributes all of them. With more than two classes each class has its own quantiles.

    The edges depend on the labels. Fit them inside each fold: cross-validate the pipeline rather
    than a model on its output.

    Set ``min_data_in_bin=1`` in LightGBM, which otherwise merges bins of fewer than three rows.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from toprank.datasets import load_mammography
    >>> from toprank.features import CaseControlBins
    >>> X, y = load_mammography(return_X_y=True)
    >>> model = make_pipeline(CaseControlBins(), HistGradientBoostingClassifier(random_state=0))
    >>> model = model.fit(X, y)
    >>> [len(edges) + 1 for edges in model[0].edges_]
    [200, 124, 48, 157, 107, 154]
    """

    edges_: list[Array]
    categorical_: NDArray[np.int64]
    n_features_in_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_edges": [Interval(Integral, 1, None, closed="left")],
        "categorical": ["array-like", None],
    }

    def __init__(self, n_edges: int = 120, *, categorical: ArrayLike | None = None) -> None:
        self.n_edges = n_edges
        self.categorical = categorical

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the edges of every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights for the quantiles. A row of weight 2 counts as two rows, a row of weight 0 as
            none.

        Returns
        -------
        self
            The fitted transformer.
        """
        if y is None:
            raise ValueError("CaseControlBins requires y to be passed, but the target y is None.")
        rows, categorical = self._rows(X, reset=True)
        labels = column_or_1d(y, warn=True)
        check_consistent_length(rows, labels)
        check_classification_targets(labels)
        classes = np.unique(labels, return_inverse=True)[1].reshape(-1)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(
                sample_weight, rows, dtype=np.float64, ensure_non_negative=True
            )
            if not weight.any():
                raise ValueError("sample_weight must have a positive entry, got zeros only.")
        self.edges_ = case_control_edges(rows, classes, self.n_edges, weight, categorical)
        self.categorical_ = np.array(categorical, dtype=np.int64)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Replace values by their codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_features)
            The codes in float32. An array is float64 if it passes through a value that float32
            cannot hold. A pandas or Polars frame becomes a frame with the same columns.
        """
        check_is_fitted(self)
        rows, _ = self._rows(X, reset=False)
        skip = self.categorical_.tolist()
        if _is_frame(X):
            return _coded_frame(X, code(rows, self.edges_, skip=skip), skip)
        kept = rows[:, skip]
        exact = np.array_equal(kept.astype(np.float32), kept, equal_nan=True)
        return code(rows, self.edges_, np.float32 if exact else np.float64, skip)

    def _rows(self, X: Any, *, reset: bool) -> tuple[Array, list[int]]:
        """Return the rows as floats, and the indices of the columns that pass through.

        Those columns are NaN where X is a frame, for they may hold no numbers.
        """
        if not _is_frame(X):
            rows = check_rows(self, X, reset=reset, missing=True, infinite=True)
            return rows, self._categorical([]) if reset else []
        refuse_no_numbers(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            dtypes = list(X.dtypes)
            skip = self._categorical([j for j, dtype in enumerate(dtypes) if _is_category(dtype)])
        else:
            skip = self.categorical_.tolist()
        passed = set(skip)
        numeric = [j for j in range(X.shape[1]) if j not in passed]
        rows = np.full(X.shape, np.nan)
        if numeric or not skip:  # a frame without columns is refused by the check
            part = X.iloc[:, numeric] if hasattr(X, "iloc") else X[:, numeric]
            checked = check_rows(CaseControlBins(), part, reset=True, missing=True, infinite=True)
            if len(numeric) == X.shape[1]:
                return checked, skip
            rows[:, numeric] = checked
        return rows, skip

    def _categorical(self, typed: list[int]) -> list[int]:
        """Return the indices of the columns to pass through, those with such a type included."""
        if self.categorical is None:
            return typed
        given, width = np.asarray(self.categorical), self.n_features_in_
        if given.ndim != 1:
            raise ValueError(f"categorical must have one dimension, got {given.ndim}.")
        if given.dtype.kind == "b":
            if len(given) != width:
                raise ValueError(
                    f"categorical is a mask of {len(given)} columns, but X has {width} columns."
                )
            return sorted({*typed, *np.flatnonzero(given).tolist()})
        if given.dtype.kind in "iu" or not len(given):
            wrong = given[(given < 0) | (given >= width)]
            if len(wrong):
                raise ValueError(
                    f"categorical must hold column indices from 0 to {width - 1}, got {wrong[0]}."
                )
            return sorted({*typed, *given.astype(np.int64).tolist()})
        names = list(getattr(self, "feature_names_in_", []))
        unknown = [name for name in given.tolist() if name not in names]
        if unknown:
            raise ValueError(f"categorical names column {unknown[0]!r}, which X does not have.")
        return sorted({*typed, *(names.index(name) for name in given.tolist())})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def _is_frame(X: Any) -> bool:
    """Return whether X is a data frame of pandas or Polars."""
    return type(X).__name__ == "DataFrame" and (hasattr(X, "iloc") or hasattr(X, "with_columns"))


def _is_category(dtype: Any) -> bool:
    name = dtype.__name__ if isinstance(dtype, type) else type(dtype).__name__
    return name in _CATEGORIES or getattr(dtype, "kind", "") in ("O", "U")  # U: Arrow strings


def _coded_frame(X: Any, codes: NDArray[np.float32], skip: list[int]) -> Any:
    """Return a copy of a frame with codes instead of numbers."""
    if hasattr(X, "iloc"):
        if not skip:
            return type(X)(codes, index=X.index, columns=X.columns)
        coded = X.copy(deep=False)
        for j in set(range(X.shape[1])).difference(skip):
            coded.isetitem(j, codes[:, j])
        return coded
    import polars as pl

    numeric = (j for j in range(X.shape[1]) if j not in set(skip))
    return X.with_columns([pl.Series(X.columns[j], codes[:, j]) for j in numeric])


__all__ = ["CaseControlBins", "case_control_edges", "code"]
