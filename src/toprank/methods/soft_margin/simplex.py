"""Newton's systems for weights on the simplex, or in the L1 ball, which is twice a simplex.

In the L1 ball w = a - b, and (a, b) >= 0 sum to one. The ball's rankers are the rankers and their
negatives, but no vector or matrix of twice the size is ever formed where one of the size will do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ...solvers.linalg import cholesky
from ...solvers.loop import Close

Array = NDArray[np.float64]

#: Weights below this share of the largest are what an interior point leaves of zero.
_NOTHING = 1e-6
#: A margin that is proven to be no larger is none: in the ball w = 0 is the optimum.
TRIVIAL = 1e-6
#: What margins, which are between -1 and 1, are computed to.
_DIGITS = 2e-10


class Weights:
    """How the weights of the rankers and of their negatives go together."""

    def __init__(self, signed: bool) -> None:
        self.signed = signed

    def spread(self, x: Array) -> Array:
        """(x, -x) for the ball, x for the simplex."""
        return np.concatenate([x, -x]) if self.signed else x

    def net(self, alpha: Array) -> Array:
        """w of the weights of rankers and of their negatives."""
        if not self.signed:
            return alpha
        half = len(alpha) // 2
        return np.asarray(alpha[:half] - alpha[half:])

    def largest(self, edges: Array) -> float:
        """The largest edge of any ranker, or of its negative."""
        return float((np.abs(edges) if self.signed else edges).max())

    def cleaned(self, w: Array) -> Array:
        """w without what is as good as zero, of length one; zero stays."""
        size = np.abs(w)
        w = np.where(size > _NOTHING * size.max(initial=0.0), w, 0.0)
        total = float(np.abs(w).sum())
        return np.asarray(w / total) if total > 0 else w


class NewtonMatrix:
    """K = S'GS + diag(t), S = (I, -I) for the ball and I for the simplex, factored.

    For the ball K (x, y) = (r, q) is solved by an N x N matrix: with delta = x - y,
    (G + D) delta = D (r / t_x - q / t_y),  D = t_x t_y / (t_x + t_y).
    """

    def __init__(self, gram: Array, t: Array, signed: bool) -> None:
        self._signed, self._gram, self._t = signed, gram, t
        n = len(gram)
        self._bend = t
        if signed:
            low, high = np.minimum(t[:n], t[n:]), np.maximum(t[:n], t[n:])
            self._bend = low / (1.0 + low / high)
        matrix = gram.copy()
        np.einsum("ii->i", matrix)[:] += self._bend
        # A ridge in proportion to the entry: rankers may be of any size.
        factor = cholesky(matrix.T, matrix.diagonal().copy())
        if factor is None:
            raise FloatingPointError("A Newton system overflowed.")
        self._factor = factor

    def solve(self, right: Array) -> Array:
        """K^-1 times the columns of `right`, or times one vector."""
        if not self._signed:
            return np.asarray(dpotrs(self._factor, right, lower=1)[0]).reshape(right.shape)
        n = len(self._gram)
        shape = (n,) + (1,) * (right.ndim - 1)
        tx, ty = self._t[:n].reshape(shape), self._t[n:].reshape(shape)
        r, q = right[:n], right[n:]
        pull = self._bend.reshape(shape) * (r / tx - q / ty)
        delta = np.asarray(dpotrs(self._factor, pull, lower=1)[0]).reshape(r.shape)
        image = self._gram @ delta
        # The side that is held the more is exact; the other one follows by the difference.
        x, y = (r - image) / tx, (q + image) / ty
        firm = tx >= ty
        return np.concatenate([np.where(firm, x, delta + y), np.where(firm, x - delta, y)])


def one_ranker(edges: Array, signed: bool) -> tuple[Array, float]:
    """The weights of the ranker with the largest edge alone, and that edge."""
    best = int(np.argmax(np.abs(edges) if signed else edges))
    w = np.zeros(len(edges))
    w[best] = -1.0 if signed and edges[best] < 0 else 1.0
    return w, float(w[best] * edges[best])


def close_enough(lower: float, upper: float, tol: float, signed: bool) -> bool:
    """Whether bounds of a margin are near each other, or show that there is none to speak of."""
    if upper <= TRIVIAL and (signed or lower >= -TRIVIAL):
        return True
    return upper - lower <= max(tol * abs(lower), _DIGITS)


def close_bounds(tol: float, signed: bool) -> Close:
    """The same of primal and dual values, which are minus the margins."""
    return lambda primal, dual: close_enough(-primal, -dual, tol, signed)
