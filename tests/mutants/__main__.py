"""Which faults do the tests miss? `python -m mutants` from the folder tests.

A fault is drawn from the modules below, the tests nearest to it are run in a process of their own,
and it is noticed if one of them fails. Those that live are listed: each is a test to write, or a
change that changes nothing (a bound that is never met with equality, a constant of speed). A line
of source that ends in "no mutants" is left alone.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import os
import random
import sys
import time
from pathlib import Path

import pytest

from .faults import Fault, faults_of, faulty, plain

TESTS = Path(__file__).resolve().parent.parent
SOURCE = TESTS.parent / "src" / "toprank"
#: Modules, or folders of them, and the tests nearest to them.
NEAREST = {
    "losses": ("losses", "solvers/test_solvers.py", "methods/structural"),
    "surrogates": ("surrogates", "losses"),
    "metrics": ("metrics",),
    "split.py": ("test_split.py", "methods/test_inputs.py"),
    "problem.py": ("test_problem.py", "solvers/test_solvers.py"),
    "validation.py": (
        "methods/test_errors.py",
        "methods/test_inputs.py",
        "methods/test_odd_data.py",
    ),
    "methods/squared/moments.py": ("methods/squared", "core/test_moments.py"),
    "guarantees": ("guarantees",),
    "files": ("files", "cli/test_refusals.py"),
}
#: Seconds for the tests of one fault: a loop that never ends is noticed.
PATIENCE = 300


class _Faulty(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a source of its own."""

    def __init__(self, module: str, path: Path, source: str) -> None:
        self.module, self.path, self.source = module, path, source

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name != self.module:
            return None
        places = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        spec = importlib.util.spec_from_loader(name, self, origin=str(self.path))
        assert spec is not None
        spec.submodule_search_locations = places
        return spec

    def exec_module(self, module: object) -> None:
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def modules() -> list[tuple[Path, tuple[str, ...]]]:
    """Every source file, and its tests."""
    found = []
    for name, tests in NEAREST.items():
        place = SOURCE / name
        files = [place] if place.is_file() else sorted(place.rglob("*.py"))
        found += [(file, tests) for file in files]
    return found


def noticed(path: Path, fault: Fault | None, tests: tuple[str, ...]) -> bool:
    """Whether a test fails, in a child: the parent has not imported the library.

    Without a fault the source is parsed and written again, as it is with one.
    """
    child = os.fork()
    if child == 0:
        out = os.open(os.devnull, os.O_WRONLY)
        os.dup2(out, 1)
        os.dup2(out, 2)
        code = 1
        try:
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            module = ".".join(parts).removesuffix(".__init__")
            source = path.read_text(encoding="utf-8")
            source = plain(source) if fault is None else faulty(source, fault.number)
            sys.meta_path.insert(0, _Faulty(module, path, source))
            given = [str(TESTS / test) for test in tests]
            code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *given]))
        finally:
            os._exit(code)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


def faults(only: str | None) -> list[tuple[Path, Fault, tuple[str, ...]]]:
    """All that the modules can have, with their tests."""
    found = []
    for path, tests in modules():
        if only is None or only in str(path.relative_to(SOURCE)):
            source = path.read_text(encoding="utf-8")
            alone = [line.endswith("no mutants") for line in source.splitlines()]
            found += [(path, one, tests) for one in faults_of(source) if not alone[one.line - 1]]
    return found


def main() -> int:
    """Try faults until the time is up; 1 if one was not noticed."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="part of a module's path")
    options = parser.parse_args()
    os.chdir(TESTS.parent)
    os.environ["OMP_NUM_THREADS"] = "1"
    for package in ("cvxpy", "pandas", "sklearn.model_selection"):
        importlib.import_module(package)  # once, for all children; not pytest's plugins
    rng, end = random.Random(options.seed), time.monotonic() + options.seconds
    tried: dict[bool, int] = {True: 0, False: 0}
    every, sound = faults(options.only), set[Path]()
    while time.monotonic() < end:
        path, fault, tests = rng.choice(every)
        if path not in sound and noticed(path, None, tests):
            raise SystemExit(f"The tests of {path.relative_to(SOURCE)} fail without any fault.")
        sound.add(path)
        seen = noticed(path, fault, tests)
        tried[seen] += 1
        if not seen:
            print(f"LIVES  {path.relative_to(SOURCE)}, {fault}", flush=True)
    print(f"{tried[True]} of {sum(tried.values())} faults were noticed")
    return int(tried[False] > 0)


if __name__ == "__main__":
    sys.exit(main())
