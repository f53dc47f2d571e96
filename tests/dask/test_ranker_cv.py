"""Cross-validation of rows on a cluster: that of rows in memory with the same folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.parts import cut, table
from toprank import SPAM, LogisticRank, RankSVM, RectPush, RectPushApp
from toprank.methods.squared.rows import fold_of_rows
from toprank.selection import RankerCV

LENGTHS = [700, 0, 1300, 1000]
ALPHAS = [1.0, 1e-1, 1e-2]


def best(alphas: Any, means: Any, errors: Any) -> int:
    """The best, without a word on where it lies."""
    return int(np.argmax(means))


def folds() -> list[Any]:
    fold = np.concatenate([fold_of_rows(place, n, 3) for place, n in enumerate(LENGTHS)])
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]


@pytest.mark.parametrize(
    "ranker",
    [LogisticRank(tol=1e-10, random_state=0), RectPushApp(tol=1e-10), RectPush(tol=1e-10)],
    ids=lambda one: type(one).__name__,
)
def test_scores_and_choice_are_those_of_memory(client: Any, ranker: Any) -> None:
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    local = RankerCV(ranker, ALPHAS, cv=folds(), rule=best).fit(X, y, weight)
    parts = [cut(one, LENGTHS) for one in (X, y, weight)]
    found = RankerCV(ranker, ALPHAS, cv=3, rule=best).fit(*parts)
    np.testing.assert_allclose(found.mean_scores_, local.mean_scores_, rtol=1e-4)
    assert found.alpha_ == local.alpha_
    assert found.certificate_.primal == pytest.approx(local.certificate_.primal, rel=1e-9)
    np.testing.assert_allclose(found.coef_, local.coef_, atol=1e-4)
    assert found.oof_scores_ is None
    assert found.folds_ is None
    assert len(found.fold_rankers_) == 3


def test_the_grid_comes_from_the_rows(client: Any) -> None:
    X, y = table()
    ranker = LogisticRank(random_state=0)
    local = RankerCV(ranker, 3, cv=folds()).fit(X, y)
    found = RankerCV(ranker, 3, cv=3).fit(cut(X, LENGTHS), y)
    np.testing.assert_allclose(found.alphas_, local.alphas_, rtol=1e-9)


def test_what_needs_rows_in_one_place_is_refused(client: Any) -> None:
    X, y = table()
    rows = cut(X, LENGTHS)
    with pytest.raises(TypeError, match="pass how many folds"):
        RankerCV(LogisticRank(), ALPHAS, cv=folds()).fit(rows, y)
    with pytest.raises(TypeError, match="This scoring looks at the rows held out"):
        RankerCV(LogisticRank(), ALPHAS, scoring=lambda *_: 1.0).fit(rows, y)
    with pytest.raises(TypeError, match="RankerCV cannot be fitted to rows on a cluster"):
        RankerCV(RankSVM(), ALPHAS).fit(rows, y)
    with pytest.raises(TypeError, match=r"SPAM cannot be fitted .* RankerCV of them and Head"):
        SPAM().fit(rows, y)
