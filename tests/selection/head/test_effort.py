"""Efforts: what each of them runs, and that its result is saved, explained and exported."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import toprank
from toprank import HeadRanker
from toprank.selection.head.effort import EFFORTS
from toprank.trees import TreeEnsemble

RNG = np.random.default_rng(7)
X = RNG.normal(size=(360, 4))
LOGIT = 3.0 * X[:, 0] + 2.0 * (X[:, 1] > 0.5) + X[:, 2] * (X[:, 3] > 0)
Y = (RNG.random(360) < 1 / (1 + np.exp(3.0 - LOGIT))).astype(int)
NEW = RNG.normal(size=(200, 4))


def test_more_effort_includes_less() -> None:
    fast, default, best = (EFFORTS[name] for name in ("fast", "default", "best"))
    for less, more in ((fast, default), (default, best)):
        assert set(less.trees) <= set(more.trees)
        assert set(less.forests) <= set(more.forests)
        assert less.folds <= more.folds
        assert less.fold_rows <= more.fold_rows
        assert more.final_rows is None or less.final_rows <= more.final_rows  # type: ignore[operator]
        assert less.forest_rows <= more.forest_rows
    names = [one.name for one in (*best.trees, *best.forests)]
    assert len(set(names)) == len(names)
    with pytest.raises(ValueError, match="The 'effort' parameter"):
        HeadRanker(effort="much").fit(X, Y)


@pytest.mark.parametrize("effort", EFFORTS)
def test_an_effort_is_saved_and_explained(effort: str, tmp_path: Path) -> None:
    given = HeadRanker(effort=effort, random_state=0)
    ranker = clone(given).fit(X, Y)
    assert given.get_params()["effort"] == ranker.get_params()["effort"] == effort
    known = EFFORTS[effort]
    assert len(ranker.folds_) == known.folds
    wanted = {one.name for one in (*known.trees, *known.forests)}
    assert wanted <= set(ranker.leaderboard_["candidate"])
    if known.tolerance is None:
        board = ranker.leaderboard_.set_index("candidate")["mean"]
        assert board[list(wanted)].notna().all()

    scores = ranker.decision_function(NEW)
    toprank.save(ranker, tmp_path / "model.toprank")
    again = toprank.load(tmp_path / "model.toprank")
    assert_array_equal(again.decision_function(NEW), scores)
    assert_array_equal(again.predict_proba(NEW), ranker.predict_proba(NEW))
    assert again.get_params() == ranker.get_params()
    assert again.nested_score_ == ranker.nested_score_
    for one in (ranker, again):
        told = one.explain(NEW[:20])
        total = told.baseline + told.contributions.sum(axis=1) + told.remainder
        assert_allclose(total, scores[:20], atol=1e-9)
    for model, (_, test) in zip(ranker.fold_models_, ranker.folds_, strict=True):
        assert_allclose(model.decision_function(X[test]), ranker.oof_scores_[test], atol=1e-6)


@pytest.mark.parametrize("library", ["lightgbm", "scikit-learn"])
def test_an_ensemble_of_three_families_is_exported(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library == "lightgbm":
        pytest.importorskip("lightgbm")
    onnxruntime = pytest.importorskip("onnxruntime")
    from toprank.onnx import export

    monkeypatch.setitem(EFFORTS, "fast", replace(EFFORTS["fast"], tolerance=None))
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(360, 4))
    logit = 2 * rows[:, 0] + 2 * rows[:, 1] * (rows[:, 2] > 0) + 2 * np.abs(rows[:, 3])
    few = np.zeros(360, dtype=int)  # so that families have nearly equal weights
    few[np.argsort(-logit - rng.logistic(size=360))[:45]] = 1
    options: dict[str, Any] = {"trees": library, "scoring": "auc", "random_state": 0}
    ranker = HeadRanker(candidates=["columns", "forest"], effort="fast", **options).fit(rows, few)
    blend = ranker.best_estimator_
    np.testing.assert_allclose(blend.weights, 1 / 3, atol=0.05)
    assert sum(isinstance(model, TreeEnsemble) for model in blend.models) == 2
    assert [model.average for model in blend.models[1:]] == [True, False]
    scores = ranker.decision_function(NEW)
    export(ranker, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    found, labels = session.run(["score", "label"], {"X": NEW})
    assert_allclose(found, scores, rtol=0, atol=1e-11)
    assert_array_equal(labels, ranker.predict(NEW))
    toprank.save(ranker, tmp_path / "model.toprank")
    assert_array_equal(toprank.load(tmp_path / "model.toprank").decision_function(NEW), scores)


def test_trees_learn_from_the_rows_of_the_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    few = replace(EFFORTS["fast"], fold_rows=100, final_rows=150, forest_rows=80, tolerance=None)
    monkeypatch.setitem(EFFORTS, "fast", few)
    options: dict[str, Any] = {"effort": "fast", "random_state": 0}
    board = HeadRanker(candidates=["forest"], **options).fit(X, Y).leaderboard_
    notes = board.set_index("candidate")["note"]
    # A negative that is drawn twice counts once.
    for name, most in (("trees", 100), ("forest", 80)):
        count = re.fullmatch(r"learnt from (\d+) of 240 rows", notes[name])
        assert count is not None
        assert 0.9 * most <= int(count[1]) <= most
    trees = HeadRanker(candidates="trees", trees="scikit-learn", **options).fit(X, Y)
    first = trees.best_estimator_.first(1)
    assert 135 <= first.weight[first.feature < 0].sum() <= 150
