"""Tests run for faults in a library that is imported already.

pytest collects the tests of a module once. They are run once without a fault, to see which lines
each passes; then a child is forked for every fault, and runs those that pass its statement, the
quick and narrow ones first, up to the first failure.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import time
import types
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .exchange import Functions, exchange, functions_of
from .faults import Fault

#: Seconds of the processor that the tests of a fault have, and how many times what they take
#: without one.
PATIENCE, SLOWER = 10.0, 5.0
#: How many times as long they may take by the clock: others use the machine, and tests wait.
WAITING = 20.0
#: Seconds of tests for one fault, without it: the quick and narrow ones come first.
ENOUGH = 10.0
#: Ends of a child: the tests passed, or one failed, or nothing that exists has the fault.
PASSED, FAILED, NOWHERE = 0, 1, 77


class Trials:
    """A pytest plugin: tests are run once to be traced, then for every fault.

    `tell` gets a fault and whether it was noticed, None where nothing that exists has it; it
    answers whether to go on.
    """

    def __init__(
        self,
        faults: list[tuple[Path, Fault, str]],
        tell: Callable[[Path, Fault, bool | None], bool],
    ) -> None:
        self.faults, self.tell = faults, tell
        self._paths = {str(path) for path, *_ in faults}
        #: By file and line, and by file: the places of the tests that pass it.
        self._passing: dict[Any, set[int]] = defaultdict(set)
        self._seconds: dict[int, float] = {}
        #: By test: how many lines of the modules it passes.
        self._lines: dict[int, int] = {}
        self._functions: Functions = {}
        #: Of the tests that have just been run.
        self.failed: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop."""
        for place, item in enumerate(session.items):
            self._trace(place, item)
        if self.failed:
            return True
        self._functions = functions_of(self._paths)
        gc.freeze()  # so that children share the memory
        gc.disable()
        for path, fault, module in self.faults:
            if not self.tell(path, fault, self._noticed(session.items, path, fault, module)):
                break
        return True

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what fails."""
        if report.failed:
            self.failed.append(report.nodeid)

    def _trace(self, place: int, item: pytest.Item) -> None:
        seen: set[tuple[str, int]] = set()

        def lines(frame: types.FrameType, event: str, _: Any) -> Any:
            seen.add((frame.f_code.co_filename, frame.f_lineno))
            return lines

        def calls(frame: types.FrameType, event: str, _: Any) -> Any:
            return lines(frame, event, _) if frame.f_code.co_filename in self._paths else None

        began = _processor()
        sys.settrace(calls)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            sys.settrace(None)
        self._seconds[place], self._lines[place] = _processor() - began, max(len(seen), 1)
        for at in seen:
            self._passing[at].add(place)
            self._passing[at[0]].add(place)

    def _noticed(
        self, items: list[pytest.Item], path: Path, fault: Fault, module: str
    ) -> bool | None:
        """Whether a test fails with it."""
        passing = [self._passing[str(path), line] for line in fault.lines]
        # What is outside of functions is run by an import, which no test may do.
        places = set[int]().union(*passing)
        if not fault.in_function:  # nobody passes it; some may ask for what it makes
            places = set(range(len(items)))
        if not places:
            return False
        own = self._passing[str(path)]
        chosen, total = [], 0.0
        # A test that passes few lines is more likely to be of this one.
        cost = {place: self._seconds[place] * self._lines[place] for place in places}
        for place in sorted(places, key=lambda k: (k not in own, cost[k])):
            total += self._seconds[place]
            if total > ENOUGH and chosen:
                break
            chosen.append(items[place])

        def job() -> int:
            if not exchange(path, fault, sys.modules[module], self._functions):
                return NOWHERE
            for item in chosen:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if self.failed:
                    return FAILED
            return PASSED

        code = in_child(job, PATIENCE + SLOWER * total)
        return None if code == NOWHERE else code != PASSED


def _processor() -> float:
    """Seconds of the processor that this process has used, and children that have ended."""
    return sum(os.times()[:4])


def in_child(job: Callable[[], int], patience: float) -> int:
    """The exit code of a forked child that says nothing; FAILED if it takes too long.

    `patience` is in seconds of the processor.
    """
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            out = os.open(os.devnull, os.O_WRONLY)
            os.dup2(out, 1)
            os.dup2(out, 2)
            most = int(patience) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (most, most))
            code = job()
        finally:
            os._exit(code)
    end, pause = time.monotonic() + WAITING * patience, 0.001
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return FAILED


__all__ = ["Trials", "in_child"]
