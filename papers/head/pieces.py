"""Pieces of work within a time."""

from __future__ import annotations

import time
from pathlib import Path

from common.rows import Row
from common.study import Argument, at_least
from common.tasks import Task, results_of

MINUTES = Argument(
    "--minutes", type=at_least(0), help="begin no piece of work after so many; report what there is"
)


def collected(tasks: list[Task], kept: Path, minutes: float | None) -> list[Row]:
    """The results; those that time allows if it is limited, and all that are kept."""
    if minutes is None:
        return results_of(tasks, kept)
    began = time.monotonic()
    for task in tasks:
        if time.monotonic() - began >= 60 * minutes:
            break
        results_of([task], kept)
    return results_of([task for task in tasks if task.path(kept).exists()], kept)
