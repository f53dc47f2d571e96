"""The objectives of the methods, from the formulas of their docstrings, without rounding.

Scores are exact: entries and weights are whole numbers times a power of two. What follows is done
with many digits, some 90.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .digits import Exact, Real, dot, exp, log, log1p, real, scaled, whole

Loss = Callable[[Exact], Real]

ZERO, ONE = real(0), real(1)
#: What is left of rounding in an objective, a sum of terms that are not negative; a float is not
#: that near to another number by chance.
LEFT = real(2) ** -150


def dyadic(values: Any) -> tuple[Exact, int]:
    """Whole numbers k and an exponent e with values = k 2^e."""
    values = np.asarray(values)
    parts = [_whole(x) for x in values.ravel().tolist()]
    least = min((e for k, e in parts if k), default=0)
    whole = np.empty(values.size, dtype=object)
    whole[:] = [k << (e - least) if k else 0 for k, e in parts]
    return whole.reshape(values.shape), least


def _whole(x: Any) -> tuple[int, int]:
    if isinstance(x, Real):
        return whole(x)
    fraction, e = math.frexp(x)
    return int(fraction * 2**53), e - 53


def precise(values: Any) -> Exact:
    """The same as numbers of many digits."""
    values = np.asarray(values)
    out = np.empty(values.size, dtype=object)
    out[:] = [real(x) for x in values.ravel().tolist()]
    return out.reshape(values.shape)


class Rows:
    """A matrix whose products are exact."""

    def __init__(self, X: Any) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self._whole, self._exponent = dyadic(self.X)

    def scores(self, w: Any) -> Exact:
        """X w."""
        k, e = dyadic(w)
        products = self._whole @ k
        out = np.empty(len(products), dtype=object)
        out[:] = [scaled(real(x), self._exponent + e) for x in products.tolist()]
        return out

    def pair_moments(self, first: Any, second: Any) -> tuple[Exact, Exact]:
        """The means of psi and of psi psi' over listed pairs, psi the difference of two rows."""
        psi = self._whole[first] - self._whole[second]
        unit = scaled(ONE, self._exponent)
        return (
            precise(psi.sum(axis=0)) * (unit / len(psi)),
            precise(psi.T @ psi) * (unit**2 / len(psi)),
        )

    @cached_property
    def precise(self) -> Exact:
        """The entries."""
        return precise(self.X)


