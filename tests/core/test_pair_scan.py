"""PairScan: sums over all pairs against the m x n table, and the order its sort makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from support.examples import examples
from toprank._core import PairScan
from truth.reference_files import reference_file

Array = NDArray[np.float64]

WIDTHS = [1.0, 0.25, 1e-3, 3.0, np.inf]


class Table:
    """Every pair written out: h(u), h'(u) and h''(u), times the weights."""

    def __init__(self, s: Array, positive: Any, p: Array, q: Array, width: float) -> None:
        self.pos, self.neg = np.flatnonzero(positive), np.flatnonzero(~positive)
        c = np.outer(p, q)
        u = (1.0 - s[self.pos])[:, np.newaxis] + s[self.neg]
        on = (u > 0) & (u <= width)
        if np.isinf(width):
            value, self.dual, self.bend = np.maximum(u, 0) ** 2, 2 * np.maximum(u, 0), 2.0 * on
            cost = 0.0
        else:
            value = np.where(on, u * u / (2 * width), np.maximum(u - width / 2, 0) * (u > 0))
            self.dual, self.bend = np.clip(u / width, 0, 1), on / width
            cost = float((c * u * (1 - u / width))[on].sum())
        self.dual, self.bend = c * self.dual, c * self.bend
        self.sums = ((c * value).sum(), (c * np.maximum(u, 0)).sum(), self.dual.sum(), cost)

    def slope(self, n_rows: int) -> Array:
        v = np.zeros(n_rows)
        v[self.pos], v[self.neg] = -self.dual.sum(axis=1), self.dual.sum(axis=0)
        return v

    def curvature(self, r: Array) -> Array:
        pull = self.bend * (r[self.pos][:, np.newaxis] - r[self.neg])
        out = np.zeros(len(r))
        out[self.pos], out[self.neg] = pull.sum(axis=1), -pull.sum(axis=0)
        return out


def some_classes(n: int, weighted: bool, ties: bool, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n) < max(1, n // 3))
    s = rng.normal(size=n) * rng.choice([0.1, 1.0, 30.0])
    s = np.round(2 * s) / 2 if ties else s
    m = int(positive.sum())
    shares = (rng.uniform(0.5, 2, m), rng.uniform(0.5, 2, n - m)) if weighted else (None, None)
    p, q = (np.full(k, 1 / k) if x is None else x for x, k in zip(shares, (m, n - m), strict=True))
    scan = PairScan(n, np.flatnonzero(positive), shares[0], np.flatnonzero(~positive), shares[1])
    return scan, s, positive, p, q, rng


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [2, 3, 17, 200, 1500])
def test_sums_slopes_and_curvature_are_those_of_the_table(
    n: int, ties: bool, weighted: bool, width: float
) -> None:
    scan, s, positive, p, q, rng = some_classes(n, weighted, ties, seed=n)
    truth = Table(s, positive, p, q, width)
    scan.sort(s)
    v, sums = scan.slope(width)
    size = 1e-12 * max(truth.sums)
    assert_allclose(scan.value(width), truth.sums, rtol=1e-11, atol=size)
    assert_allclose(sums, truth.sums, rtol=1e-11, atol=size)
    assert_allclose(v, truth.slope(n), rtol=1e-10, atol=size)
    r = rng.normal(size=n)
    bent = truth.curvature(r)
    assert_allclose(scan.curvature(r), bent, rtol=1e-9, atol=1e-11 * np.abs(bent).max())
    rows = np.flatnonzero(truth.curvature(rng.uniform(1, 2, n)))
    assert set(rows) <= set(scan.bent_rows())


