"""The threshold that a loss chooses, from wherever the search for it begins."""

from __future__ import annotations

import numpy as np
import pytest

from toprank import RectPush
from toprank.losses import ThresholdLoss
from toprank.split import Split
from toprank.surrogates import SURROGATES, Rectified
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
