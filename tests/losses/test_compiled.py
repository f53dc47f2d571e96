"""What kernels are told of sums over rows, against the losses themselves."""

from __future__ import annotations

import numpy as np
import pytest

from toprank.inputs.class_split import RowWeights, Split
from toprank.losses import CompiledRows, LogSumExpLoss, RowLoss, ThresholdLoss
from toprank.surrogates import SURROGATES, PowerExponential, Rectified, Steepened, Surrogate

SPLIT = Split.of(np.arange(12) % 3 == 0, np.linspace(1.0, 2.0, 12))
LOGISTIC, SQUARED, EXPONENTIAL, HINGE = (
    SURROGATES[name] for name in ("logistic", "squared_hinge", "exponential", "hinge")
)
#: Losses of the two classes, the largest factor of their scores, and whether curvatures jump.
SIDES: dict[str, tuple[Surrogate, Surrogate, float, bool]] = {
    "logistic": (LOGISTIC, LOGISTIC, 1.0, False),
    "squared": (SQUARED, SQUARED, 1.0, True),
    "squared positives": (SQUARED, LOGISTIC, 1.0, True),
    "squared negatives": (LOGISTIC, SQUARED, 1.0, True),
    "powers": (EXPONENTIAL, PowerExponential(4.0), 4.0, False),
    "steep": (LOGISTIC, Steepened(LOGISTIC, 3.0), 3.0, False),
    "gentle": (LOGISTIC, PowerExponential(0.5), 1.0, False),
}


@pytest.mark.parametrize("name", SIDES)
def test_how_much_sums_bend_at_zero(name: str) -> None:
    positives, negatives, steepest, kinked = SIDES[name]
    compiled = ThresholdLoss(SPLIT, positives, negatives).compiled
    assert compiled is not None
    curvatures = [side.curvature(np.zeros(1))[0] for side in (positives, negatives)]
    assert compiled.bend == pytest.approx(SPLIT.p.sum() * curvatures[0] + curvatures[1])
    assert compiled.steepest == steepest
    assert compiled.kinked is kinked
    n_pos, n_neg, of_pos, of_neg = compiled.sides
    assert (n_pos, n_neg) == (4, 8)
    assert (of_pos, of_neg) == pytest.approx((1.0, -1.0))
    np.testing.assert_array_equal(compiled.tilt, SPLIT.tilt)
    assert compiled.compiled is compiled
    assert compiled.alone().rows is None
    assert (compiled.alone().positives, compiled.alone().negatives) == (
        compiled.positives,
        compiled.negatives,
    )
    light = compiled.weighted(0.25 * SPLIT.tilt)
    assert light.bend == pytest.approx(0.25 * compiled.bend)
    np.testing.assert_array_equal(light.rows.tilt_of(3, 7), 0.25 * SPLIT.tilt[3:7])


def test_a_linear_side_does_not_bend() -> None:
    compiled = LogSumExpLoss(SPLIT).compiled
    assert compiled is not None
    assert compiled.bend == pytest.approx(1.0)  # of the exponential alone
    assert compiled.steepest == 1.0
    assert not compiled.kinked


def test_a_loss_that_kernels_do_not_know_on_either_side_is_not_theirs() -> None:
    for positives, negatives in ((HINGE, LOGISTIC), (LOGISTIC, HINGE), (HINGE, HINGE)):
        assert CompiledRows.of(RowWeights(SPLIT.tilt), positives, negatives) is None
        assert ThresholdLoss(SPLIT, positives, negatives).compiled is None
    assert ThresholdLoss(SPLIT, LOGISTIC, Rectified(LOGISTIC)).compiled is None
    assert RowLoss(SPLIT.p, HINGE).compiled is None
    assert RowLoss(SPLIT.p, LOGISTIC).compiled is not None
