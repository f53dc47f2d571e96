"""Bounds for drawn pairs: exact binomial tails, simulated failures, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from toprank.theory import (
    effective_dimension,
    first_moment_tail,
    practical_pairs,
    required_pairs,
    second_moment_tail,
)

Array = NDArray[np.float64]
UNIT: dict[str, Any] = {"radius": 1.0, "pair_bound": 2.0}


def signs_tail(eps: float, n_pairs: int) -> float:
    """P(2 |mu_S| >= eps), where psi is a sum of two signs: S mu_S / 2 is binomial, centred."""
    reach = int(np.ceil(eps * n_pairs / 4.0 - 1e-9))
    return float(2.0 * binom.cdf(n_pairs - reach, 2 * n_pairs, 0.5))


@pytest.mark.parametrize(
    ("eps", "exact", "printed"),
    [(1.1, 9.1e-5, 8.0e-5), (1.2, 2.65e-5, 7.45e-6), (1.6, 1.5e-8, 4.6e-11)],
)
def test_printed_lemma_2ii_is_false(eps: float, exact: float, printed: float) -> None:
    tail = signs_tail(eps, 100)
    bound = first_moment_tail(eps=eps, n_pairs=100, **UNIT, printed=True)
    assert tail == pytest.approx(exact, rel=0.02)
    assert bound == pytest.approx(printed, rel=0.02)
    assert tail > bound


@pytest.mark.parametrize("n_pairs", [1, 7, 100, 400])
def test_mended_lemma_2ii_holds_for_signs(n_pairs: int) -> None:
    for eps in np.linspace(0.05, 4.0, 80):
        for variance in (None, 2.0):  # E psi^2 = 2, mu = 0
            bound = first_moment_tail(eps=eps, n_pairs=n_pairs, **UNIT, variance=variance)
            assert signs_tail(eps, n_pairs) <= bound


@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("n_pairs", [1, 7, 100, 400])
def test_lemma_2i_holds_for_signs(n_pairs: int, printed: bool) -> None:
    """psi^2 is 0 or 4 with equal chances; the deviation of its mean from 2 is binomial."""
    count = np.arange(n_pairs + 1)
    deviation = np.abs(4.0 * count / n_pairs - 2.0)
    mass = binom.pmf(count, n_pairs, 0.5)
    for eps in np.linspace(0.05, 2.0, 40):
        known = {"n_pairs": n_pairs, "n_features": 1, "spectral_norm": 2.0, "printed": printed}
        bound = second_moment_tail(eps=eps, **known, **UNIT)
        assert mass[deviation >= eps - 1e-12].sum() <= bound * (1.0 + 1e-12)


def all_pairs(rng: np.random.Generator, d: int) -> Array:
    rows = rng.normal(size=(60, d)) + np.repeat([[1.0], [-0.2]], 30, axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows[:30, np.newaxis] - rows[np.newaxis, 30:]).reshape(-1, d)


def best_in_ball(sigma: Array, mu: Array, radius: float) -> Array:
    """By bisection on the multiplier."""
    theta, Q = np.linalg.eigh(sigma)
    b = Q.T @ mu
    low, high = 0.0, float(np.linalg.norm(mu)) / radius
    if np.linalg.norm(b / theta) > radius:
        for _ in range(100):
            middle = (low + high) / 2.0
            long = np.linalg.norm(b / (theta + middle)) > radius
            low, high = (middle, high) if long else (low, middle)
    else:
        high = 0.0
    return np.asarray(Q @ (b / (theta + high)))


@pytest.mark.parametrize(("d", "eps", "radius"), [(2, 0.4, 1.0), (6, 0.6, 1.0), (3, 0.5, 0.5)])
def test_required_pairs_fail_no_oftener_than_delta(d: int, eps: float, radius: float) -> None:
    rng = np.random.default_rng(d)
    psi = all_pairs(rng, d)
    sigma, mu = psi.T @ psi / len(psi), psi.mean(axis=0)
    n_pairs = required_pairs(
        eps=eps,
        delta=0.2,
        n_features=d,
        radius=radius,
        pair_bound=float(np.linalg.norm(psi, axis=1).max()),
        spectral_norm=float(np.linalg.norm(sigma, 2)),
        variance=float(np.trace(sigma) - mu @ mu),
    )

    def risk(w: Array) -> float:
        return float(w @ sigma @ w / 2.0 - mu @ w)

    least = risk(best_in_ball(sigma, mu, radius))
    excess, bounded = [], []
    for _ in range(100):
        drawn = psi[rng.integers(len(psi), size=n_pairs)]
        second, first = drawn.T @ drawn / n_pairs, drawn.mean(axis=0)
        excess.append(risk(best_in_ball(second, first, radius)) - least)
        bounded.append(
            radius**2 * np.linalg.norm(second - sigma, 2) + 2 * radius * np.linalg.norm(first - mu)
        )
    assert np.mean(np.array(bounded) > eps) <= 0.2  # what the proof bounds
    assert np.all(np.array(excess) <= np.array(bounded) + 1e-12)
    assert np.min(excess) > -1e-12
    assert np.median(bounded) > eps / 20.0  # the number is not absurd either


def test_required_pairs_are_the_least_its_tails_allow() -> None:
    known = {"radius": 1.5, "pair_bound": 2.0}
    n_pairs = required_pairs(eps=0.3, delta=0.1, n_features=4, split=0.6, **known)

    def failure(n: int) -> float:
        first = first_moment_tail(eps=0.6 * 0.3, n_pairs=n, **known)
        second = second_moment_tail(eps=0.4 * 0.3, n_pairs=n, n_features=4, **known)
        return max(first, second)

    assert failure(n_pairs) <= 0.05 < failure(n_pairs - 1)


def test_printed_sizes_are_those_of_the_printed_lemmas() -> None:
    """But for the factor 4 that the paper lost in the term of the mean."""
    known = {"radius": 1.5, "pair_bound": 2.0}
    n_pairs = required_pairs(eps=0.3, delta=0.1, n_features=4, **known, printed=True)
    moments = {"n_features": 4, **known, "printed": True}
    assert second_moment_tail(eps=0.15, n_pairs=n_pairs, **moments) <= 0.05
    assert second_moment_tail(eps=0.15, n_pairs=n_pairs - 1, **moments) > 0.05
    # A small spectral norm lets the mean decide: there the printed size is too small by its lemma.
    flat = {"delta": 0.1, "n_features": 1, "spectral_norm": 1e-9}
    n_pairs = required_pairs(eps=1e-3, **flat, **known, printed=True)
    assert first_moment_tail(eps=5e-4, n_pairs=n_pairs, **known, printed=True) > 0.05
    assert first_moment_tail(eps=5e-4, n_pairs=4 * n_pairs, **known, printed=True) <= 0.05


def test_best_split_asks_for_no_more_than_any() -> None:
    known = {"eps": 0.2, "delta": 0.1, "n_features": 5, "spectral_norm": 0.7, **UNIT}
    best = required_pairs(**known)
    assert best <= min(required_pairs(**known, split=s) for s in (0.1, 0.3, 0.5, 0.7, 0.9))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("eps", (0.4, 0.2, 0.1)),
        ("delta", (0.3, 0.1, 0.01)),
        ("n_features", (2, 20, 200)),
        ("radius", (0.5, 1.0, 2.0)),
        ("pair_bound", (1.0, 2.0, 4.0)),
        ("spectral_norm", (0.1, 1.0, 4.0)),
    ],
)
def test_harder_problems_need_more_pairs(name: str, values: tuple[float, ...]) -> None:
    known: dict[str, Any] = {"eps": 0.2, "delta": 0.1, "n_features": 5, "spectral_norm": 0.7}
    for printed in (False, True):
        asked = [
            required_pairs(**{**known, **UNIT, name: value}, printed=printed) for value in values
        ]
        assert asked == sorted(asked)
        assert asked[0] < asked[-1]


@pytest.mark.parametrize(("d", "n_pairs"), [(5, 60), (20, 400), (20, 2021)])
def test_relative_excess_follows_the_law(d: int, n_pairs: int) -> None:
    """Means over simulated samples of differences of Gaussian rows, against d / (S - d - 1)."""
    rng = np.random.default_rng(d)
    delta = rng.uniform(0.2, 1.0, size=d)
    sigma = 2.0 * np.eye(d) + np.outer(delta, delta)  # both classes with covariance one
    best = np.linalg.solve(sigma, delta)
    least = 1.0 - delta @ best
    excess = []
    for _ in range(200):
        psi = delta + np.sqrt(2.0) * rng.normal(size=(n_pairs, d))
        w = np.linalg.lstsq(psi, np.ones(n_pairs), rcond=None)[0]
        excess.append((w - best) @ sigma @ (w - best) / least)
    expected, error = d / (n_pairs - d - 1), np.std(excess) / np.sqrt(len(excess))
    assert np.mean(excess) == pytest.approx(expected, abs=4.0 * error + 0.05 * expected)


def test_relative_excess_with_a_ridge_follows_the_effective_dimension() -> None:
    rng, d, alpha, n_pairs = np.random.default_rng(3), 20, 2.0, 2000
    delta, scale = np.full(d, 0.1), np.geomspace(0.05, 2.0, d)
    sigma = 2.0 * np.diag(scale**2) + np.outer(delta, delta)
    ridge = sigma + alpha * np.eye(d)
    best = np.linalg.solve(ridge, delta)
    mean_square = 1.0 - 2.0 * delta @ best + best @ sigma @ best
    excess = []
    for _ in range(200):
        psi = delta + np.sqrt(2.0) * scale * rng.normal(size=(n_pairs, d))
        w = np.linalg.solve(psi.T @ psi / n_pairs + alpha * np.eye(d), psi.mean(axis=0))
        excess.append((w - best) @ ridge @ (w - best) / mean_square)
    dimension = effective_dimension(sigma, alpha)
    assert dimension < d / 2
    assert np.mean(excess) == pytest.approx(dimension / n_pairs, rel=0.15)


def test_practical_pairs_solve_the_law() -> None:
    for excess in (0.5, 0.01, 0.003):
        for d in (1, 24, 3.7):
            n_pairs = practical_pairs(excess, d)
            assert d / (n_pairs - d - 1) <= excess * (1.0 + 1e-9)
            assert n_pairs == 2 or d / (n_pairs - 1 - d - 1) > excess


def test_effective_dimension_without_a_ridge_is_the_rank() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 7))
    assert effective_dimension(rows.T @ rows, 0.0) == pytest.approx(3.0)
    assert effective_dimension(np.zeros((2, 2)), 0.0) == 0.0


GOOD: dict[str, Any] = {"eps": 0.2, "delta": 0.1, "n_features": 5, **UNIT}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("eps", "radius", "pair_bound") for value in (0.0, -1, np.nan)),
        ("radius", np.inf),
        ("eps", "0.1"),
        *(("delta", value) for value in (0.0, 1.0, np.nan)),
        *(("n_features", value) for value in (0, 2.5)),
        ("spectral_norm", -1.0),
        ("variance", np.nan),
        ("split", 1.0),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must"):
        required_pairs(**{**GOOD, name: value})


def test_bad_parameters_of_the_others_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^n_pairs must"):
        first_moment_tail(eps=1.0, n_pairs=0, **UNIT)
    with pytest.raises(ValueError, match=r"^n_pairs must"):
        second_moment_tail(eps=1.0, n_pairs=1.5, n_features=1, **UNIT)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^relative_excess must"):
        practical_pairs(0.0, 3)
    with pytest.raises(ValueError, match=r"^n_features must"):
        practical_pairs(0.1, np.nan)
    with pytest.raises(ValueError, match=r"^alpha must"):
        effective_dimension(np.eye(2), -1.0)
    with pytest.raises(ValueError, match=r"^second_moment must"):
        effective_dimension(np.ones(3), 1.0)
