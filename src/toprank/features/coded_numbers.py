"""CodedNumbers: gaps filled and flagged, codes of categories as a column each."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from .table_coder import LEAST_ROWS

Array = NDArray[np.float64]

#: The most columns of one category.
_MOST_COLUMNS = 50


class CodedNumbers(TransformerMixin, BaseEstimator):
    """Make numbers without gaps of rows that `TableCoder` has coded.

    Missing numbers are filled with the median and flagged in a column of their own. The most
    frequent codes of a category become a column each, missing ones included. The others share one.

    Parameters
    ----------
    levels : ndarray of shape (n_features_in_,)
        The number of codes of each column; 0 of numbers.

    Attributes
    ----------
    medians_ : ndarray
        What fills each column of numbers.
    flagged_ : ndarray
        The columns of numbers with gaps.
    tables_ : list of ndarray
        For each column of categories the row of its columns for every code; the last but one is
        that of the code of rare words, the last that of missing cells.
    n_features_in_ : int
        Features seen during `fit`.
    """

    def __init__(self, levels: Any) -> None:
        self.levels = levels

    def fit(self, X: Array, y: Any = None) -> Self:
        """See medians, gaps, and which codes are frequent."""
        self.n_features_in_ = X.shape[1]
        numbers = np.flatnonzero(np.asarray(self.levels) == 0)
        gaps = np.isnan(X[:, numbers])
        some, every = np.atleast_1d(gaps.any(axis=0)), np.atleast_1d(gaps.all(axis=0))
        medians = np.zeros(len(numbers))
        for k, j in enumerate(numbers):
            if not every[k]:
                medians[k] = np.nanmedian(X[:, j]) if some[k] else np.median(X[:, j])
        self.medians_ = medians
        self.flagged_ = numbers[some & ~every]
        self.tables_ = [_table(X[:, j], int(self.levels[j])) for j in np.flatnonzero(self.levels)]
        return self

    def transform(self, X: Array) -> Array:
        """Make numbers of coded rows."""
        numbers = np.flatnonzero(np.asarray(self.levels) == 0)
        widths = [len(numbers), len(self.flagged_), *(table.shape[1] for table in self.tables_)]
        if widths[0] == sum(widths) == X.shape[1] and not np.isnan(X).any():
            return X
        made = np.empty((len(X), sum(widths)))
        filled = made[:, : len(numbers)]
        filled[:] = X[:, numbers]
        rows, columns = np.nonzero(np.isnan(filled))
        filled[rows, columns] = self.medians_[columns]
        starts = np.cumsum(widths)
        made[:, starts[0] : starts[1]] = np.isnan(X[:, self.flagged_])
        for k, (j, table) in enumerate(zip(np.flatnonzero(self.levels), self.tables_, strict=True)):
            codes = np.nan_to_num(X[:, j], nan=len(table) - 1).astype(np.int64)
            made[:, starts[k + 1] : starts[k + 2]] = table[codes]
        return made

    @property
    def unchanged(self) -> bool:
        """Whether rows without gaps pass unchanged."""
        return not (len(self.flagged_) or self.tables_)


def _table(codes: Array, n_codes: int) -> Array:
    """Return the row of columns for every code, and for a missing one."""
    there = codes[~np.isnan(codes)].astype(np.int64)
    counts = np.bincount(there, minlength=n_codes)
    frequent = counts[:-1] >= LEAST_ROWS
    ranks = np.argsort(-counts[:-1], kind="stable")[:_MOST_COLUMNS]
    kept = np.sort(ranks[frequent[ranks]])
    others = np.setdiff1d(np.arange(n_codes), kept)
    pool = [others] if counts[others].any() else []
    missing = [np.array([n_codes])] if len(there) < len(codes) else []
    members: list[Any] = [*([code] for code in kept), *pool, *missing]
    table = np.zeros((n_codes + 1, len(members)))
    for column, own in enumerate(members):
        table[own, column] = 1.0
    return table


__all__ = ["CodedNumbers"]
