"""The command line: the program `toprank`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program; say what to install if it cannot run."""
    try:
        from .app import toprank
    except ImportError as error:
        if error.name not in ("click", "rich"):
            raise
        print(
            f"toprank: the command line needs {error.name}; install toprank[cli].", file=sys.stderr
        )
        sys.exit(2)
    toprank(prog_name="toprank")


__all__ = ["main"]
