"""Weights, means and scatters of groups of rows, against NumPy, one group at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from toprank._core import Matrix, group_moments, pair_moments


def rows(n: int, d: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 3.0 * rng.normal(size=d)


def truth(x: Any, weight: Any) -> tuple[float, Any, Any]:
    x = x.astype(np.float64)
    mean = weight @ x / weight.sum()
    return weight.sum(), mean, ((x - mean).T * weight) @ (x - mean)


def assert_moments(found: Any, expected: Any) -> None:
    weight, mean, scatter = expected
    assert_allclose(found[0], weight, rtol=1e-13)
    assert_allclose(found[1], mean, rtol=1e-12, atol=1e-13)
    assert_allclose(found[2], scatter, atol=1e-12 * max(np.abs(scatter).max(), 1e-12))


SHAPES = [(40, 1), (300, 11), (300, 12), (500, 13), (5000, 24), (9000, 57), (1500, 301)]


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_groups(n: int, d: int, form: Any, dtype: Any, weighted: bool) -> None:
    x = form(rows(n, d).astype(dtype))
    rng = np.random.default_rng(1)
    group = rng.integers(-1, 3, n).astype(np.int32)
    weight = rng.uniform(size=n) * (rng.uniform(size=n) > 0.2) if weighted else None
    given = np.ones(n) if weight is None else weight
    found = group_moments(Matrix.dense(x), group, 3, weight, 2)
    for g in range(3):
        here = group == g
        assert_moments([part[g] for part in found], truth(x[here], given[here]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray])
def test_moments_of_differences(form: Any, weighted: bool) -> None:
    x = form(rows(200, 14))
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 200, (2, 3000))
    weight = rng.uniform(size=3000) if weighted else None
    found = pair_moments(Matrix.dense(x), first, second, weight, 2)
    given = np.ones(3000) if weight is None else weight
    assert_moments([part[0] for part in found], truth(x[first] - x[second], given))


@pytest.mark.parametrize(("n", "d"), [(60_000, 9), (20_000, 60), (3000, 300)])
def test_any_number_of_threads_gives_the_same_bits(n: int, d: int) -> None:
    matrix = Matrix.dense(rows(n, d))
    group = np.random.default_rng(1).integers(0, 2, n).astype(np.int32)
    one = group_moments(matrix, group, 2, None, 1)
    for n_threads in (2, 3, 8):
        for part, other in zip(one, group_moments(matrix, group, 2, None, n_threads), strict=True):
            assert_array_equal(part, other)


def test_tiles_shared_by_threads_give_the_same_bits() -> None:
    # So many groups of so many columns that one set of buffers is all there is room for.
    n, d = 600, 400
    x = rows(n, d)
    group = np.repeat(np.arange(60, dtype=np.int32), 10)
    one = group_moments(Matrix.dense(x), group, 60, None, 1)
    for part, other in zip(one, group_moments(Matrix.dense(x), group, 60, None, 4), strict=True):
        assert_array_equal(part, other)
    assert_moments([part[7] for part in one], truth(x[70:80], np.ones(10)))


def test_an_offset_that_drifts_costs_no_digits() -> None:
    # The rows of every block lie elsewhere: one shift for all of them would not do.
    x = rows(40_000, 3)
    drift = np.repeat(np.linspace(0.0, 1e7, 10), 4000)[:, np.newaxis]
    group = np.repeat(np.arange(10, dtype=np.int32), 4000)
    _, _, scatters, _ = group_moments(Matrix.dense(x + drift), group, 10, None, 1)
    expected = np.stack([truth(x[group == g], np.ones(4000))[2] for g in range(10)])
    assert_allclose(scatters, expected, rtol=1e-5, atol=0.2)  # x + drift itself has lost 1e-9


def test_constant_columns_have_no_scatter_at_all() -> None:
    x = rows(30_000, 5)
    x[:, 2] = 0.1 + 1e6
    group = np.random.default_rng(1).integers(0, 2, len(x)).astype(np.int32)
    _, means, scatters, squares = group_moments(Matrix.dense(x), group, 2, None, 2)
    assert_array_equal(squares[:, 2], 0.0)
    assert_array_equal(scatters[:, 2], 0.0)
    assert_array_equal(means[:, 2], 0.1 + 1e6)


def test_rows_without_a_group_or_weight_are_not_looked_at() -> None:
    x = rows(50, 3)
    strange = x.copy()
    strange[:10] = np.nan
    group, weight = np.zeros(50, dtype=np.int32), np.ones(50)
    group[:5], weight[5:10] = -1, 0.0
    found = group_moments(Matrix.dense(strange), group, 1, weight, 1)
    assert_moments([part[0] for part in found], truth(x[10:], np.ones(40)))


def test_an_empty_group_is_zero() -> None:
    weights, means, scatters, squares = group_moments(
        Matrix.dense(rows(20, 3)), np.zeros(20, dtype=np.int32), 2, None, 1
    )
    assert_array_equal(weights, [20.0, 0.0])
    assert_array_equal(means[1], 0.0)
    assert_array_equal(scatters[1], 0.0)
    assert_array_equal(squares[1], 0.0)


def test_what_leads_outside_is_refused() -> None:
    matrix, group = Matrix.dense(rows(20, 3)), np.zeros(20, dtype=np.int32)
    with pytest.raises(ValueError, match="one group a row"):
        group_moments(matrix, group[1:], 1, None, 1)
    with pytest.raises(IndexError, match="group out of range"):
        group_moments(matrix, group + 1, 1, None, 1)
    with pytest.raises(ValueError, match="not negative"):
        group_moments(matrix, group, 1, np.full(20, -1.0), 1)
    with pytest.raises(IndexError, match="row out of range"):
        pair_moments(matrix, np.array([0]), np.array([20]), None, 1)
    with pytest.raises(ValueError, match="two sides"):
        pair_moments(matrix, np.array([0]), np.array([1, 2]), None, 1)
