"""RowLoss against sums of three lines."""

from __future__ import annotations

import numpy as np
import pytest

from toprank.inputs.class_split import Split
from toprank.losses import RowLoss, ThresholdLoss
from toprank.surrogates import SURROGATES, PowerExponential

WEIGHT = np.array([0.5, 2.0, 0.0, 1.0, 0.25])
SCORES = np.array([0.3, -1.0, -2.0, 1.5, 1.0])


def test_value_and_slope() -> None:
    loss = RowLoss(WEIGHT, SURROGATES["hinge"])
    terms = [c * max(1.0 - s, 0.0) for c, s in zip(WEIGHT, SCORES, strict=True)]
    assert loss.value(SCORES) == pytest.approx(sum(terms))
    assert loss.at_zero == loss.value(np.zeros(5)) == pytest.approx(3.75)
    assert loss.slope(SCORES).tolist() == [-0.5, -2.0, 0.0, 0.0, -0.25]


def test_conjugate_at_a_slope_and_outside_its_domain() -> None:
    loss = RowLoss(WEIGHT, SURROGATES["hinge"])
    v = loss.slope(SCORES)
    assert loss.value(SCORES) + loss.conjugate(v) == pytest.approx(v @ SCORES)
    for outside in (1e-3, -2.01):
        assert loss.conjugate(np.array([0.0, outside, 0.0, 0.0, 0.0])) == np.inf
    assert loss.conjugate(np.zeros(5)) == -loss.infimum == 0.0


def test_fenchels_inequality_for_any_dual_vector() -> None:
    loss, rng = RowLoss(WEIGHT, SURROGATES["hinge"]), np.random.default_rng(0)
    for _ in range(50):
        s, v = rng.normal(0, 2, 5), -WEIGHT * rng.uniform(0, 1, 5)
        assert loss.value(s) + loss.conjugate(v) >= v @ s - 1e-12


def test_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        RowLoss(-WEIGHT, SURROGATES["hinge"])


@pytest.mark.parametrize("name", SURROGATES)
@pytest.mark.parametrize("signed", [False, True])
def test_any_surrogate_against_a_loop(name: str, signed: bool) -> None:
    surrogate, rng = SURROGATES[name], np.random.default_rng(1)
    sign = rng.choice([-1.0, 1.0], 5) if signed else None
    loss, t = RowLoss(WEIGHT, surrogate, sign), np.ones(5) if sign is None else sign
    assert loss.smooth == (name != "hinge")
    assert loss.hinge == (name == "hinge")
    for _ in range(20):
        s, b = rng.normal(0, 2, 5), float(rng.normal())
        terms = [float(WEIGHT[r] * surrogate.value(np.array([-t[r] * s[r]]))[0]) for r in range(5)]
        assert loss.value(s) == pytest.approx(sum(terms))
        v = loss.slope(s)
        assert loss.value(s) + loss.conjugate(v) == pytest.approx(v @ s)
        assert loss.value_at(s, b) == pytest.approx(loss.value(s + b))
        assert loss.slope_at(s, b) == pytest.approx(loss.slope(s + b))
        curvature = WEIGHT * surrogate.curvature(-t * (s + b))
        assert loss.curvature_at(s, b) == pytest.approx(curvature, rel=1e-13)
        rise, error = loss.rise_at(s, b)
        assert rise == pytest.approx(loss.value(s + b) - loss.at_zero)
        assert 0 < error < 1e-10
        worse = loss.worse(s, np.full(5, 0.1))
        assert loss.value(worse) >= loss.value(s)
        assert np.abs(worse - s) == pytest.approx(0.1)
        inside = v * rng.uniform(0, 1, 5)
        assert loss.value(s) + loss.conjugate(inside) >= inside @ s - 1e-12


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("far", [0.1, 1e8])
@pytest.mark.parametrize("b", [0.0, 1e10])
def test_the_error_of_a_rise_covers_terms_and_scores(scale: float, far: float, b: float) -> None:
    """Right rows, far out, lose nothing: their terms are small beside their scores."""
    loss = RowLoss(scale * WEIGHT, SURROGATES["squared_hinge"])
    s = far * np.abs(SCORES)
    rise, error = loss.rise_at(s, b)
    terms = scale * WEIGHT * (np.maximum(1.0 - s - b, 0.0) ** 2 - 1.0)
    assert rise == pytest.approx(terms.sum())
    scores = scale * WEIGHT @ (s + b)
    least = np.finfo(float).eps * (np.abs(terms).sum() + scores)
    assert least < error < 1000.0 * least


