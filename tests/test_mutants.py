"""The faults that `make mutants` puts into the library."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from mutants.__main__ import NEAREST, SOURCE, TESTS, modules
from mutants.equivalent import explained, key
from mutants.exchange import exchange
from mutants.faults import faults_of, faulty


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["a <= b"]),
        ("a + b * c", ["a - b * c", "a + b / c"]),
        ("a == b or c", ["a == b and c", "a != b or c"]),
        ("f(0.5, True)", ["f(1.5, True)", "f(0.5, False)"]),
        ("x: int | None = y", []),
        ("a if b else c", ["a if not b else c"]),
        ("'a word'", []),
        ("gamma(n + 1) + x", ["gamma(n + 1) - x"]),
        ("2.0 * UNIT * x", ["2.0 * UNIT / x", "2.0 / UNIT * x"]),
    ],
)
def test_a_fault_changes_one_thing(source: str, expected: list[str]) -> None:
    found = [faulty(source, fault.number) for fault in faults_of(source)]
    assert sorted(found) == sorted(expected)


def test_the_modules_and_their_tests_are_there() -> None:
    assert all((SOURCE / name).exists() for name in NEAREST)
    assert all((TESTS / test).exists() for tests in NEAREST.values() for test in tests)
    assert sum(len(modules(name)) for name in NEAREST) > 40


def test_what_is_explained_is_a_fault_that_can_be_made() -> None:
    made = {
        key(str(path.relative_to(SOURCE)), fault)
        for name in NEAREST
        for path in modules(name)
        for fault in faults_of(path.read_text(encoding="utf-8"))
    }
    assert explained().keys() - made == set()
    assert all(reason.strip() for reason in explained().values())


SOURCE_OF_A_MODULE = """
MOST = 3


def above(x, least=2):
    return [y for y in x if y > least]


class Count:
    step = 1

    def up(self, x):
        return x + self.step if x < MOST else x
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = tmp_path / "a_module.py"
    path.write_text(SOURCE_OF_A_MODULE)
    made = ModuleType("toprank_a_module")
    made.__file__ = str(path)
    exec(compile(SOURCE_OF_A_MODULE, str(path), "exec"), made.__dict__)
    made.Count.__module__ = made.__name__
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def test_a_fault_is_put_into_what_has_been_imported(module: ModuleType) -> None:
    def state(one: ModuleType) -> list[object]:
        return [one.MOST, one.above([1, 2, 3, 4]), *(one.Count().up(x) for x in range(6))]

    path, sound, seen = Path(str(module.__file__)), state(module), []
    assert sound == [3, [3, 4], 1, 2, 3, 3, 4, 5]
    for fault in faults_of(SOURCE_OF_A_MODULE):
        exec(compile(SOURCE_OF_A_MODULE, str(path), "exec"), module.__dict__)
        module.Count.__module__ = module.__name__
        assert exchange(path, fault, module)
        assert state(module) != sound, str(fault)
        seen.append(str(fault))
    assert len(seen) == 7
