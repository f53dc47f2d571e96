"""WSVM: against CVXPY, the reference, LinearSVC; weights, threshold, what is trivial."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from support.toy_rows import overlapping
from toprank import WSVM, TrivialSolutionWarning
from toprank.inputs.class_split import Split
from truth import reference as truth
from truth.reference_files import reference_file

X, Y = overlapping()
WEIGHT = np.random.default_rng(1).integers(0, 4, len(Y)).astype(float)
forms = pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])


def objective(w: Any, alpha: float, weight: Any = None, data: Any = X, labels: Any = Y) -> float:
    """alpha/2 |w|^2 and half the mean hinge of either class, row by row."""
    weight = np.ones(len(labels)) if weight is None else weight
    total = {label: weight[labels == label].sum() for label in (0, 1)}
    loss = sum(
        0.5 * c / total[y] * max(0.0, 1.0 - (w @ x if y == 1 else -(w @ x)))
        for x, y, c in zip(data, labels, weight, strict=True)
    )
    return float(0.5 * alpha * w @ w + loss)


def optimum(alpha: float, weight: Any = None) -> float:
    split = Split.of(Y == 1, weight)
    Z = np.vstack([X[split.pos], -X[split.neg]])
    return truth.hinge_optimum(Z, 0.5 * np.concatenate([split.p, split.q]), alpha)


@forms
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
def test_the_optimum_is_that_of_another_solver(form: Any, weight: Any, alpha: float) -> None:
    ranker = WSVM(alpha, tol=1e-7, random_state=0).fit(form(X), Y, sample_weight=weight)
    assert ranker.certificate_.holds(1e-7)
    primal = objective(ranker.coef_[0], alpha, weight)
    assert ranker.certificate_.primal == pytest.approx(primal, rel=1e-12)
    assert primal == pytest.approx(optimum(alpha, weight), rel=1e-6)


def test_reference_case() -> None:
    with np.load(reference_file("pairs-and-points")) as case:
        data, labels, best, w = case["X"], case["y"], case["c7_wsvm_obj"], case["c7_wsvm_w"]
    ranker = WSVM(1 / 4, tol=1e-10, max_iter=10_000, random_state=0).fit(data, labels)
    assert 4 * ranker.certificate_.primal == pytest.approx(float(best), rel=1e-8)
    assert_allclose(ranker.coef_[0], w, atol=1e-4)


def test_linear_svc_solves_the_same_problem() -> None:
    alpha = 1e-2
    options = {"fit_intercept": False, "class_weight": "balanced", "random_state": 0}
    peer = LinearSVC(C=1 / (alpha * len(Y)), loss="hinge", tol=1e-8, max_iter=10**6, **options)
    ours = WSVM(alpha, tol=1e-9, random_state=0).fit(X, Y)
    assert objective(peer.fit(X, Y).coef_[0], alpha) == pytest.approx(
        ours.certificate_.primal, rel=1e-7
    )
    assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


def test_weights_are_repeated_rows() -> None:
    whole = WEIGHT.astype(int)
    weighted = WSVM(1e-2, tol=1e-9, random_state=0).fit(X, Y, sample_weight=WEIGHT)
    repeated = WSVM(1e-2, tol=1e-9, random_state=0).fit(
        np.repeat(X, whole, axis=0), np.repeat(Y, whole)
    )
    assert_allclose(weighted.certificate_.primal, repeated.certificate_.primal, rtol=1e-8)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_exchanged_classes_turn_the_weights_round() -> None:
    ranker = WSVM(1e-2, tol=1e-9, random_state=0).fit(X, Y)
    turned = WSVM(1e-2, tol=1e-9, random_state=0).fit(X, 1 - Y)
    assert_allclose(turned.coef_, -ranker.coef_, atol=1e-4)


def test_the_threshold_is_zero() -> None:
    ranker = WSVM(1e-2, random_state=0).fit(X, Y)
    assert ranker.intercept_.tolist() == [0.0]
    assert ranker.predict(X).tolist() == (X @ ranker.coef_[0] > 0).astype(int).tolist()


@pytest.mark.parametrize("seed", [3, np.random.RandomState(3)])
def test_the_seed_decides_and_threads_do_not(seed: Any) -> None:
    one = WSVM(1e-2, n_threads=1, random_state=3).fit(X, Y)
    two = WSVM(1e-2, n_threads=2, random_state=3).fit(X, Y)
    other = WSVM(1e-2, random_state=4).fit(X, Y)
    assert one.coef_.tolist() == two.coef_.tolist()
    assert one.coef_.tolist() != other.coef_.tolist()
    assert WSVM(1e-2, random_state=seed).fit(X, Y).certificate_.holds(1e-3)


def test_a_warm_path_of_alphas_takes_fewer_passes() -> None:
    alphas = [1e-1, 3e-2, 1e-2, 3e-3]
    warm = WSVM(tol=1e-4, warm_start=True, random_state=0)
    passes = {"warm": 0.0, "cold": 0.0}
    for alpha in alphas:
        warm.set_params(alpha=alpha).fit(X, Y)
        cold = WSVM(alpha, tol=1e-4, random_state=0).fit(X, Y)
        assert warm.certificate_.holds(1e-4)
        assert_allclose(warm.certificate_.primal, cold.certificate_.primal, rtol=2e-4)
        passes["warm"] += warm.history_["passes"][-1]
        passes["cold"] += cold.history_["passes"][-1]
    assert passes["warm"] < passes["cold"]


def test_a_fit_that_stops_short_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        ranker = WSVM(1e-5, tol=1e-12, max_iter=3, random_state=0).fit(X, Y)
    assert ranker.n_iter_ == 3
    assert not ranker.certificate_.holds(1e-12)


def test_features_that_are_not_centred_are_certified_too() -> None:
    ranker = WSVM(1e-3, random_state=0).fit(X + 100.0, Y)
    assert ranker.certificate_.holds(1e-3)
    assert ranker.solver_ == "interior-point"
    assert (np.diff(ranker.history_["iteration"]) >= 0).all()
    assert ranker.history_["iteration"][-1] == ranker.n_iter_


@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1e6])
@forms
def test_classes_of_the_same_mean_are_trivial(alpha: float, form: Any) -> None:
    half = np.random.default_rng(0).normal(size=(40, 3))
    data, labels = np.vstack([half, half - half.mean(0), -(half - half.mean(0))]), np.ones(120)
    data[:40] -= half.mean(0)
    labels[:40] = 0
    with pytest.warns(TrivialSolutionWarning, match="same mean") as told:
        ranker = WSVM(alpha, random_state=0).fit(form(data), labels)
    assert len(told) == 1
    assert ranker.trivial_
    assert not ranker.coef_.any()
    assert ranker.certificate_.primal == pytest.approx(1.0)
    assert ranker.certificate_.holds(1e-6)


@pytest.mark.parametrize("alpha", [1e6, 1e12])
def test_a_huge_alpha_is_not_trivial(alpha: float) -> None:
    ranker = WSVM(alpha, random_state=0).fit(X, Y)
    means = X[Y == 1].mean(0) - X[Y == 0].mean(0)
    assert not ranker.trivial_
    assert_allclose(ranker.coef_[0], means / (2 * alpha), rtol=1e-9)


def test_means_that_differ_a_little_are_not_trivial() -> None:
    half = np.random.default_rng(0).normal(size=(40, 3))
    data = np.vstack([half, half + 1e-6 * np.eye(3)[0]])
    ranker = WSVM(1e-2, random_state=0).fit(data, np.repeat([0, 1], 40))
    assert not ranker.trivial_
    assert ranker.certificate_.holds(1e-3)
