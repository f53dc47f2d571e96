"""LogExpPush and LogSumExpPush: their optima, certificates, weights, overflow, triviality."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp

from support.toy_rows import overlapping
from toprank import LogExpPush, LogisticRank, LogSumExpPush, TrivialSolutionWarning

X, Y = overlapping(15, 45, 4)
KINDS = {
    "p=1": LogExpPush(p=1),
    "p=4": LogExpPush(p=4),
    "p=16": LogExpPush(p=16),
    "p=64": LogExpPush(p=64),
    "log-sum-exp": LogSumExpPush(),
}
each = pytest.mark.parametrize("kind", ["p=1", "p=4", "p=16", "log-sum-exp"])


def made(kind: str, **options: Any) -> Any:
    ranker = KINDS[kind]
    return type(ranker)(**{**ranker.get_params(), "random_state": 0, **options})


def shares(weight: Any, y: Any) -> tuple[Any, Any]:
    p, q = weight * (y == 1), weight * (y == 0)
    return p / p.sum(), q / q.sum()


def value(kind: str, s: Any, b: Any, p: Any, q: Any) -> Any:
    """The loss by its formula, in the digits of its arguments."""
    above, below, p, q = s[p > 0], s[q > 0], p[p > 0], q[q > 0]
    if kind == "log-sum-exp":
        return np.log(q @ np.exp(below - below.max())) + below.max() - p @ above
    power = KINDS[kind].p
    return p @ np.logaddexp(0, -(above + b)) + q @ np.exp(power * (below + b)) / power


def many(n: int = 6000, d: int = 6, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    return rows, (rows @ rng.normal(size=d) + rng.logistic(size=n) > 2.0).astype(int)


@pytest.mark.parametrize("solver", ["few-passes", "newton"])
@pytest.mark.parametrize("alpha", [1.0, 1e-2])
@each
def test_the_optimum_is_that_of_cvxpy(kind: str, alpha: float, solver: str) -> None:
    rows = np.vstack([X, X[:9]])  # the same rows in both classes, and twice in one
    y = np.concatenate([Y, 1 - Y[:5], Y[5:9]])
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    ranker = made(kind, alpha=alpha, solver=solver, tol=1e-9)
    ranker.fit(sparse.csr_array(rows), y, sample_weight=weight)
    p, q = shares(weight, y)
    w, b = cp.Variable(4), cp.Variable()
    if kind == "log-sum-exp":
        has = q > 0
        loss = cp.log_sum_exp(rows[has] @ w + np.log(q[has])) - p @ (rows @ w)
    else:
        power = KINDS[kind].p
        loss = p @ cp.logistic(-(rows @ w + b)) + q @ cp.exp(power * (rows @ w + b)) / power
    problem = cp.Problem(cp.Minimize(0.5 * alpha * cp.sum_squares(w) + loss))
    least = problem.solve(solver=cp.CLARABEL)
    assert ranker.certificate_.holds(1e-9)
    assert ranker.certificate_.dual - 1e-7 <= least <= ranker.certificate_.primal + 1e-7
    assert_allclose(ranker.coef_[0], w.value, atol=2e-4)


@pytest.mark.parametrize("form", [np.asfortranarray, sparse.csr_array, np.float32])
@each
def test_few_passes_and_newton_agree(kind: str, form: Any) -> None:
    rows, y = many()
    rows = form(rows)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    fits = [
        made(kind, alpha=1e-2, tol=1e-8, solver=solver).fit(rows, y, sample_weight=weight)
        for solver in ("auto", "newton")
    ]
    assert [one.solver_ for one in fits] == ["few-passes", "newton"]
    first, second = (one.certificate_ for one in fits)
    assert first.holds(1e-8)
    assert second.holds(1e-8)
    assert max(first.dual, second.dual) <= min(first.primal, second.primal)
    assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-3)
    assert_allclose(fits[0].intercept_, fits[1].intercept_, atol=1e-3)


@each
def test_the_value_is_what_the_formula_says(kind: str) -> None:
    ranker = made(kind, alpha=1e-2, tol=1e-10).fit(X, Y)
    p, q = shares(np.ones(len(Y)), Y)
    w, b = ranker.coef_[0], ranker.intercept_[0]
    objective = 0.005 * w @ w + value(kind, X @ w, b, p, q)
    assert objective == pytest.approx(ranker.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X, rng: 1e4 * X,
        lambda X, rng: X * np.where(np.arange(X.shape[1]) == 0, 1e8, 1.0),
        lambda X, rng: np.where(rng.random(len(X))[:, None] < 1e-3, 1e4 * X, X),
        lambda X, rng: X + 1e5,
        lambda X, rng: np.hstack([X, X, np.ones((len(X), 1))]),
        lambda X, rng: 1e-8 * X,
    ],
    ids=["1e4", "a column of 1e8", "outliers", "offsets", "twice", "1e-8"],
)
@pytest.mark.parametrize("kind", ["p=64", "log-sum-exp"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nothing_overflows(kind: str, spoil: Any) -> None:
    rows, y = many(5000)
    rows = spoil(rows, np.random.default_rng(2))
    ranker = made(kind, alpha=1e-2).fit(rows, y)
    certificate = ranker.certificate_
    assert np.isfinite(ranker.coef_).all()
    assert np.isfinite(ranker.decision_function(rows)).all()
    assert certificate.relative_gap < 1e-2
    # The value, computed again in long doubles, is where the certificate says.
    w, b = ranker.coef_[0].astype(np.longdouble), np.longdouble(ranker.intercept_[0])
    s = rows.astype(np.longdouble) @ w
    p, q = (x.astype(np.longdouble) for x in shares(np.ones(len(y)), y))
    objective = float(np.longdouble(0.005) * (w @ w) + value(kind, s, b, p, q))
    size = max(abs(objective), 1.0)
    assert certificate.dual <= objective + 1e-9 * size
    assert objective <= certificate.primal + 1e-6 * size


@each
def test_one_positive_is_enough(kind: str) -> None:
    rows, y = many(5000)
    y[:] = 0
    y[17] = 1
    assert made(kind, alpha=1.0).fit(rows, y).certificate_.holds(1e-4)


@each
def test_a_weight_of_two_is_two_rows(kind: str) -> None:
    weight = np.random.default_rng(1).integers(0, 3, len(Y))
    once = made(kind, alpha=1e-1, tol=1e-10).fit(X, Y, sample_weight=weight)
    twice = np.repeat(np.arange(len(Y)), weight)
    other = made(kind, alpha=1e-1, tol=1e-10).fit(X[twice], Y[twice])
    assert_allclose(once.coef_, other.coef_, atol=1e-4)
    assert once.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-9)


@each
def test_it_is_trivial_where_the_class_means_agree_and_only_there(kind: str) -> None:
    rows = np.array([[1.0, 2.0], [-1.0, 0.0], [3.0, 1.0], [-3.0, 1.0], [0.0, 1.0]])
    y = np.array([1, 1, 0, 0, 0])
    with pytest.warns(TrivialSolutionWarning, match="same mean"):
        assert made(kind).fit(rows, y).trivial_
    rows[0, 0] += 1e-3
    ranker = made(kind, alpha=1e3).fit(rows, y)
    assert not ranker.trivial_
    assert ranker.coef_.any()


@pytest.mark.parametrize("alpha", [1e3, 1e9])
@each
def test_a_huge_alpha_leaves_the_difference_of_the_means(kind: str, alpha: float) -> None:
    ranker = made(kind, alpha=alpha).fit(X, Y)
    apart = X[Y == 1].mean(axis=0) - X[Y == 0].mean(axis=0)
    steep = alpha * ranker.coef_[0] @ apart / (apart @ apart)
    assert_allclose(alpha * ranker.coef_[0], steep * apart, atol=2e-2)


def test_a_larger_p_keeps_negatives_lower() -> None:
    excess = []
    for p in (1, 16, 256):
        scores = LogExpPush(1e-3, p, random_state=0).fit(X, Y).decision_function(X[Y == 0])
        excess.append(np.maximum(scores, 0.0).mean())
    assert excess[0] > 2 * excess[1] > 4 * excess[2]


def test_the_threshold_of_log_sum_exp_is_the_log_of_the_mean() -> None:
    for rows, y in ((X, Y), many()):
        ranker = LogSumExpPush(1e-1, tol=1e-10, random_state=0).fit(rows, y)
        s = rows[y == 0] @ ranker.coef_[0]
        assert -ranker.intercept_[0] == pytest.approx(logsumexp(s) - np.log(len(s)), abs=1e-4)


def test_log_sum_exp_is_logistic_regression_with_rare_positives() -> None:
    """Negatives that weigh ever more are positives that are ever rarer."""
    ratio = 1e11
    peer = LogisticRank(1e-1 / (1 + ratio * 3), negative_weight=ratio, tol=1e-12).fit(X, Y)
    ranker = LogSumExpPush(1e-1, tol=1e-10).fit(X, Y)
    assert_allclose(peer.coef_, ranker.coef_, atol=1e-3)


@each
def test_bits_do_not_depend_on_threads_and_a_warm_start_ends_at_the_same(kind: str) -> None:
    rows, y = many(8000, 8)
    fits = [made(kind, n_threads=k).fit(rows, y) for k in (1, 2)]
    assert_array_equal(fits[0].coef_, fits[1].coef_)
    warm = made(kind, alpha=1e-2, warm_start=True).fit(rows, y)
    warm.set_params(alpha=1e-3).fit(rows, y)
    assert warm.certificate_.holds(1e-4)
    assert warm.certificate_.dual <= fits[0].certificate_.primal
    assert fits[0].certificate_.dual <= warm.certificate_.primal
