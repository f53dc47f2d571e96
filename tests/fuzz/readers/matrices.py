"""Matrices in CSR form whose pointers and column numbers may be anything, given to kernels."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import toprank
from support.toy_rows import sparse_rows

#: A fit of each kind of kernel: passes over rows, descent on duals and on pairs, sums of squares,
#: pairs drawn, rows read one by one, stumps.
_FITS = (
    lambda: toprank.LogisticRank(max_iter=20, n_threads=1),
    lambda: toprank.TopPush(solver="dual-descent", max_iter=20, n_threads=1, random_state=0),
    lambda: toprank.TopPush(solver="newton", max_iter=20, n_threads=1),
    lambda: toprank.RankSVM(solver="dual-descent", max_iter=20, n_threads=1, random_state=0),
    lambda: toprank.BBR(n_threads=1),
    lambda: toprank.LCBR(n_pairs=20, n_threads=1, random_state=0),
    lambda: toprank.ASRankSVM(n_pairs=20, batch_size=5, n_threads=1, random_state=0),
    lambda: toprank.OAM(random_state=0),
    lambda: toprank.LPPair(weak_learners="stumps", max_iter=20, n_threads=1),
)


def _packed(n: int, width: int, kind: int, index: type) -> bytes:
    """A matrix in bytes: four for its shape, the type of its indices and a fit, then its arrays."""
    X = sparse_rows((n, width), 0.4, np.random.default_rng(n))
    head = bytes((n, width, index is np.int64, kind))
    return head + b"".join(
        part.tobytes() for part in (X.indptr.astype(index), X.indices.astype(index), X.data)
    )


def matrices() -> list[bytes]:
    """Good matrices, one for each fit."""
    return [
        _packed(6 + kind, 4 + kind % 3, kind, (np.int32, np.int64)[kind % 2])
        for kind in range(len(_FITS))
    ]


def unpacked(data: bytes) -> tuple[Any, int]:
    """The matrix, with no look at whether it can be one, and which fit it is for."""
    n, width, long, kind = data[:4].ljust(4, b"\0")
    index = np.dtype(np.int64 if long % 2 else np.int32)
    n, width, rest = n % 64, width % 64, data[4:].ljust((n % 64 + 1) * index.itemsize, b"\0")
    indptr, rest = rest[: (n + 1) * index.itemsize], rest[(n + 1) * index.itemsize :]
    stored = len(rest) // (index.itemsize + 8)
    X = sparse.csr_array((n, width))
    X.indptr = np.frombuffer(indptr, index)
    X.indices = np.frombuffer(rest[: stored * index.itemsize], index)
    X.data = np.frombuffer(rest[stored * index.itemsize :][: stored * 8], np.float64)
    return X, kind % len(_FITS)


def fitted(X: Any, kind: int) -> Any:
    """A model of the matrix, every other row of it positive."""
    return _FITS[kind]().fit(X, np.arange(X.shape[0]) % 2)


def read_matrix(path: Path) -> None:
    """Fit it, and score it by a model of another matrix."""
    X, kind = unpacked(path.read_bytes())
    with contextlib.suppress(ValueError):  # too few rows, NaN, or numbers that lead out
        fitted(X, kind)
    with np.errstate(all="ignore"), contextlib.suppress(ValueError):
        good = np.random.default_rng(0).normal(size=(8, max(X.shape[1], 1)))
        fitted(good, kind).decision_function(X)


__all__ = ["fitted", "matrices", "read_matrix", "unpacked"]
