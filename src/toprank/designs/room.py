"""Memory for copies of rows that are made one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

#: What it has above what was first asked for: folds differ by a row or two.
_SPARE = 1.01


class Room:
    """Memory for one copy of rows at a time: to get new memory takes longer than to copy them."""

    def __init__(self) -> None:
        self._memory: NDArray[Any] = np.empty(0)

    def copy(self, X: Any, rows: Rows) -> Any:
        """Some of the rows of a matrix; those of a dense one by rows are in this memory."""
        if not isinstance(X, np.ndarray) or not X.flags.c_contiguous:
            return X[rows]
        size = len(rows) * X.shape[1]
        if self._memory.dtype != X.dtype or len(self._memory) < size:
            self._memory = np.empty(int(size * _SPARE), dtype=X.dtype)
        out = self._memory[:size].reshape(len(rows), X.shape[1])
        return X.take(rows, axis=0, out=out, mode="clip")


__all__ = ["Room"]