class Classes:
    """The rows of each class and their shares, which sum to one.

    Rows are as if absent where they weigh nothing, or nothing that a float could tell beside the
    others of their class.
    """

    def __init__(self, y: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        weight = np.ones(len(y)) if weight is None else weight
        self.n_rows = len(y)
        self._weight = weight
        self.pos, self.p = self._side(np.flatnonzero(y == 1), weight)
        self.neg, self.q = self._side(np.flatnonzero(y == 0), weight)

    @staticmethod
    def _side(rows: NDArray[np.int64], weight: NDArray[np.float64]) -> tuple[Any, Exact]:
        own = precise(weight[rows])
        kept = np.array([x >= own.sum() * np.finfo(np.float64).tiny for x in own], dtype=bool)
        return rows[kept], own[kept] / own[kept].sum()

    def sharing(self, negative_weight: float | None) -> Classes:
        """Weights that sum to one over both classes; to one half each without a weight."""
        above, below = (precise(self._weight[rows]).sum() for rows in (self.pos, self.neg))
        if negative_weight is not None:
            below *= real(negative_weight)
        else:
            above = below = ONE
        other = object.__new__(Classes)
        other.n_rows, other.pos, other.neg = self.n_rows, self.pos, self.neg
        # Each a sum of its own: one less the other would be zero beside 1e-300.
        other.p, other.q = (
            share * (own / (above + below)) for share, own in ((self.p, above), (self.q, below))
        )
        return other

    def swapped(self) -> Classes:
        """The classes with their roles exchanged."""
        other = object.__new__(Classes)
        other.n_rows, other.pos, other.neg = self.n_rows, self.neg, self.pos
        other.p, other.q = self.q, self.p
        return other


class Scalar(NamedTuple):
    """A loss of one number, its slope, and its second derivative from the right."""

    value: Callable[[Real], Real]
    slope: Callable[[Real], Real]
    bend: Callable[[Real], Real]


def _sigmoid(z: Real) -> Real:
    return 1 / (1 + exp(-z)) if z > 0 else exp(z) / (1 + exp(z))


SCALARS = {
    "hinge": Scalar(
        lambda z: max(1 + z, ZERO),
        lambda z: ONE if z >= -1 else ZERO,
        lambda z: ZERO,
    ),
    "squared_hinge": Scalar(
        lambda z: max(1 + z, ZERO) ** 2,
        lambda z: 2 * max(1 + z, ZERO),
        lambda z: 2 * ONE if z >= -1 else ZERO,
    ),
    "logistic": Scalar(
        lambda z: max(z, ZERO) + log1p(exp(-abs(z))),
        _sigmoid,
        lambda z: _sigmoid(z) * _sigmoid(-z),
    ),
    "exponential": Scalar(exp, exp, exp),
}
HALF_SQUARE = Scalar(lambda z: (1 + z) ** 2 / 2, lambda z: 1 + z, lambda z: ONE)


def steepened(loss: Scalar, p: float) -> Scalar:
    """h(v) = l(v) for v <= 0, (l(p v) - l(0)) / p + l(0) above."""
    at_zero = loss.value(ZERO)
    return Scalar(
        lambda v: (loss.value(p * v) - at_zero) / p + at_zero if v > 0 else loss.value(v),
        lambda v: loss.slope(p * v) if v > 0 else loss.slope(v),
        lambda v: p * loss.bend(p * v) if v > 0 else loss.bend(v),
    )


def power(p: float) -> Scalar:
    """h(v) = e^(p v) / p."""
    return Scalar(lambda v: exp(p * v) / p, lambda v: exp(p * v), lambda v: p * exp(p * v))


def top(classes: Classes, loss: Scalar) -> Loss:
    """sum_i p_i l(max_j s_j - s_i): TopPush, InfinitePush."""

    def value(s: Exact) -> Real:
        highest = max(s[classes.neg])
        return weighted_sum(classes.p, [loss.value(highest - x) for x in s[classes.pos]])

    return value


def threshold(classes: Classes, loss: Scalar, negatives: Scalar, walled: bool = False) -> Loss:
    """min over b of sum_i p_i l(-(s_i + b)) + sum_j q_j h(s_j + b); no s_j + b > 0 if walled."""

    def value(s: Exact) -> Real:
        above, below = s[classes.pos], s[classes.neg]

        def level(b: Real) -> Real:
            return weighted_sum(classes.p, [loss.value(-(x + b)) for x in above]) + weighted_sum(
                classes.q, [negatives.value(x + b) for x in below]
            )

        def slope(b: Real) -> Real:
            return weighted_sum(classes.q, [negatives.slope(x + b) for x in below]) - weighted_sum(
                classes.p, [loss.slope(-(x + b)) for x in above]
            )

        middle = -(min(above) + max(below)) / 2
        return level(_root(slope, middle, -max(below) if walled else None))

    return value


def powers(classes: Classes, p: float) -> Loss:
    """min over b of A e^-b + B e^(p b) / p, A and B the means of e^-s_i and e^(p s_j): PNormPush.

    The best b makes both terms but for the 1/p alike, so that they are A^(p/(1+p)) B^(1/(1+p)).
    """

    def value(s: Exact) -> Real:
        above = log_of_sum(classes.p, [-x for x in s[classes.pos]])
        below = log_of_sum(classes.q, [p * x for x in s[classes.neg]])
        return exp((p * above + below) / (1 + real(p))) * (1 + 1 / real(p))

    return value


def reverse(inner: Loss) -> Loss:
    """The loss of the scores turned round: ReverseRectPush, of the classes exchanged."""
    return lambda s: inner(-s)


def pairs(classes: Classes, loss: Scalar) -> Loss:
    """sum_ij p_i q_j l(s_j - s_i): RankSVM."""

    def value(s: Exact) -> Real:
        below = s[classes.neg]
        of_row = [
            weighted_sum(classes.q, [loss.value(z - x) for z in below]) for x in s[classes.pos]
        ]
        return weighted_sum(classes.p, of_row)

    return value


def partial_auc(classes: Classes, a: float, b: float, tight: bool = True) -> Loss:
    """The worst place of every positive among the negatives, if tight up to the rate b: SVMpAUC."""
    low, high = real(a), real(b)

    def value(s: Exact) -> Real:
        below = s[classes.neg]
        upto, sums, points = ZERO, ZERO, [(ZERO, ZERO)]
        for j in sorted(range(len(below)), key=lambda j: -below[j]):
            counts = min(classes.q[j], high - upto) if tight else classes.q[j]
            upto, sums = upto + counts, sums + counts * below[j]
            points.append((upto, sums + max(min(upto, high) - low, ZERO)))
        worst = [max(y - v * x for v, y in points) for x in s[classes.pos]]
        return weighted_sum(classes.p, worst) / (high - low)

    return value


def ordered(classes: Classes, weights: Exact) -> Loss:
    """sum_i p_i sum_j b_j [1 + t_j - s_i]_+, t the negatives' scores, the highest first: OWPC."""
    b = weights / weights.sum()
    hinge = SCALARS["hinge"].value

    def value(s: Exact) -> Real:
        below = sorted(s[classes.neg], reverse=True)
        of_row = [weighted_sum(b, [hinge(t - x) for t in below]) for x in s[classes.pos]]
        return weighted_sum(classes.p, of_row)

    return value


def average_precision(classes: Classes) -> Loss:
    """The worst of all ways to merge the two classes, each in its own order: SVMMAP."""
    m, n = len(classes.pos), len(classes.neg)

    def value(s: Exact) -> Real:
        above = sorted(s[classes.pos], reverse=True)
        below = sorted(s[classes.neg], reverse=True)
        # The most that is lost by the first i positives, with j negatives before the last of them.
        most = [ZERO] * (n + 1)
        for i, x in enumerate(above, start=1):
            wrong, best, after = ZERO, None, []
            for j in range(n + 1):
                wrong += (x - below[j - 1]) * 2 / real(m * n) if j else ZERO
                best = most[j] if best is None else max(best, most[j])
                after.append(best + real(j) / (i + j) / m - wrong)
            most = after
        return max(most)

    return value


def about(shares: Classes, level: Callable[[Exact], Real]) -> Loss:
    """Hinges of all rows about a level of the scores, with shares that sum to one: AATP."""
    hinge = SCALARS["hinge"].value

    def value(s: Exact) -> Real:
        q = level(s)
        return weighted_sum(shares.p, [hinge(q - x) for x in s[shares.pos]]) + weighted_sum(
            shares.q, [hinge(x - q) for x in s[shares.neg]]
        )

    return value


def points(classes: Classes) -> Loss:
    """Half the mean hinge of each class: WSVM."""
    hinge = SCALARS["hinge"].value

    def value(s: Exact) -> Real:
        return weighted_sum(classes.p, [hinge(-x) for x in s[classes.pos]]) / 2 + (
            weighted_sum(classes.q, [hinge(x) for x in s[classes.neg]]) / 2
        )

    return value


def squares(classes: Classes) -> Loss:
    """sum_ij p_i q_j (1 - (s_i - s_j))^2 / 2: BBR."""

    def value(s: Exact) -> Real:
        of_row = [weighted_sum(classes.q, (1 - x + s[classes.neg]) ** 2) for x in s[classes.pos]]
        return weighted_sum(classes.p, of_row) / 2

    return value


def listed(first: Any, second: Any, weight: Any, loss: Scalar) -> Loss:
    """sum_q c_q l(s_second - s_first) of listed pairs, row -1 scoring zero."""
    weight = precise(weight)

    def value(s: Exact) -> Real:
        padded = np.append(s, ZERO)
        return weighted_sum(weight, [loss.value(z) for z in padded[second] - padded[first]])

    return value


def weighted_sum(weights: Exact, values: Any) -> Real:
    return dot(weights, values)


def log_of_sum(weights: Exact, powers: list[Real]) -> Real:
    """log sum_k c_k e^(z_k), whatever the size of the powers."""
    most = max(powers)
    return most + log(weighted_sum(weights, [exp(z - most) for z in powers]))


def _root(slope: Callable[[Real], Real], start: Real, most: Real | None) -> Real:
    """The b <= most at which a slope that does not decrease crosses zero, but for LEFT.

    What the objective changes by there is the square of what b is off.
    """
    if most is not None and slope(most) <= 0:
        return most
    high = start if most is None else min(start, most)
    at_high = slope(high)
    stride, sign = ONE, -1 if at_high > 0 else 1
    low, at_low = high, at_high
    while at_low * sign < 0:  # walk until the slope has changed its sign
        high, at_high = low, at_low
        low = low + sign * stride
        at_low, stride = slope(low), 2 * stride
    if sign > 0:
        low, at_low, high, at_high = high, at_high, low, at_low
    last = 0
    while at_low and at_high and high - low > LEFT * max(ONE, abs(low), abs(high)):
        width = high - low
        # The secant's way, its idle end halved; and the middle where that has not halved the rest.
        b = low + width * at_low / (at_low - at_high)
        for at in (b, (low + high) / 2):
            if not low < at < high or (at is not b and high - low <= width / 2):
                continue
            here = slope(at)
            if here <= 0:
                low, at_low = at, here
                at_high = at_high / 2 if last == -1 else at_high
                last = -1
            if here >= 0:
                high, at_high = at, here
                at_low = at_low / 2 if last == 1 else at_low
                last = 1
    return low if not at_low else high if not at_high else (low + high) / 2
