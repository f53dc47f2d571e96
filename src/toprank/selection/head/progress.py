"""How far a race is: a bar with a line for each candidate."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

#: Characters of the bar.
_WIDTH = 20
#: Characters of a line that is written over, at the most.
_LINE = 79

#: Called with the candidate that runs, the number that are done, and the number there will be.
Watcher = Callable[[str, int, int], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` whenever a candidate of a race begins or ends; its name is "" at the end."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@dataclass
class Bar:
    """Prints a line when a candidate is done and, on a terminal, one that says which is running."""

    shown: bool
    #: Candidates that there will be, as far as is known.
    total: int = 0
    done: int = 0

    def begin(self, name: str) -> None:
        """A candidate runs."""
        self._tell(name)
        if self.shown and sys.stdout.isatty():
            line = f"{self._bar()} {name} ..."
            print(f"\r{line[:_LINE]:<{_LINE}}\r", end="", flush=True)

    def end(self, told: str) -> None:
        """It is done."""
        self.done += 1
        self.total = max(self.total, self.done)
        self._tell("")
        if self.shown:
            line = f"{self._bar()} {told}"
            print(f"{line:<{_LINE}}" if sys.stdout.isatty() else line, flush=True)

    def _tell(self, name: str) -> None:
        watcher = _watcher.get()
        if watcher is not None:
            watcher(name, self.done, self.total)

    def _bar(self) -> str:
        filled = _WIDTH * self.done // max(self.total, 1)
        return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self.done}/{self.total}"


__all__ = ["Bar", "watching"]
