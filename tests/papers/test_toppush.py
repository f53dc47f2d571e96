"""The study of the TopPush paper: its printed figures, its trials and tests, its resuming."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from support.paper_folder import modules_of, save_set


@pytest.fixture(scope="module")
def paper():
    """The modules of the paper's folder, by name; with few folds and steps, to be quick."""
    with modules_of("toppush") as (modules, patch):
        patch.setattr(modules.sets, "FOLDS", 2)
        patch.setattr(modules.systems, "STEPS", 20)
        patch.setattr(modules.trial, "OFTEN", 1)
        patch.setattr(modules.figure1, "NARROW", 500)
        yield modules


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Small sets under the names of real ones: two dense, one sparse, one with its own split."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    for name, more in (
        ("diabetes", {}),
        ("spambase", {}),
        ("w8a", {}),
        ("toppush-spambase", {"n_train": 60}),
    ):
        y = (np.arange(90) % 3 == 0).astype(np.int8)
        X = rng.normal(size=(90, 4)) + 2.0 * y[:, np.newaxis]
        X = sparse.csr_array(np.where(X > 0.5, X, 0.0)) if name == "w8a" else X
        save_set(folder / f"{name}.npz", X, y, **more)
    return folder


@pytest.fixture(scope="module")
def finished(paper, data, tmp_path_factory) -> Path:
    """The folder of a study that has run to its end."""
    out = tmp_path_factory.mktemp("finished")
    paper.run.main(["all", "--data", str(data), "--out", str(out), "--quick"])
    return out


