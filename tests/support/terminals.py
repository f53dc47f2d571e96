"""Programs on a terminal, as a person sees them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .programs import PATIENCE


def on_terminal(program: str, *words: object, width: int = 200, **more: str) -> str:
    """Return all that a Python program writes to a terminal, as it was sent."""
    pty = pytest.importorskip("pty")
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(width), "NO_COLOR": "1", **more}
    leader, follower = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
            env=environment,
        )
        os.close(follower)
        sent = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # how Linux says that nobody writes any more
                break
            if not part:
                break
            sent += part
        assert process.wait(PATIENCE) == 0, sent
    finally:
        os.close(leader)
    return sent.decode()
