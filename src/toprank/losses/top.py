"""The loss of TopPush: every positive against the highest negative."""

from __future__ import annotations

from ..split import Split
from ..surrogates import Flat, Rectified, Surrogate
from .threshold import ThresholdLoss


class TopLoss(ThresholdLoss):
    """F(s) = sum_i p_i l(t - s_i),  t = max_j s_j.

    It is the threshold loss whose negatives lose nothing up to zero, and may not go above: b is
    -t. Its dual vectors have delta >= 0, and F*(v) = sum_i p_i l*(a_i / p_i).
    """

    def __init__(self, split: Split, surrogate: Surrogate) -> None:
        super().__init__(split, surrogate, Rectified(Flat()))
