"""Fuzz the certificates: `python -m fuzz` from the folder tests."""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from .judge import ESTIMATORS, Finding, Verdict, estimator_of, try_one
from .report import Table

#: How long to go on if nothing is said, in seconds.
AN_HOUR = 3600.0
#: Between two lines of progress, in seconds.
EVERY = 30.0
#: A process without an answer for so long hangs in a fit that no signal reaches.
HANGS = 300.0


def main() -> int:
    """Fuzz until all is done or time is up; 1 if anything was found that must be mended."""
    options = _parser().parse_args()
    if options.repeat:
        return _repeat(options.repeat, extremes=not options.plain)
    seed = options.seed if options.seed is not None else time.time_ns() % 10**9
    seconds = options.seconds or (math.inf if options.problems else AN_HOUR)
    print(f"seed {seed}, {_limits(seconds, options)}", flush=True)
    table, began = Table(), time.monotonic()
    end, told = began + seconds, began
    wanted = _indices(seed, options.estimator)
    if options.problems:
        wanted = itertools.islice(wanted, options.problems)
    try:
        for verdict in _verdicts(seed, wanted, options.jobs, end, extremes=not options.plain):
            for line in table.add(verdict):
                print(line, flush=True)
            if time.monotonic() - told > EVERY:
                told = time.monotonic()
                print(table.progress(end - told), flush=True)
    except KeyboardInterrupt:
        print("interrupted")
    print(table)
    print(f"seed {seed}, {options.jobs} processes: {table.summary(time.monotonic() - began)}")
    return int(table.failed)


def _limits(seconds: float, options: argparse.Namespace) -> str:
    most = [f"{options.problems} problems"] if options.problems else []
    most += [f"{seconds:g} s"] if math.isfinite(seconds) else []
    return f"{' or '.join(most)}, {options.jobs} processes"


def _indices(seed: int, estimator: str | None) -> Iterator[int]:
    return (k for k in itertools.count() if estimator in (None, estimator_of(seed, k)))


def _verdicts(
    seed: int, wanted: Iterator[int], jobs: int, end: float, *, extremes: bool
) -> Iterator[Verdict]:
    in_time = itertools.takewhile(lambda _: time.monotonic() < end, wanted)
    try_it = partial(try_one, extremes=extremes)
    if jobs == 1:
        yield from (try_it(seed, index) for index in in_time)
        return
    tasks = ((seed, index) for index in in_time)
    context = multiprocessing.get_context("spawn")
    # Ctrl-C is for this process, which then ends the others.
    with context.Pool(jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        waiting: list[tuple[int, Any]] = []

        def ask(count: int) -> None:
            some = itertools.islice(tasks, count)
            waiting.extend((task[1], pool.apply_async(try_it, task)) for task in some)

        ask(2 * jobs)
        while waiting:
            index, answer = waiting.pop(0)
            try:
                yield answer.get(timeout=HANGS)
            except multiprocessing.TimeoutError:
                yield _hung(seed, index)
                return
            ask(1)


def _hung(seed: int, index: int) -> Verdict:
    name = estimator_of(seed, index)
    what = f"no answer for {HANGS:.0f} s, nor to a signal: the run ends here"
    return Verdict(seed, index, name, "not told", findings=[Finding("error", name, what)])


def _repeat(which: str, *, extremes: bool) -> int:
    seed, index = (int(part) for part in which.split(":"))
    verdict, table = try_one(seed, index, extremes=extremes), Table()
    table.add(verdict)
    print(f"{verdict.estimator} on {verdict.problem}")
    for line in (*verdict.details, *verdict.refused, *map(str, verdict.findings)):
        print(line)
    return int(table.failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, help="how long to go on; an hour if nothing is said"
    )
    parser.add_argument("--problems", type=int, help="how many; without it, an hour")
    parser.add_argument("--seed", type=int, help="of all problems; without it a fresh one")
    parser.add_argument("--estimator", choices=sorted(ESTIMATORS), help="this one only")
    parser.add_argument(
        "--plain", action="store_true", help="draw no extremes, as runs did before there were any"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--repeat", metavar="SEED:INDEX", help="one problem, with all details")
    return parser


if __name__ == "__main__":
    sys.exit(main())
