"""Deprecated names of this folder, which still work."""

from __future__ import annotations

import warnings
from os import PathLike

from .mapped import DataSet, open_dataset


def open(path: str | PathLike[str]) -> DataSet:
    """Open a data set: the deprecated name of `open_dataset`.

    Parameters
    ----------
    path : str or path-like
        The folder.

    Returns
    -------
    DataSet
        The opened data set.
    """
    warnings.warn(
        "toprank.open is deprecated and ends in version 0.5: use toprank.open_dataset.",
        FutureWarning,
        stacklevel=2,
    )
    return open_dataset(path)


__all__ = ["open"]
