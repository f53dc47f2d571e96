"""The LCBR paper's experiments: exact figures of the mixtures, and a small run of everything."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from support.paper_folder import modules_of, save_set


@pytest.fixture(scope="module")
def paper():
    """The paper's modules, on little data, to be quick."""
    with modules_of("lcbr") as (modules, patch):
        patch.setattr(modules.features, "N_ROWS", 120)
        patch.setattr(modules.contenders.Drawn, "grid", modules.contenders.Drawn.grid[-2:])
        patch.setattr(modules.contenders.Exact, "grid", modules.contenders.Drawn.grid)
        for online in modules.contenders.ONLINE:
            patch.setattr(online, "grid", online.grid[:2])
        yield modules


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Small sets under the names of real ones: a sparse one with a test set, a dense one."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    y = (np.arange(150) % 3 == 0).astype(np.int8)
    for name in ("a9a", "a9a_t", "german"):
        X = rng.normal(size=(150, 4)) + y[:, np.newaxis]
        save_set(
            folder / f"{name}.npz",
            X if name == "german" else sparse.csr_array(np.where(X > 0.3, X, 0.0)),
            y,
        )
    return folder


def test_figures_of_a_mixture_are_exact(paper):
    mixture = paper.mixture.Mixture.draw(2, 1.0, seed=3)
    rng = np.random.default_rng(0)
    w = mixture.best() + 0.02 * rng.normal(size=10)
    rows = [
        centers[rng.integers(2, size=400_000)] + rng.standard_normal((400_000, 10))
        for centers in mixture.centers
    ]
    margins = (rows[1] - rows[0]) @ w
    assert mixture.risk(w) == pytest.approx(np.mean((1.0 - margins) ** 2) / 2.0, rel=0.01)
    assert mixture.auc(w) == pytest.approx(np.mean(margins > 0), abs=0.003)
    assert mixture.risk(mixture.best()) < mixture.risk(w)
    assert mixture.likelihood_ratio_auc(0) > mixture.auc(mixture.best()) - 0.01


def test_pair_descent_is_its_formula(paper):
    rng = np.random.default_rng(1)
    y = np.arange(20) % 2
    part = paper.contenders.Part(rng.normal(size=(20, 3)), y, None, y)
    found = list(paper.contenders.PairDescent().weights(part, {"step": 0.5}, seed=4))
    assert len(found) == len(paper.contenders.SHARES)
    draws = np.random.default_rng(4)
    above, below = part.X[y == 1], part.X[y == 0]
    first, second = draws.integers(10, size=20), draws.integers(10, size=20)
    w, passed = np.zeros(3), []
    for t in range(20):
        psi = above[first[t]] - below[second[t]]
        w = w + 0.5 / np.sqrt(t + 1) * (1.0 - psi @ w) * psi
        passed.append(w)
    np.testing.assert_allclose(found[-1], np.mean(passed, axis=0))
    np.testing.assert_allclose(found[0], np.mean(passed[:2], axis=0))


def test_a_quick_study_from_nothing(paper, data, tmp_path, capsys):
    paper.run.main(["all", "--quick", "--data", str(data), "--out", str(tmp_path)])
    assert "svmguide3: skipped" in capsys.readouterr().out
    for name in ("panels", "skew", "libsvm", "features"):
        text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert "nan" not in text
        assert len(text) > 500
    for figure in ("figure1", "figure1j", "figure2"):
        assert (tmp_path / f"{figure}.svg").stat().st_size > 5000
        assert (tmp_path / f"{figure}.png").stat().st_size > 5000
    rows = json.loads((tmp_path / "libsvm.json").read_text())
    assert {row["set"] for row in rows} == {"a9a", "german"}
    assert all(0.0 <= row["auc"] <= 1.0 for row in rows)
    exact = [row["auc"] for row in rows if (row["method"], row["share"]) == ("BBR", 1.0)]
    assert len(exact) == 4
    assert min(exact) > 0.6
    rows = json.loads((tmp_path / "features.json").read_text())
    assert all(row["excess"] > -1e-9 for row in rows)
    before = (tmp_path / "skew.md").read_text()
    (tmp_path / "skew.md").unlink()
    paper.run.main(["skew", "--quick", "--report", "--out", str(tmp_path)])
    assert (tmp_path / "skew.md").read_text() == before


def test_what_is_not_there_is_named(paper, tmp_path):
    with pytest.raises(SystemExit, match="No data set of the study is in"):
        paper.run.main(["libsvm", "--data", str(tmp_path), "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"no .*skew\.json to report"):
        paper.run.main(["skew", "--report", "--out", str(tmp_path / "none")])
