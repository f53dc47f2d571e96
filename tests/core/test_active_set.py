"""`ActiveSet`: min 1/2 |y - y0|^2 s.t. Z y + v <= 0, against Lawson and Hanson's method."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls

from toprank._core import ActiveSet

Array = NDArray[np.float64]
TOL = 1e-11
STEPS = 10_000


def nearest_feasible(y0: Array, Z: Array, v: Array) -> Array:
    """The solution by least distance programming, chapter 23 of Lawson and Hanson (1974)."""
    corner = np.vstack([-Z.T, (Z @ y0 + v)[None]])
    target = np.append(np.zeros(len(y0)), 1.0)
    u, _ = nnls(corner, target, maxiter=100 * Z.size)
    residual = corner @ u - target
    return y0 - residual[:-1] / residual[-1]


def feasible_rows(seed: int, count: int, d: int) -> tuple[Array, Array, Array]:
    """A point y0 and rows that some y satisfies; about half are violated at y0."""
    rng = np.random.default_rng(seed)
    y0, inside = rng.standard_normal((2, d))
    Z = rng.standard_normal((count, d))
    return 2.0 * y0, Z, -Z @ inside - 0.1 * rng.random(count)


def with_dependent_rows(seed: int) -> tuple[Array, Array, Array]:
    """Rows in triples: one, its double, and its sum with the one before."""
    y0, Z, v = feasible_rows(seed, 8, 6)
    sums, offsets = Z + np.roll(Z, 1, axis=0), v + np.roll(v, 1)
    return y0, np.vstack([Z, 2.0 * Z, sums]), np.concatenate([v, 2.0 * v, offsets])


def with_duplicate_rows(seed: int) -> tuple[Array, Array, Array]:
    y0, Z, v = feasible_rows(seed, 10, 5)
    return y0, np.repeat(Z, 3, axis=0), np.repeat(v, 3)


def with_zero_rows(seed: int) -> tuple[Array, Array, Array]:
    y0, Z, v = feasible_rows(seed, 12, 4)
    Z[::4], v[::4] = 0.0, -0.5
    return y0, Z, v


def through_one_point(seed: int) -> tuple[Array, Array, Array]:
    """Forty planes that all meet in one point of three dimensions."""
    rng = np.random.default_rng(seed)
    Z = np.abs(rng.standard_normal((40, 3)))
    return np.ones(3), Z, -Z @ np.full(3, 0.25)


PROBLEMS = {
    "one row, one dimension": lambda seed: feasible_rows(seed, 1, 1),
    "rows in one dimension": lambda seed: feasible_rows(seed, 9, 1),
    "fewer rows than dimensions": lambda seed: feasible_rows(seed, 4, 9),
    "more rows than dimensions": lambda seed: feasible_rows(seed, 40, 5),
    "more rows than are priced at once": lambda seed: feasible_rows(seed, 300, 12),
    "duplicate rows": with_duplicate_rows,
    "dependent rows": with_dependent_rows,
    "zero rows": with_zero_rows,
    "planes through one point": through_one_point,
}
problems = pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS.keys())
seeds = pytest.mark.parametrize("seed", range(6))


def assert_stationary(found: ActiveSet, y0: Array, Z: Array) -> None:
    """y = y0 - Z'u with u >= 0: what holds after every step, optimal or not."""
    u = found.multipliers
    assert u.shape == (len(Z),)
    assert (u >= 0).all()
    np.testing.assert_allclose(found.y, y0 - Z.T @ u, atol=1e-9 * (1.0 + np.abs(u).sum()))


def assert_solved(found: ActiveSet, y0: Array, Z: Array, v: Array) -> None:
    """Every condition of Karush, Kuhn and Tucker, and the truth's y."""
    assert_stationary(found, y0, Z)
    u, slack = found.multipliers, Z @ found.y + v
    assert slack.max() <= 1e-9
    assert np.abs(u * slack).max() <= 1e-9 * (1.0 + u.max())
    assert np.count_nonzero(u) <= len(y0)
    np.testing.assert_allclose(found.y, nearest_feasible(y0, Z, v), atol=1e-7)


