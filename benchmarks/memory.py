"""Peak memory of a fit, measured in a process of its own.

The mark that the kernel keeps (VmHWM) is set back just before the fit. `ru_maxrss` would not do:
it cannot be set back, and a child begins with its parent's.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def in_fresh_process(function: Callable[..., Any], *args: Any) -> Any:
    """Call a module's function in a new interpreter and return what it returns."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(function, *args).result()


class PeakMemory:
    """A context that measures the peak of resident memory above what was there at the start."""

    #: Bytes, or NaN where the system does not tell.
    beyond: float = float("nan")

    _before: int | None = None

    def __enter__(self) -> PeakMemory:
        with suppress(OSError):
            CLEAR_REFS.write_text("5")
            self._before = _status("VmRSS")
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            self.beyond = float(max(_status("VmHWM") - self._before, 0))


def _status(field: str) -> int:
    """A field of this process's status, in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in {STATUS}")
