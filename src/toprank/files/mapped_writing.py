"""Arrays that grow row by row, in a folder that gets its name once all is written.

The folder is written beside its target. Every so often what was written is flushed and its lengths
are noted; after a kill the arrays are cut back to those lengths, and writing goes on from there.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._atomic import replacing
from .mapped import ARRAYS, FORMAT, META, VERSION

#: The first bytes of an .npy file: there is room for any shape.
HEADER = 128
#: What was written so far.
_NOTE = "progress.json"
#: Bytes after which what was written is noted.
_OFTEN = 1 << 28


class Growing:
    """An .npy file that rows are added to; its header is written with its last length."""

    def __init__(self, file: Path, dtype: str, width: int | None, rows: int) -> None:
        self.dtype, self._width, self.rows = np.dtype(dtype), width, rows
        self._file = file.open("r+b" if rows else "w+b")
        self._file.truncate(HEADER + rows * (width or 1) * self.dtype.itemsize)
        self._file.seek(0, os.SEEK_END)

    @property
    def shape(self) -> tuple[int, ...]:
        """What was written so far."""
        return (self.rows,) if self._width is None else (self.rows, self._width)

    def add(self, rows: NDArray[Any]) -> None:
        """Append rows."""
        self._file.write(np.ascontiguousarray(rows, dtype=self.dtype).data)
        self.rows += len(rows)

    def flush(self) -> None:
        """See that all is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def abandon(self) -> None:
        """Write no more."""
        self._file.close()

    def close(self) -> None:
        """Write the header."""
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": self.shape}
        text = repr(about).encode("latin1")
        magic = b"\x93NUMPY\x01\x00"
        length = HEADER - len(magic) - 2
        self._file.seek(0)
        self._file.write(magic + length.to_bytes(2, "little") + text.ljust(length - 1) + b"\n")
        self.flush()
        self._file.close()


class Folder:
    """The folder of a data set while it is written.

    Parameters
    ----------
    target : str
        What it will be called.
    same : dict
        What makes it the same work: a folder left by a kill is taken up if it notes the same.
    """

    def __init__(self, target: str, same: dict[str, Any]) -> None:
        self.target = Path(os.path.abspath(target))
        if not self.target.parent.is_dir():
            parent = str(self.target.parent)
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", parent)
        if self.target.exists():
            raise FileExistsError(errno.EEXIST, "it exists: remove it, or name another", target)
        self.path = self.target.with_name(f".{self.target.name}.part")
        self._same = json.loads(json.dumps(same))
        self._arrays: dict[str, Growing] = {}
        self._since = 0
        self.state: dict[str, Any] = {}
        self._lengths: dict[str, int] = {}
        note = self._read()
        if note is None:
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir()
        else:
            self.state, self._lengths = note["state"], note["lengths"]

    def _read(self) -> dict[str, Any] | None:
        """What a folder left by a kill says, if it is of the same work."""
        try:
            if not _is_own_folder(self.path):
                return None
            note = json.loads((self.path / _NOTE).read_text())
        except (OSError, ValueError):
            return None
        if not isinstance(note, dict) or note.get("same") != self._same:
            return None
        for name, rows in note["lengths"].items():
            if name not in ARRAYS or not (self.path / f"{name}.npy").is_file() or rows < 0:
                return None
        return note

    def array(self, name: str, dtype: str, width: int | None = None) -> Growing:
        """An array to add to, as long as it was noted to be."""
        if name not in self._arrays:
            rows = self._lengths.get(name, 0)
            self._arrays[name] = Growing(self.path / f"{name}.npy", dtype, width, rows)
        return self._arrays[name]

    def note(self, written: int, state: dict[str, Any], *, now: bool = False) -> None:
        """So many bytes were written; note it if that is worth it."""
        self._since += written
        self.state = state
        if self._since < _OFTEN and not now:
            return
        self._since = 0
        for array in self._arrays.values():
            array.flush()
        lengths = {name: array.rows for name, array in self._arrays.items()}
        with replacing(self.path / _NOTE) as file:
            text = {"same": self._same, "state": state, "lengths": lengths}
            file.write(json.dumps(text).encode())

    def forget_note(self) -> None:
        """What was written is about to be changed in its place: after a kill all begins anew."""
        (self.path / _NOTE).unlink(missing_ok=True)

    def finish(self, meta: dict[str, Any]) -> None:
        """Write the headers and the metadata, and give the folder its name."""
        for array in self._arrays.values():
            array.close()
        files = {
            name: {"dtype": array.dtype.str, "shape": list(array.shape)}
            for name, array in self._arrays.items()
        }
        about = {"format": FORMAT, "version": VERSION, **meta, "files": files}
        with replacing(self.path / META) as file:
            file.write(json.dumps(about, ensure_ascii=False, indent=1).encode())
        self.forget_note()
        os.rename(self.path, self.target)

    def abandon(self) -> None:
        """Write no more; what was noted stays."""
        for array in self._arrays.values():
            with contextlib.suppress(OSError):  # a full disk has no room for the last of it either
                array.abandon()

    def discard(self) -> None:
        """Leave nothing behind."""
        self.abandon()
        shutil.rmtree(self.path, ignore_errors=True)


def _is_own_folder(path: Path) -> bool:
    """Whether a folder is this user's: its name can be guessed, and links in it are followed."""
    about = os.lstat(path)
    mine = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
    return stat.S_ISDIR(about.st_mode) and mine


__all__ = ["HEADER", "Folder", "Growing"]