def rows_in(folder: Path) -> list[dict[str, str]]:
    with (folder / "table2.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_quick_study_from_nothing(paper, finished):
    rows = rows_in(finished)
    n_systems = len(paper.systems.SYSTEMS)
    assert len(rows) == 2 * n_systems * (2 + 1)  # sets, trials, and a fit on all rows
    trials = [row for row in rows if row["trial"] != "time"]
    assert all(0 <= float(row[m]) <= 1 for row in trials for m in ("Pos@Top", "AP", "NDCG", "AUC"))
    # the classes are two deviations apart in every column
    assert min(float(row["AUC"]) for row in trials if row["system"] == "LR") > 0.8
    assert {int(row["rows"]) for row in trials} == {60}
    assert {int(row["rows"]) for row in rows if row["trial"] == "time"} == {90}
    page = (finished / "table2.md").read_text(encoding="utf-8")
    assert "### diabetes" in page
    assert "| url | 792 145 + 1 603 985, 3 231 961 columns | not to be had |" in page
    assert "![Seconds against rows](figure1.svg)" in (finished / "figure1.md").read_text("utf-8")
    assert (finished / "figure1.png").stat().st_size > 0


def test_a_second_run_fits_nothing_and_writes_the_same(paper, data, finished, monkeypatch):
    before = {path.name: path.read_bytes() for path in finished.glob("*.*")}

    def no_fit(*_: Any) -> None:
        raise AssertionError("a fit was made")

    monkeypatch.setattr(paper.trial, "fit_watched", no_fit)
    monkeypatch.setattr(paper.figure1, "fit_watched", no_fit)
    given = ["all", "--data", str(data), "--out", str(finished), "--quick"]
    paper.run.main(given)
    assert {path.name: path.read_bytes() for path in finished.glob("*.*")} == before
    for other in (["--seed", "1"], ["--trials", "3"]):
        with pytest.raises(AssertionError, match="a fit was made"):
            paper.run.main([*given, *other])


def test_sparse_rows_and_a_fixed_split(paper, data, tmp_path):
    theirs = paper.sets.THEIRS
    paper.run.main(
        [
            "table2",
            "--data",
            str(data),
            "--out",
            str(tmp_path),
            "--quick",
            "--sets",
            f"w8a,{theirs}",
        ]
    )
    trials = [row for row in rows_in(tmp_path) if row["trial"] != "time"]
    per_system = len(paper.systems.SYSTEMS)
    assert sum(row["set"] == "w8a" for row in trials) == 2 * per_system
    assert sum(row["set"] == theirs for row in trials) == per_system
    whole, folds = paper.sets.parts_of(data, theirs, 0, 0, None)
    X, y = paper.sets.load(data, theirs)
    assert np.array_equal(whole.X, X[:60])
    assert np.array_equal(whole.y_held, y[60:])
    assert sum(len(fold.y_held) for fold in folds) == 60


def test_fewer_rows_to_train_keep_the_test_part(paper, data):
    every, _ = paper.sets.parts_of(data, "spambase", 1, 0, None)
    some, _ = paper.sets.parts_of(data, "spambase", 1, 0, 24)
    assert (len(every.y), len(some.y), some.y.sum()) == (60, 24, 8)
    assert np.array_equal(every.X_held, some.X_held)


def test_the_setting_of_most_positives_at_the_top_is_chosen(paper, data, monkeypatch):
    """A system whose score is the label for one lambda and one cost ratio, noise for the rest."""

    class Oracle:
        def __init__(self, alpha: float, ratio: float) -> None:
            self.knows = (alpha, ratio) == (0.5, 10.0)

        def fit(self, X: Any, y: Any) -> None:
            pass

        def decision_function(self, X: Any) -> Any:
            return X.sum(axis=1) if self.knows else -X.sum(axis=1)

    make = paper.systems.System(
        lambda alpha, ratio, _: Oracle(alpha, ratio), (1.0, 0.5, 0.25), (1.0, 10.0), warm=False
    )
    monkeypatch.setitem(paper.systems.SYSTEMS, "oracle", make)
    plan = paper.systems.plan("oracle", "diabetes", 1, quick=False)
    cell = paper.trial.Cell("diabetes", "oracle", plan, 0)
    row = paper.trial.solve(cell, 0, data)
    assert (row["alpha"], row["ratio"], row["fits"]) == (0.5, 10.0, 2 * 6 + 1)
    assert paper.trial.settled([row, {**row, "alpha": 1.0}, row]) == (0.5, 10.0)


def test_reductions_are_lifted_by_a_number_of_trials(paper):
    systems = paper.systems
    reduced = systems.plan(systems.BY_CHANGE, "nsl-kdd", None, quick=False)
    whole = systems.plan(systems.BY_CHANGE, "nsl-kdd", 30, quick=False)
    assert len(reduced.alphas) < len(whole.alphas) == len(systems.EARLY_ALPHAS)
    assert reduced.trials < whole.trials == 30
    assert reduced.steps < whole.steps == systems.MOST_STEPS
    assert systems.plan(systems.EXACT, "diabetes", None, quick=False).trials == 30


def test_t_tests_are_paired_and_two_sided(paper):
    marks = paper.significance
    base = np.array([0.1, 0.5, 0.9, 0.3])
    # far less than the spread of the trials, but the same in all of them
    more = base + np.array([0.011, 0.01, 0.009, 0.01])
    assert marks.verdict(more, base) == marks.BETTER
    assert marks.verdict(base, more) == marks.WORSE
    assert marks.verdict(base, base) == marks.EVEN
    assert marks.verdict(base + 0.25, base) == marks.BETTER
    # t = 2 with 3 degrees of freedom: p = .139; t = 3: p = .058
    for t, mark in ((2.0, marks.EVEN), (3.0, marks.BETTER)):
        spread = np.array([-1.0, 1.0, -1.0, 1.0])
        error = spread.std(ddof=1) / 2
        assert marks.verdict(spread + t * error, np.zeros(4)) == mark
        # corrected for test parts of a third: t is sqrt(1/4) / sqrt(1/4 + 1/2) of that
        assert marks.verdict(spread + t * error, np.zeros(4), 1 / 3) == marks.EVEN


def test_only_trials_that_both_have_are_compared(paper):
    def row(system: str, trial: int, ap: float) -> dict[str, Any]:
        return {"set": "w8a", "system": system, "trial": trial, "AP": ap}

    rows = [row("TopPush", t, 0.5 + 0.01 * t) for t in range(5)]
    assert paper.significance.mark([*rows, row("LR", 0, 0.1)], "TopPush", "LR", "w8a", "AP") is None
    rows += [row("LR", t, 0.4 + 0.011 * t) for t in range(2, 4)]
    assert paper.significance.mark(rows, "TopPush", "LR", "w8a", "AP") == "•"


def test_the_printed_table_is_whole(paper):
    """Lines and marks as counted on the page."""
    table = paper.printed.TABLE_2
    assert sum(map(len, table.values())) == 36
    marks = [line.marks for lines in table.values() for line in lines.values()]
    assert sum(mark[0] == "+" for mark in marks) == 22
    assert sum("-" in mark for mark in marks) == 1
    assert table["w8a"]["LR"].deviations == (0.093, 0.374, 0.221)
    assert all(len(seconds) == 7 for seconds in paper.printed.FIGURE_1.values())


def test_slopes_of_straight_lines(paper):
    sizes = [100, 1000, 10_000]
    assert paper.figure1._slope(sizes, [1, 10, 100]) == "1.00"
    assert paper.figure1._slope(sizes, [2, 2, 2]) == "0.00"


def test_large_sets_get_fewer_trials(paper, data, tmp_path):
    for name in ("w8a", "nsl-kdd"):
        (tmp_path / f"{name}.npz").write_bytes(b"")
    args = {"data": tmp_path, "sets": ["w8a", "nsl-kdd"], "quick": False, "seed": 0}
    some = paper.table2.cells_of(SimpleNamespace(**args, trials=None))
    every = paper.table2.cells_of(SimpleNamespace(**args, trials=7))
    assert {cell.plan.trials for cell in every} == {7}
    assert max(cell.plan.trials for cell in some) < 30


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--sets", "diabetes,url"], "no set 'url'; there are diabetes"),
        (["--trials", "0"], "'0' is not a whole number of at least 1"),
    ],
)
def test_bad_arguments_are_named(paper, tmp_path, capsys, given, says):
    with pytest.raises(SystemExit):
        paper.run.main(["table2", "--out", str(tmp_path), *given])
    assert says in capsys.readouterr().err
