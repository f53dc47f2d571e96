"""Features made and scored in blocks of rows, so that they never take much memory at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from ..fold_path import Rows

Array = NDArray[np.float64]

#: Bytes of the features of a block.
_BLOCK = 16_000_000
#: A block has a multiple of this many rows, as `KernelColumns` has: the last bits do not change.
_ALIGNED = 4096
#: The fewest rows of a block, however wide they are.
_FEWEST = 256
#: Features may take this many times the memory of the rows,
_TIMES = 2
#: or this many bytes, if that is more.
_LEAST = 192_000_000
#: Bytes of rows whose copies are not left to Python's collector.
_MUCH = 10_000_000
#: Memory for joined blocks, in units of what the first of them lets expect.
_SPARE = 1.1
#: Rows that show how much memory the features of a row take.
_PROBE = 500


def bytes_of(X: Any) -> int:
    """Return the memory that a matrix takes."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    if hasattr(X, "memory_usage"):  # a table
        return sum(map(int, X.memory_usage(index=False)))
    return int(X.nbytes)


def is_much(X: Any) -> bool:
    """Return whether copies of the rows should be let go of at once."""
    return bytes_of(X) > _MUCH


def release(X: Any) -> None:
    """Collect copies of the rows that solvers and trees leave in cycles of references."""
    if is_much(X):
        gc.collect()


def medians(X: Any) -> Array:
    """Return the medians of dense columns, of which one is copied at a time."""
    return np.array([np.median(column) for column in X.T])


def most_rows(features: Any, X: Any) -> int:
    """Return the number of rows whose features may be in memory at once."""
    n = int(X.shape[0])
    if n <= _PROBE:
        return n
    return int(max(_TIMES * bytes_of(X), _LEAST) / _row_bytes(features, X))


def transformed(features: Any, X: Any, rows: Rows | None = None) -> Any:
    """Return the features of some rows, or of all, joined from those of blocks.

    Sparse rows stay as sparse as they are, and need no blocks.
    """
    n = X.shape[0] if rows is None else len(rows)
    blocks = [slice(0, n)] if sparse.issparse(X) else list(_blocks(n, features, X))
    if len(blocks) == 1:
        return features.transform(_part(X, blocks[0], rows))
    made = (features.transform(_part(X, block, rows)) for block in blocks)
    first = next(made)
    if sparse.issparse(first):
        return _joined(first, made, n)
    by_columns = first.flags.f_contiguous and not first.flags.c_contiguous
    whole = np.empty((n, first.shape[1]), dtype=first.dtype, order="F" if by_columns else "C")
    whole[blocks[0]] = first
    for block, own in zip(blocks[1:], made, strict=True):
        whole[block] = own
    return whole


def scored(features: Any, rankers: list[Any], X: Any, rows: Rows | None = None) -> list[Array]:
    """Return the scores of rows by several rankers on the same features, made in blocks."""
    n = X.shape[0] if rows is None else len(rows)
    found = [np.empty(n) for _ in rankers]
    for block in _blocks(n, features, X):
        made = features.transform(_part(X, block, rows))
        for scores, ranker in zip(found, rankers, strict=True):
            scores[block] = ranker.decision_function(made)
    return found


def _blocks(n: int, features: Any, X: Any) -> Iterator[slice]:
    """Yield slices of n rows whose features take `_BLOCK` bytes at most."""
    size = n
    if n > _PROBE:
        size = int(_BLOCK / _row_bytes(features, X))
        size = size - size % _ALIGNED if size >= _ALIGNED else max(size, _FEWEST)
    if n <= size:
        yield slice(0, n)
        return
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _row_bytes(features: Any, X: Any) -> float:
    """Return the bytes that the features of a row take, by a few rows spread over all."""
    n = X.shape[0]
    probe = np.unique(np.linspace(0, n - 1, min(n, _PROBE)).astype(int))
    made = features.transform(_safe_indexing(X, probe))
    total = bytes_of(made)
    if sparse.issparse(made):  # its indices take four bytes in the end
        total = made.nnz * (made.data.itemsize + 4)
    return max(total / len(probe), 1.0)


def _part(X: Any, block: slice, rows: Rows | None) -> Any:
    if rows is not None:
        return _safe_indexing(X, rows[block])
    return X if block.stop - block.start == X.shape[0] else X[block]


def _joined(first: Any, others: Iterator[Any], n: int) -> Any:
    """Return CSR matrices as one of n rows; each is let go of once it is copied."""
    room = int(n / first.shape[0] * first.nnz * _SPARE)
    data, indices = np.empty(room, dtype=first.data.dtype), np.empty(room, dtype=np.int32)
    pointers = np.zeros(n + 1, dtype=np.int64)
    row = at = 0
    for part in chain([first], others):
        end = at + part.nnz
        if end > len(data):
            for array in (data, indices):
                array.resize(int(end * _SPARE), refcheck=False)
        data[at:end], indices[at:end] = part.data[: part.nnz], part.indices[: part.nnz]
        pointers[row + 1 : row + part.shape[0] + 1] = part.indptr[1:] + np.int64(at)
        row, at = row + part.shape[0], end
    if at <= np.iinfo(np.int32).max:
        pointers = pointers.astype(np.int32)
    return type(first)((data[:at], indices[:at], pointers), shape=(n, first.shape[1]))


__all__ = ["bytes_of", "is_much", "medians", "most_rows", "release", "scored", "transformed"]
