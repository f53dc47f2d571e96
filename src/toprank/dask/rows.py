"""Rows on a cluster: converted once, held by futures that know how they were made."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils.validation import validate_data

from .blocks import _Shape, is_frame, known_lengths, row_blocks, see_columns
from .parts import Door, make_rows
from .settings import client_at_hand


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


__all__ = ["ClusterRows", "design"]
