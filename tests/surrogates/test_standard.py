"""Scalar losses: values, derivatives, conjugates and the ends of their range."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from toprank.surrogates import SURROGATES, Surrogate
from truth import reference as truth

surrogates = pytest.mark.parametrize("loss", SURROGATES.values(), ids=SURROGATES.keys())

#: l at -2, -1, 0, 1, 3; l'(0); the end of the conjugate's domain.
TABLE = {
    "squared_hinge": ([0.0, 0.0, 1.0, 4.0, 16.0], 2.0, np.inf),
    "logistic": (np.log1p(np.exp([-2.0, -1.0, 0.0, 1.0, 3.0])).tolist(), 0.5, 1.0),
    "exponential": (np.exp([-2.0, -1.0, 0.0, 1.0, 3.0]).tolist(), 1.0, np.inf),
    "hinge": ([0.0, 0.0, 1.0, 2.0, 4.0], 1.0, 1.0),
}


def points(loss: Surrogate) -> np.ndarray:
    """Points away from the kink at -1 that the hinges have, the losses' or their slopes'."""
    z = np.linspace(-4.0, 3.0, 71) + 0.003
    return z if loss.name in ("logistic", "exponential") else z[np.abs(z + 1) > 0.05]


def slopes_inside(loss: Surrogate) -> np.ndarray:
    """Points of the inside of the conjugate's domain."""
    return np.linspace(0.02, 0.98 if loss.steepest == 1.0 else 12.0, 25)


def test_the_table_is_complete() -> None:
    assert set(SURROGATES) == set(TABLE)
    assert all(SURROGATES[name].name == name for name in TABLE)
    assert [name for name in SURROGATES if SURROGATES[name].smooth] == truth.SMOOTH


@surrogates
def test_values_slope_at_zero_and_domain(loss: Surrogate) -> None:
    values, slope_at_zero, steepest = TABLE[loss.name]
    z = np.array([-2.0, -1.0, 0.0, 1.0, 3.0])
    np.testing.assert_allclose(loss.value(z), values, rtol=1e-14)
    assert loss.at_zero == pytest.approx(values[2], rel=1e-15)
    assert loss.slope(np.zeros(1)) == [slope_at_zero]
    assert loss.steepest == steepest
    np.testing.assert_allclose(
        loss.value(points(loss)), [truth.VALUE[loss.name](x) for x in points(loss)], rtol=1e-13
    )


@surrogates
def test_slope_and_curvature_are_derivatives(loss: Surrogate) -> None:
    z, step = points(loss), 1e-5
    # Central differences: an error of step^2 l'''/6, and of rounding over the step.
    slope = (loss.value(z + step) - loss.value(z - step)) / (2 * step)
    np.testing.assert_allclose(loss.slope(z), slope, rtol=1e-8, atol=1e-9)
    curvature = (loss.slope(z + step) - loss.slope(z - step)) / (2 * step)
    np.testing.assert_allclose(loss.curvature(z), curvature, rtol=1e-8, atol=1e-9)


@surrogates
def test_convex_and_never_falling(loss: Surrogate) -> None:
    z = np.linspace(-5.0, 5.0, 201)
    assert (np.diff(loss.value(z)) >= 0).all()
    assert (np.diff(loss.slope(z)) >= 0).all()
    assert (loss.slope(z) >= 0).all()
    assert (loss.curvature(z) >= 0).all()


@surrogates
def test_conjugate_is_the_largest_gap_below_a_line(loss: Surrogate) -> None:
    for a in slopes_inside(loss):
        found = minimize_scalar(
            lambda z, a=a: truth.VALUE[loss.name](z) - a * z,
            bounds=(-10.0, 10.0),
            method="bounded",
            options={"xatol": 1e-10},
        )
        # Golden sections find a smooth minimum to 1e-12 and the hinge's kink to about 1e-8.
        assert loss.conjugate(np.array([a]))[0] == pytest.approx(-found.fun, abs=3e-7)
        assert loss.conjugate(np.array([a]))[0] == pytest.approx(
            truth.CONJUGATE[loss.name](a), rel=1e-13, abs=1e-15
        )


@surrogates
def test_conjugate_at_the_ends_of_its_domain(loss: Surrogate) -> None:
    # l*(0) = -inf l = 0 for every loss here.
    assert loss.conjugate(np.zeros(1)) == [0.0]
    assert np.isposinf(loss.conjugate(np.array([-1e-12, -1.0, -1e8]))).all()
    if loss.steepest < np.inf:
        assert np.isfinite(loss.conjugate(np.array([loss.steepest]))).all()
        beyond = np.array([np.nextafter(loss.steepest, np.inf), 2.0, 1e8])
        assert np.isposinf(loss.conjugate(beyond)).all()
    else:
        assert np.isfinite(loss.conjugate(np.array([1e8]))).all()


@surrogates
def test_equality_of_fenchel_and_young_at_the_slope(loss: Surrogate) -> None:
    z = points(loss)
    a = loss.slope(z)
    np.testing.assert_allclose(loss.value(z) + loss.conjugate(a), a * z, rtol=1e-12, atol=1e-13)
    for other in slopes_inside(loss):
        bound = loss.value(z) + loss.conjugate(np.array([other])) - other * z
        assert (bound >= -1e-13).all()


@surrogates
@pytest.mark.parametrize("far", [1e3, 1e8])
def test_far_out_nothing_overflows_to_nan(loss: Surrogate, far: float) -> None:
    low, high = np.array([-far]), np.array([far])
    for of in (loss.value, loss.slope, loss.curvature):
        assert of(low) == [0.0]
        assert not np.isnan(of(high)).any()
    expected = {
        "squared_hinge": (far + 1) ** 2,
        "logistic": far,
        "exponential": np.inf,
        "hinge": far + 1,
    }
    assert loss.value(high) == [expected[loss.name]]
    assert loss.slope(high)[0] == {"squared_hinge": 2 * (far + 1), "exponential": np.inf}.get(
        loss.name, 1.0
    )


def test_logistic_keeps_its_small_values() -> None:
    logistic = SURROGATES["logistic"]
    z = np.array([-40.0, -700.0])
    np.testing.assert_allclose(logistic.value(z), np.exp(z), rtol=1e-14)
    np.testing.assert_allclose(logistic.slope(z), np.exp(z), rtol=1e-14)
    np.testing.assert_allclose(logistic.curvature(-z), np.exp(z), rtol=1e-14)


@surrogates
def test_the_repr_names_the_class(loss: Surrogate) -> None:
    assert repr(loss) == f"{type(loss).__name__}()"


@pytest.mark.parametrize("name", SURROGATES)
def test_rise_is_the_value_above_zero_and_keeps_its_digits_near_zero(name: str) -> None:
    loss = SURROGATES[name]
    z = np.array([-30.0, -1.0, -0.3, 0.0, 0.2, 4.0, 30.0])
    assert loss.rise(z) == pytest.approx(loss.value(z) - loss.at_zero, rel=1e-12, abs=1e-15)
    tiny = np.array([-1e-12, 1e-12])  # to first order the slope at zero times z
    slope = loss.slope(np.zeros(1))[0]
    assert loss.rise(tiny) == pytest.approx(slope * tiny, rel=1e-11)
