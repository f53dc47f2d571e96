"""Losses with a threshold of their own: both classes scored against a free bias."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from ..inputs.class_split import RowWeights, Split
from ..rounding import UNIT
from ..surrogates import CompiledRows, Flat, Rectified, Surrogate
from .rounded import RoundedThreshold
from .rows import Rows, RowSum

Array = NDArray[np.float64]

_MAX_STEPS = 200
#: What the order of summation may change in a sum of slopes.
_ROUNDING = 1e-14


def _risen(loss: Surrogate, z: Array, start: float) -> Array:
    """l(z) - l(start)."""
    return loss.rise(z) - loss.rise(np.array([start])) if start else loss.rise(z)


class ThresholdLoss(RoundedThreshold, RowSum):
    """F(s) = min over b of  sum_i p_i l(-(s_i + b)) + sum_j q_j h(s_j + b).

    l is `surrogate`, h is `negatives`. Where h is infinite above zero, b keeps every negative at
    or below zero.

    p and q sum to one each, or to the `shares` of the two classes.

    Its dual vectors are v = (-a on the positives, +delta on the negatives) with a_i / p_i and
    delta_j / q_j in the domains of l* and h*, and sum a = sum delta; there
    F*(v) = sum_i p_i l*(a_i / p_i) + sum_j q_j h*(delta_j / q_j).
    """

    shift_invariant = True
    free_bias = True

    def __init__(
        self,
        split: Split,
        surrogate: Surrogate,
        negatives: Surrogate,
        shares: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        self.split = split
        #: What p and q sum to.
        self.shares = shares
        self.surrogate: Surrogate = surrogate
        self.negatives = negatives
        #: h below its ceiling, where it is as smooth as l.
        self.below = negatives.below if isinstance(negatives, Rectified) else negatives
        #: Whether the negatives lose nothing below the ceiling, so that only the highest counts.
        self.only_top = self.below.steepest == 0.0
        #: Whether it is smooth below its ceiling.
        self.smooth_below = surrogate.smooth and self.below.smooth
        self.ceiling = negatives.ceiling
        self.smooth = self.smooth_below and self.ceiling == np.inf
        self.hinge = surrogate.name == "hinge" and (self.only_top or self.below.name == "hinge")
        self._last_bias = 0.0

    @cached_property
    def at_zero(self) -> float:
        """F(0) = l(0) + h(0), where b = 0 is best."""
        if self.zero_bias == 0.0:
            return self._level_at_zero
        return self._one_row_each.level(np.zeros(1), np.zeros(1), self.zero_bias)

    @property
    def _level_at_zero(self) -> float:
        """The loss at s = 0 and b = 0."""
        of_pos, of_neg = self.shares
        return of_pos * self.surrogate.at_zero + of_neg * self.below.at_zero

    @cached_property
    def _one_row_each(self) -> ThresholdLoss:
        """The classes as one row each: all that counts of them where their scores are the same."""
        one = np.zeros(1, dtype=np.int64)
        p, q = (np.array([share]) for share in self.shares)
        split = Split(2, one, one + 1, p, q, self.split.positive_share)
        return ThresholdLoss(split, self.surrogate, self.negatives, self.shares)

    @cached_property
    def zero_bias(self) -> float:
        """The b that F takes at s = 0: 0 if both slopes are the same there."""
        one, (of_pos, of_neg) = np.zeros(1), self.shares
        if of_pos * self.surrogate.slope(one)[0] == of_neg * self.below.slope(one)[0]:
            return 0.0
        # Where both are logistic this is it.
        guess = float(np.log(of_pos / of_neg)) if of_pos > 0.0 and of_neg > 0.0 else 0.0
        return self._one_row_each.best_bias(one, one, guess)

    @property
    def rows(self) -> RowWeights:
        """The weights of both classes."""
        return self.split

    @cached_property
    def compiled(self) -> CompiledRows | None:
        """Both classes, where the kernels know their losses and there is no ceiling."""
        if np.isfinite(self.ceiling):
            return None
        return CompiledRows.of(self.split, self.surrogate, self.negatives)

    @property
    def tilt(self) -> Array:
        """The signed weights of all rows."""
        return self.split.tilt

    @cached_property
    def order(self) -> Rows:  # type: ignore[override]
        """The positives, then the negatives."""
        return np.concatenate([self.split.pos, self.split.neg])

    def _sides(self, s: Array) -> tuple[Array, Array]:
        m = len(self.split.pos)
        return s[:m], s[m:]

    def part(self, begin: int, end: int) -> ThresholdLoss:
        """The terms of some rows."""
        return self.of(self.split.part(begin, end))

    def of(self, split: Split) -> ThresholdLoss:
        """The same losses of other rows."""
        return ThresholdLoss(split, self.surrogate, self.negatives, self.shares)

    def value_at(self, s: Array, b: float = 0.0) -> float:
        """sum_i p_i l(-(s_i + b)) + sum_j q_j h(s_j + b)."""
        return self.level(*self._sides(s), b)

    def slope_at(self, s: Array, b: float = 0.0) -> Array:
        """-p_i l'(-(s_i + b)) and q_j h'(s_j + b)."""
        v = np.empty(len(s))
        (s_pos, s_neg), (v_pos, v_neg) = self._sides(s), self._sides(v)
        np.multiply(self.split.p, self.surrogate.slope(-(s_pos + b)), out=v_pos)
        np.negative(v_pos, out=v_pos)
        np.multiply(self.split.q, self.below.slope(s_neg + b), out=v_neg)
        return v

    def curvature_at(self, s: Array, b: float = 0.0) -> Array:
        """p_i l''(-(s_i + b)) and q_j h''(s_j + b)."""
        c = np.empty(len(s))
        (s_pos, s_neg), (c_pos, c_neg) = self._sides(s), self._sides(c)
        np.multiply(self.split.p, self.surrogate.curvature(-(s_pos + b)), out=c_pos)
        np.multiply(self.split.q, self.below.curvature(s_neg + b), out=c_neg)
        return c

    def rise_at(self, s: Array, b: float = 0.0) -> tuple[float, float]:
        """The loss at b less F(0), and its rounding error."""
        return self.rise(*self._sides(s), b)

    def best_bias_at(self, s: Array, start: float = 0.0) -> float:
        """The b that F takes, from a guess of it."""
        return self.best_bias(*self._sides(s), start)

    def dual_at(self, s: Array, b: float = 0.0) -> Array:
        """The slopes as a dual vector, their two sums made equal."""
        s_pos, s_neg = self._sides(s)
        return self.join(
            self.split.p * self.surrogate.slope(-(s_pos + b)),
            self.split.q * self.below.slope(s_neg + b),
        )

    def dual_near(self, v: Array) -> Array:
        """The duals no larger than slopes are, their two sums made equal."""
        a, delta = self.parts(v)
        return self.join(
            np.minimum(a, self.surrogate.steepest * self.split.p),
            np.minimum(delta, self.below.steepest * self.split.q),
        )

    @cached_property
    def under_ceiling(self) -> RowSum:
        """The loss where every negative is below the ceiling: no more than a sum over rows.

        Negatives that lose nothing there have no weight.
        """
        if self.only_top:
            alone = self.split.weighing(1.0, 0.0)
            return ThresholdLoss(alone, self.surrogate, self.surrogate, (self.shares[0], 0.0))
        return ThresholdLoss(self.split, self.surrogate, self.below, self.shares)

    def highest_from(self, top: float) -> float:
        """The largest b where no negative's score is above `top`."""
        return float(self.negatives.ceiling - top)

    def threshold(self, s: Array) -> float:
        """-b."""
        return -self.best_bias(s[self.split.pos], s[self.split.neg])

    def highest_bias(self, s_neg: Array) -> float:
        """The largest b with every negative where h is finite."""
        return self.negatives.ceiling - float(s_neg.max())

    def level(self, s_pos: Array, s_neg: Array, b: float) -> float:
        """The loss at b, which must be no higher than `highest_bias`."""
        loss = float(self.split.p @ self.surrogate.value(-(s_pos + b)))
        return loss if self.only_top else loss + float(self.split.q @ self.below.value(s_neg + b))

    def curvature(self, s_pos: Array, s_neg: Array, b: float) -> Array:
        """The second derivative of the loss at b in every score, an N-vector."""
        c = np.zeros(self.split.n_rows)
        c[self.split.pos] = self.split.p * self.surrogate.curvature(-(s_pos + b))
        if not self.only_top:
            c[self.split.neg] = self.split.q * self.below.curvature(s_neg + b)
        return c

    def rise(self, s_pos: Array, s_neg: Array, b: float) -> tuple[float, float]:
        """The loss at b less F(0), and its rounding error.

        Whether a w is better than w = 0 is asked where both are almost equal: at a huge alpha,
        and where nothing is better.
        """
        # Both classes against what they lose at w = 0, where the best b need not be zero.
        terms = self.split.p * _risen(self.surrogate, -(s_pos + b), -self.zero_bias)
        value, size = float(terms.sum()), float(np.abs(terms).sum())
        scores = abs(b) + float(self.split.p @ np.abs(s_pos))
        if not self.only_top:
            terms = self.split.q * _risen(self.below, s_neg + b, self.zero_bias)
            value += float(terms.sum())
            size += float(np.abs(terms).sum())
            scores += float(self.split.q @ np.abs(s_neg))
        start = 4.0 * UNIT * self.at_zero if self.zero_bias else 0.0
        return value, 1e-13 * size + 1e-15 * scores + start

    def bias_slope(self, s_pos: Array, s_neg: Array, b: float) -> float:
        """How the loss at b changes with b: sum_j q_j h'(s_j + b) - sum_i p_i l'(-(s_i + b)).

        Zero where the two sums differ by rounding only.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            up = float(self.split.q @ self.below.slope(s_neg + b))
            down = float(self.split.p @ self.surrogate.slope(-(s_pos + b)))
            slope = up - down
        return 0.0 if abs(slope) <= _ROUNDING * up and np.isfinite(up) else slope

    def _bias_curvature(self, s_pos: Array, s_neg: Array, b: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            of_neg = self.split.q @ self.below.curvature(s_neg + b)
            return float(of_neg + self.split.p @ self.surrogate.curvature(-(s_pos + b)))

    def guess_bias(self, b: float) -> None:
        """Where the next search for the best b is to begin."""
        self._last_bias = b

    def best_bias(self, s_pos: Array, s_neg: Array, start: float | None = None) -> float:
        """The b that F takes; `start` is a guess of it, without which the last answer is."""
        start = self._last_bias if start is None else start
        highest = self.highest_bias(s_neg)
        if self.only_top or (np.isfinite(highest) and self.bias_slope(s_pos, s_neg, highest) <= 0):
            return highest
        # Where no row need lose, any b between the classes is best: the one in the middle, so
        # that w may move either way.
        least, most = -self.surrogate.zero_up_to - s_pos.min(), self.below.zero_up_to - s_neg.max()
        if least <= most:
            return float(0.5 * (least + most))
        # The slope increases with b: Newton's method; once there is a bracket, halved where
        # steps do not shrink.
        b, low, high, stride, moved = min(start, highest), -np.inf, highest, 1.0, np.inf
        reach = max(float(np.abs(s_pos).max()), float(np.abs(s_neg).max()))
        for _ in range(_MAX_STEPS):
            slope = self.bias_slope(s_pos, s_neg, b)
            if slope == 0 or np.isnan(slope):  # NaN: both sides overflow, here and everywhere
                break
            low, high = (b, high) if slope < 0 else (low, b)
            curvature = self._bias_curvature(s_pos, s_neg, b)
            step = -slope / curvature if 0 < curvature < np.inf else -np.copysign(np.inf, slope)
            last, shrinks = b, abs(step) <= 0.5 * moved
            if np.isinf(high - low):  # exponentials are crawled along by steps of equal length
                length = min(abs(step), stride) if shrinks else stride
                b, stride = last + float(np.copysign(length, step)), 2.0 * stride
            else:
                b = last + step if shrinks else low
                if not low < b < high:
                    b = 0.5 * (low + high)
            moved = abs(b - last)
            # The error that is left is of the order of the last step's square.
            if moved <= (1e-10 if b == last + step else 1e-14) * max(abs(b), reach):
                break
        self._last_bias = b if np.isfinite(b) else 0.0
        return b

    def value(self, s: Array) -> float:
        """F(s)."""
        s_pos, s_neg = s[self.split.pos], s[self.split.neg]
        return self.level(s_pos, s_neg, self.best_bias(s_pos, s_neg))

    def slope(self, s: Array) -> Array:
        """The subgradient that charges what the slopes lack to the first of the top negatives."""
        s_pos, s_neg = s[self.split.pos], s[self.split.neg]
        b = self.best_bias(s_pos, s_neg)
        a = self.split.p * self.surrogate.slope(-(s_pos + b))
        delta = self.split.q * self.below.slope(s_neg + b)
        if np.isfinite(self.negatives.ceiling):
            delta[np.argmax(s_neg)] += max(a.sum() - delta.sum(), 0.0)
        return self.join(a, delta)

    def conjugate(self, v: Array) -> float:
        """F*(v); the sums of v need agree to rounding only, for `join` makes them agree."""
        a, delta = self.parts(v)
        total = a.sum() + delta.sum()
        outside = v.copy()
        outside[self.split.pos] = outside[self.split.neg] = 0.0
        if outside.any() or (delta < 0).any() or abs(a.sum() - delta.sum()) > 1e-12 * total:
            return float(np.inf)
        value = float(self.split.p @ self.surrogate.conjugate(a / self.split.p))
        if self.only_top:
            return value
        return value + float(self.split.q @ self.negatives.conjugate(delta / self.split.q))

    def parts(self, v: Array) -> tuple[Array, Array]:
        """The duals a and delta in v."""
        return -v[self.split.pos], v[self.split.neg]

    def join(self, a: Array, delta: Array) -> Array:
        """The dual vector of a >= 0 and delta >= 0, the larger sum scaled down to the smaller."""
        v = np.zeros(self.split.n_rows)
        of_a, of_delta = a.sum(), delta.sum()
        least = min(of_a, of_delta)
        v[self.split.pos] = -a * (least / of_a if of_a > 0 else 0.0)
        v[self.split.neg] = delta * (least / of_delta if of_delta > 0 else 0.0)
        return v


class TopLoss(ThresholdLoss):
    """F(s) = sum_i p_i l(t - s_i),  t = max_j s_j.

    It is the threshold loss whose negatives lose nothing up to zero, and may not go above: b is
    -t. Its dual vectors have delta >= 0, and F*(v) = sum_i p_i l*(a_i / p_i).
    """

    def __init__(self, split: Split, surrogate: Surrogate) -> None:
        super().__init__(split, surrogate, Rectified(Flat()))
