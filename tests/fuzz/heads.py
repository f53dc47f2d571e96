"""Exact losses of the highest negatives: the log of their exponentials, and a share of them."""

from __future__ import annotations

from .digits import Exact, Real, exp, expm1, real
from .exact import ONE, ZERO, Classes, Loss, Scalar, log_of_sum, weighted_sum

LINEAR = Scalar(lambda z: z, lambda z: ONE, lambda z: ZERO)
EXPONENTIAL_RISE = Scalar(expm1, exp, exp)


def log_sum_exp(classes: Classes) -> Loss:
    """log sum_j q_j e^(s_j) - sum_i p_i s_i: LogSumExpPush."""

    def value(s: Exact) -> Real:
        return log_of_sum(classes.q, list(s[classes.neg])) - weighted_sum(classes.p, s[classes.pos])

    return value


def top_fraction(classes: Classes, loss: Scalar, fraction: float) -> Loss:
    """sum_i p_i (mean over the top fraction of negatives of l(s_j - s_i)): TopFractionPush."""
    whole = real(fraction)

    def value(s: Exact) -> Real:
        below, above, left, total = s[classes.neg], s[classes.pos], whole, ZERO
        for j in sorted(range(len(below)), key=lambda j: -below[j]):
            part = min(left, classes.q[j])
            if part <= 0:
                break
            total += part * weighted_sum(classes.p, [loss.value(below[j] - x) for x in above])
            left -= part
        return total / (whole - left)

    return value
