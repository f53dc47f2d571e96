"""A file is the whole new one, or what it was."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toprank
from support.programs import PATIENCE
from toprank._atomic import replacing

OLD = toprank.TopPush(alpha=3.0)
NEW = toprank.TopPush(alpha=4.0)


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model.toprank"
    toprank.save(OLD, path)

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"half of it")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert toprank.load(path).alpha == 3.0
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_refuses(
    call: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.toprank"
    toprank.save(OLD, path)

    def fail(*args: Any, **options: Any) -> None:
        raise OSError(code, os.strerror(code), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(OSError, match=os.strerror(code)):
            toprank.save(NEW, path)
    assert toprank.load(path).alpha == 3.0
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_process_that_is_killed_leaves_the_old_model(moment: str, tmp_path: Path) -> None:
    path = tmp_path / "model.toprank"
    toprank.save(OLD, path)
    program = f"""
import os, signal, toprank
os.{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
toprank.save(toprank.TopPush(alpha=4.0), {str(path)!r})
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=PATIENCE)
    assert done.returncode == -signal.SIGKILL
    assert toprank.load(path).alpha == 3.0
    toprank.save(NEW, path)  # what it left is not in the way
    assert toprank.load(path).alpha == 4.0


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such folder.*missing"):
        toprank.save(NEW, tmp_path / "missing" / "model.toprank")
    with pytest.raises(IsADirectoryError, match="folder"):
        toprank.save(NEW, tmp_path)
    with pytest.raises(OSError, match="no regular file"):
        toprank.save(NEW, "/dev/null")
    with pytest.raises(FileNotFoundError):
        toprank.load(tmp_path / "missing.toprank")
    with pytest.raises(IsADirectoryError):
        toprank.load(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_read_only_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.toprank"
    toprank.save(OLD, path)
    path.chmod(0o444)
    if os.access(path, os.W_OK):  # the superuser may write everything
        monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="may not be written"):
        toprank.save(NEW, path)
    assert toprank.load(path).alpha == 3.0


def test_links_and_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    there, link, plain = tmp_path / "there", tmp_path / "link", tmp_path / "plain"
    toprank.save(OLD, there)
    link.symlink_to(there)
    toprank.save(NEW, link)
    assert link.is_symlink()
    assert toprank.load(there).alpha == 4.0
    plain.write_bytes(b"")
    assert stat.S_IMODE(there.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
