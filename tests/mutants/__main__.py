"""Which faults do the tests miss? `python -m mutants` from the folder tests.

Faults of a module are put into it one after the other; one is noticed if a test nearest to the
module fails. Those that live are listed: each is a test to write, or a change that changes nothing
(a bound that is never met with equality, a constant of speed), which `equivalent.txt` explains.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from .equivalent import BAR, explained, key
from .faults import Fault, faults_of
from .trials import Trials

TESTS = Path(__file__).resolve().parent.parent
SOURCE = TESTS.parent / "src" / "toprank"
#: Modules, or folders of them, and the tests nearest to them.
NEAREST = {
    "losses": ("losses", "test_certificates.py"),
    "surrogates": ("surrogates", "losses"),
    "metrics": ("metrics",),
    "inputs/class_split.py": ("test_split.py",),
    "problems": ("test_certificates.py", "test_rounding_bounds.py"),
    "estimators/validation.py": ("test_validation.py",),
    "methods/squared/moments.py": ("methods/squared/test_moments.py",),
    "guarantees": ("guarantees",),
    # Without those that start programs, fit many models or read a thousand harmed files.
    "features/arrow.py": ("files/test_batches.py", "files/test_kinds_of_cells.py"),
    "features/frames.py": ("features/test_frames.py",),
    "features/table_coder.py": ("features/test_frames.py",),
    "files": (
        "files/test_archive.py",
        "files/test_batches.py",
        "files/test_columns.py",
        "files/test_encoding.py",
        "files/test_growing.py",
        "files/test_hostile.py",
        "files/test_kinds_of_cells.py",
        "files/test_opened.py",
        "files/test_preparing.py",
        "files/test_reading.py",
        "files/test_svmlight.py",
        "files/test_temporary_names.py",
        "files/test_what_is_converted.py",
    ),
}


def modules(name: str) -> list[Path]:
    """The source files of a name above."""
    place = SOURCE / name
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def faults(name: str, only: str | None = None) -> list[tuple[Path, Fault, str]]:
    """All that the modules of a name can have, but for those explained; and whose they are."""
    found, known = [], explained()
    for path in modules(name):
        shown = str(path.relative_to(SOURCE))
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        if only is None or only in shown:
            source = path.read_text(encoding="utf-8")
            every = faults_of(source)
            found += [(path, one, module) for one in every if key(shown, one) not in known]
    return found


class Count:
    """What came of the faults, and whether there is time for more."""

    def __init__(self, end: float) -> None:
        self.end, self.counts = end, Counter[str]()

    def tell(self, path: Path, fault: Fault, seen: bool | None) -> bool:
        """Count one; whether to go on."""
        kind = {True: "noticed", False: "alive", None: "nowhere"}[seen]
        self.counts[kind] += 1
        if seen is not True:
            shown = str(path.relative_to(SOURCE))
            named = BAR.join(key(shown, fault))
            print(f"{kind:<8} line {fault.line}: {named}", flush=True)
        return time.monotonic() < self.end


def main() -> int:
    """Try faults until the time is up or there are no more; 1 if one was not noticed."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, help="of the order; without it a fresh one")
    parser.add_argument("--only", help="part of a module's path")
    options = parser.parse_args()
    os.chdir(TESTS.parent)
    os.environ["OMP_NUM_THREADS"] = "1"
    seed = time.time_ns() % 10**6 if options.seed is None else options.seed
    rng, began = random.Random(seed), time.monotonic()
    names = [name for name in NEAREST if faults(name, options.only)]
    rng.shuffle(names)
    total, every = Counter[str](), 0
    for k, name in enumerate(names):
        chosen = faults(name, options.only)
        every += len(chosen)
        rng.shuffle(chosen)
        left = options.seconds - (time.monotonic() - began)
        count = _in_a_process_of_its_own(name, chosen, time.monotonic() + left / (len(names) - k))
        total += count
        print(f"{name}: {_told(count)}, of {len(chosen)} faults", flush=True)
    print(f"seed {seed}: {_told(total)}, of {every} faults; {len(explained())} are explained")
    return int(total["alive"] > 0 or not total["noticed"])


def _told(count: Counter[str]) -> str:
    tried = sum(count.values())
    return f"{count['noticed']} of {tried - count['nowhere']} faults were noticed"


def _in_a_process_of_its_own(
    name: str, chosen: list[tuple[Path, Fault, str]], end: float
) -> Counter[str]:
    """What came of the faults of one name: the library is imported there, and traced."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            count = Count(end)
            trials = Trials(chosen, count.tell)
            given = [str(TESTS / test) for test in NEAREST[name]]
            quiet = ["-q", "-s", "--tb=native", "-p", "no:cacheprovider", "-p", "no:xdist"]
            brief = "--hypothesis-profile=first-failure"
            pytest.main([*quiet, brief, *given], plugins=[trials])
            if not count.counts and trials.failed:
                print(f"Tests of {name} fail without any fault: {trials.failed[:3]}", flush=True)
            os.write(writing, repr(dict(count.counts)).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    counts: Counter[str] = Counter()
    for part in text.strip("{}").split(","):
        if part.strip():
            kind, number = part.split(":")
            counts[kind.strip(" '")] = int(number)
    return counts


if __name__ == "__main__":
    sys.exit(main())
