"""The threshold that a loss chooses, from wherever the search for it begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from toprank import RectPush
from toprank.inputs.class_split import Split
from toprank.losses import ThresholdLoss
from toprank.surrogates import SURROGATES, PowerExponential, Rectified, Surrogate
from truth.reference import SMOOTH


@pytest.mark.parametrize("name", SMOOTH)
def test_a_search_that_begins_at_the_end_stays_there(name: str) -> None:
    """From the best b itself, or a neighbour, a step may vanish beside it by rounding."""
    surrogate = SURROGATES[name]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        split = Split.of(np.arange(6) < 3)
        loss = ThresholdLoss(split, surrogate, Rectified(surrogate))
        s_pos, s_neg = rng.standard_normal(3) + 3.0, rng.standard_normal(3)
        best = loss.best_bias(s_pos, s_neg)
        value = loss.level(s_pos, s_neg, best)
        for start in (best, np.nextafter(best, np.inf), np.nextafter(best, -np.inf)):
            again = loss.best_bias(s_pos, s_neg, start)
            assert again == pytest.approx(best, abs=1e-7)
            assert loss.level(s_pos, s_neg, again) == pytest.approx(value, rel=1e-12)


def test_newton_does_not_lose_the_threshold() -> None:
    X = [[-0.8367, 0.8678], [-0.236, -0.1174], [-0.2489, -0.9841], [0.1454, 0.8253]]
    ranker = RectPush(alpha=1e-2, solver="newton").fit(X, [1, 1, 0, 0])
    assert ranker.certificate_.holds(1e-9)


class Counting(ThresholdLoss):
    """How often the slope in b is asked for."""

    asked = 0

    def bias_slope(self, s_pos: Any, s_neg: Any, b: float) -> float:
        """The same, counted."""
        self.asked += 1
        return super().bias_slope(s_pos, s_neg, b)


LOGISTIC, SQUARED = SURROGATES["logistic"], SURROGATES["squared_hinge"]
PAIRS: dict[str, tuple[Surrogate, Surrogate]] = {
    "logistic": (LOGISTIC, LOGISTIC),
    "squared": (SQUARED, SQUARED),
    "unlike": (SQUARED, LOGISTIC),
    "powers": (SURROGATES["exponential"], PowerExponential(4.0)),
}
pairs = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())


def some_scores(seed: int, scale: float) -> tuple[Split, Any, Any]:
    rng = np.random.default_rng(seed)
    split = Split.of(np.arange(40) < 12, rng.uniform(0.5, 1.5, 40))
    return split, scale * rng.normal(size=12), scale * rng.normal(size=28)


@pairs
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 5.0])
def test_the_best_threshold_is_where_the_slope_changes_its_sign(pair: Any, scale: float) -> None:
    for seed in range(5):
        split, s_pos, s_neg = some_scores(seed, scale)
        loss = ThresholdLoss(split, *pair)
        around = loss.zero_bias  # where it would be if the scores were zero
        reach = 4.0 * scale

        def slope(b: float, loss: Any = loss, s_pos: Any = s_pos, s_neg: Any = s_neg) -> float:
            up = float(loss.split.q @ loss.negatives.slope(s_neg + b))
            return up - float(loss.split.p @ loss.surrogate.slope(-(s_pos + b)))

        truth = brentq(slope, around - reach, around + reach, xtol=1e-14 * scale, rtol=1e-15)
        found = loss.best_bias(s_pos, s_neg, around)
        assert found == pytest.approx(truth, abs=1e-8 * scale + 1e-15)


@pairs
@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0])
def test_a_search_is_short_and_shorter_from_the_last_answer(pair: Any, scale: float) -> None:
    for seed in range(5):
        split, s_pos, s_neg = some_scores(seed, scale)
        loss = Counting(split, *pair)
        best = loss.best_bias(s_pos, s_neg)
        assert loss.asked <= (10 if scale <= 1.0 else 21)
        loss.asked = 0
        assert loss.best_bias(s_pos, s_neg) == pytest.approx(best, rel=1e-8)
        assert loss.asked <= 2
        loss.asked = 0
        loss.guess_bias(best + 1e-3 * scale)
        assert loss.best_bias(s_pos, s_neg) == pytest.approx(best, rel=1e-8)
        assert loss.asked <= 4


def test_a_search_without_an_end_is_forgotten() -> None:
    split = Split.of(np.arange(2) < 1)
    loss = Counting(split, LOGISTIC, LOGISTIC)
    with np.errstate(over="ignore", invalid="ignore"):
        loss.best_bias(np.array([-np.inf]), np.array([-np.inf]))
    assert loss.best_bias(np.array([1.0]), np.array([-3.0])) == pytest.approx(1.0)


def test_at_a_ceiling_the_threshold_is_the_highest_allowed() -> None:
    split, s_pos, s_neg = some_scores(0, 1.0)
    loss = ThresholdLoss(split, LOGISTIC, Rectified(LOGISTIC))
    for start in (-3.0, 0.0, 3.0):
        # Positives that are low pull it up, as far as it may go.
        assert loss.best_bias(s_pos - 5.0, s_neg, start) == -s_neg.max()
    # Both slopes are one half just there.
    even = ThresholdLoss(Split.of(np.arange(2) < 1), LOGISTIC, Rectified(LOGISTIC))
    assert even.best_bias(np.array([0.7]), np.array([0.7]), -5.0) == -0.7


def test_where_one_threshold_alone_loses_nothing_it_is_taken() -> None:
    loss = Counting(Split.of(np.arange(4) < 2), SQUARED, SQUARED)
    assert loss.best_bias(np.array([2.5, 5.0]), np.array([0.5, -4.0]), 40.0) == -1.5
    assert loss.asked == 0
    apart = loss.best_bias(np.array([4.0, 5.0]), np.array([0.0, -4.0]), 40.0)
    assert apart == -2.0  # in the middle


SHARES = [(1.0, 1.0), (0.9, 0.1), (1e-3, 2.0)]


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("positives", SMOOTH)
@pytest.mark.parametrize("negatives", SMOOTH)
@pytest.mark.parametrize("ceiling", [False, True])
def test_the_loss_of_tied_rows(positives: str, negatives: str, shares: Any, ceiling: bool) -> None:
    """F(0) and the b that it takes, by a search over all b."""
    one, other = SURROGATES[positives], SURROGATES[negatives]
    split = Split.of(np.arange(6) < 2).weighing(*shares)
    loss = ThresholdLoss(split, one, Rectified(other) if ceiling else other, shares)
    b = np.linspace(-12.0, 0.0 if ceiling else 12.0, 30_001)
    levels = shares[0] * one.value(-b) + shares[1] * other.value(b)
    assert loss.at_zero <= levels.min() + 1e-12
    assert loss.at_zero == pytest.approx(levels.min(), rel=1e-4)
    assert loss.value(np.zeros(6)) == pytest.approx(loss.at_zero, rel=1e-12)
    at = np.array([loss.zero_bias])
    assert at[0] <= loss.ceiling
    level = shares[0] * one.value(-at) + shares[1] * other.value(at)
    assert level[0] == pytest.approx(loss.at_zero, rel=1e-12)


@pytest.mark.parametrize("shares", [(1.0, 0.0), (0.0, 1.0)])
def test_a_class_next_to_nothing_beside_the_other_costs_nothing(shares: Any) -> None:
    loss = ThresholdLoss(Split.of(np.arange(6) < 2).weighing(*shares), LOGISTIC, LOGISTIC, shares)
    assert np.isfinite(loss.zero_bias)
    assert loss.at_zero < 1e-300


def test_where_both_slopes_are_the_same_at_zero_the_threshold_is_zero_to_the_last_digit() -> None:
    shares = (0.5, 1.0)
    split = Split.of(np.arange(6) < 2).weighing(*shares)
    assert ThresholdLoss(split, SQUARED, SURROGATES["exponential"], shares).zero_bias == 0.0
    thirds = (1.0 / 3.0, 2.0 / 3.0)
    assert ThresholdLoss(split, SURROGATES["exponential"], LOGISTIC, thirds).zero_bias == 0.0
