"""Risks against loops over points, with infinite scores and classes that are not everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from theory import (
    Distribution,
    auc_risk,
    balanced_risk,
    population_auc,
    ptop_app_risk,
    ptop_risk,
    recttop_app_risk,
    recttop_risk,
    reverse_recttop_risk,
)
from truth.random_distributions import random_distribution
from truth.reference import VALUE

PHI: dict[str, Callable[[float], float]] = {
    "zero_one": lambda v: 1.0 if v < 0 else 0.5 if v == 0 else 0.0,
    **{name: (lambda v, loss=loss: loss(-v)) for name, loss in VALUE.items()},
}
SCORES = (-np.inf, -1.5, -0.25, 0.0, 0.25, 1.5, np.inf)


def minus(a: float, b: float) -> float:
    return 0.0 if a == b else a - b


def mean(mass: NDArray[np.float64], values: list[float]) -> float:
    return sum(p * v for p, v in zip(mass, values, strict=True) if p > 0)


def random_scores(seed: int, *, finite: bool = False) -> NDArray[np.float64]:
    chosen = np.random.default_rng(seed).choice(SCORES[1:-1] if finite else SCORES, size=5)
    return np.asarray(chosen)


@pytest.mark.parametrize("loss", PHI)
@pytest.mark.parametrize("seed", range(8))
def test_risks_are_their_definitions(seed: int, loss: str) -> None:
    D, f, phi = random_distribution(seed), random_scores(seed), PHI[loss]
    P, Q = D.positives, D.negatives
    with np.errstate(over="ignore"):
        against = [mean(P, [phi(minus(s, t)) for s in f]) for t in f]
        top = max(risk for risk, q in zip(against, Q, strict=True) if q > 0)
        assert ptop_risk(f, D, loss) == pytest.approx(top, rel=1e-12)
        assert auc_risk(f, D, loss) == pytest.approx(mean(Q, against), rel=1e-12)
        on_positives, on_negatives = mean(P, [phi(s) for s in f]), mean(Q, [phi(-s) for s in f])
    total = on_positives + on_negatives
    assert balanced_risk(f, D, loss) == pytest.approx(total, rel=1e-12)
    above = any(s > 0 for s, q in zip(f, Q, strict=True) if q > 0)
    assert recttop_risk(f, D, loss) == pytest.approx(np.inf if above else total, rel=1e-12)
    below = any(s < 0 for s, p in zip(f, P, strict=True) if p > 0)
    assert reverse_recttop_risk(f, D, loss) == pytest.approx(np.inf if below else total, rel=1e-12)


def test_points_without_a_class_add_nothing_to_its_risk() -> None:
    D = Distribution([[0.0], [1.0], [2.0]], [0.25, 0.5, 0.25], [0.0, 0.5, 1.0])
    f = [-np.inf, 0.0, np.inf]  # the best loss at both ends, none of them 0 * inf
    assert ptop_risk(f, D, "exponential") == pytest.approx(D.positives[1])
    assert recttop_risk(f, D, "exponential") == pytest.approx(D.positives[1] + D.negatives[1])
    assert auc_risk(f, D, "exponential") == pytest.approx(D.positives[1] * D.negatives[1])
    assert balanced_risk([np.inf, 0.0, np.inf], D, "exponential") == np.inf


def test_equal_infinite_scores_are_ties() -> None:
    D = Distribution([[0.0], [1.0]], [0.5, 0.5], [0.2, 0.6])
    assert ptop_risk([np.inf, np.inf], D, "logistic") == pytest.approx(np.log(2))
    assert auc_risk([-np.inf, -np.inf], D) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(5))
def test_auc_is_one_minus_its_risk(seed: int) -> None:
    D, f = random_distribution(seed), random_scores(seed)
    pairs = [(p * q, s, t) for p, s in zip(D.positives, f, strict=True)
             for q, t in zip(D.negatives, f, strict=True)]  # fmt: skip
    area = sum(weight * ((s > t) + 0.5 * (s == t)) for weight, s, t in pairs)
    assert population_auc(f, D) == pytest.approx(area, rel=1e-12)
    assert auc_risk(f, D) == pytest.approx(1.0 - area, rel=1e-9)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "exponential", "hinge"])
@pytest.mark.parametrize("p", [0.5, 1.0, 4.0, 16.0])
def test_approximate_recttop_is_its_definition(loss: str, p: float) -> None:
    D, f, phi = random_distribution(3), random_scores(4, finite=True), PHI[loss]
    assert (f[D.negatives > 0] > 0).any()  # where the two branches differ
    h = [phi(-s) if s <= 0 else (phi(-p * s) - phi(0)) / p + phi(0) for s in f]
    expected = mean(D.positives, [phi(s) for s in f]) + mean(D.negatives, h)
    assert recttop_app_risk(f, D, loss, p) == pytest.approx(expected, rel=1e-12)
    if p == 1.0:
        assert expected == pytest.approx(balanced_risk(f, D, loss), rel=1e-12)


def test_table_2_lacks_a_one_without_which_the_loss_would_jump() -> None:
    D = random_distribution(0, sure=False)
    just_above, zero = np.full(5, 1e-9), np.zeros(5)
    risk = recttop_app_risk(just_above, D, "exponential", 4.0)
    assert risk == pytest.approx(recttop_app_risk(zero, D, "exponential", 4.0), abs=1e-8)


@pytest.mark.parametrize(
    ("loss", "tends"),
    [("squared_hinge", True), ("exponential", True), ("logistic", False), ("hinge", False)],
)
def test_the_approximation_tends_to_recttop_where_the_loss_grows_fast(
    loss: str, tends: bool
) -> None:
    D = random_distribution(1, sure=False)
    f = np.array([-1.0, -0.5, 0.0, -2.0, 0.5])
    large, limit = recttop_app_risk(f, D, loss, 1e9), recttop_risk(f, D, loss)
    assert limit == np.inf
    assert (large > 1e6) == tends
    below = np.minimum(f, 0.0)
    same = recttop_risk(below, D, loss)
    assert recttop_app_risk(below, D, loss, 1e9) == pytest.approx(same, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_approximate_ptop_is_the_p_norm_push_and_tends_to_ptop(seed: int) -> None:
    D, f = random_distribution(seed), random_scores(seed, finite=True)
    shifts = np.linspace(-6, 6, 4001)
    for p in (1.0, 3.0):
        least = min(ptop_app_risk(f + b, D, "exponential", p) for b in shifts)
        A, B = D.positives @ np.exp(-f), D.negatives @ np.exp(p * f)
        assert least == pytest.approx((1 + 1 / p) * (A**p * B) ** (1 / (p + 1)), rel=1e-5)
    p = 400.0
    A, log_B = (
        D.positives @ np.exp(-f),
        np.logaddexp.reduce(np.log(D.negatives[D.negatives > 0]) + p * f[D.negatives > 0]),
    )
    assert A * np.exp(log_B / p) == pytest.approx(ptop_risk(f, D, "exponential"), rel=0.02)


def test_what_is_no_score_loss_or_power_is_refused() -> None:
    D = random_distribution(0)
    with pytest.raises(ValueError, match=r"f has shape \(2,\), but the distribution has 5 points"):
        ptop_risk([0, 1], D)
    with pytest.raises(ValueError, match=r"f\[1\] is NaN"):
        balanced_risk([0, np.nan, 0, 0, 0], D)
    with pytest.raises(ValueError, match=r"loss must be one of 'zero_one', .*, got 'square'"):
        auc_risk(np.zeros(5), D, "square")
    with pytest.raises(ValueError, match="p must be a finite number above 0, got 0"):
        recttop_app_risk(np.zeros(5), D, p=0)
    with pytest.raises(ValueError, match="'zero_one' has no smooth approximation"):
        recttop_app_risk(np.zeros(5), D, "zero_one")
    with pytest.raises(ValueError, match="loss must be 'exponential'"):
        ptop_app_risk(np.zeros(5), D, "logistic")