@pytest.mark.parametrize("name", SURROGATES)
@pytest.mark.parametrize("signed", [False, True])
def test_duals_are_cut_where_slopes_end(name: str, signed: bool) -> None:
    t = np.array([1.0, -1.0, 1.0, -1.0, 1.0]) if signed else np.ones(5)
    loss = RowLoss(WEIGHT, SURROGATES[name], t if signed else None)
    v = -t * WEIGHT * np.array([0.5, 3.0, 1.0, 1.5, 0.25])
    steep = 1.0 if name in ("logistic", "hinge") else np.inf
    expected = -t * WEIGHT * np.minimum([0.5, 3.0, 1.0, 1.5, 0.25], steep)
    assert loss.dual_near(v) == pytest.approx(expected)
    assert np.isfinite(loss.conjugate(loss.dual_near(v)))


def test_without_a_threshold_of_its_own_the_bias_is_zero() -> None:
    loss = RowLoss(WEIGHT, SURROGATES["logistic"])
    assert loss.zero_bias == 0.0
    assert loss.best_bias_at(SCORES) == loss.best_bias_at(SCORES, 3.0) == 0.0
    assert loss.threshold(SCORES) == 0.0


def test_parts_add_up() -> None:
    sign = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    loss = RowLoss(WEIGHT, SURROGATES["logistic"], sign)
    parts = [(loss.part(*ends), slice(*ends)) for ends in ((0, 2), (2, 3), (3, 5))]
    assert sum(part.value_at(SCORES[rows]) for part, rows in parts) == pytest.approx(
        loss.value(SCORES)
    )
    slopes = np.concatenate([part.slope_at(SCORES[rows]) for part, rows in parts])
    assert slopes.tolist() == loss.slope(SCORES).tolist()


def test_signs_are_checked() -> None:
    for sign in (np.ones(4), np.full(5, 0.5)):
        with pytest.raises(ValueError, match="1 or -1, one for every weight"):
            RowLoss(WEIGHT, SURROGATES["hinge"], sign)


def test_a_row_without_weight_has_no_dual() -> None:
    loss = RowLoss(WEIGHT, SURROGATES["exponential"])
    v = np.zeros(5)
    v[2] = -1e-3
    assert loss.conjugate(v) == np.inf


def test_at_zero_a_threshold_loss_takes_the_best_bias() -> None:
    split = Split.of(np.arange(9) < 3)
    steep = PowerExponential(3.0)  # its slope at zero is that of the exponential
    same = ThresholdLoss(split, SURROGATES["exponential"], steep)
    assert same.zero_bias == 0.0
    assert same.at_zero == pytest.approx(1.0 + 1.0 / 3.0)
    other = ThresholdLoss(split, SURROGATES["squared_hinge"], SURROGATES["logistic"])
    levels = [other.value_at(np.zeros(9), b) for b in np.linspace(-2, 2, 4001)]
    assert other.at_zero == pytest.approx(min(levels), rel=1e-6)
    assert other.at_zero <= min(levels)
    s = np.random.default_rng(0).normal(size=9)
    b = other.best_bias_at(s)
    assert other.rise_at(s, b)[0] == pytest.approx(other.value_at(s, b) - other.at_zero)
