"""The study of the head: a small run of everything, its splits, measures and tables by hand."""

from __future__ import annotations

import json
from functools import partial
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from support.paper_folder import modules_of, save_set

pytest.importorskip("lightgbm", reason="the study compares with it")


@pytest.fixture(scope="module")
def paper():
    """The study's modules, with few trees and candidates, to be quick, and without CatBoost."""
    with modules_of("head") as (modules, patch):
        systems = modules.systems
        patch.setattr(systems, "GRID", ((7, (0.1, 50), 1.0), (7, (0.1, 25), 0.5)))
        patch.setattr(systems, "STOPPING", (30, 0.1, 5, 0.2))
        for name in [name for name in systems.SYSTEMS if name.startswith("HeadRanker")]:
            patch.setitem(systems.SYSTEMS, name, systems.head_ranker(candidates="fast"))
        fast = systems.head_ranker(candidates=["columns"], trees="lightgbm", effort="fast")
        patch.setitem(systems.SYSTEMS, "HeadRanker, fast", fast)
        catboost = systems.SYSTEMS["CatBoost"]._replace(package="no_such_package")
        patch.setitem(systems.SYSTEMS, "CatBoost", catboost)
        patch.setattr(modules.growth, "TREES", ((7, 0.1, (5, 10)),))
        small = partial(modules.capacity.HeadRanker, candidates="fast")
        patch.setattr(modules.capacity, "HeadRanker", small)
        patch.setattr(modules.scale, "FITTED", ("HeadRanker, fast",))
        yield modules


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Small sets under the names of real ones."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    y = (np.arange(1200) % 4 == 0).astype(np.int8)
    for name in ("diabetes", "svmguide3", "bank"):
        save_set(folder / f"{name}.npz", rng.normal(size=(1200, 4)) + y[:, np.newaxis], y)
    save_handbook(folder / "fraud-handbook.npz", rng)
    return folder


