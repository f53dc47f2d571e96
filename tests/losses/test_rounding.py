"""What rounding may do to values and to duals: it grows with what is added up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import xlogy

from toprank.inputs.class_split import Split
from toprank.losses import (
    AveragePrecisionLoss,
    ClassTailLoss,
    LogSumExpLoss,
    Loss,
    Mixture,
    OrderedPairsLoss,
    PairLoss,
    PairTailLoss,
    PartialAUCLoss,
    ReversedLoss,
    RowLoss,
    ThresholdLoss,
    TopFractionLoss,
    TopLoss,
)
from toprank.losses.rounded import conjugate_size
from toprank.surrogates import SURROGATES, Rectified
from truth.plans import least_move

Array = NDArray[np.float64]

UNIT = 2.0**-53
N = 120
POSITIVE = np.arange(N) % 4 > 0
SPLIT = Split.of(POSITIVE)
HINGE, SQUARED, LOGISTIC = (SURROGATES[k] for k in ("hinge", "squared_hinge", "logistic"))
RNG = np.random.default_rng(0)
S = RNG.uniform(-1.0, 1.0, N)
S[0] = 1.0  # so that the largest is known
#: How far above the rounding of its sums a bound may be.
ROOM = 60.0


def of_losses(loss: Loss, s: Array) -> float:
    """Terms that are zero or more."""
    return loss.value(s)


def of_scores(loss: Loss, s: Array) -> float:
    """Weights that sum to one on either side, and are rounded too, times scores."""
    return 4.0 * float(np.abs(s).max())


def of_both(loss: Loss, s: Array) -> float:
    """Levels up to one, and weights that sum to one times scores."""
    return 1.0 + float(np.abs(s).max())


def of_rates(loss: Any, s: Array) -> float:
    """The same divided by the width of a range of rates; negatives up to its end count, or all."""
    counts = loss.b if loss.tight else 1.0
    return 1.0 + counts * of_both(loss, s) / (loss.b - loss.a)


#: Losses, and what their values are sums of.
SUMS: dict[str, tuple[Loss, Any]] = {
    "rows": (RowLoss(np.abs(SPLIT.tilt), SQUARED, np.sign(SPLIT.tilt)), of_losses),
    "threshold": (ThresholdLoss(SPLIT, SQUARED, SQUARED), of_losses),
    "top": (TopLoss(SPLIT, SQUARED), of_losses),
    "reversed": (ReversedLoss(TopLoss(SPLIT.swapped(), SQUARED)), of_losses),
    "pairs": (PairLoss(SPLIT, SQUARED), of_losses),
    "soft top": (TopFractionLoss(SPLIT, 0.3), of_losses),
    "pair tail": (PairTailLoss(SPLIT, 0.3), of_scores),
    "class tails": (ClassTailLoss(SPLIT, 0.4, 0.3), of_scores),
    "logarithm": (LogSumExpLoss(SPLIT), of_both),
    "ordered pairs": (OrderedPairsLoss(SPLIT, np.full(N // 4, 4.0 / N)), of_both),
    "average precision": (AveragePrecisionLoss(SPLIT), of_both),
    "few negatives": (PartialAUCLoss(SPLIT, 0.0, 0.004), of_rates),
    "narrow": (PartialAUCLoss(SPLIT, 0.9, 0.904), of_rates),
    "loose": (PartialAUCLoss(SPLIT, 0.0, 0.004, tight=False), of_rates),
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6])
def test_the_rounding_of_a_value_is_that_of_a_sum_over_rows(name: str, scale: float) -> None:
    loss, size = SUMS[name]
    s = scale * S
    of = N * UNIT * size(loss, s)
    assert of < loss.value_rounding(s, loss.value(s)) < ROOM * of


def test_negatives_by_positives_choose_the_places_of_average_precision() -> None:
    """Gains are as large as a harmonic number, and n of them, each of a positive's share, count."""
    for m, n in ((400, 4), (4, 400)):
        loss = AveragePrecisionLoss(Split.of(np.arange(m + n) < m))
        s = np.zeros(m + n)
        largest = float(np.sum(1.0 / np.arange(1, m + n + 1)))
        of = UNIT * (m + n + n / m * 64 * largest)
        assert 0.9 * of < loss.value_rounding(s, loss.at_zero) < 1.5 * of


