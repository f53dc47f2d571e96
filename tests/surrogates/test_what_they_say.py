"""What scalar losses say of themselves, by which solvers and kernels are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from toprank.surrogates import SURROGATES, Surrogate
from toprank.surrogates.composed import (
    ExponentialRise,
    Flat,
    Linear,
    PowerExponential,
    Rectified,
    SmoothedHinge,
    Steepened,
)
from toprank.surrogates.standard import Pieces

COMPOSED = [
    Flat(),
    Linear(),
    ExponentialRise(),
    PowerExponential(3.0),
    SmoothedHinge(0.25),
    *(Steepened(loss, p) for loss in SURROGATES.values() if loss.smooth for p in (0.5, 1.5, 4.0)),
    *(Rectified(loss) for loss in SURROGATES.values() if loss.smooth),
]
EVERY = [*SURROGATES.values(), *COMPOSED]
every = pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)

QUADRATIC = {"squared_hinge", "flat", "rectified squared_hinge"}
WITH_KINKS = {"hinge", *(f"rectified {name}" for name in SURROGATES)}


@every
def test_the_words_by_which_solvers_are_chosen(loss: Surrogate) -> None:
    assert loss.quadratic == (loss.name in QUADRATIC)
    assert loss.smooth == (loss.name not in WITH_KINKS)
    assert loss.ceiling == (0.0 if loss.name.startswith("rectified") else np.inf)


@every
def test_where_the_loss_ends_to_be_zero(loss: Surrogate) -> None:
    if loss.zero_up_to == -np.inf:
        assert loss.value(np.array([-30.0]))[0] != 0.0
    elif loss.zero_up_to == np.inf:
        assert loss.value(np.array([1e300]))[0] == 0.0
    else:
        at, beyond = loss.value(loss.zero_up_to + np.array([0.0, 1e-6]))
        assert at == 0.0
        assert beyond > 0.0


@pytest.mark.parametrize(
    "loss", [one for one in EVERY if one.ceiling > 0], ids=lambda one: one.name
)
def test_the_steepest_slope_is_that_of_a_far_row(loss: Surrogate) -> None:
    with np.errstate(over="ignore"):
        far = loss.slope(np.array([600.0]))[0]
    if np.isfinite(loss.steepest):
        assert far == pytest.approx(loss.steepest, rel=1e-12, abs=0.0)
    else:
        assert far > 100.0


@every
def test_pieces_are_the_loss(loss: Surrogate) -> None:
    pieces = loss.pieces()
    unknown = ("flat", "hinge", "smoothed hinge", *WITH_KINKS)
    assert (pieces is None) == (loss.name in unknown)
    if pieces is None:
        return
    kind, low, high, low_offset, high_offset = pieces
    inner = {**SURROGATES, "linear": Linear()}[kind]
    z = np.linspace(-3.0, 2.0, 51)
    k = np.where(z > 0, high, low)
    offset = np.where(z > 0, high_offset, low_offset)
    np.testing.assert_allclose(
        inner.value(k * z) / k + offset, loss.value(z), rtol=1e-13, atol=1e-14
    )


def test_pieces_of_pieces_are_not_known() -> None:
    assert Steepened(Steepened(SURROGATES["logistic"], 2.0), 2.0).pieces() is None
    assert Steepened(SURROGATES["logistic"], 1.0).pieces() == Pieces("logistic")


def test_curvature_at_a_kink_is_that_of_the_flat_side() -> None:
    assert SURROGATES["squared_hinge"].curvature(np.array([-1.0])) == [0.0]
    assert SmoothedHinge(0.25).curvature(np.array([-1.0, -0.9, -0.75, -0.7])).tolist() == [
        0,
        4,
        0,
        0,
    ]


def test_a_steepened_loss_has_its_own_curvature_at_zero() -> None:
    assert Steepened(SURROGATES["logistic"], 4.0).curvature(np.zeros(1)) == [0.25]


def test_a_line_has_a_conjugate_at_its_slope_alone() -> None:
    assert Linear().conjugate(np.array([1.0, 0.5, 0.0])).tolist() == [0.0, np.inf, np.inf]


@pytest.mark.parametrize("loss", [ExponentialRise(), PowerExponential(3.0)], ids=lambda x: x.name)
def test_equality_of_fenchel_and_young(loss: Surrogate) -> None:
    z = np.linspace(-3.0, 2.0, 21)
    a = loss.slope(z)
    np.testing.assert_allclose(loss.value(z) + loss.conjugate(a), a * z, rtol=1e-12, atol=1e-13)
