"""Bounds of what rounding does to scores X w, pulls X'v and sums over rows, for certificates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..designs import Design, Sums
from ..losses import DualRounding
from ..rounding import STEPS, UNDERFLOW, UNIT, gamma, length

Array = NDArray[np.float64]

#: The largest share of X'v that a shift of the slopes may move it by.
_BALANCED = 1e-4


def score_rounding(design: Design, w: Array, s: Array) -> Array:
    """Error of computed scores, and of differences of them."""
    if not w.any():
        return np.zeros(len(s))
    size = length(w)
    own = 4.0 * UNIT * float(np.abs(s).max(initial=0.0))
    return np.asarray(gamma(design.shape[1] + STEPS) * size * design.norms + own)


def pull_rounding(design: Design, v: Array, off: DualRounding) -> float:
    """Distance of X'v from that of a feasible dual vector, in length."""
    size = np.abs(v)
    share = gamma(len(v) + STEPS) + off.share
    largest = float(design.norms[size > 0.0].max(initial=0.0))
    underflow = len(v) * UNDERFLOW
    return share * float(size @ design.norms) + off.mass * largest + underflow


def primal_bound(sums: Sums, w: Array, alpha: float, infimum: float) -> float:
    """An upper bound of alpha/2 |w|^2 + the value, rounding included."""
    d, size = len(w), length(w)
    ridge = 0.5 * alpha * size * size
    terms = sums.value if infimum >= 0.0 else size_of_terms(sums)
    primal = sums.value + gamma(sums.depth + 4 * STEPS) * terms + ridge
    return primal + gamma(d + STEPS) * (abs(sums.value) + ridge)


def carried_by(sums: Sums, rows: Array, multiplier: Array) -> Sums:
    """Return the sums with the multipliers of negatives at the ceiling among the slopes.

    These make up for what the slopes of the negatives lack of those of the positives. As the
    scores of these rows, b added, are at or below zero, they add nothing to the conjugate.
    """
    need, total = -sums.slope, float(multiplier.sum())
    if not (need > 0.0 and total > 0.0):
        return sums
    assert sums.bounds is not None
    share = multiplier * (need / total)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    bounds = sums.bounds._replace(
        size=sums.bounds.size + need, pull_size=sums.bounds.pull_size + float(share @ lengths)
    )
    depth = sums.depth + len(multiplier)
    return replace(sums, pull=sums.pull + share @ rows, slope=0.0, bounds=bounds, depth=depth)


def shifted_bound(sums: Sums, alpha: float, steepest: float, free_bias: bool) -> float:
    """A lower bound of -|X'v'|^2 / (2 alpha) - F*(v') at v' = v - eps u, and so of the minimum.

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
    # A feasible vector that sums to zero differs by a share of each entry. Where a slope is within
    # rounding of its largest, the slope of the conjugate is that of a score of 40.
    share = gamma(sums.depth + 8 * STEPS)
    size = (
        2.0 * (bounds.size_moment + 40.0 * bounds.size)
        + abs(sums.value)
        + 2.0 * eps * eps * sums.bound
    )
    lengths = bounds.pull_size + abs(eps) * bounds.shift_size
    steep = length(pull) * (1.0 + gamma(len(pull) + STEPS)) + 2.0 * share * lengths
    if sums.shifted_pull is None:
        steep += abs(eps) * bounds.shift_size * (1.0 + share)
    ridge = steep * (steep / (2.0 * alpha)) * (1.0 + 4.0 * UNIT)
    return -(ridge + conjugate + share * (size + abs(conjugate)))


def size_of_terms(sums: Sums) -> float:
    """An upper bound of the sum of terms below zero without their signs.

    A term is v z, or v less a weight; the weights of a class sum to one, and so do the v of it.
    """
    assert sums.bounds is not None
    return sums.bounds.size_moment + sums.bounds.size


def is_balanced(sums: Sums) -> bool:
    """Return True if the slopes nearly sum to zero: a bound of X'u is then as good as X'u."""
    assert sums.bounds is not None
    if not sums.shift > 0.0:
        return sums.slope == 0.0
    moved = abs(sums.slope / sums.shift) * sums.bounds.shift_size
    return moved <= _BALANCED * float(np.linalg.norm(sums.pull))


__all__ = [
    "carried_by",
    "is_balanced",
    "primal_bound",
    "pull_rounding",
    "score_rounding",
    "shifted_bound",
    "size_of_terms",
]
