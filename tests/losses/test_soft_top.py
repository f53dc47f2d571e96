"""TopFractionLoss: against sorted lists, and the weights that prove bounds of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from toprank.inputs.class_split import Split
from toprank.losses import PairLoss, TopFractionLoss
from toprank.surrogates import SURROGATES

Array = NDArray[np.float64]

N, FRACTION = 20, 0.4
SPLIT = Split.of(np.arange(N) < 5)
RNG = np.random.default_rng(0)
S = RNG.normal(size=N)
UNIT = 2.0**-53
PAIRS = PairLoss(SPLIT, SURROGATES["squared_hinge"])


def soft_top() -> TopFractionLoss:
    return TopFractionLoss(SPLIT, FRACTION)


def weights(d: Any) -> Array:
    """On the rows of the negatives."""
    v = np.zeros(N)
    v[SPLIT.neg] = d
    return v


def six_of(weight: float) -> Array:
    """As many as the fraction is, which may have a sixth each."""
    return np.where(np.arange(15) < 6, weight, 0.0)


def squares(s: Array, d: Array) -> float:
    z = np.maximum(1.0 + s[SPLIT.neg] - s[SPLIT.pos][:, None], 0.0) ** 2
    return float(SPLIT.p @ z @ d)


def test_the_highest_negatives_count() -> None:
    for _ in range(5):
        s = RNG.normal(size=N)
        d = np.zeros(15)
        d[np.argsort(-s[SPLIT.neg])[:6]] = 1.0 / 6.0
        assert soft_top().value(s) == pytest.approx(squares(s, d), rel=1e-12)
        np.testing.assert_allclose(soft_top().highest(s), d, atol=1e-15)


def test_any_weights_that_are_allowed_bound_it_from_below() -> None:
    loss = soft_top()
    for d in (six_of(1.0 / 6.0), np.full(15, 1.0 / 15.0), six_of(1.0 / 6.0) * (1.0 + 1e-12)):
        below = loss.minorant(weights(d))
        assert below is not None
        assert below.value(S) == pytest.approx(squares(S, d), rel=1e-9)
        assert below.value(S) <= loss.value(S) * (1.0 + 1e-9)
        assert below.split.neg.tolist() == SPLIT.neg[d > 0.0].tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "d",
    [
        np.zeros(15),
        six_of(0.16),  # of less than all
        six_of(0.17),  # of more
        np.where(np.arange(15) < 5, 0.2, 0.0),  # above their caps
        np.r_[six_of(1.0 / 6.0)[:13], 0.01, -0.01],  # one below zero
        -six_of(1.0 / 6.0),
    ],
)
def test_weights_that_are_not_allowed_prove_nothing(d: Array) -> None:
    below = soft_top().minorant(weights(d))
    assert below is None
    assert soft_top().weighing(d).slack == np.inf


def test_what_weights_are_off_by_is_in_every_bound() -> None:
    """Off in their sum, or above their caps, by less than what rounding may do."""
    loss, by = soft_top(), np.zeros(N)
    above = six_of(1.0 / 6.0)
    above[:2] += 1e-10, -1e-10
    off_by = [(six_of(1.0 / 6.0) * factor, 1e-10) for factor in (1.0 - 1e-10, 1.0 + 1e-10)]
    for d, least in (*off_by, (above, 6e-10)):
        weighed, exact = loss.weighing(d), loss.weighing(six_of(1.0 / 6.0))
        assert weighed.slack == pytest.approx(least, rel=1e-3)
        assert weighed.split.q.sum() == pytest.approx(1.0, abs=1e-14)
        assert N * UNIT < exact.slack < 1e-14
        for scale in (0.05, 5.0):
            value, v = weighed.value(scale * S), weighed.slope(scale * S)
            wide = weighed.value_rounding(S, value) - exact.value_rounding(S, value)
            assert wide == pytest.approx(least * value, rel=1e-3)
            off = weighed.slope_rounding(S, by, v) - exact.slope_rounding(S, by, v)
            np.testing.assert_allclose(off, least * np.abs(v), rtol=1e-3, atol=1e-16)
        assert weighed.zero_rounding == pytest.approx(least * weighed.at_zero, rel=1e-3)


def test_all_negatives_are_all_pairs() -> None:
    assert TopFractionLoss(SPLIT, 1.0).value(S) == pytest.approx(PAIRS.value(S), rel=1e-12)
    assert soft_top().threshold(S) == PAIRS.threshold(S)
