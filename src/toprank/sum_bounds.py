"""Bounds of a minimum from sums over rows, what rounding may have done included."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ._core import highest_rows
from .designs import Ask, Design, Sums
from .losses import CompiledTerms, RowSum, ThresholdLoss
from .rounding import STEPS, UNIT, gamma

Array = NDArray[np.float64]

#: The share of X'v that it may be at the most.
_BALANCED = 1e-4


def shifted_bound(sums: Sums, alpha: float, steepest: float, free_bias: bool) -> float:
    """-|X'v'|^2 / (2 alpha) - F*(v'), or less, at v' = v - eps u: no more than the minimum.

    F*(v') <= v'.z - F(z) + eps^2 `bound` at the scores z that v belongs to.
    """
    bounds = sums.bounds
    assert bounds is not None
    pull, eps = sums.pull, 0.0
    if free_bias:
        eps = sums.slope / sums.shift if sums.shift > 0.0 else np.inf if sums.slope else 0.0
        if not abs(eps) * steepest <= 0.5:  # half of what is allowed: rounding takes no more
            return -np.inf
        if sums.shifted_pull is not None:
            pull = pull - eps * sums.shifted_pull
    conjugate = bounds.moment - eps * bounds.shift_moment - sums.value + eps * eps * sums.bound
    # A vector that is surely allowed, and sums to zero, differs by a share of each entry. Where a
    # slope is within rounding of its largest, the conjugate's is that of a score of 40.
    share = gamma(sums.depth + 8 * STEPS)
    size = (
        2.0 * (bounds.size_moment + 40.0 * bounds.size)
        + abs(sums.value)
        + 2.0 * eps * eps * sums.bound
    )
    lengths = bounds.pull_size + abs(eps) * bounds.shift_size
    length = float(np.linalg.norm(pull)) * (1.0 + gamma(len(pull) + STEPS)) + 2.0 * share * lengths
    if sums.shifted_pull is None:
        length += abs(eps) * bounds.shift_size * (1.0 + share)
    ridge = length * (length / (2.0 * alpha)) * (1.0 + 4.0 * UNIT)
    return -(ridge + conjugate + share * (size + abs(conjugate)))


class Multipliers(NamedTuple):
    """What the ceiling bears at some negatives: with slopes that lack it, a dual vector."""

    rows: NDArray[np.int64]
    weight: Array


def ceiling_bounds(
    design: Design, loss: ThresholdLoss, alpha: float, w: Array, b: float, bear: Multipliers
) -> tuple[float, float] | None:
    """The objective at w and b, or more, and a dual value, or less; None where b may be too high.

    One pass: the slopes at the point, and multipliers scaled to what those lack, are the dual
    vector. F* of both is no more than that of the slopes alone without the ceiling.
    """
    terms, length = loss.compiled_below, float(np.linalg.norm(w))
    assert terms is not None
    per_length = 2.0 * gamma(len(w) + STEPS) * length
    below = cast(RowSum, CompiledTerms(terms))
    sums = design.reduce(Ask(below, w, b, scores=True, per_length=per_length))
    bounds = sums.bounds
    assert bounds is not None
    assert sums.scores is not None
    _, top = highest_rows(sums.scores, loss.tilt, 1)  # of scores moved up by what rounding may do
    need, total = -sums.slope, float(bear.weight.sum())
    if not (top <= 0.0 and 0.0 < need < np.inf and total > 0.0):
        return None
    mu, rows = bear.weight * (need / total), design.take(bear.rows)
    lengths = np.linalg.norm(rows, axis=1)
    share = gamma(sums.depth + len(mu) + len(w) + 8 * STEPS)
    pull = sums.pull + mu @ rows
    # The sums of slopes and multipliers are the same to rounding: moving that costs a row's length.
    off = 2.0 * (bounds.pull_size + float(mu @ lengths)) + bounds.size * float(lengths.max())
    wide = float(np.linalg.norm(pull)) * (1.0 + gamma(len(w) + STEPS)) + share * off
    conjugate = bounds.moment - sums.value
    size = 2.0 * (bounds.size_moment + 40.0 * bounds.size) + abs(sums.value) + abs(conjugate)
    cost = wide * (wide / (2.0 * alpha)) * (1.0 + 4.0 * UNIT) + conjugate + share * size
    dual = -cost
    if loss.only_top and loss.surrogate.quadratic and cost + need > 0.0:  # the best multiple
        part = need / (2.0 * (cost + need))
        dual = part * need * (1.0 - 2.0 * share) - part * part * (cost + need)
    return value_bound(sums, alpha, length, loss.infimum), dual


def value_bound(sums: Sums, alpha: float, length: float, infimum: float) -> float:
    """alpha/2 |w|^2 + F, or more; `length` is |w|, `infimum` the least that F can be."""
    ridge = 0.5 * alpha * length * length
    error = gamma(sums.depth + 4 * STEPS)
    terms = sums.value if infimum >= 0.0 else size_of_terms(sums)
    primal = sums.value + error * terms + ridge
    return primal + gamma(len(sums.pull) + STEPS) * (abs(sums.value) + ridge)


def size_of_terms(sums: Sums) -> float:
    """What terms that fall below zero sum to without their signs, or more.

    A term is v z, or v less a weight; the weights of a class sum to one, and so do the v of it.
    """
    assert sums.bounds is not None
    return sums.bounds.size_moment + sums.bounds.size


def is_balanced(sums: Sums) -> bool:
    """Whether the slopes sum to zero so nearly that a bound of X'u is as good as the vector."""
    assert sums.bounds is not None
    if not sums.shift > 0.0:
        return sums.slope == 0.0
    moved = abs(sums.slope / sums.shift) * sums.bounds.shift_size
    return moved <= _BALANCED * float(np.linalg.norm(sums.pull))


__all__ = [
    "Multipliers",
    "ceiling_bounds",
    "is_balanced",
    "shifted_bound",
    "value_bound",
]
