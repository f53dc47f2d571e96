"""Rows that are not here: collections of Dask, which a cluster fits and scores.

The module that does so is imported by name when such rows are met, and not before: it stands
above the estimators, and needs Dask.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def is_elsewhere(X: Any) -> bool:
    """Whether rows are a collection of Dask, or were converted by `toprank.dask.design`."""
    kind = type(X)  # a table may have a column of any name
    return hasattr(kind, "__dask_graph__") or hasattr(kind, "__toprank_rows__")


def cluster_of(*given: Any) -> Any:
    """The module that fits and scores such rows, if any of these is one; else None."""
    if not any(map(is_elsewhere, given)):
        return None
    try:
        return import_module("toprank.dask")
    except ImportError as error:
        raise ImportError(
            "Collections of Dask are fitted with dask and distributed: pip install 'toprank[dask]'."
        ) from error


def refuse_elsewhere(X: Any, verb: str, instead: str) -> None:
    """Refuse a collection of Dask where rows are needed in one place."""
    if is_elsewhere(X):
        raise TypeError(f"{verb} takes rows in memory, and these are on a cluster: {instead}.")


def lazily(method: Method) -> Method:
    """Make a method of rows one that takes a collection of Dask too; what it gives is lazy then."""

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        cluster = cluster_of(X)
        if cluster is None:
            return method(self, X, *args, **kwargs)
        return cluster.lazily(self, method.__name__, X)

    return call  # type: ignore[return-value]


__all__ = ["cluster_of", "is_elsewhere", "lazily", "refuse_elsewhere"]
