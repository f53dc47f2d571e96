"""Dispatch to toprank.dask for Dask collections.

`toprank.dask` needs Dask, and imports the estimators. So it is imported by name when the first
collection is passed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection, or was made by `toprank.dask.design`."""
    kind = type(X)  # a table may have a column of any name
    return hasattr(kind, "__dask_graph__") or hasattr(kind, "__toprank_rows__")


def cluster_of(*given: Any) -> Any:
    """Return `toprank.dask` if any argument is a Dask collection, else None."""
    if not any(map(is_dask, given)):
        return None
    try:
        return import_module("toprank.dask")
    except ImportError as error:
        raise ImportError(
            "Collections of Dask are fitted with dask and distributed: pip install 'toprank[dask]'."
        ) from error


def require_local(X: Any, method: str, instead: str) -> None:
    """Raise an error if X is a Dask collection and a method needs its rows in memory."""
    if is_dask(X):
        raise TypeError(f"{method} takes rows in memory, and these are on a cluster: {instead}.")


def dask_aware(method: Method) -> Method:
    """Make a method of rows return a lazy collection for a Dask collection."""

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        cluster = cluster_of(X)
        if cluster is None:
            return method(self, X, *args, **kwargs)
        return cluster.lazily(self, method.__name__, X)

    return call  # type: ignore[return-value]


__all__ = ["cluster_of", "dask_aware", "is_dask", "require_local"]
