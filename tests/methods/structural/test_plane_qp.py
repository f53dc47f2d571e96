"""The least of some planes and a ridge: bounds that meet, whatever the scales of the columns."""

from __future__ import annotations

import numpy as np
import pytest

from toprank.methods.structural.plane_qp import best_weights, least_of_planes


def planes(seed: int, n: int, d: int, decades: float) -> tuple[np.ndarray, np.ndarray]:
    """Random planes, the first of them zero, with columns of scales that far apart."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-decades, decades, d)
    c = rng.uniform(size=n)
    G[0], c[0] = 0.0, 0.0
    return G, c


@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("decades", [0.0, 4.0, 8.0])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (2, 9), (40, 14), (120, 30)])
def test_the_two_values_meet(n: int, d: int, decades: float, alpha: float) -> None:
    G, c = planes(0, n, d, decades)
    a, w = least_of_planes(G, c, alpha, 0.0)
    pull = a @ G
    primal = alpha / 2 * w @ w + (c + G @ w).max()
    dual = a @ c - pull @ pull / (2 * alpha)
    assert (a >= 0).all()
    assert np.isclose(a.sum(), 1.0)
    # Levels are up to one: at optima near zero their digits are what counts.
    assert -1e-13 <= primal - dual <= 1e-9 * max(primal, 1e-3)


def test_the_same_minimum_as_over_the_weights_of_planes() -> None:
    G, c = planes(1, 30, 8, 0.0)
    alpha = 0.1
    a, w = least_of_planes(G, c, alpha, 0.0)
    value = a @ c - alpha / 2 * w @ w
    other = best_weights(G @ G.T / alpha, c, 0.0)
    pull = other @ G
    assert value == pytest.approx(other @ c - pull @ pull / (2 * alpha), rel=1e-9)