def test_the_rounding_at_zero() -> None:
    """One number, a mean over the positives, or two losses weighed by shares."""
    same = ThresholdLoss(SPLIT, SQUARED, SQUARED)
    assert 0.0 < same.zero_rounding <= 2.0 * UNIT * same.at_zero
    for positives, negatives in ((SQUARED, LOGISTIC), (LOGISTIC, SQUARED)):
        other = ThresholdLoss(SPLIT, positives, negatives)
        assert other.zero_bias != 0.0
        assert 16.0 * UNIT * other.at_zero < other.zero_rounding < 100.0 * UNIT * other.at_zero
    shares = (1e-4, 1e-5)
    light = ThresholdLoss(SPLIT.weighing(*shares), LOGISTIC, LOGISTIC, shares)
    assert 16.0 * UNIT * light.at_zero < light.zero_rounding < 100.0 * UNIT * light.at_zero
    few = AveragePrecisionLoss(Split.of(np.arange(1001) > 0))  # loses next to nothing
    assert few.at_zero < 0.01
    of = 1000 * UNIT * few.at_zero
    assert of < few.zero_rounding < 2.0 * of


class Lines(Loss):
    """F(s) = max(s_1, s_2, ..., 0): a loss that says nothing of its rounding."""

    at_zero = 0.25

    def value(self, s: Array) -> float:
        """The largest, or zero."""
        return float(s.max(initial=0.0))

    def slope(self, s: Array) -> Array:
        """One at the largest."""
        return (np.arange(len(s)) == np.argmax(s)).astype(float)

    def conjugate(self, v: Array) -> float:
        """Any number will do."""
        return 0.5

    def worse(self, s: Array, by: Array) -> Array:
        """Up."""
        return s + by


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_a_loss_that_says_nothing_has_the_rounding_of_sums_over_rows(size: float) -> None:
    loss, v = Lines(), np.full(N, size / N)
    of = N * UNIT * size
    assert of < loss.value_rounding(v, -size) < 2.0 * of
    off = loss.dual_rounding(v)
    assert N * UNIT < off.share < 2.0 * N * UNIT
    # The conjugate, the duals and the loss at zero.
    assert off.value == pytest.approx(off.share * (0.5 + size + 0.25), rel=1e-9, abs=0.0)


def test_what_a_conjugate_has_in_its_sums() -> None:
    """Terms, here minus the duals; 1 + l(0) of rows with a dual of half their weight or more."""
    weight, duals = np.array([1.0, 2.0, 4.0, 0.5]), np.array([0.25, 1.0, 3.0, 0.0])
    assert conjugate_size(HINGE, duals, weight, 3.0) == pytest.approx(4.25 + 6.0 * (1.0 + 3.0))


@pytest.mark.parametrize("ratio", [4.0, 1000.0])
def test_the_rounding_of_duals_of_rows(ratio: float) -> None:
    """At a ratio of four to the weights the terms of F* vanish, and far out they outweigh all."""
    weight = np.where(POSITIVE, 0.5, 0.0)
    loss = RowLoss(weight, SQUARED)
    v = -ratio * weight
    off = loss.dual_rounding(v)
    of = N * UNIT * (np.abs(v).sum() + weight.sum() * abs(ratio * (ratio / 4.0 - 1.0)))
    assert of < off.value < 10.0 * of
    assert 16.0 * UNIT < off.share < 100.0 * UNIT


def test_sums_of_duals_that_differ_are_scaled_down_to_the_smaller() -> None:
    loss = ThresholdLoss(SPLIT, SQUARED, SQUARED)
    s = 3.0 * S
    for factor in (0.5, 3.0):
        for rows in (SPLIT.pos, SPLIT.neg):
            v = factor * loss.slope(s)
            v[rows] *= 1.01
            off = loss.dual_rounding(v)
            near = loss.join(*loss.parts(v))
            assert np.abs(near - v).max() <= off.share * np.abs(v).max()
            share = np.max(np.abs(near - v)[rows] / np.abs(v[rows]).clip(1e-300))
            assert off.share == pytest.approx(share)
            # F* of both classes, their duals beside it.
            of = np.abs(v).sum() + sum(
                float(w @ np.abs(SQUARED.conjugate(x / w)))
                for w, x in zip((SPLIT.p, SPLIT.q), loss.parts(v), strict=True)
            )
            assert off.share * of < off.value < 4.0 * off.share * of
    nothing = loss.dual_rounding(np.zeros(N))
    assert (nothing.value, nothing.share, nothing.mass) == (0.0, 0.0, 0.0)


