"""The interior point for the largest edge, against HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from support.examples import examples
from toprank.methods.soft_margin.minimax import Box, minimax
from truth.soft_margin_lps import least_edge


def some_box(seed: int, rows: int, columns: int, groups: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    rows = max(rows, groups)
    Z = (
        rng.uniform(-1, 1, (rows, columns))
        if seed % 2
        else rng.choice([-1.0, 0, 1], (rows, columns))
    )
    group = np.concatenate([np.arange(groups), rng.integers(0, groups, rows - groups)])
    caps = rng.uniform(0.1, 1.0, rows)
    totals = np.bincount(group, caps, groups) * rng.uniform(0.05, 0.95, groups)
    if seed % 5 == 0:
        totals[0] = np.bincount(group, caps, groups)[0]  # no choice in that group
    return {
        "X": Z + rng.choice([0.0, 0.5]),
        "caps": caps,
        "group": group,
        "totals": totals,
        "constant": 0.1 * rng.normal(size=columns),
    }


@examples(60)
@given(
    st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 12), st.integers(1, 3), st.booleans()
)
def test_bounds_hold_highs_between_them(
    seed: int, rows: int, columns: int, groups: int, signed: bool
) -> None:
    given_box = some_box(seed, rows, columns, groups)
    box = Box(**given_box, signed=signed)
    found = minimax(box, tol=1e-9)
    Z = given_box.pop("X")
    optimum = least_edge(Z, signed=signed, **given_box)
    assert found.lower - 1e-9 <= optimum <= found.upper + 1e-9
    assert found.converged
    assert found.upper - found.lower <= 1.1e-6  # where the optimum is zero; else much nearer
    if found.lower > 1e-5:
        assert_allclose([found.lower, found.upper], optimum, atol=2e-9)
    # Both bounds by the definition, of a w and a d that are allowed.
    assert np.abs(found.w).sum() <= 1.0 + 1e-12
    assert signed or found.w.min() >= 0
    assert found.d.min() >= 0
    assert (found.d <= box.caps * (1 + 1e-12)).all()
    assert_allclose(box.sums(found.d), box.totals, rtol=1e-9)
    edges = box.base + Z.T @ found.d
    assert_allclose(found.upper, (np.abs(edges) if signed else edges).max(), atol=1e-9)
    assert_allclose(found.lower, box.value(found.w), atol=1e-12)


def test_rows_may_be_some_rows_turned_round_and_the_matrix_sparse() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (40, 5)) * (rng.random((40, 5)) < 0.4)
    rows, sign = np.arange(3, 37), np.where(np.arange(34) % 2, 1.0, -1.0)
    X[rows, 0] += sign
    caps, totals = np.full(34, 0.1), np.ones(1)
    plain = minimax(Box(sign[:, np.newaxis] * X[rows], caps, totals))
    for form in (X, sparse.csr_array(X)):
        found = minimax(Box(form, caps, totals, sign=sign, rows=rows))
        assert_allclose([found.lower, found.upper], [plain.lower, plain.upper], atol=1e-9)
        assert plain.upper > 1e-3


@pytest.mark.parametrize("size", [1e-5, 1e-3])
def test_small_edges_are_found_to_their_own_size(size: float) -> None:
    rng = np.random.default_rng(2)
    Z = size * rng.uniform(0, 1, (30, 4))
    found = minimax(Box(Z, np.full(30, 0.1), np.ones(1), signed=False), tol=1e-4)
    none = np.zeros(4)
    optimum = least_edge(Z / size, np.full(30, 0.1), np.zeros(30, int), np.ones(1), none, False)
    assert_allclose(found.lower, size * optimum, rtol=2e-4)
    assert found.upper - found.lower <= 1.01e-4 * found.upper + 2e-10


def test_stopping_short_says_so_and_bounds_all_the_same() -> None:
    given_box = some_box(7, 40, 8, 1)
    found = minimax(Box(**given_box), max_iter=2)
    assert not found.converged
    Z = given_box.pop("X")
    optimum = least_edge(Z, signed=True, **given_box)
    assert found.lower <= optimum <= found.upper
    assert found.upper - found.lower > 1e-3
