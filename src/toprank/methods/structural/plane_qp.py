"""The least of a few cutting planes and a ridge, over few columns.

Solves   min over w, xi  of  alpha/2 |w|^2 + xi,  xi >= c_k + g_k.w  for every plane k
by       Mehrotra's predictor and corrector on  alpha w + G'a = 0,  sum a = 1,  a s = mu,  s the
         slack xi - c - G w. A Cholesky factor of  alpha I + G'DG,  D = diag(a / s), in each step
         bears columns of any scales, which the products G G' of `_simplex_qp` do not: digits of
         the small columns are lost in them.
Given    G of no more columns than a factor is quick for.
Returns  the weights a, which are not negative and sum to one, and w.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ...solvers.linalg import cholesky
from ...solvers.simplex import reach

Array = NDArray[np.float64]

#: How far a step goes, of the way to the nearest bound.
_SHY = 0.995
#: The most steps; a dozen or two will do.
_STEPS = 60
#: A gap of this share of the value is none.
_DIGITS = 1e-15
#: Steps in which the gap must fall: arithmetic may have no more digits to give.
_PATIENCE = 5
#: By this share.
_FALLS = 0.1
#: A step of a smaller share of the way leads nowhere.
_NOWHERE = 1e-10


class _Point(NamedTuple):
    """Weights of the planes, slacks, w and xi; or a step of them."""

    a: Array
    s: Array
    w: Array
    xi: float

    def plus(self, share: float, step: _Point) -> _Point:
        """The point after a share of a step."""
        a, s, w, xi = step
        return _Point(
            self.a + share * a, self.s + share * s, self.w + share * w, self.xi + share * xi
        )


def least_of_planes(G: Array, c: Array, alpha: float, gap: float) -> tuple[Array, Array]:
    """The weights a and w, their values within `gap` of each other."""
    n, d = G.shape
    spread = float(np.ptp(c)) or 1.0
    xi = float(c.max()) + spread
    at = _Point(np.full(n, 1.0 / n), xi - c, np.zeros(d), xi)
    a, w, dual, primal, least, waited = at.a, at.w, -np.inf, np.inf, np.inf, 0
    for _ in range(_STEPS):
        height = c + G @ at.w
        value = 0.5 * alpha * float(at.w @ at.w) + float(height.max())
        if value < primal:
            w, primal = at.w, value
        share = at.a / at.a.sum()
        pull = share @ G
        value = float(share @ c) - float(pull @ pull) / (2.0 * alpha)
        if value > dual:
            a, dual = share, value
        waited = waited + 1
        if primal - dual < (1.0 - _FALLS) * least:
            least, waited = primal - dual, 0
        if waited >= _PATIENCE or not primal - dual > max(gap, _DIGITS * abs(primal)):
            break
        after = _step(G, alpha, at, at.xi - height - at.s)
        if after is None:
            break
        at = after
    return a, w


def _step(G: Array, alpha: float, at: _Point, missing: Array) -> _Point | None:
    """A step of predictor and corrector; None where arithmetic has no more to give."""
    D = at.a / at.s
    total = float(D.sum())
    mean = D @ G / total
    about = G - mean
    matrix = np.asfortranarray((about.T * D) @ about)
    np.einsum("ii->i", matrix)[:] += alpha
    factor = cholesky(matrix, matrix.diagonal().copy())
    if factor is None:
        return None

    def towards(products: Array) -> _Point:
        """The step to  a s = products  on the tangent."""
        rest = products / at.s - D * missing  # what a would be if neither w nor xi moved
        by = dpotrs(factor, -alpha * at.w - rest @ about - mean, lower=1)[0]
        rise = (float(rest.sum()) - 1.0) / total + float(mean @ by)
        slack = rise - G @ by
        return _Point(rest - D * slack - at.a, slack + missing, by, rise)

    ahead = towards(np.zeros_like(at.a))
    there = at.plus(reach((at.a, ahead.a), (at.s, ahead.s)), ahead)
    left, after = float(at.a @ at.s), float(there.a @ there.s)
    by = towards((after / left) ** 3 * left / len(at.a) - ahead.a * ahead.s)
    far = min(1.0, _SHY * reach((at.a, by.a), (at.s, by.s)))
    if not (np.isfinite(far) and far > _NOWHERE):
        return None
    return at.plus(far, by)
