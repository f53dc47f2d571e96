"""The best scores against a search over many: a score is in the set if and only if none is better.

The search looks at every vector of scores from a grid, which holds minus and plus infinity, and
the minimum over a single score as found by SciPy.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from theory import (
    Distribution,
    OptimalScores,
    auc_risk,
    balanced_link,
    balanced_risk,
    bayes_auc,
    bayes_balanced,
    bayes_ptop,
    bayes_recttop,
    bayes_reverse_recttop,
    link,
    ptop_risk,
    recttop_risk,
    reverse_recttop_risk,
)
from toprank.surrogates import SURROGATES
from truth.random_distributions import CASES, random_distribution, uniform

Array = NDArray[np.float64]
LOSSES = ["zero_one", "squared_hinge", "logistic", "exponential", "hinge"]
GRID = (-np.inf, -1.5, -1.0, 0.0, 0.5, 1.0, np.inf)
PAIRS: dict[str, tuple[Callable[..., float], Callable[..., OptimalScores]]] = {
    "ptop": (ptop_risk, bayes_ptop),
    "balanced": (balanced_risk, bayes_balanced),
    "recttop": (recttop_risk, bayes_recttop),
    "reverse_recttop": (reverse_recttop_risk, bayes_reverse_recttop),
}


def choices(P: float, Q: float, loss: str) -> tuple[float, ...]:
    """Scores to try at a point: the grid, and SciPy's minimum of P l(-v) + Q l(v)."""
    if loss in ("zero_one", "hinge") or P == 0 or Q == 0 or abs(P - Q) < 1e-12:
        return GRID  # which holds a minimum
    value = SURROGATES[loss].value

    def cost(v: float) -> float:
        return float(P * value(np.array(-v)) + Q * value(np.array(v)))

    return (*GRID, minimize_scalar(cost, bounds=(-20, 20), options={"xatol": 1e-12}).x)


def candidates(D: Distribution, loss: str) -> Iterator[Array]:
    points = zip(D.positives, D.negatives, strict=True)
    for scores in itertools.product(*(choices(P, Q, loss) for P, Q in points)):
        yield np.array(scores)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("case", CASES)
def test_a_score_is_in_the_set_if_and_only_if_none_is_better(
    case: str, name: str, loss: str
) -> None:
    D = uniform(CASES[case])
    risk, bayes = PAIRS[name]
    best = bayes(D, loss)
    least = risk(best.scores, D, loss)
    assert best.contains(best.scores)
    best = replace(best, tol=0.0 if loss == "zero_one" else 1e-6)
    for f in candidates(D, loss):
        excess = risk(f, D, loss) - least
        assert excess > -1e-12
        # SciPy's minimum is right to some 1e-8, and its risk to the square of that.
        assert best.contains(f) == (excess <= 1e-11), f


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", range(3))
def test_no_random_step_from_the_best_scores_is_better(seed: int, name: str, loss: str) -> None:
    D = random_distribution(seed)
    risk, bayes = PAIRS[name]
    best = bayes(D, loss)
    least = risk(best.scores, D, loss)
    rng = np.random.default_rng(seed)
    for size in np.repeat([1e-3, 1e-1, 3.0], 30):
        f = best.scores + size * rng.standard_normal(5) * (rng.random(5) < 0.5)
        excess = risk(f, D, loss) - least
        assert excess > -1e-12
        assert best.contains(f) == (excess <= 1e-13)


@pytest.mark.parametrize("case", CASES)
def test_the_best_orders_for_the_auc(case: str) -> None:
    D = uniform(CASES[case])
    best = bayes_auc(D)
    least = auc_risk(best.scores, D)
    assert best.contains(np.log(D.eta + 1.0))
    for f in itertools.product((-np.inf, -1.0, 0.5, 2.0), repeat=3):
        assert best.contains(f) == (auc_risk(f, D) <= least + 1e-12)


def interval(best: OptimalScores, i: int) -> tuple[float, float, bool, bool]:
    ends = float(best.low[i]), float(best.high[i])
    return (*ends, bool(best.low_open[i]), bool(best.high_open[i]))


def test_example_1_zero_one_ptop() -> None:
    best = bayes_ptop(uniform((1.0, 0.4, 0.0)), "zero_one")
    assert [interval(best, i) for i in range(3)] == [
        (0.0, np.inf, True, False),
        (0.0, 0.0, False, False),
        (-np.inf, 0.0, False, False),
    ]


def test_example_2_exponential_ptop() -> None:
    best = bayes_ptop(uniform((1.0, 0.4, 0.0)), "exponential")
    assert best.contains([np.inf, 0.0, -3.0])
    assert not best.contains([5.0, 0.0, -3.0])


def test_example_3_zero_one_recttop_penalises_ties_with_the_highest_negative() -> None:
    D = random_distribution(0)
    f = np.array([0.0, -1.0, 0.0, -2.0, -0.5])
    ties = 0.5 * D.negatives[f == 0].sum()
    assert D.negatives[f == 0].any()
    assert recttop_risk(f, D) == pytest.approx(ptop_risk(f, D) + ties)


