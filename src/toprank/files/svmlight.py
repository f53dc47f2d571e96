"""Sparse rows in svmlight texts, some at a time: the matrix that scikit-learn would make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core import svmlight_rows

Array = NDArray[np.float64]

#: Bytes that are read at a time: some hundred thousand entries, which a core's cache can hold.
BLOCK = 1 << 22
#: One above the last column that there can be.
_LIMIT = np.iinfo(np.int64).max


class SvmlightReader:
    """Rows of a text and their labels, block by block.

    Without a number of columns any may come, numbered from 0, and a block is as wide as the blocks
    up to it. Errors name the line of the text.
    """

    def __init__(self, stream: BinaryIO, n_features: int | None, *, from_zero: bool) -> None:
        self._stream, self._n_features = stream, n_features
        self._first = 0 if from_zero else 1
        #: The least and the largest column that has been met.
        self.least, self.largest = _LIMIT, -1

    def __iter__(self) -> Iterator[tuple[sparse.csr_matrix, Array]]:
        limit = _LIMIT if self._n_features is None else self._n_features + self._first
        lines = 0
        for text in whole_lines(self._stream):
            labels, pointers, indices, values, count, least, largest = svmlight_rows(
                np.frombuffer(text, dtype=np.uint8), self._first, limit, lines + 1
            )
            lines += count
            if largest >= 0:
                self.least, self.largest = min(self.least, least), max(self.largest, largest)
            if len(labels):
                width = self._n_features or max(self.largest, 0) + 1
                made = sparse.csr_matrix((values, indices, pointers), shape=(len(labels), width))
                yield made, labels


def whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The bytes in blocks that end with a line; the last as it is."""
    rest: list[bytes] = []
    while block := stream.read(BLOCK):
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest.append(block)
            continue
        yield b"".join([*rest, block[:cut]])
        rest = [block[cut:]] if cut < len(block) else []
    if rest:
        yield b"".join(rest)


def row_ends(X: sparse.csr_matrix, before: int) -> NDArray[np.int64]:
    """Where the rows of a block end, after so many entries of the blocks before.

    These may be more than the integers of the block can count.
    """
    return np.asarray(X.indptr[1:].astype(np.int64) + before)


def read_all(stream: BinaryIO) -> tuple[sparse.csr_matrix, Array, bool]:
    """All rows, their labels, and whether columns are numbered from 0: one is called 0."""
    reader = SvmlightReader(stream, None, from_zero=True)
    parts = list(reader)
    if not parts:
        return sparse.csr_matrix((0, 0)), np.empty(0), True
    labels = np.concatenate([own for _, own in parts])
    from_zero = reader.least <= 0 or reader.largest < 0
    start = 0 if from_zero else 1
    pointers, first = [np.zeros(1, dtype=np.int64)], 0
    for X, _ in parts:
        pointers.append(row_ends(X, first))
        first += X.nnz
    arrays = (
        np.concatenate([X.data for X, _ in parts]),
        np.concatenate([X.indices for X, _ in parts]) - start,
        np.concatenate(pointers),
    )
    shape = (len(labels), max(reader.largest, 0) + 1 - start)
    return sparse.csr_matrix(arrays, shape=shape), labels, from_zero


__all__ = ["BLOCK", "SvmlightReader", "read_all", "row_ends", "whole_lines"]
