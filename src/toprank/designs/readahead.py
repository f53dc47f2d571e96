"""Asking the machine for what is read next, so that the disk works while the processor does."""

from __future__ import annotations

import mmap
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ..inputs.mapped_arrays import map_of

#: Blocks that are asked for ahead of the one that is read.
_AHEAD = 2


class ReadAhead:
    """The blocks of an array in a mapped file, so many entries each; of others nothing is asked."""

    def __init__(self, array: NDArray[Any], entries: float) -> None:
        self._map, self._bytes, self._asked = map_of(array), entries * array.itemsize, 0.0
        if self._map is not None:
            start = np.frombuffer(self._map, dtype=np.uint8).ctypes.data
            self._first = array.ctypes.data - start
            self._last = self._first + array.nbytes

    def ask(self, k: int) -> None:
        """Block k is about to be read: let the next ones come."""
        if self._map is None or not hasattr(mmap, "MADV_WILLNEED"):
            return
        begin = self._first + max(self._asked, k * self._bytes)
        self._asked = (k + 1 + _AHEAD) * self._bytes
        end = min(self._first + self._asked, self._last)
        page = int(begin) // mmap.PAGESIZE * mmap.PAGESIZE
        if end > page:
            self._map.madvise(mmap.MADV_WILLNEED, page, int(end) - page)


#: Maps whose entries were checked when they were written.
_CHECKED: WeakSet[mmap.mmap] = WeakSet()


def vouch(array: Any) -> None:
    """Let the entries of an array in a mapped file be taken for numbers without another pass."""
    if (own := map_of(array)) is not None:
        _CHECKED.add(own)


def is_checked(array: Any) -> bool:
    """Whether the entries of an array in a mapped file are known to be numbers."""
    own = map_of(array)
    return own is not None and own in _CHECKED


__all__ = ["ReadAhead", "is_checked", "vouch"]
