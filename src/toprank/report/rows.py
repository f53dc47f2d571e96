"""Equal rows on both sides of a fold."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def copied_share(X: Any, folds: list[tuple[NDArray[Any], NDArray[Any]]]) -> float:
    """The share of rows held out that have an equal among the rows their fold was fitted on."""
    digests = _digests(X)
    _, numbers, counts = np.unique(digests, return_inverse=True, return_counts=True)
    if counts.max() == 1:
        return 0.0
    copied = total = 0
    for training, test in folds:
        seen = np.zeros(len(counts), dtype=bool)
        seen[numbers[training]] = True
        copied += int(seen[numbers[test]].sum())
        total += len(test)
    return copied / total


def _digests(X: Any) -> NDArray[np.uint64]:
    """A number for each row, the same for equal rows."""
    if type(X).__module__.startswith("pandas."):
        from pandas.util import hash_pandas_object

        return np.asarray(hash_pandas_object(X, index=False), dtype=np.uint64)
    if sparse.issparse(X):
        return _sparse_digests(sparse.csr_array(X))
    table = np.ascontiguousarray(X) if not hasattr(X, "to_numpy") else X.to_numpy()
    if table.dtype == object:
        parts = [repr(row.tolist()).encode() for row in table]
    else:
        parts = [row.tobytes() for row in np.ascontiguousarray(table)]
    return _numbers(parts)


def _sparse_digests(X: Any) -> NDArray[np.uint64]:
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return _numbers([X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds])


def _numbers(parts: list[bytes]) -> NDArray[np.uint64]:
    digests = b"".join(blake2b(part, digest_size=8).digest() for part in parts)
    return np.frombuffer(digests, dtype=np.uint64)


__all__ = ["copied_share"]
