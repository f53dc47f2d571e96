"""Squash: columns brought to one scale by their quartiles, with outliers drawn in."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .rows import check_rows

Array = NDArray[np.float64]

#: A spread this small beside the column's size is rounding.
_ROUNDING = 1e-12


class Squash(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Bring columns to one scale by their quartiles, and draw in what lies far out.

    A value x becomes :math:`z / \sqrt{1 + (z/b)^2}` with :math:`z = (x - \text{median}) /
    \text{interquartile range}`: near the median it is z, far out it tends to b. One huge value
    then moves a linear score no further than a large one does.

    Parameters
    ----------
    bound : float, default=3.0
        b, what no value gets beyond.

    Attributes
    ----------
    center_ : ndarray of shape (n_features_in_,)
        The median of every column.
    scale_ : ndarray of shape (n_features_in_,)
        The interquartile range; where that is zero, because more than half of the values are
        equal, the standard deviation about the median; 1 of a constant column, which becomes zero.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    BinsAndPairs : Steps in every column, and cells of pairs of columns.

    Notes
    -----
    Missing values (NaN) count for nothing in `fit`, and stay missing: impute before or after.
    Sparse matrices are refused, for a median other than zero would fill them.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.features import Squash
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [1000.0]])
    >>> Squash().fit_transform(X).round(2).ravel()
    array([-0.95, -0.49,  0.  ,  0.49,  3.  ])
    """

    center_: Array
    scale_: Array
    n_features_in_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bound": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, bound: float = 3.0) -> None:
        self.bound = bound

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Take medians and quartiles.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : ignored
            There for pipelines.

        Returns
        -------
        self
            The fitted transformer.
        """
        X = check_rows(self, X, reset=True, missing=True)
        # One column at a time: quantiles sort copies, which for all columns take much memory.
        low, middle, high = np.array([_quartiles(column) for column in X.T]).T
        spread = high - low
        flat = spread <= _ROUNDING * np.maximum(np.abs(low), np.abs(high))
        for j in np.flatnonzero(flat):
            spread[j] = _deviation(X[:, j].astype(np.float64), middle[j])
        self.center_, self.scale_ = middle, spread
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Squash rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Values within `bound` of zero, in float32 if X is.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, missing=True)
        z = X - self.center_.astype(X.dtype)
        z /= self.scale_.astype(X.dtype)
        length = z / X.dtype.type(self.bound)
        np.hypot(1.0, length, out=length)
        z /= length
        return z

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _quartiles(column: Array) -> Array:
    """Return the quartiles of a column, zeros if it is empty."""
    there = column[~np.isnan(column)].astype(np.float64, copy=False)
    return np.quantile(there, [0.25, 0.5, 0.75]) if len(there) else np.zeros(3)


def _deviation(column: Array, middle: float) -> float:
    """Return the standard deviation about the median, 1 of a constant column."""
    off = column[~np.isnan(column)] - middle
    largest = float(np.abs(off).max(initial=0.0))
    if largest <= _ROUNDING * abs(middle):
        return 1.0
    return largest * float(np.sqrt(np.mean((off / largest) ** 2)))  # no square overflows


__all__ = ["Squash"]
