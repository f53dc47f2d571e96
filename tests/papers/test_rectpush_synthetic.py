"""The synthetic experiments of the RectPush paper: the files come out, the effect is there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from support.paper_folder import modules_of


@pytest.fixture(scope="module")
def paper():
    with modules_of("rectpush") as (modules, _):
        yield modules


def test_the_command_writes_its_files(paper, tmp_path: Path) -> None:
    paper.run.main(["synthetic", "--quick", "--draws", "3", "--out", str(tmp_path)])
    text = (tmp_path / "synthetic.md").read_text(encoding="utf-8")
    assert "3 draws of 4 points, seed 0" in text
    assert len(re.findall(r"^### \([a-e]\)", text, re.MULTILINE)) == 5
    assert "<svg" in (tmp_path / "figure1.svg").read_text()
    assert (tmp_path / "figure1.png").stat().st_size > 10_000


def test_the_population_minimiser_of_toppush_is_zero_and_that_of_rectpush_is_not(paper) -> None:
    experiments = paper.experiments
    points = experiments.draw_points(8, seed=1)
    found = experiments.population_study(points, np.array([1 / 64, 1.0, 64.0]))
    top, rect = found["TopPush"], found["RectPush"]
    assert not top.norm.any()
    assert (top.auc == 0.5).all()
    assert (rect.norm > 0).all()
    assert (rect.excess > 0).all()
    assert np.all(np.diff(rect.auc.mean(axis=0)) > 0)
    best = experiments.best_auc(points, np.array([1 / 64, 1.0, 64.0]))
    assert (rect.auc <= best + 1e-12).all()


def test_samples_lead_toppush_to_zero_and_rectpush_away_from_it(paper) -> None:
    experiments = paper.experiments
    found = experiments.sample_study(experiments.draw_points(20, seed=2), [8, 4096], seed=2)
    top, rect = found["TopPush"], found["RectPush"]
    assert (top.norm[:, 0] > 0).mean() > 0.3  # on the smallest samples often not zero
    assert not top.norm[:, 1].any()
    assert rect.auc[:, 1].mean() > rect.auc[:, 0].mean() + 0.02
    assert rect.auc[:, 1].mean() > top.auc[:, 1].mean() + 0.05
    assert (rect.excess[:, 1] > 0).all()


def test_a_minimiser_that_stops_short_is_no_better_than_zero_but_ranks(paper) -> None:
    experiments = paper.experiments
    short = experiments.stopped_short(experiments.draw_points(10, seed=3), np.array([64.0]), seed=3)
    assert (short.excess < 1e-9).all()
    assert short.auc.mean() > 0.6