def test_duals_of_the_top_have_no_terms_of_negatives() -> None:
    top, walled = TopLoss(SPLIT, SQUARED), ThresholdLoss(SPLIT, SQUARED, Rectified(SQUARED))
    v = top.slope(S)
    a, _ = top.parts(v)
    of_pos = conjugate_size(SQUARED, a, SPLIT.p, top.at_zero) + np.abs(v).sum()
    off = top.dual_rounding(v)
    assert off.value == pytest.approx(off.share * of_pos, rel=1e-9, abs=0.0)
    # Beyond the slope at its ceiling the terms of a negative stay what they are.
    v = walled.join(SPLIT.p, SPLIT.q * np.where(np.arange(N // 4) == 0, N / 4.0, 0.0))
    off = walled.dual_rounding(v)
    assert off.value > off.share * (np.abs(v).sum() + 0.75 + 1.0 * SPLIT.q[0])


@pytest.mark.parametrize("by", [0.0, 1e-3, -1e-3])
@pytest.mark.parametrize("few", [False, True])
def test_duals_of_a_logarithm_that_do_not_sum_to_one(by: float, few: bool) -> None:
    """The nearest ones that do, and their divergence from the shares of the rows."""
    loss = LogSumExpLoss(Split.of(np.arange(301) == 0))
    delta = np.r_[0.25, 0.75, np.zeros(298)] if few else np.full(300, 1.0 / 300.0)
    v = np.concatenate([[-1.0], (1.0 + by) * delta])
    off = loss.dual_rounding(v)

    def divergence(x: Array) -> float:
        return float(np.sum(xlogy(x, 300.0 * x)))

    assert abs(by) + 301 * UNIT < off.share < abs(by) + 602 * UNIT
    changed = abs(divergence(delta) - divergence((1.0 + by) * delta))
    assert changed + 301 * UNIT * divergence(delta) < off.value < 5.0 * changed + 1e-12
    assert off.mass == 0.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("epsilon", [0.2, 0.6])
def test_duals_of_tails_that_are_not_allowed_are_near_some_that_are(
    weighted: bool, epsilon: float
) -> None:
    """How near, by a linear program."""
    rng = np.random.default_rng(2)
    split = Split.of(np.arange(7) < 3, rng.uniform(0.5, 2.0, 7) if weighted else None)
    tails = PairTailLoss(split, epsilon), ClassTailLoss(split, epsilon, 0.5)
    caps = np.outer(split.p, split.q) / epsilon
    #: A distribution within caps each: rows of a table whose columns, or rows, have all room.
    of_pos, of_neg = split.p[:, None] / epsilon, split.q[None, :] / 0.5
    for shift in (0.0, 0.1, -0.1):
        v = np.zeros(7)
        v[split.pos] = -(1.0 + shift) * rng.dirichlet(np.full(3, 0.5))
        v[split.neg] = (1.0 - shift / 2.0) * rng.dirichlet(np.full(4, 0.5))
        d, e = -v[split.pos], v[split.neg]
        apart = (
            least_move(caps, np.r_[d, e]),
            least_move(of_pos, np.r_[d, 1.0]) + least_move(of_neg, np.r_[1.0, e]),
        )
        assert shift == 0.0 or min(apart) > 0.01
        for loss, least in zip(tails, apart, strict=True):
            off = loss.dual_rounding(v)
            assert least - 1e-9 <= off.mass <= 8.0 * least + 1e-12
            assert (off.value, off.share) == (0.0, 0.0)


@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_the_rounding_of_a_mixture(size: float) -> None:
    """That of its planes, and of a mean of them."""
    loss = OrderedPairsLoss(SPLIT, np.full(N // 4, 4.0 / N))
    worst = loss.worst_ranking(np.where(POSITIVE, -1.0, 1.0))
    rankings = np.array([*(loss.perfect,) * 99, worst])
    weights = np.r_[np.full(99, (1.0 - size) / 99), size]
    plane, off = loss.mixed(Mixture(rankings, weights))
    own = loss.plane_rounding()
    assert plane.level == pytest.approx(size)
    assert 100 * UNIT < off.share - own.share < 200 * UNIT
    assert 50 * UNIT * size < off.value - own.value < 200 * UNIT * size
    # Running sums of shares on either side, and their products.
    assert min(own.value, own.share) > N * UNIT
    assert max(own.value, own.share) < 15 * N * UNIT


@pytest.mark.parametrize(
    ("a", "b", "tight"), [(0.0, 0.01, True), (0.9, 0.91, True), (0.0, 0.01, False)]
)
def test_the_rounding_of_planes_of_rates(a: float, b: float, tight: bool) -> None:
    off = PartialAUCLoss(SPLIT, a, b, tight=tight).plane_rounding()
    counts = b if tight else 1.0
    of = N * UNIT * (1.0 + counts / (b - a))
    assert of < off.value < 10.0 * of
    assert N * UNIT < off.share < 10 * N * UNIT
