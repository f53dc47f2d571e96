"""Arrays in mapped files: the map an array lies in, and checks that its file was not cut.

Reading a map beyond the end of its file ends the process with SIGBUS.
"""

from __future__ import annotations

import errno
import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

#: The arrays of a sparse matrix, of any format.
_PARTS = ("data", "indices", "indptr", "row", "col")


@dataclass(frozen=True)
class MappedFile:
    """The file that an array lies in."""

    map: mmap.mmap
    #: Where the map ends in the file.
    end: int
    #: What the file is called, where NumPy knows.
    name: str

    def check(self) -> None:
        """Refuse a file that has become shorter since it was mapped.

        Pages that are gone raise SIGBUS when they are read, and the rest of the last one is zeros.
        """
        if (size := self.map.size()) < self.end:
            raise OSError(
                errno.EIO,
                f"the file was cut to {size:,} bytes while its {self.end:,} are mapped; "
                "write data to a new file and rename it, rather than over one that is read",
                self.name,
            )


def map_of(array: Any) -> mmap.mmap | None:
    """Return the map of a file that an array lies in, or None if it lies in none."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "base", None)
    return array


def mapped_files(*arrays: Any) -> tuple[MappedFile, ...]:
    """Return the files that arrays lie in; none for those in memory, or without a file to ask."""
    return tuple(file for array in arrays if (file := _file_of(array)) is not None)


def check_lengths(X: Any) -> None:
    """Refuse an array or a sparse matrix whose file was cut since it was mapped."""
    parts = [getattr(X, part, None) for part in _PARTS] if issparse(X) else [X]
    for file in mapped_files(*parts):
        file.check()


def in_memory(values: Any) -> Any:
    """Return a copy of an array in a mapped file, and anything else as given.

    A fit reads labels and weights at moments of its own, long after their length was checked.
    """
    if map_of(values) is None:
        return values
    check_lengths(values)
    return np.array(values)


def _file_of(array: Any) -> MappedFile | None:
    own = map_of(array)
    if own is None:
        return None
    begin, name = 0, "a mapped file"
    while array is not own:
        if isinstance(array, np.memmap):
            begin = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
            name = str(array.filename or name)
        array = array.base
    try:
        own.size()
    except (OSError, ValueError):  # memory that no file is behind, or a map that forgot its own
        return None
    return MappedFile(own, begin + len(own), name)


__all__ = ["MappedFile", "check_lengths", "in_memory", "map_of", "mapped_files"]
