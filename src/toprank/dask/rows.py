"""Rows on a cluster: converted once, held by futures that know how they were made."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from ..inputs.dispatch import is_elsewhere
from ..inputs.mapped_arrays import in_memory
from .parts import Door, make_rows
from .settings import client_at_hand


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
    if not is_elsewhere(given):
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


class ClusterRows:
    """The rows of a Dask collection, converted, on the workers; `design` makes one.

    Attributes
    ----------
    n_parts : int
        How many parts there are.
    n_features : int or None
        How many columns; None where that is known on the workers only.
    """

    #: By which a fit knows it.
    __toprank_rows__: ClassVar[bool] = True

    def __init__(self, client: Any, X: Any, dtype: str | None) -> None:
        from dask import delayed

        self.n_features = see_columns(Door(), X, reset=True)
        self.lengths = known_lengths(X)
        self._meta = X._meta if is_frame(X) else None
        make = delayed(make_rows, pure=False)
        self.recipes = [
            make(block, place, self.n_features, dtype) for place, block in enumerate(row_blocks(X))
        ]
        self.n_parts = len(self.recipes)
        self.futures = client.compute(self.recipes)

    def see(self, ranker: Any) -> None:
        """Tell a ranker of the columns."""
        if self._meta is not None:
            validate_data(ranker, self._meta, reset=True, skip_check_array=True)
        elif self.n_features is not None:
            validate_data(ranker, _Shape(self.n_features), reset=True, skip_check_array=True)

    def remake(self, client: Any, place: int) -> Any:
        """A part that Dask has given up, from its recipe."""
        self.futures[place].release()
        self.futures[place] = client.compute(self.recipes[place])
        return self.futures[place]

    @property
    def chunks(self) -> Any:
        """The lengths of the parts, where they are known, as an array has them."""
        return None if self.lengths is None else (tuple(self.lengths),)

    def __repr__(self) -> str:
        return f"<rows on a cluster: {self.n_parts} parts, {self.n_features} features>"


def design(X: Any, *, dtype: Any = None) -> ClusterRows:
    """Convert the rows of a collection once, for several fits.

    A fit of a collection converts its parts to matrices on the workers, and lets go of them when
    it ends. What this returns takes the place of X in any number of fits, and keeps the matrices
    there as long as it lives.

    Parameters
    ----------
    X : Dask DataFrame or Dask array
        The rows; blocks of an array may be dense or CSR matrices.
    dtype : {"float32", "float64"} or None, default=None
        The type of the entries; None leaves float32 and float64 as they are. float32 takes half
        the memory.

    Returns
    -------
    ClusterRows
        To be passed to `fit` in place of X, with labels of the same parts.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from toprank import BBR
    >>> from toprank.dask import design
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     rows, labels = design(da.from_array(X, chunks=1000)), da.from_array(y, chunks=1000)
    ...     first, second = BBR().fit(rows, labels), BBR(1.0).fit(rows, labels)
    >>> first.certificate_.holds(1e-6), second.certificate_.holds(1e-6)
    (True, True)
    """
    if dtype is not None and str(dtype) not in ("float32", "float64"):
        import numpy as np

        dtype = np.dtype(dtype).name
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be float32 or float64, got {dtype}.")
    with client_at_hand() as client:
        return ClusterRows(client, X, None if dtype is None else str(dtype))


__all__ = [
    "ClusterRows",
    "blocks_like",
    "design",
    "is_frame",
    "known_lengths",
    "row_blocks",
    "see_columns",
]
