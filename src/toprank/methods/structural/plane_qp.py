"""The minimum of a few cutting planes and a ridge: two quadratic programs, by Mehrotra's method.

Solves   min over w, xi  of  alpha/2 |w|^2 + xi,  xi >= c_k + g_k.w  for every plane k,
         or its dual,  max over a >= 0 that sum to one  of  c.a - 1/2 a'Q a,  Q = G G' / alpha
by       `least_of_planes`: steps on  alpha w + G'a = 0,  sum a = 1,  a s = mu,  s the slack
         xi - c - G w, with a Cholesky factor of  alpha I + G'DG,  D = diag(a / s). It bears columns
         of any scales, which the products G G' do not: digits of small columns are lost in them.
         `best_weights`: steps on  Q a - c + y = z,  a z = mu,  with a factor of  Q + diag(z / a).
Given    G of few columns, or Q, positive semidefinite up to rounding, of a few hundred planes.
Returns  the weights a, which are not negative and sum to one; and w where G is given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ...solvers.interior_point import PathPoint, Towards, mehrotra_step
from ...solvers.linalg import cholesky

Array = NDArray[np.float64]

#: The most steps; a dozen or two suffice.
_STEPS = 60
#: A gap of this share of the value is rounding.
_DIGITS = 1e-15
#: Steps without a fall of the gap after which arithmetic has no more digits to give.
_PATIENCE = 5
#: The share by which the gap must fall to count as a fall.
_FALLS = 0.1
#: Products a z that are smaller than the gap by this factor cannot lower it further.
_SPENT = 1e-8
#: A weight below this share of the largest is a zero that the interior point has not reached.
_ZERO_WEIGHT = 1e-13


def least_of_planes(G: Array, c: Array, alpha: float, gap: float) -> tuple[Array, Array]:
    """Return the weights a and w, their values within `gap` of each other."""
    n, d = G.shape
    spread = float(np.ptp(c)) or 1.0
    xi = float(c.max()) + spread
    at = PathPoint([np.full(n, 1.0 / n)], [xi - c], free_s=[np.zeros(d), xi])
    best_a, best_w, dual, primal, least, waited = at.x[0], np.zeros(d), -np.inf, np.inf, np.inf, 0
    for _ in range(_STEPS):
        (a,), (s,), (w, xi) = at.x, at.s, at.free_s
        height = c + G @ w
        value = 0.5 * alpha * float(w @ w) + float(height.max())
        if value < primal:
            best_w, primal = w, value
        share = a / a.sum()
        pull = share @ G
        value = float(share @ c) - float(pull @ pull) / (2.0 * alpha)
        if value > dual:
            best_a, dual = share, value
        waited = waited + 1
        if primal - dual < (1.0 - _FALLS) * least:
            least, waited = primal - dual, 0
        if waited >= _PATIENCE or not primal - dual > max(gap, _DIGITS * abs(primal)):
            break
        towards = _over_columns(G, alpha, at, xi - height - s)
        after = towards and mehrotra_step(at, towards)
        if not after:
            break
        at = after
    return best_a, best_w


def _over_columns(G: Array, alpha: float, at: PathPoint, missing: Array) -> Towards | None:
    """Factorise the conditions over w; None where there is no factor."""
    (a,), (s,), (w, _) = at.x, at.s, at.free_s
    D = a / s
    total = float(D.sum())
    mean = D @ G / total
    about = G - mean
    matrix = np.asfortranarray((about.T * D) @ about)
    np.einsum("ii->i", matrix)[:] += alpha
    factor = cholesky(matrix, matrix.diagonal().copy())
    if factor is None:
        return None

    def towards(products: list[Array]) -> PathPoint:
        rest = products[0] / s - D * missing  # the step of a if neither w nor xi moved
        by = dpotrs(factor, -alpha * w - rest @ about - mean, lower=1)[0]
        rise = (float(rest.sum()) - 1.0) / total + float(mean @ by)
        slack = rise - G @ by
        return PathPoint([rest - D * slack - a], [slack + missing], free_s=[by, rise])

    return towards


def best_weights(Q: Array, c: Array, gap: float) -> Array:
    """Return the weights, within `gap` of the best."""
    n = len(c)
    if n == 1:
        return np.ones(1)
    pull = Q @ np.full(n, 1.0 / n) - c
    spread = float(np.ptp(pull))
    slack = pull - float(pull.min()) + (spread if spread > 0.0 else 1.0)
    at = PathPoint([np.full(n, 1.0 / n)], [slack])
    best, least = at.x[0], np.inf
    for _ in range(_STEPS):
        a = at.x[0]
        room = c - Q @ a
        left = float(room.max() - room @ a)  # the gap, whatever z has become by rounding
        if left < least:
            best, least = a, left
        if not least > max(gap, _DIGITS * abs(float(c @ a) - 0.5 * float(a @ Q @ a))):
            break
        towards = _over_planes(Q, at) if at.products > _SPENT * least else None
        after = towards and mehrotra_step(at, towards)
        if not after:
            break
        at = after
    # The effect of a weight goes with the length of its plane's slope: a small one may count.
    size = best * np.sqrt(np.maximum(Q.diagonal(), 0.0))
    best = np.where((size > _ZERO_WEIGHT * size.max()) | (Q.diagonal() <= 0.0), best, 0.0)
    return np.asarray(best / best.sum())


def _over_planes(Q: Array, at: PathPoint) -> Towards | None:
    """Factorise the conditions over a; None where there is no factor."""
    (a,), (z,) = at.x, at.s
    matrix = Q.copy()
    np.einsum("ii->i", matrix)[:] += z / a
    factor = cholesky(matrix.T, matrix.diagonal().copy())
    if factor is None:
        return None
    of_ones = dpotrs(factor, np.ones_like(a), lower=1)[0]

    def towards(products: list[Array]) -> PathPoint:
        by = dpotrs(factor, products[0] / a - z, lower=1)[0]
        by = by - of_ones * (by.sum() / of_ones.sum())
        return PathPoint([by], [(products[0] - z * by) / a - z])

    return towards
