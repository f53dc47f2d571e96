"""LogisticRank: the problem of logistic regression, its weights, its probabilities."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from support.toy_rows import overlapping
from toprank import LogisticRank, PNormPush, RectPushApp

X, Y = overlapping(20, 60, 4)


def many(n: int = 6000, d: int = 6, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    return rows, (rows @ rng.normal(size=d) + rng.logistic(size=n) > 2.0).astype(int)


@pytest.mark.parametrize("weight", [None, "balanced", 0.2, 7.0])
@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
@pytest.mark.parametrize("solver", ["few-passes", "newton"])
def test_the_optimum_is_that_of_cvxpy(weight: Any, alpha: float, solver: str) -> None:
    given = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    ranker = LogisticRank(alpha, negative_weight=weight, tol=1e-10, solver=solver, random_state=0)
    ranker.fit(X, Y, sample_weight=given)
    if weight == "balanced":
        c = given / np.where(Y == 1, given[Y == 1].sum(), given[Y == 0].sum()) / 2.0
    else:
        c = given * np.where(Y == 1, 1.0, 1.0 if weight is None else weight)
        c /= c.sum()
    w, b = cp.Variable(4), cp.Variable()
    loss = c @ cp.logistic(cp.multiply(1 - 2 * Y, X @ w + b))
    least = cp.Problem(cp.Minimize(0.5 * alpha * cp.sum_squares(w) + loss)).solve()
    assert ranker.certificate_.dual - 1e-7 <= least <= ranker.certificate_.primal + 1e-7
    assert ranker.certificate_.holds(1e-10)
    assert_allclose(ranker.coef_[0], w.value, atol=1e-3)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("alpha", [1e-2, 1e-5])
def test_few_passes_find_what_scikit_learn_finds(form: Any, dtype: Any, alpha: float) -> None:
    rows, y = many()
    rows = rows.astype(dtype)
    ranker = LogisticRank(alpha, tol=1e-8, random_state=0).fit(form(rows), y)
    assert ranker.solver_ == "few-passes"
    assert ranker.certificate_.holds(1e-8)
    peer = LogisticRegression(C=1 / (alpha * len(y)), tol=1e-10, solver="newton-cholesky")
    peer.fit(rows.astype(float), y)
    assert_allclose(ranker.coef_, peer.coef_, atol=2e-3)
    assert_allclose(ranker.intercept_, peer.intercept_, atol=2e-3)
    assert_allclose(ranker.predict_proba(rows), peer.predict_proba(rows), atol=1e-3)


def test_probabilities_sum_to_one_and_go_by_the_score() -> None:
    ranker = LogisticRank(random_state=0).fit(X, Y)
    chances = ranker.predict_proba(X)
    assert_allclose(chances.sum(axis=1), 1.0)
    assert_array_equal(chances[:, 1] > 0.5, ranker.predict(X) == 1)


def test_the_bits_depend_on_the_seed_and_not_on_threads() -> None:
    rows, y = many(20_000, 12)
    fits = [
        LogisticRank(1e-4, n_threads=k, random_state=s).fit(rows, y) for k, s in ((1, 0), (2, 0))
    ]
    assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert fits[0].certificate_ == fits[1].certificate_
    others = {LogisticRank(1e-4, random_state=s).fit(rows, y).coef_.tobytes() for s in range(4)}
    assert len(others) > 1


def test_a_warm_start_takes_fewer_passes() -> None:
    rows, y = many(20_000, 12)
    ranker = LogisticRank(1e-4, warm_start=True, random_state=0).fit(rows, y)
    ranker.set_params(alpha=0.9e-4).fit(rows, y)
    assert ranker.certificate_.holds(1e-4)
    assert ranker.history_["passes"][-1] < 5.0


def test_a_weight_of_two_is_two_rows() -> None:
    rows, y = many(5000)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    once = LogisticRank(1e-3, tol=1e-9, random_state=0).fit(rows, y, sample_weight=weight)
    twice = np.repeat(np.arange(len(y)), weight)
    other = LogisticRank(1e-3, tol=1e-9, random_state=0).fit(rows[twice], y[twice])
    assert_allclose(once.coef_, other.coef_, atol=1e-3)
    assert once.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X, rng: X * 10.0 ** rng.integers(-3, 4, X.shape[1]),
        lambda X, rng: np.where(rng.random(len(X))[:, None] < 1e-3, 1e4 * X, X),
        lambda X, rng: X + 1e5,
        lambda X, rng: np.where(rng.random(len(X))[:, None] < 0.5, 0.0, X),
        lambda X, rng: np.hstack([X, X, np.ones((len(X), 1))]),
        lambda X, rng: (rng.random(X.shape) < 0.002) / 0.05 - 0.04,
        lambda X, rng: (X * 1e6).astype(np.float32),
    ],
    ids=["scales", "outliers", "offsets", "empty", "twice", "rare", "huge float32"],
)
def test_nasty_rows_are_solved_and_certified(spoil: Any) -> None:
    rows, y = many()
    rows = spoil(rows, np.random.default_rng(2))
    ranker = LogisticRank(1e-4, random_state=0).fit(rows, y)
    assert ranker.certificate_.holds(1e-4)
    # The value, computed again in long doubles, is where the certificate says.
    w, b = ranker.coef_[0].astype(np.longdouble), np.longdouble(ranker.intercept_[0])
    z = np.where(y == 1, -1, 1) * (rows.astype(np.longdouble) @ w + b)
    value = np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))
    objective = float(value.mean() + 0.5e-4 * w @ w)
    assert ranker.certificate_.dual <= objective <= ranker.certificate_.primal * (1 + 1e-9)


def test_one_positive_is_enough() -> None:
    rows, y = many()
    y[:] = 0
    y[17] = 1
    assert LogisticRank(1e-5, random_state=0).fit(rows, y).certificate_.holds(1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("ranker", [LogisticRank(), RectPushApp(), PNormPush()])
@pytest.mark.parametrize("row", [0, 17, 5999])
def test_an_entry_that_is_no_number_is_named_though_the_solver_is_who_finds_it(
    ranker: Any, value: float, dtype: Any, row: int
) -> None:
    rows, labels = many()
    rows, weight = rows.astype(dtype), np.ones(6000)
    with np.errstate(over="ignore"):  # of float32
        rows[row, 2] = value
    weight[row] = 0.0
    for given in (None, weight):
        with pytest.raises(ValueError, match=rf"Input X contains .*row {row}, column 2"):
            ranker.fit(rows, labels, given)


def test_squares_that_overflow_in_float32_are_not_refused() -> None:
    rows, labels = many()
    ranker = LogisticRank(alpha=1e30, random_state=0).fit(1e25 * rows, labels)
    assert ranker.certificate_.holds(1e-4)
