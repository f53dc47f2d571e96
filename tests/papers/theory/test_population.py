"""The best linear score of a distribution against CVXPY, for every risk."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.typing import NDArray

from theory import (
    Distribution,
    bayes_recttop,
    population_auc,
    population_minimiser,
)
from toprank.theory import is_trivial
from truth.random_distributions import random_distribution, uniform

SURROGATE = {
    "squared_hinge": lambda z: cp.square(cp.pos(1 + z)),
    "logistic": cp.logistic,
    "exponential": cp.exp,
}
AT_ZERO = {"squared_hinge": 1.0, "logistic": float(np.log(2)), "exponential": 1.0}
RISKS = [
    (risk, loss, p)
    for risk, p in [
        ("ptop", None),
        ("recttop", None),
        ("reverse_recttop", None),
        ("auc", None),
        ("balanced", None),
        ("recttop_app", 4.0),
    ]
    for loss in SURROGATE
] + [("ptop_app", "exponential", 3.0)]


def least_risk(D: Distribution, risk: str, loss: str, p: float | None, alpha: float) -> float:
    """The minimum over w and b of alpha/2 |w|^2 and the risk of X w + b."""
    w, b = cp.Variable(D.X.shape[1]), cp.Variable()
    f, l = D.X @ w + b, SURROGATE[loss]  # noqa: E741
    P, Q = D.positives, D.negatives
    limits: list[Any] = []
    if risk == "ptop":
        cost, limits = P @ l(-f), [f[np.flatnonzero(Q)] <= 0]
    elif risk == "auc":
        cost = sum(Q[j] * (P @ l(f[j] - f)) for j in np.flatnonzero(Q))
    elif risk == "ptop_app":
        cost = P @ l(-f) + Q @ cp.exp(p * f) / p
    elif risk == "recttop_app":  # h_p is the sum of its parts below and above zero
        below, above = cp.Variable(len(Q)), cp.Variable(len(Q), nonneg=True)
        cost = P @ l(-f) + Q @ (l(below) + (l(p * above) - AT_ZERO[loss]) / p)
        limits = [below <= 0, f == below + above]
    else:
        cost = P @ l(-f) + Q @ l(f)
        limits = {
            "recttop": [f[np.flatnonzero(Q)] <= 0],
            "reverse_recttop": [f[np.flatnonzero(P)] >= 0],
        }.get(risk, [])
    problem = cp.Problem(cp.Minimize(cost + alpha / 2 * cp.sum_squares(w)), limits)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize(("risk", "loss", "p"), RISKS)
def test_no_linear_score_has_less_risk(risk: str, loss: str, p: float | None) -> None:
    D, alpha = random_distribution(1, k=6, d=2), 1e-3
    found = population_minimiser(D, risk, loss=loss, p=p, alpha=alpha)
    value = found.risk + alpha / 2 * found.w @ found.w
    assert value == pytest.approx(least_risk(D, risk, loss, p, alpha), rel=1e-6)
    assert found.certificate.primal == pytest.approx(value, rel=1e-8)
    assert found.certificate.gap <= 1e-9


@pytest.mark.parametrize("W", [1 / 64, 1.0, 64.0])
def test_noise_makes_the_best_linear_ptop_score_trivial(W: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4, 2))
    odds = np.exp(W * X.sum(axis=1) / np.sqrt(2))
    P, Q = odds / (1 + odds), 1 / (1 + odds)
    D = Distribution.from_conditionals(X, P / P.sum(), Q / Q.sum(), P.sum() / 4)
    top, rect = population_minimiser(D, "ptop"), population_minimiser(D, "recttop")
    assert top.trivial
    assert top.risk == pytest.approx(1.0)
    assert not rect.trivial
    assert rect.risk < 2.0
    assert population_auc(top.scores(X), D) == 0.5 < population_auc(rect.scores(X), D)


def test_a_surely_positive_point_outside_the_hull_is_lifted() -> None:
    D = Distribution([[0.0], [1.0], [5.0]], [0.25, 0.25, 0.5], [0.2, 0.6, 1.0])
    found = population_minimiser(D, "ptop")
    assert found.w[0] > 0
    assert not is_trivial(D.X, [0, 0, 1]).trivial


def test_with_a_feature_a_point_the_best_linear_score_is_the_best_of_all() -> None:
    D = random_distribution(2, k=4, d=4, sure=False)
    found = population_minimiser(D, "recttop", alpha=1e-10)
    np.testing.assert_allclose(
        found.scores(D.X), bayes_recttop(D, "squared_hinge").scores, atol=1e-4
    )


def test_scores_are_within_their_limits_to_the_last_bit() -> None:
    for seed in range(20):
        D = random_distribution(seed)
        f = population_minimiser(D, "recttop").scores(D.X)
        assert (f[D.negatives > 0] <= 0).all()
        f = population_minimiser(D, "reverse_recttop").scores(D.X)
        assert (f[D.positives > 0] >= 0).all()


def test_weights_of_zero_drop_out() -> None:
    """A surely negative point is no positive: with it as one the optimum would be another."""
    D = uniform((0.0, 1.0))
    found = population_minimiser(D, "recttop", alpha=1e-6)
    np.testing.assert_allclose(found.scores(D.X), [-1.0, 1.0], atol=1e-2)
    assert found.risk < 1e-3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"risk": "top"}, "risk must be one of 'auc', .*, got 'top'"),
        ({"risk": "ptop", "loss": "zero_one"}, "loss must be one of 'squared_hinge'"),
        ({"risk": "ptop_app", "p": 2.0}, "loss must be one of 'exponential', got 'squared_hinge'"),
        ({"risk": "recttop_app"}, "p is needed for the risks that end in _app"),
        ({"risk": "ptop", "p": 2.0}, "and only there: p=2.0"),
    ],
)
def test_what_is_no_risk_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        population_minimiser(random_distribution(0), **given)


def test_scores_of_new_points() -> None:
    D = random_distribution(0)
    found = population_minimiser(D, "auc")
    X: NDArray[np.float64] = np.array([[1.0, 2.0], [0.0, 0.0]])
    np.testing.assert_allclose(found.scores(X), [found.w @ [1.0, 2.0], 0.0])
