"""Estimators of other libraries by name, and boosted trees that run out of splits."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from toprank import HeadRanker
from toprank.inputs.folds import Folds
from toprank.metrics import get_scorer
from toprank.selection.fold_path import Judge
from toprank.selection.head.candidates import LIBRARIES, GivenEstimator, estimator_of
from toprank.selection.head.linear import LinearScore
from toprank.selection.head.race_data import RaceData
from toprank.selection.head.trees import BoostedTrees

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] + RNG.logistic(size=300) > 1.5).astype(int)


class CatBoostClassifier(LogisticRegression):
    """Takes the options of the real one, and counts them."""

    def __init__(
        self,
        verbose: Any = None,
        thread_count: Any = None,
        allow_writing_files: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(random_state=random_state, verbose=verbose)
        self.thread_count = thread_count
        self.allow_writing_files = allow_writing_files


def test_a_library_is_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("catboost")
    module.CatBoostClassifier = CatBoostClassifier
    monkeypatch.setitem(sys.modules, "catboost", module)
    ranker = HeadRanker(candidates=["catboost"], trees=False, random_state=5, cv=3).fit(X, Y)
    model = ranker.best_estimator_
    assert type(model) is CatBoostClassifier
    options = (model.verbose, model.thread_count, model.allow_writing_files, model.random_state)
    assert options == (0, 1, False, 5)
    assert list(ranker.leaderboard_["candidate"]) == ["catboost"]
    expected = LogisticRegression().fit(X, Y).decision_function(X)
    assert_array_equal(np.argsort(ranker.decision_function(X)), np.argsort(expected))


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library = LIBRARIES[name]
    monkeypatch.setitem(sys.modules, library.module, None)
    message = f"'{name}' in candidates needs {library.name}: pip install {library.package}"
    with pytest.raises(ImportError, match=message):
        estimator_of(name, 0)
    with pytest.raises(ImportError, match=message):
        HeadRanker(candidates=[name]).fit(X, Y)


def test_sparse_rows_and_other_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"is 'lgbm': for dense rows .*'forest'.*'catboost'"):
        HeadRanker(candidates=["lgbm"]).fit(X, Y)
    with pytest.raises(ValueError, match="for sparse rows it must be one of 'as given'"):
        HeadRanker(candidates=["catboost"]).fit(sparse.csr_array(X), Y)


def test_an_estimator_of_any_name_is_a_family_of_its_own() -> None:
    names = ["linear scores", "boosted trees", "forests"]
    families = {GivenEstimator(name, LogisticRegression()).family for name in names}
    assert len(families) == 3
    assert not families & {LinearScore.family, *names}


@pytest.mark.parametrize("library", ["lightgbm", "scikit-learn"])
@pytest.mark.parametrize("kind", ["constant", "binary"])
def test_trees_that_cannot_be_split_end(library: str, kind: str) -> None:
    if library == "lightgbm":
        pytest.importorskip("lightgbm")
    rows = np.arange(240)
    column = np.ones(240) if kind == "constant" else (rows % 2).astype(float)
    y = (rows // 2 % 5 == 0).astype(int)  # as often in both halves of a binary column
    folds = Folds(2, rows * 2 // 240)
    judge = Judge(get_scorer("average_precision"))
    data = RaceData(np.column_stack([column, column]), y, None, folds, judge, n_threads=1)
    trees = BoostedTrees("", library, 0)
    settings, first = trees.path(data, 0, None)
    given, fits = trees.path(data, 1, np.array([25.0, 50.0, 100.0]))
    assert len(given) == len(fits) == 3
    model = trees.final(data, 100)
    if library == "lightgbm":
        assert list(settings) == [1]
        assert list(given) == [1, 1, 1]
        assert model.n_trees == 1
    for fit in (*first, *fits):
        assert np.ptp(fit.decisions) == 0.0
    assert model.predict_proba(data.X)[:, 1] == pytest.approx(0.2, abs=1e-3)
