"""BinsAndPairs: one-hot bins of every column, cells and products of pairs of columns."""

from __future__ import annotations

from itertools import combinations, pairwise
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .bin_edges import case_control_edges
from .rows import check_rows

Array = NDArray[np.float64]
Bins = NDArray[np.int32]


def quantile_edges(column: Array, n_bins: int) -> Array:
    """Return edges of at most `n_bins` bins with about the same number of rows each.

    A value on an edge belongs to the bin above it, so no bin of the training rows is empty.
    """
    shares = np.arange(1, n_bins) / n_bins
    edges = np.unique(np.quantile(column, shares, method="higher"))
    return np.asarray(edges[edges > column.min()], dtype=np.float64)


def bin_of(column: Array, edges: Array) -> Bins:
    """Return the bin of every value: the number of edges at or below it."""
    return np.searchsorted(edges, column, side="right").astype(np.int32)


def information(bins: Bins, labels: NDArray[np.intp]) -> float:
    """Return sum p(b, y) log(p(b, y) / (p(b) p(y))), the mutual information in nats."""
    n_bins, n_labels = int(bins.max()) + 1, int(labels.max()) + 1
    cells = np.bincount(bins * n_labels + labels, minlength=n_bins * n_labels)
    joint = cells.reshape(n_bins, n_labels) / len(labels)
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    filled = joint > 0.0
    return float((joint[filled] * np.log(joint[filled] / expected[filled])).sum())


