"""What every loss says of itself, against its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
    level_above,
    tail_mean,
)
from toprank.surrogates import SURROGATES, Linear, Rectified

POSITIVE = np.arange(12) % 3 == 0
SPLIT = Split.of(POSITIVE)
HINGE, SQUARED, LOGISTIC = (SURROGATES[k] for k in ("hinge", "squared_hinge", "logistic"))
UNIT = 2.0**-53


def losses() -> dict[str, Loss]:
    """Made anew for every test."""
    return {
        "average precision": AveragePrecisionLoss(SPLIT),
        "class tails": ClassTailLoss(SPLIT, 0.4, 0.3),
        "logarithm": LogSumExpLoss(SPLIT),
        "ordered pairs": OrderedPairsLoss(SPLIT, np.arange(8.0, 0.0, -1.0) / 36.0),
        "ordered alike": OrderedPairsLoss(SPLIT, np.full(8, 1 / 8)),
        "pairs": PairLoss(SPLIT, HINGE),
        "squares of pairs": PairLoss(SPLIT, SQUARED),
        "pair tail": PairTailLoss(SPLIT, 0.3),
        "partial": PartialAUCLoss(SPLIT, 0.1, 0.6),
        "partial up to one": PartialAUCLoss(SPLIT, 0.1, 1.0),
        "reversed": ReversedLoss(TopLoss(SPLIT.swapped(), SQUARED)),
        "rows": RowLoss(np.abs(SPLIT.tilt), LOGISTIC, np.sign(SPLIT.tilt)),
        "hinge of rows": RowLoss(np.abs(SPLIT.tilt), HINGE, np.sign(SPLIT.tilt)),
        "threshold": ThresholdLoss(SPLIT, LOGISTIC, LOGISTIC),
        "hinges": ThresholdLoss(SPLIT, HINGE, HINGE),
        "rectified": ThresholdLoss(SPLIT, LOGISTIC, Rectified(LOGISTIC)),
        "soft top": TopFractionLoss(SPLIT, 0.3),
        "top": TopLoss(SPLIT, SQUARED),
        "hinge at the top": TopLoss(SPLIT, HINGE),
    }


NAMES = list(losses())
RANKINGS = {"average precision", "ordered pairs", "ordered alike", "partial", "partial up to one"}
THRESHOLDS = {"logarithm", "threshold", "hinges", "rectified", "top", "hinge at the top"}
#: Who says it.
SAID = {
    "smooth": {"logarithm", "squares of pairs", "rows", "threshold"},
    "sums_rows": {"rows", "hinge of rows", *THRESHOLDS},
    "sums_pairs": {"pairs", "squares of pairs"},
    "over_rankings": RANKINGS,
    "free_bias": THRESHOLDS,
    "only_top": {"top", "hinge at the top"},
    "tied_at_zero": {"ordered pairs", "partial", "soft top"},
    "hinge": {"pairs", "hinge of rows", "hinges", "hinge at the top"},
    "shift_invariant": set(NAMES) - {"rows", "hinge of rows"},
    "has_conjugate": set(NAMES) - RANKINGS - {"squares of pairs", "soft top"},
}


@pytest.mark.parametrize("what", SAID)
def test_who_says_what(what: str) -> None:
    assert {name for name, loss in losses().items() if getattr(loss, what)} == SAID[what]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_is_so(name: str) -> None:
    loss, rng = losses()[name], np.random.default_rng(1)
    s, zero = 0.7 * rng.normal(size=12), np.zeros(12)
    assert loss.at_zero == pytest.approx(loss.value(zero), abs=1e-14)
    assert 0.0 <= loss.zero_rounding < 1e-12
    same = loss.value(s + 3.0) == pytest.approx(loss.value(s), rel=1e-9)
    assert same is loss.shift_invariant
    v = loss.slope(s)
    for _ in range(20):  # convex, and v a subgradient
        t = s + rng.normal(size=12)
        assert loss.value(t) >= loss.value(s) + v @ (t - s) - 1e-12
        assert loss.value(t) >= loss.infimum
    by = rng.uniform(0.0, 0.5, 12)
    worse = loss.worse(s, by)
    np.testing.assert_allclose(np.abs(worse - s), by)
    assert loss.value(worse) >= loss.value(s)
    assert UNIT * abs(loss.value(s)) <= loss.value_rounding(s, loss.value(s)) < 1e-11
    if loss.has_conjugate:
        assert loss.conjugate(v) == pytest.approx(v @ s - loss.value(s), rel=1e-9, abs=1e-12)
        off = loss.dual_rounding(v)
        assert min(off.value, off.share, off.mass) >= 0.0
        assert 0.0 < max(off.value, off.share, off.mass) < 1e-11
        outside = v.copy()
        outside[SPLIT.neg[0]] = -1.0
        assert loss.conjugate(outside) == np.inf
    if loss.sums_rows:
        each: Any = loss
        own = s if each.order is None else s[each.order]
        b = each.best_bias_at(own)
        assert each.value_at(own, b) == pytest.approx(loss.value(s), rel=1e-12)
        assert each.value_at(own) == each.value_at(own, 0.0)
        if np.isinf(loss.ceiling):
            np.testing.assert_allclose(each.dual_at(own, b), v, atol=1e-9)
        np.testing.assert_array_equal(each.slope_at(own), each.slope_at(own, 0.0))
        np.testing.assert_array_equal(each.curvature_at(own), each.curvature_at(own, 0.0))
        np.testing.assert_array_equal(each.dual_at(own), each.dual_at(own, 0.0))
        rise, error = each.rise_at(own, b)
        assert rise == pytest.approx(loss.value(s) - loss.at_zero, abs=1e-13)
        assert UNIT < error < 1e-12
        assert each.rise_at(own) == each.rise_at(own, 0.0)
        part = each.part(2, 9)
        kept = s[2:9] if part.order is None else s[2:9][part.order]
        rest = [each.part(0, 2), each.part(9, 12)]
        values = [
            one.value_at(x if one.order is None else x[one.order], b)
            for one, x in zip(rest, (s[:2], s[9:]), strict=True)
        ]
        total = part.value_at(kept, b) + sum(values)
        assert total == pytest.approx(each.value_at(own, b), rel=1e-12)


def test_weights_and_signs_of_rows() -> None:
    weight, sign = np.array([0.5, 2.0, 3.0]), np.array([1.0, -1.0, 1.0])
    loss = RowLoss(weight, SQUARED, sign)
    assert loss.rows.tilt_of(0, 3).tolist() == [0.5, -2.0, 3.0]
    for wrong in (np.array([1.0, -1.0]), np.array([1.0, 0.5, 1.0])):
        with pytest.raises(ValueError, match="signs of rows"):
            RowLoss(weight, SQUARED, wrong)
    with pytest.raises(ValueError, match="must not be negative"):
        RowLoss(-weight, SQUARED)
    RowLoss(0.0 * weight, SQUARED)
    absent = RowLoss(np.array([0.0, 1.0]), SQUARED)
    assert absent.conjugate(np.array([-1.0, -1.0])) == np.inf
    assert absent.conjugate(np.array([0.0, -1.0])) == pytest.approx(1.0 / 4.0 - 1.0)


def test_under_the_ceiling() -> None:
    top = TopLoss(SPLIT, SQUARED).under_ceiling
    np.testing.assert_array_equal(top.rows.tilt_of(0, 12), np.where(POSITIVE, 0.25, 0.0))
    assert top.rows.sides == (4, 0, 1.0, 0.0)
    assert top.rows.n_rows == 12
    below = ThresholdLoss(SPLIT, LOGISTIC, Rectified(LOGISTIC)).under_ceiling
    assert below.ceiling == np.inf
    assert below.value(np.zeros(12)) == pytest.approx(2.0 * np.log(2.0))
    loss = ThresholdLoss(SPLIT, LOGISTIC, Rectified(LOGISTIC))
    assert loss.highest_from(3.0) == -3.0
    assert loss.highest_bias(np.array([1.0, 3.0])) == -3.0


def test_what_is_no_ranking() -> None:
    loss = AveragePrecisionLoss(SPLIT)
    sound = loss.worst_ranking(np.arange(12.0))
    assert loss.fits(Mixture(sound[None], np.ones(1)))
    for place, value in ((0, 9), (0, -1), (-1, 8), (-1, -1), (-1, int(sound[-2]))):
        wrong = sound.copy()
        wrong[place] = value
        assert not loss.fits(Mixture(wrong[None], np.ones(1)))
    assert not loss.fits(Mixture(sound[None, :-1], np.ones(1)))
    most = sound.copy()
    most[0] = 8
    assert loss.fits(Mixture(most[None], np.ones(1)))
    assert np.isfinite(loss.mixed(Mixture(np.array([sound, most]), np.array([1.0, 0.0])))[0].level)
    with pytest.raises(ValueError, match="must be positive numbers"):
        loss.mixed(Mixture(np.array([sound, most]), np.array([2.0, -1.0])))


def test_tails_whose_caps_sum_to_a_little_less_than_one() -> None:
    value, d = tail_mean(np.array([1.0, 2.0, 3.0]), np.full(3, np.nextafter(1 / 3, 0.0)))
    assert value == pytest.approx(2.0)
    assert d == pytest.approx(np.full(3, 1 / 3))
    for caps in (np.full(3, np.nextafter(1 / 3, 0.0)), np.full(3, 0.3)):
        assert tail_mean(np.array([1.0, 2.0, 3.0]), caps)[1].tolist() == caps.tolist()
    assert level_above(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.25, 0.25]), 0.25) == 2.0
    assert level_above(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.25, 0.25]), 0.2) == 1.0
    assert level_above(np.array([3.0, 1.0]), np.array([0.5, 0.5]), 1.0) == 3.0


def test_the_margin_of_a_tail_of_pairs() -> None:
    s = np.random.default_rng(0).permutation(12.0 * np.arange(12))
    margins = np.sort((s[SPLIT.pos][:, None] - s[SPLIT.neg]).ravel())
    for count in (1, 5, 16):
        rho, above = PairTailLoss(SPLIT, count / 32).rho(s)
        assert rho == max(t for t in margins if (margins < t).sum() <= count)
        assert above == pytest.approx((margins >= rho).mean())


def test_the_linear_loss_beside_others() -> None:
    loss = ThresholdLoss(SPLIT, Linear(), SURROGATES["exponential"])
    s = np.linspace(-1.0, 1.0, 12)
    b = -np.log(np.exp(s[~POSITIVE]).mean())
    assert loss.threshold(s) == pytest.approx(-b)
    assert loss.value(s) == pytest.approx(1.0 - b - s[POSITIVE].mean())


@pytest.mark.parametrize("name", sorted(RANKINGS))
def test_rows_in_the_right_order_lose_nothing(name: str) -> None:
    loss: Any = losses()[name]
    level, v = loss.plane(loss.perfect)
    assert level == 0.0
    assert not v.any()
    assert loss.value(np.where(POSITIVE, 5.0, -5.0)) == 0.0


def test_below_the_ceiling_the_best_threshold_is_where_the_loss_is_least() -> None:
    loss = ThresholdLoss(SPLIT, LOGISTIC, Rectified(LOGISTIC))
    s = np.where(POSITIVE, 10.0, np.linspace(-1.0, 0.0, 12))
    highest = -s[~POSITIVE].max()
    grid = highest - np.linspace(0.0, 20.0, 20_001)
    values = [loss.level(s[POSITIVE], s[~POSITIVE], b) for b in grid]
    assert np.argmin(values) > 0
    assert loss.value(s) == pytest.approx(min(values), abs=1e-7)


def test_a_logarithm_has_duals_with_the_shares_of_the_positives() -> None:
    split = Split.of(np.arange(6) < 2, np.array([1.0, 3.0, 1.0, 1.0, 2.0, 0.0]))
    loss = LogSumExpLoss(split)
    divergence = 0.75 * np.log(0.75 / 0.25) + 0.25 * np.log(0.25 / 0.25)
    right = [-0.25, -0.75, 0.75, 0.25, 0.0, 0.0]
    assert loss.conjugate(np.array(right)) == pytest.approx(divergence)
    for wrong in (
        [-0.25, -0.75, 1.0, 0.25, -0.25, 0.0],  # a dual below zero
        [-0.75, -0.25, 0.75, 0.25, 0.0, 0.0],  # other shares
        [-0.25, -0.75, 0.75, 0.2, 0.0, 0.0],  # of less than all
        [-0.25, -0.75, 0.75, 0.25, 0.0, 0.1],  # on a row that is absent
    ):
        assert loss.conjugate(np.array(wrong)) == np.inf
    joined = loss.join(np.ones(2), np.array([3.0, 1.0, 0.0]))
    np.testing.assert_allclose(joined, right)
    assert loss.unit == -joined[:2].sum() == 1.0  # what the slopes of a side sum to


def test_the_names_for_messages() -> None:
    assert str(PairTailLoss(SPLIT, 0.3)) == "PairTailLoss"
    assert str(PairLoss(SPLIT, SQUARED)) == "PairLoss of the squared_hinge loss"
