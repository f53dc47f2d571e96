"""Losses made of others: values, derivatives, conjugates, and what happens far out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from toprank.surrogates import (
    SURROGATES,
    Flat,
    PowerExponential,
    Rectified,
    SmoothedHinge,
    Steepened,
    Surrogate,
)
from truth import reference as truth

MADE: dict[str, Surrogate] = {
    "flat": Flat(),
    **{f"rectified {name}": Rectified(SURROGATES[name]) for name in truth.SMOOTH},
    "rectified flat": Rectified(Flat()),
    **{
        f"steepened {name} {p}": Steepened(SURROGATES[name], p)
        for name in truth.SMOOTH
        for p in (1.0, 4.0, 16.0)
    },
    **{f"power {p}": PowerExponential(p) for p in (1.0, 4.0, 16.0)},
    **{f"smoothed hinge {width}": SmoothedHinge(width) for width in (0.1, 0.5)},
}
made = pytest.mark.parametrize("loss", MADE.values(), ids=MADE.keys())
FINITE = {name: loss for name, loss in MADE.items() if np.isinf(loss.ceiling)}
finite = pytest.mark.parametrize("loss", FINITE.values(), ids=FINITE.keys())


def points(loss: Surrogate) -> np.ndarray:
    """Points where the loss is finite, away from the kinks of its slope."""
    z = np.linspace(-3.0, 1.0, 81) + 0.003
    kinks = [-1.0, 0.0, *([loss.width - 1.0] if isinstance(loss, SmoothedHinge) else [])]
    return z[(np.abs(np.subtract.outer(z, kinks)) > 0.02).all(axis=1) & (z < loss.ceiling)]


@pytest.mark.parametrize("name", truth.SMOOTH)
@pytest.mark.parametrize("p", [0.5, 1.0, 4.0, 16.0])
def test_steepened_is_the_papers_formula(name: str, p: float) -> None:
    l = truth.VALUE[name]  # noqa: E741
    z = np.linspace(-3.0, 2.0, 51)
    expected = [l(v) if v <= 0 else (l(p * v) - l(0.0)) / p + l(0.0) for v in z]
    np.testing.assert_allclose(Steepened(SURROGATES[name], p).value(z), expected, rtol=1e-12)


@pytest.mark.parametrize("name", truth.SMOOTH)
def test_steepened_by_one_is_the_loss_itself(name: str) -> None:
    z = np.linspace(-4.0, 4.0, 41)
    for of in ("value", "rise", "slope", "curvature"):
        ours, plain = getattr(Steepened(SURROGATES[name], 1.0), of), getattr(SURROGATES[name], of)
        np.testing.assert_allclose(ours(z), plain(z), rtol=1e-14)


@pytest.mark.parametrize("name", truth.SMOOTH)
def test_rectified_is_the_loss_up_to_zero_and_infinite_above(name: str) -> None:
    loss, z = Rectified(SURROGATES[name]), np.array([-2.0, -0.5, 0.0, 1e-300, 3.0])
    np.testing.assert_allclose(loss.value(z[:3]), SURROGATES[name].value(z[:3]))
    assert np.isposinf(loss.value(z[3:])).all()
    assert not loss.smooth


@pytest.mark.parametrize(
    ("name", "grows"), [("squared_hinge", True), ("exponential", True), ("logistic", False)]
)
def test_the_limit_of_steepening(name: str, grows: bool) -> None:
    v, powers = np.array([0.3]), (4.0, 16.0, 64.0, 256.0, 1024.0)
    values = [float(Steepened(SURROGATES[name], p).value(v)[0]) for p in powers]
    if grows:
        assert values[-1] > 90
    else:  # v + log 2, and no wall
        assert values[-1] == pytest.approx(0.3 + np.log(2.0), abs=1e-3)
        assert (np.diff(values) > 0).all() or values[-1] < values[0]


@made
def test_slope_and_curvature_are_derivatives(loss: Surrogate) -> None:
    z, step = points(loss), 1e-6
    scale = np.maximum(np.abs(loss.slope(z)), 1.0)
    slope = (loss.value(z + step) - loss.value(z - step)) / (2 * step)
    np.testing.assert_allclose(loss.slope(z) / scale, slope / scale, atol=1e-7)
    curvature = (loss.slope(z + step) - loss.slope(z - step)) / (2 * step)
    scale = np.maximum(np.abs(loss.curvature(z)), 1.0)
    np.testing.assert_allclose(loss.curvature(z) / scale, curvature / scale, atol=1e-7)


@made
def test_conjugate_is_the_largest_gap_below_a_line(loss: Surrogate) -> None:
    most = min(loss.steepest, 12.0)
    for a in np.linspace(0.02, 0.98, 13) * most if most else [0.0]:
        found = minimize_scalar(
            lambda z, a=a: float(loss.value(np.array([z]))[0]) - a * z,
            bounds=(-30.0, min(loss.ceiling, 10.0)),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert loss.conjugate(np.array([a]))[0] == pytest.approx(-found.fun, rel=1e-6, abs=1e-6)


@made
def test_equality_of_fenchel_and_young_at_the_slope(loss: Surrogate) -> None:
    z = points(loss)
    a = loss.slope(z)
    scale = np.maximum(np.abs(a * z), 1.0)
    error = loss.value(z) + loss.conjugate(a) - a * z
    np.testing.assert_allclose(error / scale, 0.0, atol=1e-12)
    for other in np.linspace(0.0, min(loss.steepest, 5.0), 7):
        assert (loss.value(z) + loss.conjugate(np.array([other])) - other * z >= -1e-12).all()


@made
def test_conjugate_outside_its_domain(loss: Surrogate) -> None:
    assert np.isposinf(loss.conjugate(np.array([-1e-12, -3.0]))).all()
    if np.isfinite(loss.steepest):
        assert np.isposinf(loss.conjugate(np.array([loss.steepest + 1e-9]))).all()


@made
def test_rise_is_the_value_above_zero_and_keeps_its_digits_near_zero(loss: Surrogate) -> None:
    z = points(loss)
    value = loss.value(z) - loss.at_zero
    np.testing.assert_allclose(loss.rise(z), value, rtol=1e-11, atol=1e-14)
    tiny = np.array([-1e-12, 1e-12])
    tiny = tiny[tiny <= loss.ceiling]
    slope = loss.slope(np.zeros(1))[0]
    assert loss.rise(tiny) == pytest.approx(slope * tiny, rel=1e-10, abs=1e-30)


@finite
@pytest.mark.parametrize("far", [1e3, 1e8, 1e300])
def test_far_out_nothing_is_nan_and_nothing_warns(loss: Surrogate, far: float) -> None:
    low, high = np.array([-far]), np.array([far])
    for of in (loss.value, loss.slope, loss.curvature):
        assert of(low) == [0.0]
        if not (far == 1e300 and "squared" in loss.name):  # whose square overflows
            assert of(high)[0] >= 0
    assert np.isfinite(loss.rise(low)).all()
    if "exponential" in loss.name:
        assert np.isposinf(loss.value(high)).all()
