"""Bounds of a minimum from sums over rows, what rounding may have done included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..designs import Sums
from ..rounding import STEPS, UNIT, gamma, length

Array = NDArray[np.float64]

#: The share of X'v that it may be at the most.
_BALANCED = 1e-4


def primal_bound(sums: Sums, w: Array, alpha: float, infimum: float) -> float:
    """alpha/2 |w|^2 + the value, or more: what rounding may have done is added."""
    d, size = len(w), length(w)
    ridge = 0.5 * alpha * size * size
    terms = sums.value if infimum >= 0.0 else size_of_terms(sums)
    primal = sums.value + gamma(sums.depth + 4 * STEPS) * terms + ridge
    return primal + gamma(d + STEPS) * (abs(sums.value) + ridge)


def carried_by(sums: Sums, rows: Array, multiplier: Array) -> Sums:
    """The sums with the multipliers of negatives that must not rise among the slopes.

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
    steep = length(pull) * (1.0 + gamma(len(pull) + STEPS)) + 2.0 * share * lengths
    if sums.shifted_pull is None:
        steep += abs(eps) * bounds.shift_size * (1.0 + share)
    ridge = steep * (steep / (2.0 * alpha)) * (1.0 + 4.0 * UNIT)
    return -(ridge + conjugate + share * (size + abs(conjugate)))


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


__all__ = ["carried_by", "is_balanced", "primal_bound", "shifted_bound", "size_of_terms"]
