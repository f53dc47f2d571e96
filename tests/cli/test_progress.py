"""How far a command is: which candidate runs, how many there are, how long it may take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.orders import orders
from support.terminals import on_terminal
from toprank import HeadRanker
from toprank.cli.output import ProgressLine
from toprank.selection.head.race import watching


def test_a_race_names_its_candidates_as_they_run() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = (X[:, 0] + rng.standard_normal(120) > 1).astype(int)
    seen: list[tuple[str, int, int]] = []
    with watching(lambda *step: seen.append(step)):
        HeadRanker(effort="fast", cv=2, trees=True, random_state=0).fit(X, y)
    HeadRanker(candidates="fast", cv=2, trees=False, random_state=0).fit(X, y)  # not watched
    assert [name for name, _, _ in seen if name] == ["columns, logistic", "trees", "ensemble"]
    assert [done for _, done, _ in seen] == [0, 1, 1, 2, 2, 3]
    assert {total for _, _, total in seen} == {3}


def test_the_line_says_how_far_it_is() -> None:
    now = 0.0
    line = ProgressLine("fitting head", lambda: now)
    assert str(line) == "fitting head"
    line.step("columns, logistic", 0, 5)
    now = 4.0
    assert str(line) == "fitting head: columns, logistic (1 of 5), 4 s"
    line.step("", 1, 5)
    line.step("trees", 1, 5)
    assert str(line) == "fitting head: trees (2 of 5), 4 s, about 16 s left"
    now = 10.0
    assert str(line) == "fitting head: trees (2 of 5), 10 s, about 10 s left"
    now = 30.0  # longer than was thought
    assert str(line) == "fitting head: trees (2 of 5), 30 s"
    now = 300.0
    line.step("", 2, 5)
    assert str(line) == "fitting head: trees (2 of 5), 5 min, about 8 min left"
    line.step("", 5, 5)
    assert str(line) == "fitting head: the best, on all rows, 5 min"
    line("\x1b[2J3 rows")
    assert line.__rich__().plain == r"fitting head: \x1b[2J3 rows, 5 min"


@pytest.mark.parametrize("quiet", [False, True])
def test_it_is_shown_on_a_terminal(quiet: bool, tmp_path: Path) -> None:
    orders().to_csv(tmp_path / "old.csv", index=False)
    shown = on_terminal(
        "from toprank.cli import main; main()",
        *("fit", tmp_path / "old.csv", "--label", "fraud", "--cv", 2, "-o", tmp_path / "m"),
        *(["--quiet"] if quiet else []),
    )
    assert ("fitting head to 400 rows" in shown) is not quiet
    assert ("the best, on all rows" in shown) is not quiet
