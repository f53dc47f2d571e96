"""Bins with about the same number of rows, and their mutual information with the labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
