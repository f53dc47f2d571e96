"""The fingerprint of rows: the same for the same cells, whatever file they came from."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np


def fingerprint_of(columns: Any, labels: Any) -> str:
    """SHA-256 of columns as `as_kinds` makes them, or of a CSR matrix, and of the labels."""
    made = sha256()
    if isinstance(columns, dict):
        for name, column in columns.items():
            made.update(f"\n{name}\n".encode())
            made.update(_bytes(column))
    else:
        made.update(repr(columns.shape).encode())
        for part, dtype in ((columns.indptr, np.int64), (columns.indices, np.int64)):
            made.update(part.astype(dtype).tobytes())
        made.update(columns.data.astype(np.float64).tobytes())
    made.update(_bytes(_coded(labels)))
    return made.hexdigest()


def _coded(labels: Any) -> tuple[Any, list[str]]:
    words, codes = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    return codes, words.tolist()


def _bytes(column: Any) -> bytes:
    """The same bytes for the same cells."""
    if isinstance(column, tuple):  # words may have been met in another order
        codes, words = column
        order = np.argsort(np.array(words, dtype=object), kind="stable")
        rank = np.empty(len(words) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(words)), -1
        return "\n".join(words[j] for j in order).encode() + rank[codes].tobytes()
    if column.dtype.kind == "f":
        return bytes(np.where(np.isnan(column), np.nan, column + 0.0).tobytes())
    return bytes(column.astype(np.int64).tobytes())


__all__ = ["fingerprint_of"]
