"""Tail means: against sorted lists, their duals, their conjugates against feasible plans."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.optimize import linprog

from support.examples import examples
from toprank.inputs.class_split import Split
from toprank.losses import ClassTailLoss, PairTailLoss, level_above, tail_mean

Array = NDArray[np.float64]


def low(a: Array, nu: float) -> float:
    """The mean of the nu smallest."""
    a, k = np.sort(a), int(np.floor(nu))
    rest = (nu - k) * a[k] if k < len(a) else 0.0
    return float((a[:k].sum() + rest) / nu)


def some_split(seed: int, n: int, weighted: bool) -> tuple[Split, np.random.Generator]:
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n) < rng.integers(1, n))
    return Split.of(positive, rng.integers(1, 4, n).astype(float) if weighted else None), rng


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 30), st.floats(0.01, 1.0), st.booleans())
def test_tail_mean_is_the_mean_of_the_smallest(seed: int, n: int, share: float, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    a = np.round(a) if ties else a
    nu = max(1.0, share * n)
    value, d = tail_mean(a, np.full(n, 1 / nu))
    assert_allclose(value, low(a, nu), atol=1e-13)
    assert_allclose(value, max(t - np.maximum(t - a, 0).sum() / nu for t in a), atol=1e-13)
    assert_allclose(d.sum(), 1.0)
    assert d.min() >= 0
    assert d.max() <= 1 / nu + 1e-15
    for t in np.unique(a):
        assert np.ptp(d[a == t]) <= 1e-15  # what ties get they share
    t = level_above(a, np.full(n, 1 / n), nu / n)
    assert (a < t).sum() <= nu + 1e-9
    assert (a <= t).sum() > nu - 1e-9


@examples(60)
@given(st.integers(0, 10**6), st.integers(2, 16), st.booleans(), st.floats(0.0, 1.0))
def test_the_tail_of_all_pairs(seed: int, n: int, weighted: bool, share: float) -> None:
    split, rng = some_split(seed, n, weighted)
    s = rng.normal(size=n) if seed % 2 else rng.integers(0, 4, n).astype(float)
    epsilon = max(share, (np.outer(split.p, split.q)).min())
    loss = PairTailLoss(split, epsilon)
    margins = (s[split.pos][:, np.newaxis] - s[split.neg]).ravel()
    caps = np.outer(split.p, split.q).ravel() / epsilon
    expected, d = tail_mean(margins, caps)
    assert_allclose(-loss.value(s), expected, atol=1e-13)
    v = loss.slope(s)
    plan = d.reshape(len(split.pos), len(split.neg))
    assert_allclose(-v[split.pos], plan.sum(axis=1), atol=1e-13)
    assert_allclose(v[split.neg], plan.sum(axis=0), atol=1e-13)
    assert loss.conjugate(v) == 0.0
    other = rng.normal(size=n)
    assert loss.value(other) >= v @ other - 1e-12
    rho, above = loss.rho(s)
    weight = np.outer(split.p, split.q).ravel()
    assert weight[margins < rho].sum() <= epsilon + 1e-9
    assert_allclose(above, weight[margins >= rho].sum(), atol=1e-12)
    higher = margins[margins > rho]
    if len(higher):
        assert weight[margins < higher.min()].sum() > epsilon - 1e-9


def test_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(0)
    s, positive, weight = rng.normal(size=20), np.arange(20) < 8, rng.integers(0, 4, 20)
    one = PairTailLoss(Split.of(positive, weight.astype(float)), 0.3)
    other = PairTailLoss(Split.of(np.repeat(positive, weight)), 0.3)
    assert_allclose(one.value(s), other.value(np.repeat(s, weight)), rtol=1e-13)
    assert_allclose(one.rho(s), other.rho(np.repeat(s, weight)), rtol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_marginals_are_allowed_where_a_plan_has_them(seed: int) -> None:
    """The condition on marginals of pairs with caps, against the transport problem."""
    split, rng = some_split(seed, 9, bool(seed % 2))
    epsilon = rng.uniform(0.2, 0.9)
    loss = PairTailLoss(split, epsilon)
    m, n = len(split.pos), len(split.neg)
    mix = rng.uniform()
    u = mix * rng.dirichlet(np.ones(m)) + (1 - mix) * split.p
    v = mix * rng.dirichlet(np.ones(n)) + (1 - mix) * split.q
    sums = np.zeros((m + n, m * n))
    for i in range(m):
        sums[i, i * n : (i + 1) * n] = 1
    for j in range(n):
        sums[m + j, j::n] = 1
    caps = np.outer(split.p, split.q).ravel() / epsilon
    found = linprog(np.zeros(m * n), None, None, sums, np.r_[u, v], [(0, cap) for cap in caps])
    dual = np.zeros(split.n_rows)
    dual[split.pos], dual[split.neg] = -u, v
    assert np.isfinite(loss.conjugate(dual)) == (found.status == 0)


def test_what_is_no_distribution_has_no_conjugate() -> None:
    split = Split.of(np.arange(6) < 3)
    for loss in (PairTailLoss(split, 0.5), ClassTailLoss(split, 0.5, 0.5)):
        v = loss.slope(np.arange(6.0))
        assert loss.conjugate(v) == 0.0
        for wrong in (0.5 * v, -v, v + np.array([-0.9, 0.9, 0, 0, 0, 0])):
            assert loss.conjugate(wrong) == np.inf


def test_tails_of_classes_are_allowed_within_their_caps_alone() -> None:
    split = Split.of(np.arange(7) < 3, np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]))
    loss = ClassTailLoss(split, 0.5, 0.5)  # caps of two thirds
    assert loss.conjugate(np.array([-0.6, -0.4, 0.0, 0.4, 0.6, 0.0, 0.0])) == 0.0
    for wrong in (
        [-0.7, -0.3, 0.0, 0.4, 0.6, 0.0, 0.0],  # above a cap
        [-0.6, -0.4, 0.0, 0.3, 0.7, 0.0, 0.0],
        [-0.6, -0.5, 0.1, 0.4, 0.6, 0.0, 0.0],  # below zero
        [-0.6, -0.4, 0.0, 0.6, 0.6, -0.2, 0.0],
        [-0.6, -0.4, 0.0, 0.4, 0.6, 0.0, 0.1],  # on a row that is absent
        [-0.6, -0.3, 0.0, 0.4, 0.6, 0.0, 0.0],  # of less than all
        [-0.6, -0.4, 0.0, 0.3, 0.6, 0.0, 0.0],
    ):
        assert loss.conjugate(np.array(wrong)) == np.inf


@examples(60)
@given(
    st.integers(0, 10**6),
    st.integers(2, 20),
    st.booleans(),
    st.floats(0.1, 0.9),
    st.sampled_from([1e-3, 0.1, 2.0]),
)
def test_the_rounded_off_tail(
    seed: int, n: int, weighted: bool, epsilon: float, width: float
) -> None:
    split, rng = some_split(seed, n, weighted)
    loss, s = PairTailLoss(split, epsilon), rng.normal(size=n)
    tail = loss.smoothed(s, width)
    exact = -loss.value(s)
    assert tail.value <= exact + 1e-12
    margins = s[split.pos][:, np.newaxis] - s[split.neg]
    quantile = loss.scan(s).quantile(epsilon)
    near = np.outer(split.p, split.q)[np.abs(quantile - margins) <= width / 2].sum()
    assert exact - tail.value <= near * width / (8 * epsilon) + 1e-12
    assert loss.conjugate(tail.v) == 0.0  # its dual is one of the tail's own
    # The best r: what pairs below it by so much, or on the bend, weigh is epsilon.
    bend = np.clip((tail.level + width / 2 - margins) / width, 0.0, 1.0)
    assert_allclose((np.outer(split.p, split.q) * bend).sum(), epsilon, rtol=1e-9)
    for guess in (-30.0, tail.level, 30.0):
        assert_allclose(loss.smoothed(s, width, guess).value, tail.value, atol=1e-12)
    by, h = rng.normal(size=n), 1e-6
    up, down = (loss.smoothed(s + sign * h * by, width).value for sign in (1, -1))
    assert_allclose((up - down) / (2 * h), -tail.v @ by, atol=1e-3 if width < 0.01 else 1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_tails_of_two_classes(seed: int, weighted: bool) -> None:
    split, rng = some_split(seed, 15, weighted)
    loss, s = ClassTailLoss(split, 0.6, 0.3), rng.normal(size=15)
    pos, neg = s[split.pos], -s[split.neg]
    expected = tail_mean(pos, split.p / 0.6)[0] + tail_mean(neg, split.q / 0.3)[0]
    assert_allclose(-loss.value(s), expected, rtol=1e-12)
    v = loss.slope(s)
    assert_allclose(v @ s, loss.value(s), rtol=1e-12)
    assert loss.conjugate(v) == 0.0
    low_level, high_level = loss.levels(s)
    assert split.p[pos < low_level].sum() <= 0.6 + 1e-9
    assert split.q[neg < high_level].sum() <= 0.3 + 1e-9
    # The derivative in log epsilon_pos, the product of the two shares kept.
    h = 1e-7
    up, down = (
        -ClassTailLoss(split, 0.6 * np.exp(k * h), 0.3 * np.exp(-k * h)).value(s) for k in (1, -1)
    )
    above, below = loss.shortfalls(s)
    assert_allclose(above - below, (up - down) / (2 * h), atol=1e-6)


def test_pairs_at_the_quantile_may_vanish_beside_those_below() -> None:
    # The best pair, and the only one at the quantile of all, weighs less than any float.
    split = Split.of(np.array([True, True, False, False]), np.array([1.0, 1e-200, 1.0, 1e-200]))
    s = np.array([0.0, 3.0, 0.0, -3.0])
    assert_allclose(PairTailLoss(split, 1.0).value(s), 0.0, atol=1e-15)
    v = PairTailLoss(split, 1.0).slope(s)
    assert_allclose(v, [-1.0, 0.0, 1.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("seed", [9, 61, 69])
def test_the_mean_of_all_pairs_whose_lightest_vanish(seed: int) -> None:
    """The pairs at the quantile weigh less than what rounding leaves of the sum of all."""
    rng = np.random.default_rng(seed)
    split = Split.of(np.arange(200) % 3 == 0, 10.0 ** rng.uniform(-15.0, 0.0, 200))
    loss, s = PairTailLoss(split, 1.0), rng.normal(size=200)
    scan = loss.scan(s)
    assert scan.marginals(scan.quantile(1.0))[1].sum() == 0.0
    assert_allclose(loss.slope(s)[split.pos], -split.p, atol=1e-13)
    assert_allclose(loss.slope(s)[split.neg], split.q, atol=1e-13)
