"""Disks that are too small, or cannot be written: mounted in memory, by root only."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

Mount = Callable[..., Path]


def _mount(*words: object) -> None:
    done = subprocess.run(["mount", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 128 kB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux can mount a disk for the test")
    place = tmp_path / "disk"
    place.mkdir()
    _mount("-t", "tmpfs", "-o", "size=128k", "toprank-test", place)
    with ExitStack() as after:
        after.callback(subprocess.run, ["umount", "--lazy", str(place)], check=True)
        yield place


@pytest.fixture
def read_only() -> Callable[[Path], None]:
    """Makes a disk one that cannot be written."""
    return lambda place: _mount("-o", "remount,ro", place)
