"""Whether files are still as long as their maps: reading beyond the end would kill the process."""

from __future__ import annotations

import errno
import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np

from .readahead import map_of


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


def mapped_files(*arrays: Any) -> tuple[MappedFile, ...]:
    """The files that arrays lie in; none for those in memory, or without a file to ask."""
    return tuple(file for array in arrays if (file := _file_of(array)) is not None)


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


__all__ = ["MappedFile", "mapped_files"]
