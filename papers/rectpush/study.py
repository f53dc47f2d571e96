"""Section 6.3: logistic regression, TopPush, RectPush and its approximation on real data."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import study_split
from study_data import QUICK, SOURCES, path_of, write_whole
from study_report import report, table_of_splits
from study_split import Task

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
Result = dict[str, Any]


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments besides those that every command has."""
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data sets")
    parser.add_argument("--sets", type=_sets, help="names with commas between; all without it")
    parser.add_argument("--splits", type=_at_least(1, int), help="10, or 3 if quick")
    parser.add_argument(
        "--all", action="store_true", help="all splits and methods of the large sets too: hours"
    )
    parser.add_argument("--jobs", type=_at_least(1, int), default=1, help="splits at a time")
    parser.add_argument("--p", type=_at_least(1, float), default=4.0, help="RectPushApp's p")


def run(args: Namespace) -> None:
    """Make study.md and study.csv, or study-quick.md and its table; go on where a run ended."""
    tasks = plan(args)
    kept = args.out / "cache"
    results = list(_results(tasks, args.data, kept, args.jobs))
    order = {task: place for place, task in enumerate(tasks)}
    results.sort(key=lambda result: order[_task(result)])
    name = "study-quick" if args.quick else "study"
    texts = {
        f"{name}.md": report(results, quick=args.quick),
        f"{name}.csv": table_of_splits(results),
    }
    for file, text in texts.items():
        _write(args.out / file, text)
    print(f"Wrote {' and '.join(texts)} to {args.out}")


def plan(args: Namespace) -> list[Task]:
    """The splits to do of the sets that are there: every set's first, then every set's second."""
    n_splits = args.splits or (3 if args.quick else 10)
    powers = tuple(range(15, -21, -3 if args.quick else -1))
    names = []
    for name in args.sets or (QUICK if args.quick else SOURCES):
        if path_of(args.data, name).exists():
            names.append(name)
        else:
            print(f"{name}: skipped, there is no {path_of(args.data, name)}")
    if not names:
        raise SystemExit(f"No data set of the study is in {args.data}: name its folder by --data.")

    def most(cap: int) -> int:
        return n_splits if args.all else min(cap, n_splits)

    return [
        Task(name, split, powers, args.p, args.seed, early=split < most(SOURCES[name].early))
        for split in range(n_splits)
        for name in names
        if split < most(SOURCES[name].splits)
    ]


def _results(tasks: list[Task], data: Path, kept: Path, n_jobs: int) -> Iterator[Result]:
    """Results as they come, the stored ones first."""
    paths = {task: task.path(data, kept) for task in tasks}
    left = [task for task in tasks if not paths[task].exists()]
    for task in tasks:
        if paths[task].exists():
            yield json.loads(paths[task].read_text(encoding="utf-8"))
    if len(left) < len(tasks):
        print(f"{len(tasks) - len(left)} of {len(tasks)} splits were done before")
    begun = time.monotonic()
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    try:
        solved = pool(delayed(study_split.solve)(task, data, kept) for task in left)
        for done, result in enumerate(solved, start=1):
            elapsed = time.monotonic() - begun
            ahead = elapsed * (len(left) - done) / done
            print(
                f"{done}/{len(left)}  {result['name']} split {result['split']}"
                f"  elapsed {elapsed:.0f} s, about {ahead:.0f} s to go",
                flush=True,
            )
            yield result
    except KeyboardInterrupt:
        raise SystemExit("Stopped. The same command goes on from here.") from None


def _task(result: Result) -> Task:
    fields = {name: result[name] for name in Task.__dataclass_fields__}
    return Task(**fields | {"powers": tuple(result["powers"])})


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def _known(name: str) -> str:
    if name not in SOURCES:
        raise ArgumentTypeError(f"no set {name!r}; there are {', '.join(SOURCES)}")
    return name


def _sets(text: str) -> list[str]:
    return [_known(name) for name in text.split(",")]


def _at_least(least: int, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def number(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value < float("inf"):
            what = "a whole number" if kind is int else "a number"
            raise ArgumentTypeError(f"{text!r} is not {what} of at least {least}")
        return value

    return number
