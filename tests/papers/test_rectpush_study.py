"""The study of the RectPush paper: its tests of ranks, its resuming, its arguments."""

from __future__ import annotations

import csv
import json
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
    with modules_of("rectpush") as (modules, patch):
        patch.setattr(modules.study_split, "FOLDS", 2)
        patch.setattr(modules.study_split, "STEPS", 20)
        yield modules


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Two small sets under the names of real ones, a dense and a sparse one."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    for name, n_rows in (("german", 150), ("w8a", 120)):
        y = (np.arange(n_rows) % 3 == 0).astype(np.int8)
        X = rng.normal(size=(n_rows, 4)) + y[:, np.newaxis] * (1 if name == "w8a" else -0.4)
        X = sparse.csr_array(np.where(X > 0.5, X, 0.0)) if name == "w8a" else X
        save_set(folder / f"{name}.npz", X, y)
    return folder


@pytest.fixture(scope="module")
def finished(paper, data, tmp_path_factory) -> Path:
    """The folder of a study that has run to its end."""
    out = tmp_path_factory.mktemp("finished")
    study(paper, data, out)
    return out


def study(paper, data: Path, out: Path, *more: str) -> None:
    given = ["study", "--data", str(data), "--out", str(out), "--quick", "--splits", "2"]
    paper.run.main([*given, "--sets", "german,w8a", *more])


def test_the_papers_averages_follow_from_its_table(paper):
    """Its ranks leave no gap after a tie; those of AP, on ijcnn1, swap two methods."""
    figures = paper.paper_figures
    assert len(figures.TABLE_4) == 14
    dense = np.array(
        [
            [[1 + len(set(row[row > one])) for one in row] for row in table[..., 0].T]
            for table in figures.TABLE_4.values()
        ]
    ).mean(axis=0)
    printed = np.array([figures.AVERAGE_RANKS[m] for m in figures.METHODS]).T
    assert np.abs(dense - printed).max() < 0.08


def test_rows_are_scaled_alike_dense_and_sparse(paper):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((30, 5)) < 0.5, rng.normal(size=(30, 5)), 0.0) * [1, 1e4, 1e-4, 1, 0]
    dense = paper.study_data.scaled(X)
    thin = paper.study_data.scaled(sparse.csr_array(X)).toarray()
    assert np.linalg.norm(dense, axis=1).max() == pytest.approx(1)
    assert thin - thin.mean(axis=0) == pytest.approx(dense, abs=1e-12)


def test_early_rectpush_goes_to_the_optimum_if_it_is_let(paper):
    from toprank import RectPush

    rng = np.random.default_rng(2)
    y = np.arange(60) % 3 == 0
    X = rng.normal(size=(60, 3)) + y[:, np.newaxis]
    exact = RectPush(alpha=0.5, tol=1e-10).fit(X, y)
    early = paper.early_rectpush.EarlyRectPush(alpha=0.5, tol=1e-16, max_iter=20_000).fit(X, y)
    assert early.coef_ == pytest.approx(exact.coef_[0], abs=1e-5)