class BinsAndPairs(TransformerMixin, BaseEstimator):
    """Add one-hot bins of every column, and cells and products of pairs of columns.

    The output is sparse. For each column it has an indicator of the bin that the value falls in.
    For each pair of the most informative columns it has an indicator of the cell of a two-way grid,
    and the product of the two values. A linear score of these columns is a step function of every
    column plus a step function of every pair.

    Parameters
    ----------
    n_bins : int, default=24
        Bins of a column. Columns with fewer distinct values have fewer bins.
    n_strongest : int, default=8
        Number of columns that are paired: those whose bins have the largest mutual information with
        y. 0 makes no pairs.
    n_grid : int, default=8
        Bins of each of the two columns of a cell.
    columns : bool, default=True
        Include the columns themselves, as the first columns of the output.
    edges : {"case-control", "quantiles"}, default="case-control"
        Where the edges of the bins are. "case-control" takes the same number of quantiles of each
        class, as `CaseControlBins` does: with 24 bins and two classes, 12 quantiles of the
        positives and 12 of the negatives, so at most 25 bins. This resolves the range where rare
        positives live. "quantiles" takes quantiles of all rows: the bins hold about the same number
        of rows each.

    Attributes
    ----------
    edges_ : list of ndarray
        The edges between the bins of every column. Empty for constant columns.
    binned_ : ndarray
        Indices of the columns with bins in the output. Constant columns have none. With
        `columns=True`, neither have columns of two values, because their bins would repeat them.
    information_ : ndarray of shape (n_features_in_,)
        Mutual information of the bins of every column and y, in nats.
    strongest_ : ndarray
        Indices of the columns that are paired, the most informative one first.
    grid_edges_ : list of ndarray
        The edges between their bins in a cell.
    n_features_out_ : int
        Columns of the output.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    CaseControlBins : Codes of such bins, for trees.
    Squash : Limits outliers, whose products would be large: put it before this.
    sklearn.preprocessing.KBinsDiscretizer : Bins alone.

    Notes
    -----
    Missing values (NaN) are refused: impute first. A constant column has no bins and is in no
    pair. A value on an edge belongs to the bin above. Values beyond those of the training rows
    belong to the first or the last bin. The edges and the pairs depend on the labels, so
    cross-validate the whole pipeline rather than a ranker on the output.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from toprank import LogisticRank
    >>> from toprank.datasets import load_mammography
    >>> from toprank.features import BinsAndPairs, Squash
    >>> X, y = load_mammography(return_X_y=True)
    >>> pipeline = make_pipeline(Squash(), BinsAndPairs(), LogisticRank(1e-3)).fit(X, y)
    >>> pipeline[:-1].transform(X).shape
    (11183, 1050)
    >>> pipeline[1].get_feature_names_out()[-1].split(" * ")[0]
    'x0'
    """

    edges_: list[Array]
    binned_: NDArray[np.int64]
    information_: Array
    strongest_: NDArray[np.int64]
    grid_edges_: list[Array]
    n_features_out_: int
    n_features_in_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "n_strongest": [Interval(Integral, 0, None, closed="left")],
        "n_grid": [Interval(Integral, 2, None, closed="left")],
        "columns": ["boolean"],
        "edges": [StrOptions({"case-control", "quantiles"})],
    }

    def __init__(
        self,
        n_bins: int = 24,
        *,
        n_strongest: int = 8,
        n_grid: int = 8,
        columns: bool = True,
        edges: str = "case-control",
    ) -> None:
        self.n_bins = n_bins
        self.n_strongest = n_strongest
        self.n_grid = n_grid
        self.columns = columns
        self.edges = edges

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the bins and the most informative columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, of two classes or more.

        Returns
        -------
        self
            The fitted transformer.
        """
        if y is None:
            raise ValueError("BinsAndPairs requires y to be passed, but the target y is None.")
        rows = check_rows(self, X, reset=True, missing=False)
        targets = column_or_1d(y, warn=True)
        check_consistent_length(rows, targets)
        check_classification_targets(targets)
        labels = np.unique(targets, return_inverse=True)[1].reshape(-1)
        self.edges_ = self._find_edges(rows, labels, self.n_bins)
        binned = [
            len(edges) and not (self.columns and _two_valued(column))
            for column, edges in zip(rows.T, self.edges_, strict=True)
        ]
        self.binned_ = np.flatnonzero(binned)
        both = zip(rows.T, self.edges_, strict=True)
        self.information_ = np.array(
            [information(bin_of(column, edges), labels) for column, edges in both]
        )
        order = np.argsort(-self.information_, kind="stable")
        varying = [j for j in order if len(self.edges_[j])]
        self.strongest_ = np.array(varying[: self.n_strongest], dtype=np.int64)
        self.grid_edges_ = self._find_edges(rows[:, self.strongest_], labels, self.n_grid)
        self.n_features_out_ = int(sum(self._widths()))
        return self

    def _find_edges(self, rows: Array, labels: NDArray[np.intp], n_bins: int) -> list[Array]:
        if self.edges == "quantiles":
            return [quantile_edges(column, n_bins) for column in rows.T]
        n_edges = max(1, n_bins // (int(labels.max()) + 1))
        return case_control_edges(rows, labels, n_edges, above=True)

    def _pairs(self) -> list[tuple[int, int]]:
        """Return the pairs, as indices into `strongest_`."""
        return list(combinations(range(len(self.strongest_)), 2))

    def _widths(self) -> list[int]:
        """Return the widths of the blocks of the output.

        These are the input columns, the bins of each column, the cells of each pair, and the
        products.
        """
        own = self.n_features_in_ if self.columns else 0
        bins = [len(self.edges_[j]) + 1 for j in self.binned_]
        sides = [len(edges) + 1 for edges in self.grid_edges_]
        cells = [sides[a] * sides[b] for a, b in self._pairs()]
        return [own, *bins, *cells, len(cells)]

    def transform(self, X: ArrayLike) -> sparse.csr_array:
        """Return the columns, their bins, and the cells and products of pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        CSR array of shape (n_samples, n_features_out_)
            In float32 if X is.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False, missing=False)
        n, pairs = len(rows), self._pairs()
        widths = self._widths()
        own, starts = widths[0], np.cumsum(widths)
        n_binned = len(self.binned_)
        ones, last = n_binned + len(pairs), len(pairs)
        places = np.empty((n, own + ones + last), dtype=np.int32)
        values = np.ones(places.shape, dtype=rows.dtype)
        if own:
            places[:, :own], values[:, :own] = np.arange(own), rows
        for k, j in enumerate(self.binned_):
            places[:, own + k] = starts[k] + bin_of(rows[:, j], self.edges_[j])
        chosen = [rows[:, j] for j in self.strongest_]
        cells = [bin_of(x, edges) for x, edges in zip(chosen, self.grid_edges_, strict=True)]
        for k, (a, b) in enumerate(pairs):
            start, side = starts[n_binned + k], len(self.grid_edges_[b]) + 1
            places[:, own + n_binned + k] = start + side * cells[a] + cells[b]
            places[:, own + ones + k] = starts[-2] + k
            values[:, own + ones + k] = chosen[a] * chosen[b]
        pointers = np.arange(n + 1, dtype=np.int64) * places.shape[1]
        shape = (n, self.n_features_out_)
        made = sparse.csr_array((values.ravel(), places.ravel(), pointers), shape=shape)
        made.eliminate_zeros()
        return made

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the columns of the output.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the input. By default those seen in `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str objects
            Such as "age", "age in [30, 35)", "age in [30, 50), pay below 1000" and "age * pay".
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        found: list[str] = list(names) if self.columns else []
        for j in self.binned_:
            found += _intervals(names[j], self.edges_[j])
        paired = [names[j] for j in self.strongest_]
        sides = [_intervals(*one) for one in zip(paired, self.grid_edges_, strict=True)]
        for a, b in self._pairs():
            found += [f"{one}, {other}" for one in sides[a] for other in sides[b]]
        found += [f"{paired[a]} * {paired[b]}" for a, b in self._pairs()]
        return np.array(found, dtype=object)

    @property
    def _n_features_out(self) -> int:
        """Return the number of output columns, for scikit-learn."""
        return self.n_features_out_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _two_valued(column: Array) -> bool:
    return bool(((column == column.min()) | (column == column.max())).all())


def _intervals(name: str, edges: Array) -> list[str]:
    """Return the names of the bins of a column."""
    between = [f"{name} in [{low:.6g}, {high:.6g})" for low, high in pairwise(edges)]
    return [f"{name} below {edges[0]:.6g}", *between, f"{name} from {edges[-1]:.6g}"]


__all__ = ["BinsAndPairs"]
