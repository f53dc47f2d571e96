"""A clock that goes backwards: nothing here asks the time of day, but to print it."""

from __future__ import annotations

import ast
import itertools
import time
from pathlib import Path

import numpy as np
import pytest

import toprank
from toprank.selection import HeadRanker, compare

SOURCE = Path(toprank.__file__).parent
#: What can jump. perf_counter and monotonic cannot.
JUMPS = {
    ("time", "time"),
    ("time", "time_ns"),
    ("time", "localtime"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
}
#: Files that may ask: a report says when it was made.
TELLS = {"report/report.py"}

X = np.random.default_rng(0).standard_normal((300, 4))
Y = X[:, 0] + 0.5 * X[:, 1] ** 2 > 1.0


def test_durations_are_never_taken_from_the_time_of_day() -> None:
    asking = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if (node.value.id, node.attr) in JUMPS:
                    asking.add(path.relative_to(SOURCE).as_posix())
            elif isinstance(node, ast.ImportFrom) and node.module == "time":
                assert {name.name for name in node.names} <= {"perf_counter", "monotonic", "sleep"}
    assert asking == TELLS


@pytest.fixture
def backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock finds it an hour earlier."""
    hours = itertools.count(1)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 3600.0 * next(hours))


@pytest.mark.usefixtures("backwards")
def test_a_fit_and_its_history() -> None:
    assert time.time() > time.time()
    ranker = toprank.RectPush(tol=1e-9).fit(X, Y)
    seconds = ranker.history_["seconds"]
    assert len(seconds) > 1
    assert seconds[0] >= 0.0
    assert (np.diff(seconds) >= 0.0).all()


@pytest.mark.usefixtures("backwards")
def test_a_budget_neither_ends_at_once_nor_lasts_for_ever() -> None:
    ranker = HeadRanker(budget=60.0, random_state=0).fit(X, Y)
    whole = HeadRanker(budget=None, random_state=0).fit(X, Y)
    assert len(ranker.leaderboard_) == len(whole.leaderboard_)


@pytest.mark.usefixtures("backwards")
def test_the_progress_of_a_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    found = compare({"rect": toprank.RectPushApp(1e-2)}, X, Y, cv=2, progress=True)
    assert found.models == ["logistic", "rect"]
    told = capsys.readouterr().err
    assert told
    assert "-" not in told.replace("toprank-", "")