def test_example_4_exponential_recttop() -> None:
    D = uniform((1.0, 0.7, 0.2, 0.0))
    odds = 0.5 * np.log(0.2 / 0.8) - 0.5 * np.log(D.pi / (1 - D.pi))
    best = bayes_recttop(D, "exponential")
    np.testing.assert_allclose(best.scores, [np.inf, 0.0, odds, -np.inf])


def test_example_5_the_approximate_loss_keeps_to_the_best_scores_as_p_grows() -> None:
    """One point's exponential loss of (17): the best score falls to zero from above."""
    P, Q = 0.8, 0.3
    best = [
        minimize_scalar(
            lambda v, p=p: P * np.exp(-v) + Q * ((np.exp(p * v) - 1) / p + 1), bounds=(0, 3)
        ).x
        for p in (1.0, 10.0, 100.0)
    ]
    np.testing.assert_allclose(best, np.log(P / Q) / np.array([2.0, 11.0, 101.0]), atol=1e-5)


def test_example_6_exponential_reverse_recttop_with_its_missing_case() -> None:
    D = uniform((1.0, 0.7, 0.2, 0.0))
    odds = 0.5 * np.log(0.7 / 0.3) - 0.5 * np.log(D.pi / (1 - D.pi))
    best = bayes_reverse_recttop(D, "exponential")
    np.testing.assert_allclose(best.scores, [np.inf, odds, 0.0, -np.inf])


@pytest.mark.parametrize("loss", LOSSES)
def test_proposition_1_every_translate(loss: str) -> None:
    D = uniform((1.0, 0.4, 0.0, 0.8))
    best = bayes_ptop(D, loss)
    for shift in (-1e3, -0.1, 7.0):
        assert best.contains(best.scores + shift)
        assert ptop_risk(best.scores + shift, D, loss) == pytest.approx(
            ptop_risk(best.scores, D, loss)
        )
    assert not bayes_recttop(D, loss).contains(bayes_recttop(D, loss).scores + 1.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_corollary_1_noise_makes_ptop_trivial_and_recttop_not(loss: str) -> None:
    D = random_distribution(5, sure=False)
    assert bayes_ptop(D, loss).trivial
    assert not bayes_ptop(D, loss).contains(D.eta)
    assert not bayes_recttop(D, loss).trivial
    assert not bayes_auc(D).trivial


def test_noise_need_not_put_a_point_between_pi_and_one() -> None:
    """As the paper says after Proposition 2; RectTop is not trivial there all the same."""
    D = uniform((0.3, 1.0))
    assert not D.separable
    assert not ((D.eta >= D.pi) & (D.eta < 1)).any()
    assert not bayes_recttop(D).trivial


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "exponential"])
def test_proposition_3_links(loss: str) -> None:
    D = random_distribution(7, sure=False)
    psi = balanced_link(loss, D.pi)
    np.testing.assert_allclose(bayes_balanced(D, loss).scores, psi(D.eta), rtol=1e-9)
    np.testing.assert_allclose(bayes_recttop(D, loss).scores, np.minimum(psi(D.eta), 0), rtol=1e-9)
    u = np.linspace(0.01, 0.99, 9)
    g = (1 - D.pi) * u / (D.pi + (1 - 2 * D.pi) * u)
    np.testing.assert_allclose(psi(u), link(loss)(g), rtol=1e-9)
    assert psi(D.pi) == pytest.approx(0.0, abs=1e-12)


def test_links_are_the_papers() -> None:
    u = np.array([0.0, 0.1, 0.5, 1.0])
    log_odds = np.array([-np.inf, np.log(1 / 9), 0.0, np.inf])
    np.testing.assert_allclose(link("logistic")(u), log_odds, atol=1e-15)
    np.testing.assert_allclose(link("exponential")(u), log_odds / 2, atol=1e-15)
    np.testing.assert_allclose(link("squared_hinge")(u), [-1.0, -0.8, 0.0, 1.0])


def test_a_point_that_is_almost_surely_positive_is_no_surely_positive_one() -> None:
    D = Distribution.from_conditionals([[0.0], [1.0]], [0.5, 0.5], [1.0 - 1e-30, 1e-30], 0.5)
    assert bayes_ptop(D, "logistic").trivial
    assert bayes_recttop(D, "logistic").high[1] == 0.0
    expected = np.log(0.5) - np.log(1e-30)
    assert bayes_balanced(D, "logistic").scores[1] == pytest.approx(expected)


def test_what_has_no_link_is_refused() -> None:
    with pytest.raises(ValueError, match=r"loss must be one of 'squared_hinge', .* got 'hinge'"):
        link("hinge")
    with pytest.raises(ValueError, match="pi must lie strictly between 0 and 1"):
        balanced_link("logistic", 0.0)
    with pytest.raises(ValueError, match="u must hold probabilities"):
        link("logistic")(1.5)
    with pytest.raises(ValueError, match="got 'square'"):
        bayes_recttop(random_distribution(0), "square")
