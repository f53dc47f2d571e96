"""The study of the head: a small run of everything, and its tables by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from support.paper_folder import modules_of, save_set

pytest.importorskip("lightgbm", reason="the study compares with it")


@pytest.fixture(scope="module")
def paper():
    """The study's modules, with few trees and candidates, to be quick."""
    with modules_of("head") as (modules, patch):
        patch.setattr(modules.systems, "GRID", ((7, 0.1, (5, 10)),))
        head = modules.systems.head_ranker
        for name in [name for name in modules.systems.SYSTEMS if name.startswith("HeadRanker")]:
            patch.setitem(modules.systems.SYSTEMS, name, head(candidates="fast"))
        yield modules


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Small sets under the names of real ones."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    y = (np.arange(1200) % 4 == 0).astype(np.int8)
    for name in ("diabetes", "svmguide3", "bank"):
        save_set(folder / f"{name}.npz", rng.normal(size=(1200, 4)) + y[:, np.newaxis], y)
    return folder


def test_a_quick_study_from_nothing(paper, data, tmp_path, capsys):
    paper.run.main(["all", "--quick", "--data", str(data), "--out", str(tmp_path)])
    assert "census-income: skipped" in capsys.readouterr().out
    for name in ("tables", "capacity", "growth"):
        text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert "nan" not in text
        assert len(text) > 500
    rows = json.loads((tmp_path / "tables.json").read_text())
    assert len(rows) == 2 * 2 * 6
    assert all(row["ap"] > 0.5 for row in rows)
    before = (tmp_path / "tables.md").read_text()
    paper.run.main(["tables", "--quick", "--report", "--out", str(tmp_path)])
    assert (tmp_path / "tables.md").read_text() == before
    paper.run.main(
        ["tables", "--quick", "--minutes", "5", "--data", str(data), "--out", str(tmp_path)]
    )
    assert "24 of 24 were done before" in capsys.readouterr().out


def test_differences_are_means_over_sets(paper):
    rows = [
        {"set": name, "system": system, "seed": seed, "ap": value + 0.001 * seed}
        for name, values in (("a", (0.5, 0.6)), ("b", (0.7, 0.68)))
        for system, value in zip(("one", "other"), values, strict=True)
        for seed in range(3)
    ]
    told = paper.summary.difference(rows, "one", "other", "ap")
    assert told == "-4.0 (6.0) 1/0/1 [1, 1]"
    assert paper.summary.kind_of("blend: bins, p-norm push and trees") == "blend of trees and bins"


def test_the_correction_is_holms(paper):
    np.testing.assert_allclose(paper.summary.corrected([0.03, 0.01, 0.04]), [0.06, 0.03, 0.06])
    np.testing.assert_allclose(paper.summary.corrected([0.9, 0.6]), [1.0, 1.0])


def test_the_later_rows_are_tested_on(paper, data):
    part = paper.sets.in_order("bank", data, 100)
    X, y = paper.sets.whole("bank", data)
    np.testing.assert_array_equal(part.X, X[620:720])
    np.testing.assert_array_equal(part.y_test, y[720:])
