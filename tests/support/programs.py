"""Programs in a process of their own: what would crash or hang takes no test run with it."""

from __future__ import annotations

import subprocess
import sys

#: Seconds after which a program hangs; on a busy machine imports alone may take a hundred.
PATIENCE = 300


def run(program: str, *words: object) -> str:
    """What a program prints, which must end in good order."""
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, f"ended by {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout
