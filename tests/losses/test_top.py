"""TopLoss: against the double loop, its subgradients and its conjugate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.examples import examples
from toprank.inputs.class_split import Split
from toprank.losses import TopLoss
from toprank.surrogates import SURROGATES
from truth import reference as truth

Array = NDArray[np.float64]

losses = pytest.mark.parametrize("name", SURROGATES)
few_examples = examples(60)


@st.composite
def splits_and_scores(draw: st.DrawFn) -> tuple[Split, Array, Array]:
    """Weighted classes, some rows of weight zero, and two score vectors with ties."""
    n = draw(st.integers(2, 12))
    positive = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n, max_size=n))])
    scores: st.SearchStrategy[Any] = st.lists(
        st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0]), min_size=n + 2, max_size=n + 2
    )
    rest = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n, max_size=n))
    weight = np.array([1.0, 0.5, *rest])
    weighted = draw(st.booleans())
    split = Split.of(positive, weight if weighted else None)
    return split, np.array(draw(scores)), np.array(draw(scores))


def some_split(weighted: bool = True) -> tuple[Split, np.random.Generator]:
    rng = np.random.default_rng(5)
    positive = rng.permutation(np.arange(14) < 5)
    return Split.of(positive, rng.uniform(0.5, 2.0, 14) if weighted else None), rng


def dual_point(loss: TopLoss, rng: np.random.Generator) -> Array:
    """A dual vector inside the domain."""
    m, n = len(loss.split.pos), len(loss.split.neg)
    steepest = min(loss.surrogate.steepest, 5.0)
    a = loss.split.p * steepest * rng.uniform(0.0, 1.0, m)
    return loss.join(a, rng.exponential(size=n))


@losses
@few_examples
@given(splits_and_scores())
def test_value_is_that_of_the_double_loop_and_of_infinite_push(
    name: str, drawn: tuple[Split, Array, Array]
) -> None:
    split, s, _ = drawn
    loss = TopLoss(split, SURROGATES[name])
    value = loss.value(s)
    assert value == pytest.approx(truth.positive_against_worst(s, split, name), rel=1e-12)
    assert value == pytest.approx(truth.infinite_push(s, split, name), rel=1e-12)
    rise, _ = loss.rise(s[split.pos], s[split.neg], -s[split.neg].max())
    assert loss.at_zero + rise == pytest.approx(value, rel=1e-12)
    assert loss.at_zero == pytest.approx(truth.VALUE[name](0.0), rel=1e-15)


@losses
@few_examples
@given(splits_and_scores())
def test_slope_is_a_subgradient(name: str, drawn: tuple[Split, Array, Array]) -> None:
    split, s, other = drawn
    loss = TopLoss(split, SURROGATES[name])
    value, slope = loss.value(s), loss.slope(s)
    # F(t) >= F(s) + v.(t - s) everywhere; moving every score alike changes nothing.
    assert loss.value(other) >= value + slope @ (other - s) - 1e-12 * (1 + value)
    assert slope.sum() == pytest.approx(0.0, abs=1e-12 * np.abs(slope).sum())


@losses
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_slope_is_the_gradient_where_there_is_one(name: str, weighted: bool) -> None:
    split, rng = some_split(weighted)
    loss = TopLoss(split, SURROGATES[name])
    s, step = rng.standard_normal(14), 1e-6
    slope = loss.slope(s)
    for row, ahead in enumerate(step * np.eye(14)):
        up, down = (loss.value(s + by) for by in (ahead, -ahead))
        # Central differences: rounding of 1e-16 over the step.
        assert slope[row] == pytest.approx((up - down) / (2 * step), abs=1e-8)


@losses
@few_examples
@given(splits_and_scores())
def test_equality_of_fenchel_and_young_at_the_slope(
    name: str, drawn: tuple[Split, Array, Array]
) -> None:
    split, s, other = drawn
    loss = TopLoss(split, SURROGATES[name])
    value, slope = loss.value(s), loss.slope(s)
    conjugate = loss.conjugate(slope)
    assert value + conjugate == pytest.approx(slope @ s, rel=1e-11, abs=1e-12)
    # And everywhere else the inequality.
    assert loss.value(other) + conjugate >= slope @ other - 1e-11 * (1 + value)


@losses
def test_conjugate_is_the_sum_of_the_positives_conjugates(name: str) -> None:
    split, rng = some_split()
    loss = TopLoss(split, SURROGATES[name])
    for _ in range(10):
        v = dual_point(loss, rng)
        a, delta = loss.parts(v)
        assert a.sum() == pytest.approx(delta.sum(), rel=1e-12)
        truth_value = sum(
            p * truth.CONJUGATE[name](a_i / p) for a_i, p in zip(a, split.p, strict=True)
        )
        assert loss.conjugate(v) == pytest.approx(truth_value, rel=1e-11)
        for _ in range(20):
            s = 2.0 * rng.standard_normal(14)
            assert loss.value(s) + loss.conjugate(v) >= v @ s - 1e-11
    assert loss.conjugate(np.zeros(14)) == 0.0


@losses
def test_conjugate_is_infinite_outside_its_domain(name: str) -> None:
    split = Split.of(np.arange(6) < 2, np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]))
    loss = TopLoss(split, SURROGATES[name])
    inside = np.array([-0.2, -0.2, 0.1, 0.3, 0.0, 0.0])
    assert np.isfinite(loss.conjugate(inside))
    for outside in (
        [-0.2, -0.2, 0.5, -0.1, 0.0, 0.0],  # a negative's dual below zero
        [0.1, -0.2, 0.1, 0.0, 0.0, 0.0],  # a positive's
        [-0.2, -0.2, 0.1, 0.3 + 1e-9, 0.0, 0.0],  # sums apart
        [-0.2, -0.2, 0.1, 0.3, 0.0, 0.1],  # on a row of neither class
    ):
        assert loss.conjugate(np.array(outside)) == np.inf
    steep = np.array([-0.51, -0.2, 0.71, 0.0, 0.0, 0.0])  # steeper than 1 at weight 1/2
    assert np.isinf(loss.conjugate(steep)) == (loss.surrogate.steepest == 1.0)


@losses
def test_join_scales_the_negatives_to_the_sum_of_the_positives(name: str) -> None:
    split = Split.of(np.array([False, True, True, False, False]))
    loss = TopLoss(split, SURROGATES[name])
    v = loss.join(np.array([0.1, 0.3]), np.array([1.0, 0.0, 3.0]))
    np.testing.assert_allclose(v, [0.1, -0.1, -0.3, 0.0, 0.3], rtol=1e-15)
    a, delta = loss.parts(v)
    assert a.tolist() == [0.1, 0.3]
    assert delta.tolist() == v[[0, 3, 4]].tolist()
    assert not loss.join(np.zeros(2), np.zeros(3)).any()
