"""ThresholdLoss: against a search over b, its subgradients and its conjugate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from support.examples import examples
from toprank.inputs.class_split import Split
from toprank.losses import ThresholdLoss
from toprank.surrogates import SURROGATES, PowerExponential, Rectified, Steepened, Surrogate
from truth import reference as truth

Array = NDArray[np.float64]

NEGATIVES: dict[str, tuple[str, Surrogate]] = {
    **{f"rectified {name}": (name, Rectified(SURROGATES[name])) for name in truth.SMOOTH},
    **{
        f"steepened {name} {p:g}": (name, Steepened(SURROGATES[name], p))
        for name in truth.SMOOTH
        for p in (1.0, 4.0, 16.0)
    },
    "power 4": ("exponential", PowerExponential(4.0)),
}
pairs = pytest.mark.parametrize("pair", NEGATIVES.values(), ids=NEGATIVES.keys())
few_examples = examples(40)


def some_split() -> tuple[Split, np.random.Generator]:
    rng = np.random.default_rng(0)
    positive = np.arange(30) % 3 == 0
    return Split.of(positive, rng.choice([0.0, 1.0, 2.5], 30)), rng


def make(pair: tuple[str, Surrogate], split: Split) -> ThresholdLoss:
    return ThresholdLoss(split, SURROGATES[pair[0]], pair[1])


def at_bias(loss: ThresholdLoss, s: Array, b: float) -> float:
    """The loss at b, row by row."""
    split = loss.split
    rows: list[tuple[float, Surrogate, float]] = [
        *((p, loss.surrogate, -(s[i] + b)) for i, p in zip(split.pos, split.p, strict=True)),
        *((q, loss.negatives, s[j] + b) for j, q in zip(split.neg, split.q, strict=True)),
    ]
    return sum(weight * float(side.value(np.array([z]))[0]) for weight, side, z in rows)


def brute_force(loss: ThresholdLoss, s: Array) -> float:
    """The least loss over b, by golden sections."""
    high = min(loss.highest_bias(s[loss.split.neg]), 20.0)
    found = minimize_scalar(
        lambda b: at_bias(loss, s, b),
        bounds=(-20.0, high),
        method="bounded",
        options={"xatol": 1e-11},
    )
    return min(float(found.fun), at_bias(loss, s, high))


@pairs
@pytest.mark.parametrize("grid", [None, 0.5])
def test_value_is_the_least_over_b(pair: Any, grid: float | None) -> None:
    split, rng = some_split()
    loss = make(pair, split)
    for _ in range(5):
        s = 2.0 * rng.standard_normal(30)
        s = s if grid is None else np.round(s / grid) * grid  # with ties
        assert loss.value(s) == pytest.approx(brute_force(loss, s), rel=1e-9)


@pairs
def test_a_shift_of_all_scores_shifts_b_alone(pair: Any) -> None:
    split, rng = some_split()
    loss, s = make(pair, split), rng.standard_normal(30)
    for shift in (-7.0, 0.5, 30.0):
        assert loss.value(s + shift) == pytest.approx(loss.value(s), rel=1e-11)
        np.testing.assert_allclose(loss.slope(s + shift), loss.slope(s), atol=1e-8)


@pairs
def test_at_zero_is_the_value_of_tied_scores(pair: Any) -> None:
    split, _ = some_split()
    loss = make(pair, split)
    assert loss.value(np.zeros(30)) == pytest.approx(loss.at_zero, rel=1e-14)
    rise, error = loss.rise(np.zeros(len(split.pos)), np.zeros(len(split.neg)), 0.0)
    assert abs(rise) <= error + 1e-300


scores = st.lists(st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0]), min_size=8, max_size=8)


@pairs
@few_examples
@given(first=scores, second=scores, positive=st.lists(st.booleans(), min_size=6, max_size=6))
def test_the_slope_is_a_subgradient(pair: Any, first: Any, second: Any, positive: Any) -> None:
    loss = make(pair, Split.of(np.array([True, False, *positive])))
    s, t = np.array(first), np.array(second)
    v = loss.slope(s)
    assert loss.value(t) >= loss.value(s) + v @ (t - s) - 1e-9 * max(loss.value(t), 1.0)


@pairs
def test_equality_of_fenchel_and_young_at_the_slope(pair: Any) -> None:
    split, rng = some_split()
    loss = make(pair, split)
    for _ in range(5):
        s = rng.standard_normal(30)
        v = loss.slope(s)
        a, delta = loss.parts(v)
        assert a.sum() == pytest.approx(delta.sum(), rel=1e-12)
        assert loss.value(s) + loss.conjugate(v) == pytest.approx(v @ s, rel=1e-9, abs=1e-9)
        for other in 2.0 * rng.standard_normal((5, 30)):
            assert loss.value(other) + loss.conjugate(v) >= v @ other - 1e-9


@pairs
def test_conjugate_outside_its_domain(pair: Any) -> None:
    split, rng = some_split()
    loss = make(pair, split)
    v = loss.slope(rng.standard_normal(30))
    unequal, negative, foreign = v.copy(), v.copy(), v.copy()
    unequal[split.pos[0]] -= 0.01
    negative[split.neg[:2]] += [-2.0, 2.0]
    absent = np.setdiff1d(np.arange(30), np.concatenate([split.pos, split.neg]))
    foreign[absent[0]] = 0.1
    for wrong in (unequal, negative, foreign):
        assert np.isposinf(loss.conjugate(wrong))
    assert np.isfinite(loss.conjugate(v))


def test_join_makes_the_sums_agree_by_scaling_down() -> None:
    split, rng = some_split()
    loss = make(NEGATIVES["steepened logistic 4"], split)
    a, delta = rng.random(len(split.pos)), rng.random(len(split.neg))
    again = loss.parts(loss.join(a, delta))
    assert again[0].sum() == pytest.approx(again[1].sum(), rel=1e-15)
    assert (again[0] <= a).all()
    assert (again[1] <= delta).all()
    assert not loss.join(np.zeros(len(split.pos)), delta).any()


@pairs
@pytest.mark.parametrize("size", [1e-9, 1.0, 30.0])
@pytest.mark.parametrize("start", [-50.0, 0.0, 50.0])
def test_the_best_b_does_not_depend_on_the_guess(pair: Any, size: float, start: float) -> None:
    split, rng = some_split()
    loss, s = make(pair, split), size * rng.standard_normal(30)
    s_pos, s_neg = s[split.pos], s[split.neg]
    best = loss.best_bias(s_pos, s_neg, 0.0)
    b = loss.best_bias(s_pos, s_neg, start)
    assert np.isfinite(b)
    assert loss.level(s_pos, s_neg, b) == pytest.approx(loss.level(s_pos, s_neg, best), rel=1e-10)


@pytest.mark.parametrize("p", [4.0, 64.0])
@pytest.mark.parametrize("shift", [-2000.0, 1000.0, 1e6])
def test_scores_whose_exponentials_overflow_at_the_guess(p: float, shift: float) -> None:
    split, rng = some_split()
    loss, s = ThresholdLoss(split, SURROGATES["exponential"], PowerExponential(p)), np.zeros(30)
    s[split.pos] = rng.random(len(split.pos))
    b = loss.best_bias(s[split.pos] + shift, s[split.neg] + shift, 0.0)
    assert b + shift == pytest.approx(
        loss.best_bias(s[split.pos], s[split.neg], 0.0), abs=1e-8 * max(1.0, abs(shift) / 1e3)
    )


def test_a_loss_that_overflows_at_every_b_is_infinite() -> None:
    split, _ = some_split()
    loss = ThresholdLoss(split, SURROGATES["exponential"], PowerExponential(4.0))
    s = np.zeros(30)
    s[split.pos], s[split.neg] = -1e4, 1e4
    assert np.isposinf(loss.value(s))


def test_separated_scores_have_no_loss() -> None:
    split, _ = some_split()
    loss = make(NEGATIVES["steepened squared_hinge 4"], split)
    s = np.zeros(30)
    s[split.pos], s[split.neg] = 7.0, -7.0
    assert loss.value(s) == 0.0
    assert not loss.slope(s).any()


#: Those without a wall, and not so steep that differences of them have no digits left.
BELOW = {name: pair for name, pair in NEGATIVES.items() if name.endswith(" 4")}


@pytest.mark.parametrize("pair", BELOW.values(), ids=BELOW.keys())
@pytest.mark.parametrize("b", [-0.7, 0.4])
def test_slopes_and_curvatures_at_a_threshold_are_derivatives(pair: Any, b: float) -> None:
    split, rng = some_split()
    loss = make(pair, split)
    s = rng.standard_normal(30)
    own, step = s[loss.order], 1e-6
    assert loss.value_at(own, b) == pytest.approx(at_bias(loss, s, b), rel=1e-13)
    for row, by in enumerate(step * np.eye(len(own))):
        up, down = loss.value_at(own + by, b), loss.value_at(own - by, b)
        assert loss.slope_at(own, b)[row] == pytest.approx((up - down) / (2 * step), abs=1e-8)
        bend = (loss.slope_at(own + by, b) - loss.slope_at(own - by, b))[row] / (2 * step)
        assert loss.curvature_at(own, b)[row] == pytest.approx(bend, rel=1e-6, abs=1e-8)
    everywhere = loss.curvature(s[split.pos], s[split.neg], b)
    np.testing.assert_array_equal(everywhere[loss.order], loss.curvature_at(own, b))
    assert np.count_nonzero(everywhere) <= len(own)


@pytest.mark.parametrize("names", [("logistic", "logistic"), ("logistic", "exponential")])
def test_duals_are_cut_where_slopes_end(names: tuple[str, str]) -> None:
    split, rng = some_split()
    loss = ThresholdLoss(split, *(SURROGATES[name] for name in names))
    v = np.zeros(30)
    v[split.pos] = -split.p * rng.uniform(0.0, 3.0, len(split.pos))
    v[split.neg] = split.q * rng.uniform(0.0, 3.0, len(split.neg))
    a, delta = loss.parts(v)
    a = np.minimum(a, split.p)  # the logistic loss is never steeper than one
    delta = np.minimum(delta, split.q) if names[1] == "logistic" else delta
    least = min(a.sum(), delta.sum())
    near = loss.parts(loss.dual_near(v))
    np.testing.assert_allclose(near[0], a * least / a.sum(), rtol=1e-13)
    np.testing.assert_allclose(near[1], delta * least / delta.sum(), rtol=1e-13)
    assert np.isfinite(loss.conjugate(loss.dual_near(v)))


@pytest.mark.parametrize("far", [1.0, 1e8])
@pytest.mark.parametrize("b", [0.0, -3e8])
def test_the_error_of_a_rise_covers_terms_and_scores(far: float, b: float) -> None:
    """Right rows, far out, lose nothing: their terms are small beside their scores."""
    split, rng = some_split()
    hinge, logistic = SURROGATES["squared_hinge"], SURROGATES["logistic"]
    for loss in (ThresholdLoss(split, hinge, hinge), ThresholdLoss(split, hinge, logistic)):
        for side in (split.pos, split.neg):
            s = rng.uniform(0.5, 1.0, 30)
            s[side] *= far
            s[split.neg] *= -1.0
            s_pos, s_neg = s[split.pos], s[split.neg]
            value, error = loss.rise(s_pos, s_neg, b)
            start = np.array([loss.zero_bias])
            terms = np.concatenate(
                [
                    split.p * (loss.surrogate.value(-(s_pos + b)) - loss.surrogate.value(-start)),
                    split.q * (loss.negatives.value(s_neg + b) - loss.negatives.value(start)),
                ]
            )
            assert value == pytest.approx(terms.sum(), rel=1e-12)
            scores = abs(b) + split.p @ np.abs(s_pos) + split.q @ np.abs(s_neg)
            least = np.finfo(float).eps * (np.abs(terms).sum() + scores)
            assert least < error < 1000.0 * least


def test_the_rise_of_almost_nothing_has_the_rounding_of_where_it_starts() -> None:
    """Where the best b at zero is not zero, it is known to rounding only."""
    split, _ = some_split()
    logistic, steep = SURROGATES["logistic"], SURROGATES["squared_hinge"]
    nothing = np.zeros(len(split.pos)), np.zeros(len(split.neg))
    for shares in ((1.0, 1.0), (1e-3, 1e-3), (1e3, 1e3)):
        weighed = split.weighing(*shares)
        loss = ThresholdLoss(weighed, logistic, steep, shares)
        same = ThresholdLoss(weighed, logistic, logistic, shares)
        unit = np.finfo(float).eps / 2.0
        b = loss.zero_bias
        rise, error = loss.rise(*nothing, b)
        assert abs(rise) <= error
        assert 2.0 * unit * loss.at_zero < error < 20.0 * unit * (loss.at_zero + abs(b))
        assert same.rise(*nothing, 0.0) == (0.0, 0.0)


def test_what_is_smooth_below_a_ceiling() -> None:
    split, _ = some_split()
    hinge, logistic = SURROGATES["hinge"], SURROGATES["logistic"]
    for positives, negatives, smooth in (
        (logistic, Rectified(logistic), True),
        (hinge, Rectified(logistic), False),
        (logistic, Rectified(hinge), False),
        (hinge, logistic, False),
        (logistic, hinge, False),
    ):
        loss = ThresholdLoss(split, positives, negatives)
        assert loss.smooth_below is smooth
        assert not loss.smooth
        assert not loss.hinge