def save_handbook(path: Path, rng: np.random.Generator) -> None:
    """Twenty-nine days of 80 customers, two of whom a day are compromised for three days."""
    day = np.repeat(np.arange(93, 122), 80)
    customer = np.tile(10 * np.arange(80), 29)
    since = rng.permutation(80) // 2 + 86  # the first day of the compromised state, by customer
    late = day - since[customer // 10]
    y = ((late >= 0) & (late < 3)).astype(np.int8)
    X = rng.normal(size=(len(y), 3)) + y[:, np.newaxis]
    save_set(path, X, y, day=day, customer=customer)


@pytest.fixture(scope="module")
def finished(paper, data, tmp_path_factory) -> Path:
    """The folder of a study that has run to its end."""
    out = tmp_path_factory.mktemp("finished")
    automl = {"set": "diabetes", "system": "AutoGluon", "rows": 300, "first": None, "seed": 0}
    automl |= {"ap": 0.5, "pauc": 0.25, "p100": 0.75, "seconds": 9.0, "commit": "abc"}
    (out / "automl.json").write_text(json.dumps([automl]))
    paper.run.main(["all", "--quick", "--data", str(data), "--out", str(out)])
    return out


def quick(paper, command: str, data: Path, out: Path, *more: str) -> None:
    paper.run.main([command, "--quick", "--data", str(data), "--out", str(out), *more])


def page_of(folder: Path, name: str) -> str:
    return (folder / f"{name}.md").read_text(encoding="utf-8")


def rows_of(folder: Path, name: str) -> list[dict]:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def test_a_quick_study_from_nothing(paper, finished):
    for name in paper.run.STUDY.commands:
        page = page_of(finished, name)
        assert "nan" not in page
        assert len(page) > 500
    n_systems = len(paper.systems.SYSTEMS) - 1  # without CatBoost
    rows = rows_of(finished, "tables")
    assert len(rows) == 2 * 2 * n_systems
    assert min(row["ap"] for row in rows) > 0.4  # a quarter of the rows are positive
    rows = rows_of(finished, "handbook")
    assert len(rows) == 2 * n_systems
    assert min(row["auc"] for row in rows) > 0.6
    assert len(rows_of(finished, "capacity")) == 2 * 4
    assert len(rows_of(finished, "growth")) == 2 * 2 * 4
    assert "### Against AutoGluon" in page_of(finished, "tables")
    (row,) = rows_of(finished, "scale")
    assert (row["rows"], row["columns"], row["bytes"]) == (300, 4, 300 * 4 * 8)
    assert row["seconds"] > 0
    assert 2e7 < row["peak"] < 2e9


def test_the_pages_again_without_measuring(paper, finished):
    before = {path.name: path.read_bytes() for path in finished.glob("*.*")}
    paper.run.main(["all", "--quick", "--report", "--out", str(finished)])
    assert {path.name: path.read_bytes() for path in finished.glob("*.*")} == before


def test_a_second_run_goes_on_and_keeps_the_rows_of_other_systems(paper, data, finished, capsys):
    before = rows_of(finished, "tables")
    quick(paper, "tables", data, finished, "--minutes", "0", "--systems", "LightGBM", "HeadRanker")
    assert "8 of 8 were done before" in capsys.readouterr().out
    assert rows_of(finished, "tables") == before


def test_systems_that_are_not_installed_are_skipped(paper, data, tmp_path, capsys):
    assert paper.systems.installed(["CatBoost", "LightGBM"]) == ["LightGBM"]
    told = "CatBoost: skipped, no_such_package is not installed\n"
    assert capsys.readouterr().out == told
    for command in ("tables", "handbook"):
        with pytest.raises(SystemExit, match=r"^CatBoost is not installed: pip install \S+\.$"):
            quick(paper, command, data, tmp_path, "--systems", "CatBoost")


def test_all_skips_commands_without_data(paper, tmp_path, capsys):
    class Counted:
        """A command that needs no data."""

        ARGUMENTS = (paper.common.data.DATA,)

        def measure(self, args):
            return [{"rows": 1}]

        def report(self, rows, args):
            (args.out / "counted.md").write_text("counted")

    needy = {"handbook": paper.handbook, "scale": paper.scale}
    given = ["all", "--quick", "--data", str(tmp_path), "--out", str(tmp_path)]
    Study = paper.common.study.Study
    Study("some", tmp_path, {**needy, "counted": Counted()}, "less").main(given)
    assert page_of(tmp_path, "counted") == "counted"
    told = capsys.readouterr().out
    assert "handbook: skipped. No data set of the study is in" in told
    assert "scale: skipped. No data set of the study is in" in told
    with pytest.raises(SystemExit, match="No data set of the study is in"):
        Study("some", tmp_path, needy, "less").main(given)


def test_automl_without_its_packages(paper, data, tmp_path, monkeypatch):
    monkeypatch.setattr(paper.automl, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"^Neither AutoGluon nor FLAML is installed: README.md"):
        paper.automl.main(["--quick", "--data", str(data), "--out", str(tmp_path)])


def test_catboost_scores_the_test_rows(paper):
    pytest.importorskip("catboost", reason="an optional rival")
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    scores, _ = paper.systems.catboost(paper.sets.Parts(X, y, X, y), 0)
    assert roc_auc_score(y, scores) > 0.9


def test_partial_auc_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    with modules_of("head") as (modules, _):
        for digits in (1, 8):  # with ties, and without
            y = rng.random(500) < 0.2
            scores = np.round(rng.normal(size=500) + y, digits)
            for most in (0.01, 0.0137, 0.3):
                standardised = roc_auc_score(y, scores, max_fpr=most)
                least = most**2 / 2
                area = least + (2 * standardised - 1) * (most - least)
                assert modules.measures.partial_auc(y, scores, most) == pytest.approx(area / most)


def test_ties_at_the_kth_score_count_in_the_mean(paper):
    y = np.array([1, 0, 1, 0, 0, 1])
    scores = np.array([3.0, 2.0, 2.0, 2.0, 1.0, 2.0])
    for k in range(1, 7):
        orders = [list(order) for order in permutations(range(6))]
        by_score = [order for order in orders if np.all(np.diff(scores[order]) <= 0)]
        expected = np.mean([y[order[:k]].mean() for order in by_score])
        assert paper.measures.precision_at(y, scores, k) == pytest.approx(expected)


def test_card_precision_by_hand_and_by_brute_force(paper):
    card_precision = paper.measures.card_precision
    day = np.array([1, 1, 1, 1, 2, 2, 2])
    customer = np.array([7, 8, 7, 9, 7, 8, 9])
    y = np.array([0, 0, 1, 1, 1, 0, 1])
    scores = np.array([0.9, 0.8, 0.1, 0.2, 0.9, 0.5, 0.4])
    # On the first day 7 is first, and found by its second row. On the second day 7 is out.
    assert card_precision(y, scores, day, customer, k=1) == 0.5
    assert card_precision(y, scores, day, customer, k=2) == 0.5
    rng = np.random.default_rng(2)
    for k in (1, 3, 10):
        day, customer = rng.integers(5, size=400), rng.integers(40, size=400)
        y = (rng.random(400) < 0.2).astype(int)
        scores = rng.normal(size=400) + y
        expected = walked(y, scores, day, customer, k)
        assert card_precision(y, scores, day, customer, k) == pytest.approx(expected)


def walked(y, scores, day, customer, k: int) -> float:
    """Card precision by a walk down the rows of each day."""
    removed: set[int] = set()
    shares = []
    for today in range(day.max() + 1):
        looked_at: list[int] = []
        for i in sorted(np.flatnonzero(day == today), key=lambda i: -scores[i]):
            if customer[i] not in removed and customer[i] not in looked_at and len(looked_at) < k:
                looked_at.append(customer[i])
        caught = [c for c in looked_at if any((customer == c) & (day == today) & (y == 1))]
        removed.update(caught)
        shares.append(len(caught) / k)
    return float(np.mean(shares))


def test_bank_is_split_in_time_order(paper, data):
    X, y = paper.sets.whole("bank", data)
    row_of = {tuple(row): i for i, row in enumerate(X)}
    starts = set()
    for seed in range(5):
        part = paper.sets.parts("bank", data, 300, seed)
        train, test = ([row_of[tuple(row)] for row in rows] for rows in (part.X, part.X_test))
        assert (len(train), len(test)) == (300, round(0.08 * 1200))
        assert max(train) < min(test)
        assert max(test) < 1200
        np.testing.assert_array_equal(part.time, train)
        np.testing.assert_array_equal(part.y_test, y[test])
        starts.add(min(test))
        for training, held_out in paper.systems.folds_of(part, seed):
            assert training.max() < held_out.min()
    assert len(starts) == 5


def test_other_sets_are_split_at_random(paper, data):
    part = paper.sets.parts("svmguide3", data, 300, 0)
    assert part.time is None
    assert (part.X.shape, part.X_test.shape) == ((300, 4), (480, 4))
    assert not {tuple(row) for row in part.X} & {tuple(row) for row in part.X_test}
    sought = paper.sets.parts("diabetes", data, 300, 0)  # its common class has label 1 in the file
    assert sought.y_test.mean() == pytest.approx(0.75)


def test_bank_can_be_split_at_random_too(paper, data):
    X, _ = paper.sets.whole("bank", data)
    row_of = {tuple(row): i for i, row in enumerate(X)}
    part = paper.sets.at_random("bank", data, 300, 0)
    train, test = ([row_of[tuple(row)] for row in rows] for rows in (part.X, part.X_test))
    assert part.time is None
    assert not set(train) & set(test)
    assert max(train) > min(test)
    assert len(test) == 480


def test_the_later_rows_are_tested_on(paper, data):
    part = paper.sets.in_order("bank", data, 100)
    X, y = paper.sets.whole("bank", data)
    np.testing.assert_array_equal(part.X, X[620:720])
    np.testing.assert_array_equal(part.y_test, y[720:])


@pytest.mark.parametrize(("first", "every"), [(94, 1), (101, 1), (94, 20)])
def test_weeks_of_the_handbook(paper, data, first, every):
    raw = paper.common.data.read_set(data / "fraud-handbook.npz")
    X, y, day, customer = raw["X"], raw["y"], raw["day"], raw["customer"]
    part, days, customers = paper.sets.week(data, first, every)
    kept = customer % every == 0
    training = kept & (first <= day) & (day <= first + 6)
    np.testing.assert_array_equal(part.X, X[training])
    np.testing.assert_array_equal(part.y, y[training])
    np.testing.assert_array_equal(part.time, day[training])
    # After the delay: a customer is known on a day by its frauds until eight days before.
    expected = [
        i
        for i in np.flatnonzero(kept & (first + 14 <= day) & (day <= first + 20))
        if not any((customer == customer[i]) & (y == 1) & (first <= day) & (day <= day[i] - 8))
    ]
    assert 0 < len(expected) < np.sum(kept & (first + 14 <= day) & (day <= first + 20))
    np.testing.assert_array_equal(part.X_test, X[expected])
    np.testing.assert_array_equal(part.y_test, y[expected])
    np.testing.assert_array_equal(days, day[expected])
    np.testing.assert_array_equal(customers, customer[expected])


def test_the_chosen_table(paper):
    def row(system: str, name: str) -> dict[str, str]:
        return {"system": system, "chosen": name}

    rows = [
        row("HeadRanker", "ensemble: 0.5 bins, logistic + 0.3 trees, halves + 0.2 trees"),
        row(
            "HeadRanker", "ensemble: 0.4 trees + 0.3 bins, p-norm push, p = 4 + 0.3 bins, logistic"
        ),
        row("HeadRanker", "ensemble: 0.95 extra trees + 0.05 columns, logistic"),
        row("HeadRanker", "trees"),
        row("HeadRanker, fast", "columns, logistic"),
        row("LightGBM", ""),
    ]
    assert paper.summary.chosen_table(rows, "##").splitlines()[-9:] == [
        "|  | HeadRanker | HeadRanker, fast |",
        "| --- | --- | --- |",
        "| splits | 4 | 1 |",
        "| ensembles (members) | 3 (2.7) | 0 |",
        "| columns | 25 % (.05) | 100 % (1.00) |",
        "| bins | 50 % (.55) |  |",
        "| extra trees | 25 % (.95) |  |",
        "| trees | 75 % (.53) |  |",
        "| trees, halves | 25 % (.30) |  |",
    ]
    assert paper.summary.chosen_table(rows[-1:], "##") == ""


def test_names_of_choices_are_those_of_head_ranker(paper, finished):
    for row in rows_of(finished, "tables"):
        if row["system"].startswith("HeadRanker"):
            members = paper.summary.members_of(row["chosen"])
            assert {kind for kind, _ in members} <= {"columns", "squashed", "trees"}
            assert sum(weight for _, weight in members) == pytest.approx(1.0, abs=0.02)


def test_fits_that_were_given_up_are_listed(paper):
    rows = [
        {"system": "A", "set": "bank", "seed": 3, "given_up": 30},
        {"system": "A", "set": "fraud-handbook", "first": 94, "seed": 0, "given_up": 30},
        {"system": "B", "set": "bank", "seed": 3},
    ]
    assert paper.summary.given_up(rows).splitlines()[2:] == [
        "* A on bank, split 3: more than 30 minutes of CPU",
        "* A on fraud-handbook, first day 94: more than 30 minutes of CPU",
    ]


def test_differences_are_means_over_sets(paper):
    rows = [
        {"set": name, "system": system, "seed": seed, "ap": value + 0.001 * seed}
        for name, values in (("a", (0.5, 0.6)), ("b", (0.7, 0.68)))
        for system, value in zip(("one", "other"), values, strict=True)
        for seed in range(3)
    ]
    told = paper.summary.difference(rows, "one", "other", "ap")
    assert told == "-4.0 (6.0) 1/0/1 [1, 1]"


def test_the_correction_is_holms(paper):
    np.testing.assert_allclose(
        paper.summary.holm_adjusted(np.array([0.03, 0.01, 0.04])), [0.06, 0.03, 0.06]
    )
    np.testing.assert_allclose(paper.summary.holm_adjusted(np.array([0.9, 0.6])), [1.0, 1.0])


def test_the_aims_of_scale(paper, tmp_path):
    row = {"set": "covtype", "rows": 581_012, "columns": 10, "bytes": 46_480_960}
    row |= {"system": "HeadRanker", "seconds": 25.0, "peak": 500_000_000, "commit": "abc"}
    paper.scale.report([row], SimpleNamespace(out=tmp_path))
    line = "| covtype, 581012 x 10 | 46 | HeadRanker | 25.0 | 30 | 500 | 786 |"
    assert line in page_of(tmp_path, "scale")
