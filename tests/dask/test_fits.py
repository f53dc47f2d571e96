"""Fits by rounds of sums: the minimum of the rows in memory, and the same bits every time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from distributed import get_client
from scipy import sparse

from support.parts import cut, table
from support.programs import PATIENCE
from toprank import (
    BBR,
    LogExpPush,
    LogisticRank,
    PNormPush,
    RankSVM,
    RectPush,
    RectPushApp,
    TopPush,
)
from toprank.dask import design, fitting, matrix
from toprank.exceptions import TrivialSolutionWarning
from toprank.solvers import ceiling_sums

LENGTHS = [700, 0, 1300, 1, 999]
FITS = [
    LogisticRank(1e-2, tol=1e-11, random_state=0),
    LogisticRank(1e-2, negative_weight="balanced", tol=1e-11, random_state=0),
    RectPushApp(1e-2, tol=1e-11, random_state=0),
    RectPushApp(1e-2, loss="logistic", tol=1e-11, random_state=0),
    RectPushApp(1e-2, loss="exponential", tol=1e-11, random_state=0),
    PNormPush(1e-2, tol=1e-11, random_state=0),
    LogExpPush(1e-2, tol=1e-11, random_state=0),
    TopPush(1e-2, tol=1e-10),
    TopPush(1e-2, loss="logistic", tol=1e-10),
    RectPush(1e-2, tol=1e-10),
    RectPush(1e-2, loss="exponential", tol=1e-10),
    RankSVM(1e-2, loss="squared_hinge", tol=1e-11),
    RankSVM(1e-2, tol=1e-6),
]


def name_of(ranker: Any) -> str:
    return f"{type(ranker).__name__}-{getattr(ranker, 'loss', '')}"


@pytest.mark.parametrize("ranker", FITS, ids=name_of)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_minimum_is_that_of_rows_in_memory(client: Any, ranker: Any, weighted: bool) -> None:
    X, y = table(noise=0.0 if isinstance(ranker, TopPush) else 2.0)  # else it is trivial
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    local = ranker.fit(X, y, weight).certificate_
    parts = [None if one is None else cut(one, LENGTHS) for one in (X, y, weight)]
    ranker.fit(*parts)
    found = ranker.certificate_
    assert found.holds(ranker.tol)
    assert local.dual <= found.primal
    assert found.dual <= local.primal
    assert found.primal == pytest.approx(local.primal, rel=1e-9 if ranker.tol < 1e-9 else 1e-6)
    first = ranker.coef_.tobytes(), ranker.intercept_.tobytes()
    ranker.fit(*parts)
    assert (ranker.coef_.tobytes(), ranker.intercept_.tobytes()) == first


def test_sparse_blocks_and_many_columns(client: Any) -> None:
    X, y = table(d=40)
    X = np.where(np.abs(X) > 2.0, X, 0.0)
    ranker = LogisticRank(1e-2, tol=1e-10, random_state=0)
    local = ranker.fit(sparse.csr_array(X), y).certificate_.primal
    blocks = cut(X, [1000] * 3).map_blocks(sparse.csr_matrix)
    assert ranker.fit(blocks, y).certificate_.primal == pytest.approx(local, rel=1e-9)


def test_classes_of_the_same_mean_are_trivial(client: Any) -> None:
    X, _ = table()
    y = np.repeat([0, 1], len(X))
    X = np.concatenate([X, X])
    ranker = LogisticRank(random_state=0)
    with pytest.warns(TrivialSolutionWarning):
        ranker.fit(cut(X, [2000] * 3), y)
    assert ranker.trivial_
    assert not ranker.coef_.any()


@pytest.mark.parametrize("kind", [RectPushApp, RectPush])
def test_a_warm_start_goes_on(client: Any, kind: Any) -> None:
    X, y = table()
    rows = design(cut(X, LENGTHS))
    ranker = kind(1e-2, warm_start=True).fit(rows, y)
    first = ranker.n_iter_
    again = ranker.fit(rows, y)
    assert again.n_iter_ < first
    assert again.certificate_.holds(1e-4)


def test_fits_at_once_do_not_mind_each_other(client: Any) -> None:
    X, y = table()
    alone = {a: LogisticRank(a, random_state=0).fit(cut(X, LENGTHS), y) for a in (1.0, 1e-2)}
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(
                lambda a: LogisticRank(a, random_state=0).fit(cut(X, LENGTHS), y),
                [1.0, 1e-2, 1.0, 1e-2],
            )
        )
    for ranker in found:
        np.testing.assert_array_equal(ranker.coef_, alone[ranker.alpha].coef_)


def _fit_in_a_task(X: Any, y: Any) -> Any:
    get_client()  # there is one
    return BBR().fit(cut(X, LENGTHS), y), LogisticRank(random_state=0).fit(cut(X, LENGTHS), y)


def test_a_task_may_fit(client: Any) -> None:
    X, y = table()
    found = client.submit(_fit_in_a_task, X, y).result(timeout=PATIENCE)
    for ranker, local in zip(found, _fit_in_a_task_of(client, X, y), strict=True):
        np.testing.assert_array_equal(ranker.coef_, local.coef_)


def _fit_in_a_task_of(client: Any, X: Any, y: Any) -> Any:
    return BBR().fit(cut(X, LENGTHS), y), LogisticRank(random_state=0).fit(cut(X, LENGTHS), y)


def test_what_a_cluster_cannot_do_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    with pytest.raises(ValueError, match="solver='newton' reads rows in one place"):
        LogisticRank(solver="newton").fit(cut(X, LENGTHS), y)
    monkeypatch.setattr(fitting, "MOST_GATHERED", 2999)
    with pytest.raises(ValueError, match=r"RankSVM looks at pairs.*3000 scores.*Take BBR"):
        RankSVM().fit(cut(X, LENGTHS), y)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "exponential"])
def test_a_push_of_many_rows_begins_with_a_sample(
    client: Any, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ceiling_sums, "_MOST_SAMPLE", 300)
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    ranker = RectPush(1e-2, loss=loss, tol=1e-10)
    local = ranker.fit(X, y, weight).certificate_.primal
    parts = [cut(one, LENGTHS) for one in (X, y, weight)]
    ranker.fit(*parts)
    assert ranker.certificate_.holds(1e-10)
    assert ranker.certificate_.primal == pytest.approx(local, rel=1e-9)
    np.testing.assert_array_equal(ranker.coef_, ranker.fit(*parts).coef_)


def test_top_push_with_many_positives_sums(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "COPIED_BYTES", 1000)
    X, y = table(noise=0.0)
    ranker = TopPush(1e-2, tol=1e-10)
    local = ranker.fit(X, y).certificate_.primal
    ranker.fit(cut(X, LENGTHS), cut(y, LENGTHS))
    assert ranker.solver_ == "summed-newton"
    assert ranker.certificate_.primal == pytest.approx(local, rel=1e-9)


def test_a_thousand_columns_and_too_many(client: Any) -> None:
    X, y = table()
    more = sparse.random(3000, 1195, density=0.01, random_state=0)
    wide = sparse.csr_array(sparse.hstack([X, more]))  # the class shows in the first
    ranker = LogisticRank(1e-1, tol=1e-9, random_state=0)
    local = ranker.fit(wide, y).certificate_.primal
    blocks = cut(wide, [1000] * 3)
    assert ranker.fit(blocks, y).certificate_.primal == pytest.approx(local, rel=1e-8)
    many = cut(np.zeros((3000, 1)), [1500] * 2)[:, [0] * 3001]
    with pytest.raises(ValueError, match="features"):
        RectPush().fit(many, y)
