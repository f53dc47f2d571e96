"""OWPC: the loss, its special cases, the optimum, the weights that are refused."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from toprank import OWPC, InfinitePush, RankSVM, SVMpAUC, TrivialSolutionWarning
from toprank.inputs.class_split import Split
from toprank.losses import Mixture, OrderedPairsLoss
from toprank.methods.structural.owpc import FAMILIES
from truth.reference_files import reference_file

CASE = np.load(reference_file("pairs-and-points"))
X, Y = CASE["X2"], (CASE["y"] > 0).astype(int)
N = int((Y == 0).sum())
HARMONIC = FAMILIES["harmonic"](N) / FAMILIES["harmonic"](N).sum()


def value(s: Any, b: Any, p: Any = None) -> float:
    """The truth: every positive sorts its losses for itself."""
    losses = [b @ np.sort(np.maximum(1.0 + s[Y == 0] - one, 0.0))[::-1] for one in s[Y > 0]]
    return float(np.average(losses, weights=p))


def by_cvxpy(alpha: float, b: Any, p: Any = None) -> float:
    """The weighted sums of sorted losses as sums of the largest."""
    w, falls = cp.Variable(X.shape[1]), np.append(-np.diff(b), b[-1])
    p = np.full((Y > 0).sum(), 1.0) if p is None else p
    loss = sum(
        weight / p.sum() * fall * cp.sum_largest(cp.pos(1.0 + X[Y == 0] @ w - row @ w), r + 1)
        for weight, row in zip(p, X[Y > 0], strict=True)
        for r, fall in enumerate(falls)
        if fall > 0
    )
    return float(
        cp.Problem(cp.Minimize(alpha / 2 * cp.sum_squares(w) + loss)).solve(solver="CLARABEL")
    )


def test_the_loss_and_its_planes() -> None:
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, len(Y)) * Y + (1 - Y)
    for b in (HARMONIC, np.full(N, 1.0 / N), np.eye(1, N)[0]):
        loss = OrderedPairsLoss(Split.of(Y > 0, weight), b)
        for _ in range(20):
            s, t = rng.normal(size=(2, len(Y)))
            assert_allclose(loss.value(s), value(s, b, weight[Y > 0]), rtol=1e-12)
            assert loss.value(t) >= loss.value(s) + loss.slope(s) @ (t - s) - 1e-12
            other = loss.ranking(rng.integers(0, N + 1, loss.m), rng.permutation(N))
            level, v = loss.plane(other)  # of any ranking, not of a worst one only
            assert loss.value(s) >= level + v @ s - 1e-12
            mixed, off = loss.mixed(Mixture(other[np.newaxis], np.ones(1)))
            assert_allclose(mixed.v, v)
            assert off.value < 1e-12
        assert_allclose(loss.value(np.zeros(len(Y))), loss.at_zero)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_the_optimum_is_cvxpy_s(form: Any) -> None:
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(Y)) * Y + (1 - Y)
    ranker = OWPC(0.25, tol=1e-7).fit(form(X), Y, sample_weight=weight)
    optimum = by_cvxpy(0.25, HARMONIC, weight[Y > 0])
    assert ranker.certificate_.dual <= optimum * (1 + 1e-7)
    assert_allclose(ranker.certificate_.primal, optimum, rtol=1e-6)
    again = value(X @ ranker.coef_[0], HARMONIC, weight[Y > 0])
    assert_allclose(
        ranker.certificate_.primal, 0.125 * np.square(ranker.coef_).sum() + again, rtol=1e-9
    )


@pytest.mark.parametrize(
    ("weights", "same"),
    [
        ("uniform", RankSVM(0.25, tol=1e-7, random_state=0)),
        ("top", InfinitePush(0.25, tol=1e-7)),
        ([3.0, 3.0, 3.0, 3.0], SVMpAUC(0.25, fpr=(0.0, 4 / N), tol=1e-7)),
        (lambda n: np.ones(n // 2), SVMpAUC(0.25, fpr=(0.0, (N // 2) / N), tol=1e-7)),
    ],
)
def test_other_methods_are_special_weights(weights: Any, same: Any) -> None:
    ranker = OWPC(0.25, weights=weights, tol=1e-7).fit(X, Y)
    assert_allclose(ranker.certificate_.primal, same.fit(X, Y).certificate_.primal, rtol=1e-6)
    assert_allclose(ranker.coef_, same.coef_, atol=1e-3)


def test_the_reference_cases_of_its_special_weights() -> None:
    top = OWPC(0.25, weights="top", tol=1e-8).fit(X, Y)
    assert_allclose(4 * top.certificate_.primal, CASE["c10_infpush_obj"], rtol=1e-6)
    uniform = OWPC(0.25, weights="uniform", tol=1e-8).fit(CASE["X"], Y)
    assert_allclose(4 * uniform.certificate_.primal, CASE["c1_hinge_obj"], rtol=1e-6)


def test_heavier_heads_cost_no_less() -> None:
    costs = [
        OWPC(0.25, weights=weights).fit(X, Y).certificate_.primal
        for weights in ("uniform", "harmonic", "top")
    ]
    assert costs[0] < costs[1] < costs[2]


def test_a_mean_among_the_negatives_is_trivial() -> None:
    rows = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.1, 0.1]])
    y = np.array([0, 0, 0, 0, 1])
    with pytest.warns(TrivialSolutionWarning, match="mean of negatives"):
        assert OWPC(weights="top").fit(rows, y).trivial_
    assert OWPC(weights="uniform").fit(rows, y).coef_.any()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"weights\[1\] is above weights\[0\]"),
        ([], "weights must be a list"),
        (np.ones(N + 1), f"1 to {N} numbers"),
        ([[1.0]], "shape"),
        ([0.0], "the first above zero"),
        ([1.0, -1.0], "not negative"),
        ([np.inf], "finite"),
        ([1.0, np.nan], "finite"),
        (lambda n: ["a"] * n, "must be numbers"),
        ("falling", "weights"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OWPC(weights=weights).fit(X, Y)


def test_negatives_are_counted() -> None:
    with pytest.raises(ValueError, match="count whole negatives"):
        OWPC().fit(X, Y, sample_weight=np.arange(1.0, len(Y) + 1.0))
    kept = np.ones(len(Y))
    kept[np.flatnonzero(Y == 0)[:3]] = 0.0
    some = OWPC(0.25, tol=1e-7).fit(X, Y, sample_weight=kept)
    fewer = OWPC(0.25, tol=1e-7).fit(X[kept > 0], Y[kept > 0])
    assert_allclose(some.certificate_.primal, fewer.certificate_.primal, rtol=1e-6)
