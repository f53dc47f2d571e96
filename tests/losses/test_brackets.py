"""Losses of pairs where scores are off: brackets, slopes, and duals that cannot be shared."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from toprank.inputs.class_split import Split
from toprank.losses import PairLoss
from toprank.surrogates import SURROGATES
from truth.plans import undelivered

Array = NDArray[np.float64]

UNIT = 2.0**-53
N = 30
RNG = np.random.default_rng(1)
SPLIT = Split.of(np.arange(N) % 3 == 0, RNG.uniform(0.5, 2.0, N))
SQUARED, HINGE = (PairLoss(SPLIT, SURROGATES[name]) for name in ("squared_hinge", "hinge"))
#: Every margin is below one, and stays there if a score moves by less than 0.3.
NEAR = RNG.uniform(-0.2, 0.2, N)


def test_a_bracket_is_reached_where_every_pair_gets_worse() -> None:
    """F is a quadratic there, and its highest value near a point is known."""
    by = np.full(N, 0.2)
    value, v = SQUARED.value(NEAR), SQUARED.slope(NEAR)
    found = SQUARED.bracket(NEAR, by)
    assert found is not None
    within, mass = SQUARED.bracket_within(0.2, value, v)
    for one in (found, within):
        assert_allclose(one.high, SQUARED.value(SQUARED.worse(NEAR, by)), rtol=1e-12)
        assert_allclose(one.low, value - 0.2 * np.abs(v).sum(), rtol=1e-12)
        assert one.low <= SQUARED.value(SQUARED.worse(NEAR, -by))
        assert_allclose(one.v, v, rtol=1e-13)
    assert np.abs(v).sum() < mass < np.abs(v).sum() * (1.0 + 1e-12)
    assert HINGE.bracket(NEAR, by) is None


@pytest.mark.parametrize("size", [0.01, 0.2, 3.0])
def test_values_near_a_point_are_in_its_bracket(size: float) -> None:
    for _ in range(10):
        s, by = RNG.normal(size=N), RNG.uniform(0.0, size, N)
        found = SQUARED.bracket(s, by)
        assert found is not None
        for moved in (*(s + by * RNG.uniform(-1.0, 1.0, (10, N))), SQUARED.worse(s, by)):
            assert found.low <= SQUARED.value(moved) <= found.high


@pytest.mark.parametrize("by", [0.0, 0.1, 1.0, 1e3])
def test_brackets_have_room_for_the_rounding_of_their_sums(by: float) -> None:
    value, v = SQUARED.value(NEAR), SQUARED.slope(NEAR)
    spread = Fraction(by) * sum(abs(Fraction(x)) for x in v)
    squares = 2 * Fraction(by) ** 2
    room = N * UNIT * float(Fraction(value) + spread + squares)
    plain = SQUARED.bracket_by(NEAR, np.full(N, by), value, v)
    within = SQUARED.bracket_within(by, value, v)[0]
    for one in (plain, within):
        below = float(Fraction(value) - spread - Fraction(one.low))
        above = float(Fraction(one.high) - Fraction(value) - spread - 2 * squares)
        assert room < below < 50.0 * room
        assert room < above < 50.0 * room
    # Both go through as many operations.
    assert_allclose(plain.high - value, within.high - value, rtol=0.1)


def test_slopes_are_off_the_most_where_every_pair_gets_worse() -> None:
    """The slope of a quadratic is linear, so that the bound is reached."""
    by = RNG.uniform(0.0, 0.2, N)
    v = SQUARED.slope(NEAR)
    moved = np.abs(SQUARED.slope(SQUARED.worse(NEAR, by)) - v)
    assert_allclose(SQUARED.slope_rounding(NEAR, by, v), moved, rtol=1e-11, atol=1e-13)
    own = SQUARED.slope_rounding(NEAR, np.zeros(N), v)
    assert (N * UNIT * np.abs(v) < own).all()
    assert (own < 50.0 * N * UNIT * np.abs(v)).all()


@pytest.mark.parametrize("seed", range(6))
def test_what_cannot_be_shared_out_is_what_no_plan_delivers(seed: int) -> None:
    """The greatest flow through the pairs, by a linear program."""
    rng = np.random.default_rng(seed)
    split = Split.of(np.arange(9) < 3, rng.uniform(0.5, 2.0, 9) if seed % 2 else None)
    loss = PairLoss(split, SURROGATES["hinge"])
    v = np.zeros(split.n_rows)
    v[split.pos] = -rng.dirichlet(np.full(len(split.pos), 0.3))
    v[split.neg] = rng.dirichlet(np.full(len(split.neg), 0.3))
    left = undelivered(split, v)
    assert left > 0.01
    assert_allclose(loss.excess(v), left, rtol=1e-6)
    off = loss.dual_rounding(v)
    # As much is taken off both classes.
    assert_allclose([off.value, off.mass], [left, 2.0 * left], rtol=1e-6)
    assert off.share == 0.0


def test_what_is_not_of_the_pairs_has_no_plan_at_all() -> None:
    split = Split.of(np.array([True, False, False, False]), np.array([1.0, 1.0, 1.0, 0.0]))
    loss = PairLoss(split, SURROGATES["hinge"])
    assert loss.excess(np.array([-0.4, 0.2, 0.2, 0.0])) == 0.0
    assert loss.excess(np.array([-0.4, 0.2, 0.2, 0.1])) == np.inf  # a row that is absent
    assert loss.excess(np.array([-0.4, 0.6, -0.2, 0.0])) == np.inf  # a dual below zero
    assert_allclose(loss.excess(np.array([-0.4, 0.2, 0.1, 0.0])), 0.1)


def test_duals_count_for_allowed_up_to_rounding_of_their_sums() -> None:
    split = Split.of(np.arange(4) < 2)
    loss = PairLoss(split, SURROGATES["hinge"])
    full = np.array([-0.5, -0.5, 0.5, 0.5])  # all that the pairs can have
    assert loss.conjugate(full) == -1.0
    assert loss.conjugate(0.0 * full) == -loss.infimum == 0.0
    assert np.isfinite(loss.conjugate(full * (1.0 + 1e-10)))
    assert loss.conjugate(full * (1.0 + 1e-8)) == np.inf
