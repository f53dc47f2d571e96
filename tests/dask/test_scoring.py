"""Scores of collections: lazy, the same as in memory; heads and metrics of them."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from support.parts import cut, table
from toprank import BBR, LogisticRank
from toprank.dask import evaluate, top
from toprank.metrics import ranking_report

NAMES = list("abcde")


@pytest.mark.parametrize("verb", ["decision_function", "predict", "predict_proba"])
@pytest.mark.parametrize("lengths", [[1000] * 3, [0, 3000], [2, 2998]])
def test_scores_of_arrays_are_lazy_and_the_same(verb: str, lengths: list[int]) -> None:
    X, y = table()
    ranker = LogisticRank().fit(X, y)
    lazy = getattr(ranker, verb)(cut(X, lengths))
    local = getattr(ranker, verb)(X)
    assert lazy.shape == local.shape
    assert lazy.dtype == local.dtype
    np.testing.assert_array_equal(lazy.compute(scheduler="sync"), local)


@pytest.mark.parametrize("verb", ["decision_function", "predict", "predict_proba"])
def test_scores_of_frames_keep_the_index(verb: str) -> None:
    X, y = table()
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(3000) * 7)
    ranker = LogisticRank().fit(frame, y)
    lazy = getattr(ranker, verb)(dd.from_pandas(frame, npartitions=4))
    found = lazy.compute(scheduler="sync")
    # A part of a frame may lie in memory by columns, the whole by rows: sums in another order.
    rounding = 4 * X.shape[1] * np.finfo(float).eps * (np.abs(X) @ np.abs(ranker.coef_[0])).max()
    local = getattr(ranker, verb)(frame)
    np.testing.assert_allclose(found.to_numpy(), local, rtol=0, atol=rounding)
    np.testing.assert_array_equal(found.index, frame.index)


def test_other_columns_are_refused_before_anything_is_computed() -> None:
    X, y = table()
    frame = pd.DataFrame(X, columns=NAMES)
    ranker = BBR().fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        ranker.decision_function(dd.from_pandas(frame.rename(columns={"a": "z"}), npartitions=2))
    with pytest.raises(ValueError, match="4 features, but BBR is expecting 5"):
        BBR().fit(X, y).decision_function(cut(X[:, :4], [3000]))


def test_the_head_is_that_of_the_whole_list() -> None:
    X, y = table()
    X = np.tile(X[:500], (6, 1))  # with ties
    frame = pd.DataFrame(X, columns=NAMES).assign(case=np.arange(3000))
    ranker = BBR().fit(frame[NAMES], np.tile(y[:500], 6))
    scores = ranker.decision_function(frame[NAMES])
    order = np.argsort(-scores, kind="stable")[:100]
    assert len(np.unique(scores[order])) < 100
    found = top(ranker, dd.from_pandas(frame, npartitions=7), 100)
    assert found["case"].tolist() == order.tolist()
    np.testing.assert_array_equal(found["score"], scores[order])


def test_the_head_of_an_array_names_part_and_row() -> None:
    X, y = table()
    ranker = BBR().fit(X, y)
    found = top(ranker, cut(X, [1000, 0, 2000]), 10)
    rows = found["row"] + np.array([0, 1000, 1000])[found["part"]]
    assert rows.tolist() == ranker.rank(X)[:10].tolist()
    assert len(top(ranker, cut(X[:5], [5]), 10)) == 5
    with pytest.raises(ValueError, match="k must be 1 or more"):
        top(ranker, cut(X, [3000]), 0)


def test_metrics_are_those_of_the_whole_list() -> None:
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    ranker = BBR().fit(X, y)
    scores = ranker.decision_function(X)
    parts = [cut(one, [1000, 0, 2000], known=False) for one in (X, y, weight)]
    assert evaluate(ranker, *parts, k=50) == ranking_report(y, scores, k=50, sample_weight=weight)
    assert ranker.score(*parts) == ranker.score(X, y, weight)
    with pytest.raises(ValueError, match=r"Part [02] of y holds [23] in row 0"):
        evaluate(ranker, parts[0], cut(y + 2, [1000, 0, 2000], known=False))
    with pytest.raises(TypeError, match=r"toprank\.dask\.top"):
        ranker.rank(parts[0])
