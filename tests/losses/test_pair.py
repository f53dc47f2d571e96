"""PairLoss: against the double loop, its slopes, and its conjugate against a transport problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from support.examples import examples
from toprank.inputs.class_split import Split
from toprank.losses import PairLoss
from toprank.surrogates import SURROGATES
from truth.plans import undelivered
from truth.reference import VALUE

Array = NDArray[np.float64]

both = pytest.mark.parametrize("name", ["hinge", "squared_hinge"])


def some_split(seed: int, n: int = 12) -> tuple[Split, np.random.Generator]:
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n) < n // 3)
    weight = rng.uniform(0.5, 2, n) * (rng.random(n) > 0.1) + 1e-3 if seed % 2 else None
    return Split.of(positive, weight), rng


def double_loop(s: Array, split: Split, name: str) -> float:
    return sum(
        p * q * VALUE[name](s[j] - s[i])
        for i, p in zip(split.pos, split.p, strict=True)
        for j, q in zip(split.neg, split.q, strict=True)
    )


@both
@pytest.mark.parametrize("seed", range(10))
def test_value_and_slope_against_the_double_loop(name: str, seed: int) -> None:
    split, rng = some_split(seed)
    loss = PairLoss(split, SURROGATES[name])
    s, other = 2 * rng.normal(size=(2, split.n_rows))
    assert_allclose(loss.value(s), double_loop(s, split, name), rtol=1e-13)
    assert loss.value(other) >= loss.value(s) + loss.slope(s) @ (other - s) - 1e-12
    assert loss.at_zero == 1.0
    assert_allclose(loss.value(np.zeros(split.n_rows)), 1.0, rtol=1e-14)


@both
@pytest.mark.parametrize("size", [1e-200, 1e-12, 0.1, 0.6, 3.0])
def test_the_rise_is_exact_however_small_the_scores_are(name: str, size: float) -> None:
    split, rng = some_split(1)
    s = size * rng.normal(size=split.n_rows)
    z = (s[split.neg] - s[split.pos][:, np.newaxis]).ravel()
    weight = np.outer(split.p, split.q).ravel()
    inside = z if name == "hinge" else 2 * z + z**2
    truth = weight @ np.where(z > -1, inside, -1.0)
    assert_allclose(PairLoss(split, SURROGATES[name]).rise(s), truth, rtol=1e-11)


@examples(150)
@given(st.integers(0, 10**6), st.floats(0.0, 1.5))
def test_the_conjugate_is_finite_just_where_pairs_have_such_duals(seed: int, strain: float) -> None:
    split, rng = some_split(seed, 4 + seed % 9)
    m, n = len(split.pos), len(split.neg)
    duals = np.outer(split.p, split.q) * (rng.random((m, n)) ** rng.choice([0.1, 1.0, 10.0]))
    v = np.zeros(split.n_rows)
    v[split.pos], v[split.neg] = -duals.sum(axis=1), duals.sum(axis=0)
    # Shift load between rows of a class: too far, and no duals have these sums.
    order = rng.permutation(split.pos)
    moved = strain * min(-v[order[0]], -v[order[-1]])
    v[order[0]] += moved
    v[order[-1]] -= moved
    if v[order[0]] > 0:
        return
    value = PairLoss(split, SURROGATES["hinge"]).conjugate(v)
    left = undelivered(split, v)
    if strain == 0.0 or left > 1e-5:
        assert np.isfinite(value) == (strain == 0.0)
    if np.isfinite(value):
        assert left < 1e-6
        assert_allclose(value, -duals.sum(), rtol=1e-12)


def test_fenchel_holds_with_equality_at_the_duals_of_the_scores() -> None:
    split, rng = some_split(4)
    loss = PairLoss(split, SURROGATES["hinge"])
    s = rng.normal(size=split.n_rows)
    v = loss.slope(s)
    assert_allclose(loss.conjugate(v), v @ s - loss.value(s), atol=1e-13)


def test_vectors_outside_the_domain_have_an_infinite_conjugate() -> None:
    split, rng = some_split(4)
    loss = PairLoss(split, SURROGATES["hinge"])
    v = loss.slope(rng.normal(size=split.n_rows))
    for wrong in (1.5 * loss.slope(-10.0 * v), -v, v + 1e-3):
        assert loss.conjugate(wrong) == np.inf
    outside = Split.of(np.array([True, False, False]), np.array([1.0, 1.0, 0.0]))
    assert PairLoss(outside, SURROGATES["hinge"]).conjugate(np.array([-0.1, 0.05, 0.05])) == np.inf


def test_what_is_not_known_is_not_made_up() -> None:
    split, _ = some_split(0)
    squared = PairLoss(split, SURROGATES["squared_hinge"])
    assert not squared.has_conjugate
    with pytest.raises(NotImplementedError, match="slopes only"):
        squared.conjugate(np.zeros(split.n_rows))
    with pytest.raises(TypeError, match="not logistic"):
        PairLoss(split, SURROGATES["logistic"])
