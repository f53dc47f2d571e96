"""The race of candidates for rows on a cluster: that of rows in memory with the same folds."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toprank.dask
from support.parts import cut, table
from toprank import BBR, HeadRanker, LogisticRank, PNormPush
from toprank.dask import head_ranker as on_cluster
from toprank.methods.squared.rows import fold_of_rows
from toprank.metrics import auc
from toprank.selection.head.effort import EFFORTS

LENGTHS = [700, 0, 1300, 1000]
QUICK: dict[str, Any] = {"candidates": "fast", "cv": 3, "random_state": 0}


def folds() -> list[Any]:
    fold = np.concatenate([fold_of_rows(place, n, 3) for place, n in enumerate(LENGTHS)])
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]


def candidates(board: Any) -> list[str]:
    """Return the candidates; ensembles without their weights, which hang on rounding."""
    return [re.sub(r"^ensemble: .*", "ensemble", name) for name in board["candidate"]]


@pytest.fixture(scope="module")
def both(client: Any) -> tuple[Any, Any, Any, Any]:
    X, y = table()
    options: dict[str, Any] = {"capacity": 0.05, "random_state": 0}
    with pytest.MonkeyPatch.context() as patch:
        # Trees are behind in the first fold of these rows, and are to run in all of them.
        patch.setitem(EFFORTS, "default", replace(EFFORTS["default"], tolerance=None))
        local = HeadRanker(cv=folds(), **options).fit(X, y)
        found = HeadRanker(cv=3, **options).fit(cut(X, LENGTHS), cut(y, LENGTHS))
    return X, y, local, found


def test_the_race_is_that_of_memory(both: Any) -> None:
    _, _, local, found = both
    ours, theirs = found.leaderboard_.sort_index(), local.leaderboard_.sort_index()
    assert candidates(ours) == candidates(theirs)
    ran = theirs["mean"].notna() & ours["mean"].notna()
    assert ran.sum() >= 5
    np.testing.assert_allclose(ours["mean"][ran], theirs["mean"][ran], atol=0.01)
    trees = ours["candidate"].str.contains("trees") & ran & (ours.index < ours.index.max())
    assert trees.sum() == 4
    np.testing.assert_allclose(ours["mean"][trees], theirs["mean"][trees])
    assert set(ours["note"][trees]) == {""}  # all rows were drawn
    assert found.scoring_ == local.scoring_
    assert found.why_.startswith("Chosen: ")


def test_it_leaves_an_ordinary_ranker(client: Any, both: Any) -> None:
    X, y, _, found = both
    scores = found.decision_function(X)
    lazy = found.decision_function(cut(X, LENGTHS))
    assert not isinstance(lazy, np.ndarray)
    np.testing.assert_allclose(lazy.compute(), scores, rtol=1e-12, atol=1e-12)
    odds = found.predict_proba(cut(X, LENGTHS)).compute()
    np.testing.assert_allclose(odds, found.predict_proba(X), rtol=1e-12)
    assert len(found.select(X)) == 150
    assert found.oof_scores_.shape == y.shape
    assert not np.isnan(found.oof_scores_).any()
    assert len(found.fold_models_) == len(found.folds_) == 3
    np.testing.assert_array_equal(found.folds_[0][1], folds()[0][1])
    assert found.explain(X[:2]).contributions.shape == (2, X.shape[1])
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.decision_function(X), scores)
    assert toprank.dask.evaluate(found, cut(X, LENGTHS), y)["auc"] == auc(y, scores)
    lazily = found.score(cut(X, LENGTHS), cut(y, LENGTHS))
    assert lazily == pytest.approx(found.score(X, y))
    assert "oof_scores_" not in vars(found._to_score())


def test_promises_hold_on_new_rows(client: Any, both: Any) -> None:
    _, _, _, found = both
    X, y = table(seed=5)
    by_folds = found.promise(X, k=100)
    assert 0 < by_folds.lower <= y[by_folds.rows].sum()
    new, labels = table(seed=6)
    chosen = pickle.loads(pickle.dumps(found)).calibrate(new, labels).promise(X, k=100)
    assert 0 < chosen.lower <= y[chosen.rows].sum()
    with pytest.raises(ValueError, match="These are the rows of the fit"):
        found.calibrate(*table())


def test_the_same_bits_twice(client: Any) -> None:
    X, y = table()
    first, second = (
        HeadRanker(**QUICK).fit(cut(X, LENGTHS), cut(y, LENGTHS, known=False)) for _ in range(2)
    )
    assert first.why_ == second.why_
    np.testing.assert_array_equal(first.oof_scores_, second.oof_scores_)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))


def test_weights_frames_and_estimators_given(client: Any) -> None:
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    names = list("abcde")
    frame = pd.DataFrame(X, columns=names).assign(label=y, weight=weight)
    parts = dd.from_pandas(frame, npartitions=3)
    given = [
        BBR(alpha=1e-3),
        ("scaled", make_pipeline(StandardScaler(), PNormPush(alpha=1e-2))),
        ("theirs", LogisticRegression()),
        "columns",
    ]
    found = HeadRanker(candidates=given, trees=False, cv=3, random_state=0)
    found.fit(parts[names], parts["label"], parts["weight"])
    assert found.feature_names_in_.tolist() == names
    board = found.leaderboard_.sort_index()
    assert candidates(board) == ["BBR", "scaled", "theirs", "columns, logistic", "ensemble"]
    assert board["mean"].notna().all()
    lengths = [len(one) for one in parts.partitions]
    fold = np.concatenate([fold_of_rows(place, n, 3) for place, n in enumerate(lengths)])
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    local = HeadRanker(candidates=given, trees=False, cv=cv, random_state=0)
    local.fit(frame[names], y, weight)
    theirs = local.leaderboard_.sort_index()
    np.testing.assert_allclose(board["mean"], theirs["mean"], atol=0.01)
    assert toprank.dask.top(found, parts, k=7)["score"].is_monotonic_decreasing


def test_sparse_rows_stay_sparse(client: Any) -> None:
    X, y = table(d=8)
    X[np.abs(X) < 1.5] = 0.0
    blocks = cut(X, LENGTHS).map_blocks(sparse.csr_array)
    found = HeadRanker(candidates=["as given", "largest 1", "unit rows"], cv=3, random_state=0)
    found.fit(blocks, cut(y, LENGTHS))
    local = HeadRanker(candidates=["as given", "largest 1", "unit rows"], cv=folds())
    local.fit(sparse.csr_array(X), y)
    ours, theirs = found.leaderboard_.sort_index(), local.leaderboard_.sort_index()
    np.testing.assert_allclose(ours["mean"], theirs["mean"], atol=0.01)
    assert found.medians_ is None


def test_few_rows_are_drawn_and_judged_of_many(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table()
    monkeypatch.setattr(on_cluster, "_DRAWN", 900)
    monkeypatch.setattr(on_cluster, "_JUDGED", 1500)
    given = ["default", ("theirs", LogisticRegression())]
    found = HeadRanker(capacity=50, candidates=given, cv=3, random_state=0)
    found.fit(cut(X, LENGTHS), cut(y, LENGTHS))
    assert 1350 < len(found.oof_scores_) < 1650
    assert found.why_.startswith(f"Judged on {len(found.oof_scores_)} of 3000 rows")
    board = found.leaderboard_
    notes = dict(zip(board["candidate"], board["note"], strict=True))
    assert "of 3000 rows, drawn by chance" in notes["theirs"]
    assert "rows" not in notes["trees"]  # the sample is not for trees, which take all of so few
    assert auc(y, found.decision_function(X)) > 0.85
    assert found.promise(table(seed=5)[0], k=100).lower > 0


def test_features_too_large_for_the_workers_are_left_out(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table()
    monkeypatch.setattr(on_cluster, "_PART", 1000)
    found = HeadRanker(candidates=["columns", "bins"], trees=False, cv=3, random_state=0)
    found.fit(cut(X, LENGTHS), cut(y, LENGTHS))
    assert "MB a part" in found.leaderboard_["note"][1]
    assert "bins, logistic was left out" in found.why_
    with pytest.raises(ValueError, match="No candidate can race for these rows: bins, logistic"):
        found.set_params(candidates=["bins"]).fit(cut(X, LENGTHS), cut(y, LENGTHS))


def test_what_needs_rows_in_one_place_says_so(client: Any, both: Any) -> None:
    X, y, _, found = both
    rows = cut(X, LENGTHS)
    with pytest.raises(TypeError, match="refine=True moves rows one by one"):
        HeadRanker(capacity=0.1, refine=True, cv=3).fit(rows, y)
    with pytest.raises(TypeError, match="pass how many folds"):
        HeadRanker(cv=folds()).fit(rows, y)
    with pytest.raises(TypeError, match="This scoring looks at the rows held out"):
        HeadRanker(scoring=lambda *_: 1.0).fit(rows, y)
    with pytest.raises(TypeError, match=r"toprank\.dask\.top\(model, X, k\)"):
        found.select(rows)
    for verb, args in (("promise", ()), ("explain", ()), ("calibrate", (y,))):
        with pytest.raises(TypeError, match="takes rows in memory"):
            getattr(found, verb)(rows, *args)


def test_rankers_of_one_alpha_are_those_of_a_fit(client: Any) -> None:
    X, y = table()
    given = LogisticRank(alpha=1e-2, tol=1e-10, random_state=0)
    race = HeadRanker(candidates=[given], trees=False, cv=3).fit(cut(X, LENGTHS), cut(y, LENGTHS))
    np.testing.assert_allclose(race.best_estimator_.coef_, given.fit(X, y).coef_, atol=1e-5)
    assert race.best_estimator_.certificate_.holds(1e-10)
