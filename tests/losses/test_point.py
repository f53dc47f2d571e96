"""PointLoss against sums of three lines."""

from __future__ import annotations

import numpy as np
import pytest

from toprank.losses import PointLoss

WEIGHT = np.array([0.5, 2.0, 0.0, 1.0, 0.25])
SCORES = np.array([0.3, -1.0, -2.0, 1.5, 1.0])


def test_value_and_slope() -> None:
    loss = PointLoss(WEIGHT)
    terms = [c * max(1.0 - s, 0.0) for c, s in zip(WEIGHT, SCORES, strict=True)]
    assert loss.value(SCORES) == pytest.approx(sum(terms))
    assert loss.at_zero == loss.value(np.zeros(5)) == pytest.approx(3.75)
    assert loss.slope(SCORES).tolist() == [-0.5, -2.0, 0.0, 0.0, 0.0]


def test_conjugate_at_a_slope_and_outside_its_domain() -> None:
    loss = PointLoss(WEIGHT)
    v = loss.slope(SCORES)
    assert loss.value(SCORES) + loss.conjugate(v) == pytest.approx(v @ SCORES)
    for outside in (1e-3, -2.01):
        assert loss.conjugate(np.array([0.0, outside, 0.0, 0.0, 0.0])) == np.inf
    assert loss.conjugate(np.zeros(5)) == -loss.infimum == 0.0


def test_fenchels_inequality_for_any_dual_vector() -> None:
    loss, rng = PointLoss(WEIGHT), np.random.default_rng(0)
    for _ in range(50):
        s, v = rng.normal(0, 2, 5), -WEIGHT * rng.uniform(0, 1, 5)
        assert loss.value(s) + loss.conjugate(v) >= v @ s - 1e-12


def test_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        PointLoss(-WEIGHT)
