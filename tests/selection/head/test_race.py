"""How a race saves time: settings, folds, features and trees that are not made twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GroupKFold, StratifiedKFold, TimeSeriesSplit

from toprank import HeadRanker
from toprank.metrics import average_precision
from toprank.selection.head.effort import EFFORTS
from toprank.selection.head.features import FeatureCache
from toprank.selection.head.race import _first_settings
from toprank.trees import TreeEnsemble

RNG = np.random.default_rng(2)
X = RNG.normal(size=(360, 3))
Y = (RNG.random(360) < 1 / (1 + np.exp(1 + 2 * X[:, 0] * X[:, 1]))).astype(int)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.5, 0.6, 0.7, 0.6], (1, 3)),  # the best and the one before
        ([0.5, 0.695, 0.69, 0.7, 0.6], (1, 4)),  # and what is nearly as good
        ([0.7, 0.6, 0.5], (0, 2)),  # the two cheapest at the least
        ([0.7], (0, 1)),
        ([-0.7, -0.5, -0.6], (0, 2)),
        ([0.0, 0.0, 0.0], (0, 2)),
    ],
)
def test_other_folds_begin_about_the_best_of_the_first(
    scores: list[float], expected: tuple[int, int]
) -> None:
    assert _first_settings(np.array(scores)) == expected


@pytest.mark.parametrize(
    ("cv", "groups", "times"),
    [
        (3, None, 1),
        (StratifiedKFold(3, shuffle=True, random_state=0), None, 1),
        (TimeSeriesSplit(3), None, 4),  # once a fold, and for all rows
        (GroupKFold(3), np.arange(360) // 4, 4),
    ],
)
def test_features_are_made_once_where_rows_have_no_order(
    cv: Any, groups: Any, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    made = FeatureCache._made

    def counted(self: FeatureCache, data: Any, rows: Any) -> Any:
        seen.append(len(rows))
        return made(self, data, rows)

    monkeypatch.setattr(FeatureCache, "_made", counted)
    options: dict[str, Any] = {"trees": False, "cv": cv, "random_state": 0}
    HeadRanker(candidates=["nystroem", "losses"], **options).fit(X, Y, groups=groups)
    assert len(seen) == times
    seen.clear()
    HeadRanker(candidates=["bins", "losses"], **options).fit(X, Y, groups=groups)
    assert len(seen) == 4  # labels have a part in them


def test_a_loss_goes_on_only_if_it_leads_in_the_first_fold() -> None:
    options: dict[str, Any] = {"trees": False, "cv": 3, "random_state": 0}
    dropped = total = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        labels = (X[:, 0] + rng.normal(size=360) > 1.0).astype(int)
        board = HeadRanker(candidates=["squashed", "losses"], **options).fit(X, labels).leaderboard_
        alone = HeadRanker(candidates=["squashed"], **options).fit(X, labels)
        test = alone.folds_[0][1]
        decisions = alone.fold_models_[0].decision_function(X[test])
        behind = board["note"].str.startswith("behind: ")
        assert (board["mean"].isna() == behind).all()
        for note in board["note"][behind]:
            own, other = _figures(note)
            rival = average_precision(labels[test], decisions)
            assert own <= other == pytest.approx(rival, abs=1e-4)
        dropped, total = dropped + behind.sum(), total + 2
    assert 0 < dropped < total


def _figures(note: str) -> tuple[float, float]:
    before, after = note.removeprefix("behind: ").split(" in the first fold, ")
    return float(before), float(after.split()[-1])


def test_a_tie_is_dropped_without_a_tolerance_only() -> None:
    def constant(estimator: Any, rows: Any, labels: Any) -> float:
        return 0.0

    ranker = HeadRanker(trees=True, cv=3, random_state=0, scoring=constant).fit(X, Y)
    board = ranker.leaderboard_.set_index("candidate")["note"]
    assert board["nystroem, logistic"].startswith("behind: 0.0000 in the first fold")
    assert board["trees"] == board["extra trees"] == ""


@pytest.mark.parametrize("library", ["scikit-learn", "lightgbm"])
def test_trees_are_those_of_the_library_without_columns_that_cannot_be_split(library: str) -> None:
    few = np.round(4 * X)  # all values are edges, so that codes are as good as values
    wide = np.column_stack([few, np.zeros(360), np.arange(360) < 19, np.arange(360) < 20])
    options: dict[str, Any] = {"effort": "fast", "trees": library, "cv": 3, "random_state": 0}
    ranker = HeadRanker(candidates="trees", **options).fit(wide, Y)
    trees = ranker.best_estimator_
    assert isinstance(trees, TreeEnsemble)
    assert set(trees.feature) <= {-1, 0, 1, 2, 5}

    def whole(number: int) -> Any:
        return _boosted(library, number).fit(wide, Y)

    for number, scores in zip((10, 25), trees.stages(wide, [10, 25]), strict=True):
        chances = 1 / (1 + np.exp(-scores))
        assert_allclose(chances, whole(number).predict_proba(wide)[:, 1], rtol=1e-9)
    chances = whole(trees.n_trees).predict_proba(wide)[:, 1]
    assert_allclose(trees.predict_proba(wide)[:, 1], chances, rtol=1e-9)


def _boosted(library: str, number: int) -> Any:
    (setting,) = EFFORTS["fast"].trees
    if library == "scikit-learn":
        return HistGradientBoostingClassifier(
            max_iter=number,
            max_leaf_nodes=setting.leaves,
            learning_rate=setting.rate,
            early_stopping=False,
            random_state=0,
        )
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMClassifier(
        n_estimators=number,
        num_leaves=setting.leaves,
        learning_rate=setting.rate,
        min_data_in_bin=1,
        min_child_weight=1e-3,
        feature_pre_filter=False,
        verbosity=-1,
        seed=0,
        n_jobs=1,
    )


def test_lightgbm_grows_on_from_the_trees_there_are() -> None:
    pytest.importorskip("lightgbm")
    ranker = HeadRanker(candidates=["columns"], trees="lightgbm", cv=3, random_state=0).fit(X, Y)
    board = ranker.leaderboard_.set_index("candidate")
    assert board["mean"]["trees"] > board["mean"]["columns, logistic"]
