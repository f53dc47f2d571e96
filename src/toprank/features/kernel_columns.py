"""KernelColumns: the columns, and Nystroem's columns of a Gaussian kernel beside them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, check_random_state

from .rows import check_rows

Array = NDArray[np.float64]

#: Directions with less of the kernel than this, in units of its largest eigenvalue, are left out:
#: no strength of regularisation worth choosing lets them count, and in float32 they are rounding.
_LEAST = 1e-6
#: Rows whose kernel is made at a time.
_BLOCK = 4096


class KernelColumns(TransformerMixin, BaseEstimator):
    r"""Let a linear score bend everywhere: columns of a Gaussian kernel, by Nystroem's method.

    A linear score of the new columns is :math:`\sum_r a_r e^{-\gamma |x - c_r|^2}` over some
    training rows :math:`c_r`, with the penalty that the kernel gives it. They are scaled so that
    on columns of unit spread the kernel's part of a row is as long as the row.

    Parameters
    ----------
    n_components : int, default=600
        How many training rows are taken, or half of them if those are fewer. Directions in which
        the kernel is all but zero are left out, so that there may be fewer columns.
    gamma : float or None, default=None
        The kernel's width; None is 1 / n_features.
    columns : bool, default=True
        Whether the columns themselves come first in the output.
    random_state : int, RandomState instance or None, default=None
        Decides which rows are taken.

    Attributes
    ----------
    rows_ : ndarray of shape (n_rows, n_features_in_)
        The rows that were taken.
    map_ : ndarray of shape (n_rows, n_kernel_columns)
        From the kernel with those rows to the columns: the eigenvectors of their own kernel
        matrix over the roots of its eigenvalues, the largest first, times
        sqrt(n_features_in\_).
    gamma_ : float
        The width that was taken.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    Squash : Brings columns to one scale first.
    sklearn.kernel_approximation.Nystroem : Other kernels. Its columns are these, turned.

    Notes
    -----
    Missing values (NaN) are refused: impute first.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from toprank import LogisticRank
    >>> from toprank.datasets import load_mammography
    >>> from toprank.features import KernelColumns, Squash
    >>> X, y = load_mammography(return_X_y=True)
    >>> kernel = KernelColumns(300, random_state=0)
    >>> pipeline = make_pipeline(Squash(), kernel, LogisticRank(1e-4)).fit(X, y)
    >>> pipeline[1].get_feature_names_out()[[0, 6]].tolist()
    ['x0', 'kernel0']
    """

    rows_: Array
    map_: Array
    gamma_: float
    n_features_in_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "gamma": [None, Interval(Real, 0, None, closed="neither")],
        "columns": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 600,
        *,
        gamma: float | None = None,
        columns: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.columns = columns
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Take rows, and find the directions of their kernel.

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
        X = check_rows(self, X, reset=True, missing=False)
        n, d = X.shape
        taken = check_random_state(self.random_state).permutation(n)
        self.rows_ = X[taken[: max(1, min(self.n_components, n // 2))]]
        self.gamma_ = 1.0 / d if self.gamma is None else float(self.gamma)
        own = gaussian(self.rows_.astype(np.float64), self.rows_.astype(np.float64), self.gamma_)
        values, vectors = eigh(own, overwrite_a=True, check_finite=False)
        kept = np.flatnonzero(values > _LEAST * values[-1])[::-1]
        vectors = vectors[:, kept]
        # The sign of an eigenvector is anybody's: its largest entry is to be positive.
        largest = np.abs(vectors).argmax(axis=0)
        scale = np.sign(vectors[largest, np.arange(len(kept))]) * np.sqrt(d / values[kept])
        self.map_ = np.ascontiguousarray(vectors * scale, dtype=X.dtype)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Make the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The columns, if they are wanted, and those of the kernel; in float32 if X is.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, missing=False)
        own = X.shape[1] if self.columns else 0
        made = np.empty((len(X), own + self.map_.shape[1]), dtype=X.dtype)
        rows, turned = (part.astype(X.dtype, copy=False) for part in (self.rows_, self.map_))
        for start in range(0, len(X), _BLOCK):
            block = X[start : start + _BLOCK]
            made[start : start + _BLOCK, :own] = block[:, :own]
            made[start : start + _BLOCK, own:] = gaussian(block, rows, self.gamma_) @ turned
        return made

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """What the columns of the output are.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the input; without them those seen in `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str objects
            Those names, if the columns are wanted, then kernel0, kernel1, ...
        """
        check_is_fitted(self)
        names = list(_check_feature_names_in(self, input_features)) if self.columns else []
        names += [f"kernel{k}" for k in range(self.map_.shape[1])]
        return np.array(names, dtype=object)

    @property
    def _n_features_out(self) -> int:
        """What scikit-learn asks of its own transformers too."""
        return int(self.map_.shape[1]) + (self.n_features_in_ if self.columns else 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def gaussian(X: Array, rows: Array, gamma: float) -> Array:
    """exp(-gamma |x - row|^2) of every pair."""
    # Twice the product less both squares, in place: the kernel is all the memory there is.
    made = (2.0 * X) @ rows.T
    made -= np.einsum("ij,ij->i", X, X)[:, np.newaxis]
    made -= np.einsum("ij,ij->i", rows, rows)
    made *= X.dtype.type(gamma)
    return np.asarray(np.exp(np.minimum(made, 0.0, out=made), out=made))


__all__ = ["KernelColumns"]
