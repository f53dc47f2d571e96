"""Files that are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO

#: Errors of a write, which do not say of which file.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file beside `path` for writing, and give it that name once all is written.

    If anything fails before that the new file is removed and the old one is as it was. A process
    that is killed leaves the old one too, and beside it a hidden file that ends in ".part".
    """
    target = check_target(path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a crash may leave the name of a file without its bytes
        os.replace(beside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        name_the_file(error, path)
        raise


def name_the_file(error: BaseException, path: str | PathLike[str]) -> bool:
    """Put the file that was written into the error of a full disk; whether it is one."""
    full = isinstance(error, OSError) and error.errno in _FULL
    if isinstance(error, OSError) and full and error.filename is None:
        error.filename = os.fspath(path)
    return full


def check_target(path: str | PathLike[str], inputs: Iterable[str | PathLike[str]] = ()) -> Path:
    """Return where a file will be, before any work is done.

    What cannot be replaced is refused, and so is a file that is one of the `inputs`, or in one that
    is a folder. "-" is standard input.
    """
    target = Path(os.path.realpath(path))  # a link stays a link to the new file
    name = os.fspath(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file", name)
    if not os.access(target.parent, os.W_OK | os.X_OK):  # the new file is made there first
        raise PermissionError(errno.EACCES, "the folder may not be written", str(target.parent))
    for one in inputs:
        if _is_same(target, one):
            raise OSError(errno.EINVAL, "it is read here too; name another file to write", name)
    if not target.exists():
        return target
    if not stat.S_ISREG(target.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no regular file, and cannot be replaced", name)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it may not be written", name)
    return target


def _is_same(target: Path, source: str | PathLike[str]) -> bool:
    """Return whether a file is the source, by another name or link too, or in a source folder."""
    try:
        about = os.fstat(0) if os.fspath(source) == "-" else os.stat(source)
    except OSError:  # no such input, which is said where it is read
        return False
    if stat.S_ISDIR(about.st_mode):
        return any(_is_file(parent, about) for parent in target.parents)
    return stat.S_ISREG(about.st_mode) and _is_file(target, about)


def _is_file(path: Path, about: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), about)
    except OSError:
        return False


__all__ = ["check_target", "name_the_file", "replacing"]
