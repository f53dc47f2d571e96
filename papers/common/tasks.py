"""Work in pieces: how far it is, and going on after a stop."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel, delayed

from common.rows import Row, write_whole

T = TypeVar("T")


class Progress:
    """Says after every piece how long it took so far, and about how long it will take."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.began = total, 0, time.monotonic()

    def __call__(self, label: str) -> None:
        """A piece is done."""
        self.done += 1
        elapsed = time.monotonic() - self.began
        ahead = elapsed * (self.total - self.done) / self.done
        print(
            f"{self.done}/{self.total}  {label}"
            f"  elapsed {elapsed:.0f} s, about {ahead:.0f} s to go",
            flush=True,
        )


def watched(items: Iterable[T], label: Callable[[T], str] = str) -> Iterator[T]:
    """The items, with a line of progress after the work on each."""
    items = list(items)
    progress = Progress(len(items))
    for item in items:
        yield item
        progress(label(item))


@dataclass(frozen=True)
class Task:
    """A piece of work whose result is kept.

    `work` gives a row of what JSON can hold; with several jobs it must be picklable, as a
    `functools.partial` of a function is. `matters` is all that the result depends on: change any
    of it, and the work is done again.
    """

    label: str
    work: Callable[[], Row]
    matters: Mapping[str, Any]

    def path(self, kept: Path) -> Path:
        """The file of the result."""
        text = json.dumps(dict(self.matters), sort_keys=True)
        key = sha256(text.encode()).hexdigest()[:12]
        return kept / f"{'-'.join(self.label.split())}-{key}.json"


def results_of(tasks: Sequence[Task], kept: Path, jobs: int = 1) -> list[Row]:
    """The results in the order of the tasks; those in the folder `kept` are not made again."""
    left = [task for task in tasks if not task.path(kept).exists()]
    if len(left) < len(tasks):
        print(f"{len(tasks) - len(left)} of {len(tasks)} were done before")
    progress = Progress(len(left))
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
    try:
        for label in pool(delayed(_solve)(task, kept) for task in left):
            progress(label)
    except KeyboardInterrupt:
        raise SystemExit("Stopped. The same command goes on from here.") from None
    return [json.loads(task.path(kept).read_text(encoding="utf-8")) for task in tasks]


def _solve(task: Task, kept: Path) -> str:
    text = json.dumps(task.work(), indent=1)
    write_whole(task.path(kept), lambda part: part.write_text(text, encoding="utf-8"))
    return task.label
