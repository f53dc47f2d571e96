"""The log of the negatives' mean exponential, less the positives' mean score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..inputs.class_split import Split
from ..rounding import STEPS, gamma
from ..surrogates import ExponentialRise, Linear
from .rounded import DualRounding
from .threshold import ThresholdLoss

Array = NDArray[np.float64]


class LogSumExpLoss(ThresholdLoss):
    """F(s) = log sum_j q_j e^(s_j) - sum_i p_i s_i.

    It is a sum over rows with a threshold, for the logarithm is the least of tangents:
    F(s) = min over b of  sum_j q_j (e^(s_j + b) - 1) - sum_i p_i (s_i + b).

    Its dual vectors are v = (-p on the positives, +delta on the negatives), delta >= 0 with sum
    one, and there F*(v) = sum_j delta_j log(delta_j / q_j).
    """

    infimum = -np.inf
    #: F falls below zero: a gap is held against what the slopes of a side sum to where |F| is less.
    unit = 1.0

    def __init__(self, split: Split) -> None:
        super().__init__(split, Linear(), ExponentialRise())

    def part(self, begin: int, end: int) -> ThresholdLoss:
        """The terms of some rows, at a given threshold."""
        return ThresholdLoss(self.split.part(begin, end), self.surrogate, self.negatives)

    def best_bias(self, s_pos: Array, s_neg: Array, start: float | None = None) -> float:
        """B = -log sum_j q_j e^(s_j)."""
        return -float(logsumexp(s_neg, b=self.split.q))

    def conjugate(self, v: Array) -> float:
        """F*(v), infinite unless the positives have their shares and the others sum to one."""
        a, delta = self.parts(v)
        outside = v.copy()
        outside[self.split.pos] = outside[self.split.neg] = 0.0
        lack = abs(float(delta.sum()) - 1.0)
        if outside.any() or (delta < 0).any() or (a != self.split.p).any() or lack > 1e-12:
            return float(np.inf)
        return float(self.split.q @ self.negatives.conjugate(delta / self.split.q))

    def join(self, a: Array, delta: Array) -> Array:
        """The dual vector of delta >= 0, scaled to sum to one; a are the shares."""
        v = np.zeros(self.split.n_rows)
        v[self.split.pos] = -self.split.p
        v[self.split.neg] = delta / delta.sum()
        return v

    def value_rounding(self, s: Array, value: float) -> float:
        """Terms of either sign: exponentials that sum to one, and scores."""
        size = 2.0 + 4.0 * float(np.abs(s).max(initial=0.0))
        return gamma(len(s) + 4 * STEPS) * size

    def dual_rounding(self, v: Array) -> DualRounding:
        """What a delta that sums to one, and its divergence from q, are off by."""
        delta = v[self.split.neg]
        share = abs(float(delta.sum()) - 1.0) + gamma(len(v) + 4 * STEPS)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(delta > 0, np.abs(np.log(delta / self.split.q)), 0.0)
        return DualRounding(share * (4.0 + float(delta @ logs)), share)
