"""The faults that `make mutants` puts into the library."""

from __future__ import annotations

import pytest

from mutants.__main__ import NEAREST, SOURCE, TESTS, modules
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
    ],
)
def test_a_fault_changes_one_thing(source: str, expected: list[str]) -> None:
    found = [faulty(source, fault.number) for fault in faults_of(source)]
    assert sorted(found) == sorted(expected)


def test_the_modules_and_their_tests_are_there() -> None:
    assert all((SOURCE / name).exists() for name in NEAREST)
    assert all((TESTS / test).exists() for tests in NEAREST.values() for test in tests)
    assert len(modules()) > 40
