"""A small quadratic program over convex weights.

Solves   max over a >= 0 that sum to one  of  c.a - 1/2 a'Q a
by       Mehrotra's predictor and corrector on  Q a - c + y = z,  a z = mu,  with a Cholesky factor
         of Q + diag(z / a) in each step.
Given    Q, positive semidefinite but for rounding, of a few hundred rows at the most.
"""

from __future__ import annotations

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
#: Products a z that are this much smaller than the gap have no more to give.
_SPENT = 1e-8
#: What weights less than this share of the most is what an interior point leaves of zero.
_NOTHING = 1e-13


def best_weights(Q: Array, c: Array, gap: float) -> Array:
    """The weights, within `gap` of the best."""
    n = len(c)
    if n == 1:
        return np.ones(1)
    a = np.full(n, 1.0 / n)
    pull = Q @ a - c
    spread = float(np.ptp(pull))
    z = pull - float(pull.min()) + (spread if spread > 0.0 else 1.0)
    best, least = a, np.inf
    for _ in range(_STEPS):
        room = c - Q @ a
        left = float(room.max() - room @ a)  # the gap, whatever z has become by rounding
        if left < least:
            best, least = a, left
        if not least > max(gap, _DIGITS * abs(float(c @ a) - 0.5 * float(a @ Q @ a))):
            break
        step = _step(Q, a, z) if float(a @ z) > _SPENT * least else None
        if step is None:
            break
        a, z = step
    a = best
    # What a weight does goes by the length of what it weighs: a small one may count.
    size = a * np.sqrt(np.maximum(Q.diagonal(), 0.0))
    a = np.where((size > _NOTHING * size.max()) | (Q.diagonal() <= 0.0), a, 0.0)
    return np.asarray(a / a.sum())


def _step(Q: Array, a: Array, z: Array) -> tuple[Array, Array] | None:
    """A step of predictor and corrector; None where arithmetic has no more to give."""
    matrix = Q.copy()
    np.einsum("ii->i", matrix)[:] += z / a
    factor = cholesky(matrix.T, matrix.diagonal().copy())
    if factor is None:
        return None
    of_ones = dpotrs(factor, np.ones_like(a), lower=1)[0]

    def towards(products: Array) -> tuple[Array, Array]:
        """The step to  a z = products  on the tangent."""
        by = dpotrs(factor, products / a - z, lower=1)[0]
        by = by - of_ones * (by.sum() / of_ones.sum())
        return by, (products - z * by) / a - z

    ahead, ahead_z = towards(np.zeros_like(a))
    far = reach((a, ahead), (z, ahead_z))
    left = float(a @ z)
    after = float((a + far * ahead) @ (z + far * ahead_z))
    by, by_z = towards((after / left) ** 3 * left / len(a) - ahead * ahead_z)
    far = min(1.0, _SHY * reach((a, by), (z, by_z)))
    if not (np.isfinite(far) and far > 1e-10):
        return None
    return a + far * by, z + far * by_z
