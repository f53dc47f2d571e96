"""Collections of Dask as blocks of rows, and the columns they have."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ..inputs.dispatch import is_dask
from ..inputs.mapped_arrays import in_memory


def is_frame(X: Any) -> bool:
    """Whether a collection is a table, with columns, or one column of it."""
    return hasattr(X, "map_partitions") and hasattr(X, "npartitions")


def row_blocks(X: Any, of: str = "X") -> list[Any]:
    """The blocks of a collection, one a part, in order; each is computed by itself."""
    if is_frame(X):
        return list(X.to_delayed())
    if not hasattr(X, "to_delayed") or not hasattr(X, "numblocks"):
        raise TypeError(
            f"{of} is a {type(X).__name__}: pass a Dask DataFrame, or a Dask array of rows."
        )
    if X.ndim > 1 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})  # a part has whole rows
    return list(X.to_delayed().ravel())


def blocks_like(X: Any, given: Any, n_parts: int, of: str) -> list[Any]:
    """The labels or weights of the parts of X."""
    lengths = known_lengths(X)
    if not is_dask(given):
        if lengths is None:
            raise TypeError(
                f"{of} is a {type(given).__name__}, and the parts of X have unknown lengths: pass "
                f"{of} as a collection of Dask with the same parts, such as a column of the frame."
            )
        from dask import delayed

        given = in_memory(given)
        values = given.to_numpy() if hasattr(given, "to_numpy") else np.asarray(given)
        ends = np.cumsum(lengths)
        if len(values) != ends[-1]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {ends[-1]} "
                f"rows, {of} has {len(values)} values."
            )
        return [delayed(part, pure=False) for part in np.split(values, ends[:-1])]
    own = known_lengths(given)
    if lengths is not None and own is not None and lengths != own:
        if sum(lengths) != sum(own):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{sum(lengths)} rows, {of} has {sum(own)} values."
            )
        given = given.rechunk({0: tuple(lengths)})
    found = row_blocks(given, of)
    if len(found) != n_parts:
        raise ValueError(
            f"X has {n_parts} parts, {of} has {len(found)}: cut both alike, for instance by "
            "repartition, or take both from the same frame."
        )
    return found


def known_lengths(X: Any) -> list[int] | None:
    """The rows of every part, where the collection knows them."""
    chunks = getattr(X, "chunks", None)
    if is_frame(X) or chunks is None or any(np.isnan(one) for one in chunks[0]):
        return None
    return [int(one) for one in chunks[0]]


def see_columns(ranker: Any, X: Any, *, reset: bool) -> int | None:
    """Note the columns of a collection, or hold them against those of the fit; how many there are.

    None: not known before its parts are there.
    """
    if is_frame(X):
        if getattr(X, "ndim", 2) != 2:
            raise ValueError("Expected 2D array, got 1D array instead: X is a single column.")
        validate_data(ranker, X._meta, reset=reset, skip_check_array=True)
        return len(X.columns)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: X is a Dask array.")
    if np.isnan(X.shape[1]):
        return None
    validate_data(ranker, _Shape(int(X.shape[1])), reset=reset, skip_check_array=True)
    return int(X.shape[1])


class _Shape:
    """Has a number of columns, and nothing else."""

    def __init__(self, n_features: int) -> None:
        self.shape = (0, n_features)

    def __len__(self) -> int:
        return 0


__all__ = ["blocks_like", "is_frame", "known_lengths", "row_blocks", "see_columns"]
