"""Trees that were fitted on codes of columns, rewritten to split the columns themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def uncoded(parameters: dict[str, Any], edges: Sequence[ArrayLike | None]) -> dict[str, Any]:
    """Return the parameters of a `TreeEnsemble` that change when it reads values, not codes.

    The code of a value is the number of edges below it, so a code is at most t if the value is at
    most ``edges[floor(t)]``. Without edges every code is 0. None stands for a column without codes.
    """
    sorted_edges = _checked(edges, parameters["n_features"])
    sizes = np.array([len(column) for column in sorted_edges])
    feature, threshold = parameters["feature"], parameters["threshold"].copy()
    numeric = feature >= 0
    if parameters.get("category_set") is not None:
        numeric &= parameters["category_set"] < 0
    coded = numeric & np.array([column is not None for column in edges])[feature]
    _check_splits(parameters, sizes, coded, numeric)
    if parameters.get("round_to_float32", False):
        threshold = np.where(numeric, _unrounded(threshold), threshold)
    own = feature[coded]
    places = np.clip(np.floor(parameters["threshold"][coded]), -1, sizes[own]).astype(np.int64)
    # Every column's edges, between the thresholds of codes below the first and above the last.
    padded = np.concatenate([[-np.inf, *column, np.inf] for column in sorted_edges])
    first = np.cumsum(sizes + 2) - (sizes + 2)
    threshold[coded] = padded[first[own] + 1 + places]
    changed: dict[str, Any] = {"threshold": threshold, "round_to_float32": False}
    # No code is below zero, so every value goes right. -inf would not go right of -inf.
    swapped = np.flatnonzero(coded)[places < 0]
    if len(swapped):
        threshold[swapped] = np.inf
        left, right = parameters["left"].copy(), parameters["right"].copy()
        left[swapped], right[swapped] = right[swapped], left[swapped]
        missing_left = parameters["missing_left"].copy()
        missing_left[swapped] = ~missing_left[swapped]
        changed |= {"left": left, "right": right, "missing_left": missing_left}
    return changed


def _checked(edges: Sequence[ArrayLike | None], width: int) -> list[Array]:
    """Return the edges as arrays of floats, an empty one for None."""
    columns = [np.asarray(() if own is None else own, dtype=np.float64) for own in edges]
    if len(columns) != width:
        raise ValueError(
            f"edges must have {width} entries, one for each column of the model, got "
            f"{len(columns)}."
        )
    for j, column in enumerate(columns):
        if column.ndim != 1 or not (np.diff(column) > 0).all() or np.isnan(column).any():
            raise ValueError(f"edges[{j}] must be a one-dimensional array of increasing numbers.")
    return columns


def _check_splits(
    parameters: dict[str, Any],
    sizes: NDArray[np.int64],
    coded: NDArray[np.bool_],
    numeric: NDArray[np.bool_],
) -> None:
    """Refuse splits of codes that no threshold on the values stands for."""
    feature, threshold = parameters["feature"], parameters["threshold"]
    of_categories = feature[~numeric & (feature >= 0)]
    of_categories = of_categories[sizes[of_categories] > 0]
    if len(of_categories):
        raise ValueError(
            f"edges[{of_categories[0]}] must be None: the model splits this column by categories."
        )
    # A missing value is split from zeros at 0 or infinity.
    other = coded & (sizes[feature] == 0) & (threshold != 0.0) & np.isfinite(threshold)
    if other.any():
        raise ValueError(
            f"edges[{feature[other][0]}] is empty, so that every code is 0, but the model splits "
            f"this column at {threshold[other][0]:g}: pass None for a column that is passed "
            "through unchanged."
        )
    if parameters.get("zero_missing") is not None and (coded & parameters["zero_missing"]).any():
        raise ValueError(
            "The model treats code 0 as missing, and no threshold on the values does so: fit it "
            "without zero_as_missing."
        )


def _unrounded(threshold: Array) -> Array:
    """Return the largest x that a model sends left when it rounds x to float32 first."""
    below = threshold.astype(np.float32)
    below = np.where(below > threshold, np.nextafter(below, np.float32(-np.inf)), below)
    above = np.nextafter(below, np.float32(np.inf))
    middle = 0.5 * (below.astype(np.float64) + above.astype(np.float64))
    return np.where(middle.astype(np.float32) > below, np.nextafter(middle, -np.inf), middle)


__all__ = ["uncoded"]