def test_a_quick_study_from_nothing(finished):
    text = (finished / "study.md").read_text(encoding="utf-8")
    assert "### german" in text
    assert "### w8a" in text
    with (finished / "study.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 7
    assert {row["method"] for row in rows} >= {"Logistic", "TopPush", "RectPush", "RectPushApp"}
    assert all(0 <= float(row["AP"]) <= 1 for row in rows)
    # german's classes overlap: w = 0 is TopPush's optimum, which needs no warning of its own here.
    assert any(row["trivial"] == "1" for row in rows)
    # german's positives are the rows labelled 0, which are the higher in every column
    logistic = [r for r in rows if (r["set"], r["method"]) == ("german", "Logistic")]
    assert min(float(row["AUC"]) for row in logistic) > 0.6


def test_a_second_run_fits_nothing_and_writes_the_same(paper, data, finished, monkeypatch, capsys):
    first = (finished / "study.csv").read_bytes()

    def no_fit(*_: Any) -> None:
        raise AssertionError("a fit was made")

    monkeypatch.setattr(paper.study_split.Fits, "fit", no_fit)
    study(paper, data, finished)
    assert (finished / "study.csv").read_bytes() == first
    assert "4 of 4 were done before" in capsys.readouterr().out
    for other in (["--p", "8"], ["--seed", "1"]):
        with pytest.raises(AssertionError, match="a fit was made"):
            study(paper, data, finished, *other)


def test_a_run_that_was_stopped_goes_on(paper, data, tmp_path, monkeypatch):
    fit, count = paper.study_split.Fits.fit, iter(range(10**6))

    def stopped(*args: Any) -> Any:
        if next(count) == 200:
            raise KeyboardInterrupt
        return fit(*args)

    monkeypatch.setattr(paper.study_split.Fits, "fit", stopped)
    with pytest.raises(SystemExit, match="goes on"):
        study(paper, data, tmp_path, "--splits", "1")
    (kept,) = (tmp_path / "cache").iterdir()
    assert json.loads(kept.read_text(encoding="utf-8"))["name"] == "german"
    study(paper, data, tmp_path, "--splits", "1")
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_missing_set_is_skipped(paper, data, finished, capsys):
    study(paper, data, finished, "--sets", "german,skin,w8a")
    assert "skin: skipped" in capsys.readouterr().out


def test_large_sets_get_fewer_splits_unless_asked(paper, data, tmp_path):
    for name in ("skin", "nsl-kdd"):
        (tmp_path / f"{name}.npz").write_bytes(b"")
    given = {"data": tmp_path, "sets": ["skin", "nsl-kdd"], "splits": 7, "quick": False}
    given |= {"seed": 0, "p": 4.0}
    some = paper.study.plan(SimpleNamespace(**given, all=False))
    every = paper.study.plan(SimpleNamespace(**given, all=True))
    assert len(every) == 14
    assert all(task.early for task in every)
    assert some == [task for task in some if task.split < 5]
    assert [task.name for task in some if task.early] == ["skin", "nsl-kdd"]


def test_methods_of_some_splits_only_are_told_as_such(paper, finished):
    kept = [json.loads(path.read_text("utf-8")) for path in (finished / "cache").glob("w8a*.json")]
    del kept[1]["methods"][paper.study_split.EARLY]
    assert "| w8a | 120 | 2 | 1 |" in "".join(paper.study_report.pieces(kept))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--sets", "german,grman"], "no set 'grman'; there are german"),
        (["--splits", "0"], "'0' is not a whole number of at least 1"),
        (["--jobs", "two"], "'two' is not a whole number"),
        (["--p", "0.5"], "'0.5' is not a number of at least 1"),
        (["--p", "nan"], "'nan' is not a number of at least 1"),
    ],
)
def test_bad_arguments_are_named(paper, tmp_path, capsys, given, says):
    with pytest.raises(SystemExit):
        paper.run.main(["study", "--out", str(tmp_path), *given])
    assert says in capsys.readouterr().err


def test_pages_can_be_written_again_from_the_figures(paper, finished):
    before = {name: (finished / name).read_bytes() for name in ("study.md", "study.csv")}
    for name in before:
        (finished / name).unlink()
    paper.run.main(["study", "--quick", "--report", "--out", str(finished)])
    assert {name: (finished / name).read_bytes() for name in before} == before


def test_a_folder_without_data_is_named(paper, tmp_path):
    with pytest.raises(SystemExit, match="name its folder by --data"):
        paper.run.main(["study", "--data", str(tmp_path / "none"), "--out", str(tmp_path)])


def test_seconds_against_rows(paper, tmp_path):
    """Every method at both ends of the sizes, and a page and a figure of it."""
    rng = np.random.default_rng(0)
    y = (np.arange(200) % 3 == 0).astype(np.int8)
    save_set(tmp_path / "skin.npz", rng.normal(size=(200, 3)) + y[:, np.newaxis], y)
    given = ["growth", "--quick", "--data", str(tmp_path), "--out", str(tmp_path)]
    paper.run.main(given)
    rows = json.loads((tmp_path / "growth.json").read_text())
    assert [(row["n"], row["method"]) for row in rows] == [
        (n, method) for n in (20, 200) for method in paper.growth.SHOWN
    ]
    assert all(row["s"] > 0.0 and 1 <= row["steps"] <= 20 for row in rows)
    assert "| 200 | " in (tmp_path / "growth.md").read_text()
    assert (tmp_path / "figure2.png").stat().st_size > 5000
