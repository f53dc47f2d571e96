"""Features made and scored in blocks of rows, so that they never take much memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from ..fold_path import Rows

Array = NDArray[np.float64]

#: Bytes of the features of a block.
_BLOCK = 32_000_000
#: A block has a multiple of this many rows, as `KernelColumns` has: the last bits do not change.
_ALIGNED = 4096
#: The fewest rows of a block, however wide they are.
_FEWEST = 256
#: Features may take this many times the memory of the rows,
_TIMES = 2
#: or this many bytes, if that is more.
_LEAST = 256_000_000
#: Rows that show how much memory the features of a row take.
_PROBE = 500


def bytes_of(X: Any) -> int:
    """Return the memory that a matrix takes."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    if hasattr(X, "memory_usage"):  # a table
        return int(X.memory_usage(index=False).sum())
    return int(np.asarray(X).nbytes)


def most_rows(features: Any, X: Any) -> int:
    """Return the number of rows whose features may be in memory at once."""
    n = X.shape[0]
    if n <= _PROBE:
        return n
    return int(max(_TIMES * bytes_of(X), _LEAST) / _row_bytes(features, X))


def transformed(features: Any, X: Any, rows: Rows | None = None) -> Any:
    """Return the features of some rows, or of all, joined from those of blocks."""
    n = X.shape[0] if rows is None else len(rows)
    blocks = list(_blocks(n, features, X))
    if len(blocks) == 1:
        return features.transform(_part(X, blocks[0], rows))
    made = (features.transform(_part(X, block, rows)) for block in blocks)
    first = next(made)
    if sparse.issparse(first):
        return _joined([first.tocsr(), *(block.tocsr() for block in made)])
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
    if n > _FEWEST:
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
    return max(bytes_of(features.transform(_safe_indexing(X, probe))) / len(probe), 1.0)


def _part(X: Any, block: slice, rows: Rows | None) -> Any:
    if rows is not None:
        return _safe_indexing(X, rows[block])
    return X if block.stop - block.start == X.shape[0] else X[block]


def _joined(parts: list[Any]) -> Any:
    """Return CSR matrices as one; each is let go of once it is copied."""
    rows = sum(part.shape[0] for part in parts)
    total = sum(part.nnz for part in parts)
    kind, width, first = type(parts[0]), parts[0].shape[1], parts[0]
    places = np.int32 if total <= np.iinfo(np.int32).max else np.int64
    data = np.empty(total, dtype=first.data.dtype)
    indices, pointers = np.empty(total, dtype=places), np.zeros(rows + 1, dtype=places)
    del first
    row = at = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        end = at + part.nnz
        data[at:end], indices[at:end] = part.data[: part.nnz], part.indices[: part.nnz]
        pointers[row + 1 : row + part.shape[0] + 1] = part.indptr[1:] + at
        row, at = row + part.shape[0], end
    return kind((data, indices, pointers), shape=(rows, width))


__all__ = ["bytes_of", "most_rows", "scored", "transformed"]