@problems
@seeds
def test_from_scratch(make: object, seed: int) -> None:
    y0, Z, v = make(seed)  # type: ignore[operator]
    found = ActiveSet(y0)
    found.append(Z, v)
    found.solve(TOL, STEPS)
    assert_solved(found, y0, Z, v)


@problems
@seeds
def test_rows_appended_after_a_solve(make: object, seed: int) -> None:
    y0, Z, v = make(seed)  # type: ignore[operator]
    found = ActiveSet(y0)
    half = len(Z) // 2
    for some in (np.s_[:half], np.s_[half:]):
        found.append(Z[some], v[some])
        found.solve(TOL, STEPS)
    assert_solved(found, y0, Z, v)


@problems
@seeds
def test_a_good_guess_needs_no_step_and_a_bad_one_does_no_harm(make: object, seed: int) -> None:
    y0, Z, v = make(seed)  # type: ignore[operator]
    cold = ActiveSet(y0)
    cold.append(Z, v)
    cold.solve(TOL, STEPS)
    rng = np.random.default_rng(seed)
    bad = [
        np.arange(len(Z)),
        rng.integers(0, len(Z), size=4),  # rows may be named twice
        np.argsort(Z @ y0 + v)[:3],  # the rows farthest from being violated
        np.empty(0, dtype=np.int64),
    ]
    for guess in bad:
        found = ActiveSet(y0)
        found.append(Z, v)
        found.warm(guess)
        assert_stationary(found, y0, Z)
        found.solve(TOL, STEPS)
        assert_solved(found, y0, Z, v)
    again = ActiveSet(y0)
    again.append(Z, v)
    again.warm(np.flatnonzero(cold.multipliers))
    # The guess gives y at once, up to the rounding of another order of sums.
    assert again.solve(1e-9, STEPS) == 0
    assert_solved(again, y0, Z, v)


@seeds
def test_a_guess_after_a_solve_replaces_what_was_active(seed: int) -> None:
    y0, Z, v = feasible_rows(seed, 30, 6)
    found = ActiveSet(y0)
    found.append(Z, v)
    found.solve(TOL, STEPS)
    found.warm(np.empty(0, dtype=np.int64))
    assert (found.y == y0).all()
    assert not found.multipliers.any()
    found.solve(TOL, STEPS)
    assert_solved(found, y0, Z, v)


@seeds
def test_stopped_short_the_state_stays_valid_and_can_be_resumed(seed: int) -> None:
    y0, Z, v = feasible_rows(seed, 60, 8)
    found = ActiveSet(y0)
    found.append(Z, v)
    total = ActiveSet(y0)
    total.append(Z, v)
    steps = total.solve(TOL, STEPS)
    assert steps > 3
    taken = 0
    while more := found.solve(TOL, 1):
        taken += more
        assert_stationary(found, y0, Z)
    assert taken == steps
    assert_solved(found, y0, Z, v)


def test_nothing_violated_moves_nothing() -> None:
    y0 = np.array([1.0, -2.0])
    found = ActiveSet(y0)
    assert found.solve(TOL, STEPS) == 0
    found.append(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([-1.0, 1.0]))
    assert found.solve(TOL, STEPS) == 0
    assert (found.y == y0).all()
    assert not found.multipliers.any()


def test_violations_within_the_tolerance_are_left() -> None:
    found = ActiveSet(np.array([1.0]))
    found.append(np.array([[1.0]]), np.array([-0.9]))
    assert found.solve(0.2, STEPS) == 0
    assert found.solve(0.05, STEPS) == 1
    np.testing.assert_allclose(found.y, [0.9])
    np.testing.assert_allclose(found.multipliers, [0.1])


def test_wrong_arguments_are_refused() -> None:
    found = ActiveSet(np.zeros(3))
    with pytest.raises(ValueError, match="one offset a row"):
        found.append(np.ones((2, 3)), np.ones(1))
    with pytest.raises(ValueError, match="as long as y"):
        found.append(np.ones((2, 4)), np.ones(2))
    found.append(np.ones((2, 3)), np.ones(2))
    for guess in (np.array([2]), np.array([-1])):
        with pytest.raises(IndexError, match="row out of range"):
            found.warm(guess)
