"""Old names of parameters: they work, with a warning, and nothing but the constructor has them."""

from __future__ import annotations

import builtins
import warnings
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import toprank
from support.toy_rows import overlapping
from toprank import methods
from toprank.files.decode import updated

X, Y = overlapping(30, 60, 4)
#: Classes, their old names with a value, and the new names.
RENAMED: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (methods.RankBoost, {"rankers": "linear"}, {"weak_learners": "linear"}),
    (
        methods.SoftRankBoost,
        {"rankers": "linear", "max_iter": 7},
        {"weak_learners": "linear", "n_estimators": 7},
    ),
    *[
        (
            cls,
            {"rankers": "precomputed", "positive": True},
            {"weak_learners": "precomputed", "nonnegative": True},
        )
        for cls in (methods.LPPair, methods.SoftMarginRank)
    ],
    *[
        (cls, {"eta": 0.3, "n_passes": 2}, {"learning_rate": 0.3, "max_iter": 2})
        for cls in (methods.AdaOAM, methods.OPAUC, methods.SPAM)
    ],
    (methods.OAM, {"n_passes": 2}, {"max_iter": 2}),
    (methods.CRR, {"n_steps": 50}, {"max_iter": 50}),
    (methods.ASRankSVM, {"budget": 200}, {"n_pairs": 200}),
    (methods.ASCRC, {"budget": 200}, {"n_pairs": 200}),
]
each = pytest.mark.parametrize(
    ("cls", "old", "new"), RENAMED, ids=[cls.__name__ for cls, _, _ in RENAMED]
)


@each
def test_old_names_set_the_new_parameters(cls: Any, old: Any, new: Any) -> None:
    with pytest.warns(FutureWarning, match=f"of {cls.__name__} is deprecated"):
        ranker = cls(**old)
    with pytest.warns(FutureWarning, match="is deprecated and ends in version"):
        other = cls().set_params(**old)
    for made in (ranker, other):
        parameters = made.get_params()
        assert parameters == {**cls().get_params(), **new}
        assert set(parameters) == set(cls._get_param_names())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(ranker).get_params() == ranker.get_params()
        assert cls(**new).get_params() == ranker.get_params()


@each
def test_model_files_with_old_names_are_read(cls: Any, old: Any, new: Any) -> None:
    assert updated(f"toprank.{cls.__name__}", old) == new
    assert updated(f"toprank.{cls.__name__}", new) == new


def test_both_names_at_once_are_refused() -> None:
    with pytest.raises(TypeError, match=r"got both 'eta' and 'learning_rate'"):
        methods.SPAM(eta=1.0, learning_rate=2.0)


def test_a_search_takes_the_old_name() -> None:
    search = GridSearchCV(methods.SPAM(random_state=0), {"eta": [1.0, 10.0]}, cv=2)
    with pytest.warns(FutureWarning, match="'eta' of SPAM"):
        search.fit(X, Y)
    assert search.best_estimator_.learning_rate == search.best_params_["eta"]


@pytest.mark.parametrize("name", ["BBRPath", "SparsePath", "bbr_path", "sparse_infinitepush_path"])
def test_paths_at_the_top_are_deprecated(name: str) -> None:
    with pytest.warns(FutureWarning, match=rf"toprank\.{name} is deprecated .* import it from"):
        assert getattr(toprank, name).__name__ == name


def test_moved_functions_are_deprecated_where_they_were() -> None:
    with pytest.warns(FutureWarning, match=r"use toprank\.metrics\.paired_difference"):
        assert toprank.metrics.compare is toprank.metrics.paired_difference
    for name in ("TTest", "corrected_t_test"):
        with pytest.warns(FutureWarning, match=rf"use toprank\.metrics\.{name}"):
            assert getattr(toprank.selection, name) is getattr(toprank.metrics, name)


def test_a_star_import_replaces_no_built_in_function() -> None:
    names: dict[str, Any] = {}
    exec("from toprank import *", names)
    assert not (names.keys() - {"__builtins__"}) & vars(builtins).keys()
