"""What the studies share: their command line, files of rows, pages, going on after a stop."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.paper_folder import modules_of


@pytest.fixture(scope="module")
def common():
    with modules_of("lcbr") as (modules, _):
        yield modules.common


def experiment(**more: Any) -> SimpleNamespace:
    """A command that measures its seed, and writes it to a page."""

    def report(rows: list[dict[str, Any]], args: Namespace) -> None:
        (args.out / "page.md").write_text(f"{rows[0]['seed']}")

    return SimpleNamespace(measure=lambda args: [{"seed": args.seed}], report=report, **more)


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_study_measures_reports_and_reports_again(common, tmp_path, kind, capsys):
    study = common.study.Study("some", tmp_path, {"one": experiment()}, "less", kind)
    study.main(["one", "--seed", "3"])
    assert (tmp_path / "results" / "page.md").read_text() == "3"
    study.main(["all", "--quick"])
    assert (tmp_path / "results-quick" / "page.md").read_text() == "0"
    (tmp_path / "results" / "page.md").unlink()
    study.main(["one", "--report"])
    assert (tmp_path / "results" / "page.md").read_text() == "3"
    with pytest.raises(SystemExit, match=rf"no .*one\.{kind} to report: run one without --report"):
        study.main(["one", "--report", "--out", str(tmp_path / "none")])


def test_commands_have_the_arguments_they_list_and_no_others(common, tmp_path, capsys):
    shared = common.study.Argument("--rounds", type=common.study.at_least(1))
    commands = {
        "one": experiment(ARGUMENTS=(shared,)),
        "two": experiment(ARGUMENTS=(shared,)),
        "three": experiment(),
    }
    study = common.study.Study("some", tmp_path, commands, "less")
    study.main(["all", "--rounds", "2"])
    with pytest.raises(SystemExit):
        study.main(["three", "--rounds", "2"])
    assert "unrecognized arguments: --rounds 2" in capsys.readouterr().err


def test_rows_survive_being_written(common, tmp_path):
    rows = [{"set": "a9a", "gamma": "uniform", "auc": 0.123456789, "pool": 1}]
    rows += [{"set": "a9a", "gamma": 0.1, "auc": 1e-20, "pool": 2}]
    for kind, auc in (("json", 0.123456789), ("csv", 0.123457)):
        common.rows.write_rows(tmp_path / f"some.{kind}", rows)
        assert common.rows.read_rows(tmp_path / f"some.{kind}") == [
            {**rows[0], "auc": auc},
            rows[1],
        ]


def test_a_file_is_written_whole_or_not_at_all(common, tmp_path):
    def half(part: Path) -> None:
        part.write_text("half", encoding="utf-8")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        common.rows.write_whole(tmp_path / "one.json", half)
    assert list(tmp_path.iterdir()) == []


def test_figures_lose_the_zero_before_their_point(common):
    digits = common.pages.digits
    assert [digits(0.12345), digits(-0.5, 1), digits(10.5, 2), digits(1.0, 1)] == [
        ".1235",
        "-.5",
        "10.50",
        "1.0",
    ]
    assert digits(float("nan")) == ""


def square(number: int, seen: list[int]) -> dict[str, Any]:
    if number == 3 and seen.count(3) == 0:
        seen.append(3)
        raise KeyboardInterrupt
    seen.append(number)
    return {"square": number**2}


def test_tasks_go_on_after_a_stop_and_are_done_again_if_what_matters_changed(
    common, tmp_path, capsys
):
    Task, results_of = common.tasks.Task, common.tasks.results_of
    seen: list[int] = []

    def tasks(version: int) -> list[Any]:
        return [
            Task(f"task {k}", partial(square, k, seen), {"k": k, "version": version})
            for k in (2, 3, 4)
        ]

    with pytest.raises(SystemExit, match="The same command goes on from here"):
        results_of(tasks(1), tmp_path)
    squares = [{"square": 4}, {"square": 9}, {"square": 16}]
    assert results_of(tasks(1), tmp_path) == squares
    assert "1 of 3 were done before" in capsys.readouterr().out
    assert seen == [2, 3, 3, 4]
    results_of(tasks(1), tmp_path)
    assert len(seen) == 4
    assert results_of(tasks(2), tmp_path) == squares
    assert len(seen) == 7


def test_progress_says_how_far_it_is(common, capsys):
    assert list(common.tasks.watched([0.5, 1], "share {:g}".format)) == [0.5, 1]
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("1/2  share 0.5  elapsed 0 s, about 0 s to go")
    assert second.startswith("2/2  share 1")