@pytest.mark.parametrize("kind", ["huber", "sq"])
def test_reference_values_at_a_fixed_point(kind: str) -> None:
    """1/2 |w|^2 + 4 F, its gradient, a product with its Hessian and the hinge's dual bound."""
    with np.load(reference_file("pairs-and-points")) as file:
        X, w, total = file["X"], file["c3_w"], float(file["C"] * file["B"])
        positive = file["y"] > 0
        scan = PairScan(30, np.flatnonzero(positive), None, np.flatnonzero(~positive), None)
        scan.sort(X @ w)
        v, (value, hinge, duals, _) = scan.slope(
            float(file["c3_delta"]) if kind == "huber" else np.inf
        )
        assert_allclose(0.5 * w @ w + total * value, file[f"c3_{kind}_val"], rtol=1e-13)
        assert_allclose(w + total * X.T @ v, file[f"c3_{kind}_grad"], rtol=1e-12)
        image = file["c3_v"] + total * X.T @ scan.curvature(X @ file["c3_v"])
        assert_allclose(image, file[f"c3_{kind}_Hv"], rtol=1e-12)
        if kind == "huber":
            assert_allclose(0.5 * w @ w + total * hinge, file["c3_hinge_val"], rtol=1e-13)
            a, u = total * duals, total * X.T @ v
            theta = min(1.0, a / (u @ u))
            bound = theta * a - 0.5 * theta**2 * u @ u
            assert_allclose(bound, file["c3_huber_dual"], rtol=1e-12)


def test_both_classes_add_up_to_the_same_on_the_narrowest_bend() -> None:
    scan, s, *_ = some_classes(40, False, True, seed=3)
    s = s + np.random.default_rng(0).normal(size=40) * 1e-9  # pairs on the bend, barely
    scan.sort(s)
    v, (_, _, total, _) = scan.slope(1e-9)
    assert 0 < v[v > 0].sum() - total <= 1e-14 or abs(v.sum()) <= 1e-14 * total


def test_rows_outside_the_classes_have_no_slope() -> None:
    scan = PairScan(5, np.array([4]), None, np.array([1, 2]), None)
    scan.sort(np.array([np.nan, 0.3, -0.2, np.inf, 0.1]))
    v, _ = scan.slope(1.0)
    assert_array_equal(v[[0, 3]], 0.0)
    assert v[4] < 0 < min(v[1], v[2])


@examples(50)
@given(st.integers(0, 10**6), st.sampled_from(["plain", "ties", "close", "wild"]))
def test_rows_come_from_the_worst_on_and_equal_ones_stay_in_order(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 3000))
    s = rng.normal(size=n)
    if kind == "ties":
        s = np.round(s, 1)
    elif kind == "close":  # float32 cannot tell them apart
        s = 1.0 + s * 1e-12
    elif kind == "wild":
        s = s * 10.0 ** rng.uniform(-300, 300, n)
    positive = np.arange(n) % 2 == 0
    scan = PairScan(n, np.flatnonzero(positive), None, np.flatnonzero(~positive), None)
    scan.sort(s)
    for sign, side, kept in ((-1, scan.positives(1), positive), (1, scan.negatives(1), ~positive)):
        rows, bad = side
        given = np.flatnonzero(kept)
        truth = given[np.argsort(sign * s[given], kind="stable")][::-1]
        assert_array_equal(rows, truth)
        assert_array_equal(bad, sign * s[truth])


def test_every_so_many_rows_of_a_class() -> None:
    s = np.arange(20.0)
    scan = PairScan(20, np.array([0]), None, np.arange(1, 20), None)
    scan.sort(s)
    assert_array_equal(scan.negatives(5)[0], [17, 12, 7, 2])
    assert_array_equal(scan.positives(5)[0], [0])
    with pytest.raises(ValueError, match="step is positive"):
        scan.negatives(0)


def test_what_does_not_fit_is_refused() -> None:
    one, two = np.array([0]), np.array([1])
    with pytest.raises(IndexError, match="row out of range"):
        PairScan(1, one, None, two, None)
    with pytest.raises(ValueError, match="both classes need a row"):
        PairScan(2, one, None, np.empty(0, np.int64), None)
    with pytest.raises(ValueError, match="one weight a row"):
        PairScan(2, one, np.ones(2), two, None)
    scan = PairScan(2, one, None, two, None)
    with pytest.raises(ValueError, match="one score a row"):
        scan.sort(np.zeros(3))
    scan.sort(np.zeros(2))
    with pytest.raises(ValueError, match="the slope comes first"):
        scan.curvature(np.zeros(2))
