"""Wide sparse rows on a cluster: sums as long as a row, and no Hessian."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from support.parts import cut
from toprank import LogExpPush, LogisticRank, PNormPush, RectPush, RectPushApp, TopPush
from toprank.dask import matrix
from toprank.solvers import cost, highest_rows, rows

LENGTHS = [900, 0, 600, 1500]
N, D = sum(LENGTHS), cost.FACTOR_FEATURES + 500


def wide() -> tuple[Any, Any]:
    """Rows of a dozen entries, mostly in the first columns, and labels that a few columns tell."""
    rng = np.random.default_rng(3)
    columns = (D * rng.random((N, 12)) ** 4).astype(int)
    rows = np.repeat(np.arange(N), 12)
    X = sparse.csr_array((rng.random(rows.size) + 0.2, (rows, columns.ravel())), shape=(N, D))
    score = X @ (rng.normal(size=D) * (rng.random(D) < 0.5))
    return X, (score + 0.3 * rng.normal(size=N) > np.quantile(score, 0.85)).astype(int)


def blocks(X: Any) -> Any:
    """The rows in parts, one of them empty."""
    rows = cut(np.arange(N)[:, np.newaxis], LENGTHS)
    return da.map_blocks(
        lambda part: X[part[:, 0]], rows, dtype=float, chunks=(rows.chunks[0], (X.shape[1],))
    )


@pytest.mark.parametrize("entries", [10**7, 8000], ids=["all rows are drawn", "few are"])
@pytest.mark.parametrize(
    "ranker",
    [
        LogisticRank(1e-3, tol=1e-9),
        RectPushApp(1e-3, tol=1e-9),
        RectPushApp(1e-2, loss="logistic", tol=1e-9),
        PNormPush(1e-2, tol=1e-9),
        LogExpPush(1e-2, tol=1e-9),
    ],
    ids=str,
)
def test_sums_are_enough(
    client: Any, ranker: Any, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_SAMPLE_ENTRIES", entries)
    X, y = wide()
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    local = ranker.fit(X, y, weight).certificate_.primal
    found = ranker.fit(blocks(X), cut(y, LENGTHS), cut(weight, LENGTHS))
    assert found.certificate_.holds(1e-9)
    assert found.certificate_.primal == pytest.approx(local, rel=2e-9)
    again = ranker.fit(blocks(X), cut(y, LENGTHS), cut(weight, LENGTHS)).coef_
    np.testing.assert_array_equal(found.coef_, again)


def test_a_fit_goes_on_from_an_earlier_one(client: Any) -> None:
    X, y = wide()
    ranker = LogisticRank(1e-3, warm_start=True)
    first = ranker.fit(blocks(X), cut(y, LENGTHS)).certificate_.primal
    ranker.set_params(tol=1e-8).fit(blocks(X), cut(y, LENGTHS))
    assert ranker.certificate_.holds(1e-8)
    assert ranker.certificate_.primal <= first


def test_a_trivial_optimum_is_told(client: Any) -> None:
    X, _ = wide()
    X = sparse.csr_array(X[np.arange(N) // 2])  # every row in both classes
    with pytest.warns(match="trivial"):
        LogisticRank(1e-3).fit(blocks(X), cut(np.arange(N) % 2, LENGTHS))


def test_top_push_takes_the_positives_to_the_driver(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = wide()
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    monkeypatch.setattr(highest_rows, "_FIRST", 50)
    monkeypatch.setattr(highest_rows, "_ADDED", 20)
    for loss in ("squared_hinge", "logistic"):
        ranker = TopPush(1e-3, loss=loss, tol=1e-8, random_state=0)
        local = ranker.fit(X, y, weight).certificate_.primal
        ranker.fit(blocks(X), cut(y, LENGTHS), cut(weight, LENGTHS))
        assert ranker.certificate_.holds(1e-8)
        assert ranker.certificate_.primal == pytest.approx(local, rel=2e-8)
        assert ranker.solver_ == "highest-rows"


def test_a_push_that_cannot_names_those_that_can(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = wide()
    monkeypatch.setattr(matrix, "COPIED_BYTES", 1000)
    for ranker in (RectPush(), TopPush()):
        with pytest.raises(ValueError, match="LogisticRank, RectPushApp, PNormPush and LogExpPush"):
            ranker.fit(blocks(X), cut(y, LENGTHS))
