"""RectPushApp: its certificate, threshold, weights, warm starts, triviality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from support.toy_rows import overlapping
from toprank import PNormPush, RectPushApp, TrivialSolutionWarning
from truth.reference import CONJUGATE, SMOOTH, VALUE

X, Y = overlapping()
losses = pytest.mark.parametrize("loss", SMOOTH)
both = pytest.mark.parametrize("method", [RectPushApp, PNormPush])


def steepened(loss: str, p: float, v: float) -> float:
    """h(v)."""
    zero = VALUE[loss](0.0)
    return VALUE[loss](v) if v <= 0 else (VALUE[loss](p * v) - zero) / p + zero


def steepened_conjugate(loss: str, p: float, a: float) -> float:
    """h*(a): that of l up to the slope at zero, and of its steeper part beyond."""
    zero = VALUE[loss](0.0)
    bend = {"squared_hinge": 2.0, "logistic": 0.5, "exponential": 1.0}[loss]
    inner = CONJUGATE[loss](a)
    return inner if a <= bend else (inner + zero) / p - zero


def shares(weight: Any) -> Any:
    return weight / weight.sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda x: x.astype(np.float32)])
@losses
def test_the_certificate_is_what_loops_compute(loss: str, form: Any, weighted: bool) -> None:
    weight = np.random.default_rng(2).integers(0, 3, len(Y)) if weighted else np.ones(len(Y))
    ranker = RectPushApp(1e-2, 3.0, loss=loss, tol=1e-7, warm_start=True)
    ranker.fit(form(X), Y, sample_weight=weight)
    data = X.astype(np.float32).astype(float) if form(X).dtype == np.float32 else X
    w, v = ranker.coef_[0], ranker._solution.dual
    s, penalty = ranker.decision_function(form(X)), 0.005 * ranker.coef_[0] @ ranker.coef_[0]
    p, q = shares(weight * (Y == 1)), shares(weight * (Y == 0))
    primal = penalty + sum(p[i] * VALUE[loss](-s[i]) for i in np.flatnonzero(p))
    primal += sum(q[j] * steepened(loss, 3.0, s[j]) for j in np.flatnonzero(q))
    assert ranker.certificate_.primal == pytest.approx(primal, rel=1e-9)
    dual = -float((data.T @ v) @ (data.T @ v)) / 0.02
    dual -= sum(p[i] * CONJUGATE[loss](-v[i] / p[i]) for i in np.flatnonzero(p))
    dual -= sum(q[j] * steepened_conjugate(loss, 3.0, v[j] / q[j]) for j in np.flatnonzero(q))
    assert ranker.certificate_.dual == pytest.approx(dual, rel=1e-9)
    assert v.sum() == pytest.approx(0.0, abs=1e-12)
    assert -1e-12 <= ranker.certificate_.relative_gap <= 1e-7
    assert_allclose(data @ w + ranker.intercept_, s, atol=1e-6)


def test_p_of_one_is_balanced_logistic_regression() -> None:
    ranker = RectPushApp(1e-2, 1.0, loss="logistic", tol=1e-12).fit(X, Y)
    peer = LogisticRegression(C=2 / (1e-2 * len(Y)), class_weight="balanced", tol=1e-10)
    peer.fit(X, Y)
    assert_allclose(ranker.coef_, peer.coef_, atol=1e-4)
    assert_allclose(ranker.intercept_, peer.intercept_, atol=1e-4)


@pytest.mark.parametrize("loss", ["squared_hinge", "exponential"])
def test_a_larger_p_keeps_negatives_nearer_the_threshold(loss: str) -> None:
    excess = []
    for p in (1, 16, 256):
        scores = RectPushApp(1e-3, p, loss=loss).fit(X, Y).decision_function(X[Y == 0])
        excess.append(np.maximum(scores, 0.0).mean())
    assert excess[0] > 2 * excess[1] > 4 * excess[2]


@both
def test_parameters_are_checked(method: Any) -> None:
    for wrong in (
        {"p": 0.5},
        {"p": np.inf},
        {"p": "4"},
        {"alpha": 0.0},
        {"max_iter": 0},
        {"random_state": -1},
    ):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter"):
            method(**wrong).fit(X, Y)
    with pytest.raises(ValueError, match="The 'loss' parameter"):
        RectPushApp(loss="hinge").fit(X, Y)


@both
def test_a_fit_with_a_seed_uses_up_no_random_numbers(method: Any) -> None:
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = method(1e-2, random_state=0).fit(X, Y).coef_
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert_array_equal(method(1e-2, random_state=0).fit(X, Y).coef_, first)


@both
def test_equal_means_are_trivial_and_said_so(method: Any) -> None:
    data, y = np.concatenate([X, -X, X, -X]), np.repeat([1, 0], 2 * len(X))
    with pytest.warns(TrivialSolutionWarning, match="the same mean") as caught:
        ranker = method(1e-2).fit(data, y)
    assert ranker.trivial_
    assert not ranker.coef_.any()
    assert ranker.intercept_[0] == 0.0
    assert caught[0].filename == __file__


@both
@pytest.mark.parametrize("alpha", [2.0**15, 1e6])
def test_a_large_alpha_does_not_make_data_trivial(method: Any, alpha: float) -> None:
    ranker = method(alpha).fit(X, Y)  # no warning
    assert not ranker.trivial_
    assert ranker.score(X, Y) > 0.9


@both
def test_a_warm_path_ends_where_cold_fits_end(method: Any) -> None:
    path = method(warm_start=True, tol=1e-8)
    for alpha in (1e-1, 1e-2, 1e-3, 1e-4):
        path.set_params(alpha=alpha).fit(X, Y)
        cold = method(alpha, tol=1e-8).fit(X, Y)
        assert path.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-8)
        assert path.n_iter_ <= cold.n_iter_
    assert path.fit(X, Y).n_iter_ == 0


@both
def test_a_fit_that_stops_short_says_by_how_much(method: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="after 1 iterations at a relative gap of"):
        ranker = method(1e-4, max_iter=1, tol=1e-9).fit(X, Y)
    assert ranker.n_iter_ == 1
    assert not ranker.trivial_


@both
def test_the_history_tells_of_every_step(method: Any) -> None:
    ranker = method(1e-3, tol=1e-8).fit(X, Y)
    history = ranker.history_
    assert_array_equal(history["iteration"], np.arange(ranker.n_iter_ + 1))
    assert (np.diff(history["primal"]) <= 0).all()
    assert (np.diff(history["dual"]) >= 0).all()
    assert ranker.solver_ == "newton"


@both
def test_threads_do_not_change_the_result(method: Any) -> None:
    one, two = (method(1e-3, n_threads=k).fit(X, Y).coef_ for k in (1, 2))
    assert_array_equal(one, two)
