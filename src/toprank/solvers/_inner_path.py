"""Steps between the bounds of the duals of a hinge: what interior-point methods share.

Solves   min over u  1/2 u'D u + sum_q b_q [r_q - z_q.u]_+,   D a diagonal of ones and zeros
by       its dual, max over a  r.a - 1/2 |Z'a|^2  s.t.  0 <= a <= b, Z'a = 0 where D has zeros:
         steps towards the points where  a above = (b - a) below = tau  for
         above - below = Z u - r, both positive, as tau falls to zero. Predictor and corrector
         share a Cholesky factor of D + Z' diag(t) Z.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from ..problems import Solution
from .linalg import one_blas_thread
from .loop import Progress

Array = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
#: Steps in which the products must fall.
_PATIENCE = 10
#: By this share.
_FALLS = 0.01
#: What both parts of a margin are at the start, as a share of the mean one.
_FIRST_SHARE = 1.0
#: How far a step goes, of the way to the nearest bound.
_SHY = 0.995


class HingeRows(Protocol):
    """The rows z_q of the hinges, behind their products."""

    def scores(self, u: Array) -> Array:
        """Z u."""

    def pull_back(self, a: Array) -> Array:
        """Z'a."""

    def matrix(self, give: Array) -> Array:
        """D + Z' diag(give) Z."""


def follow(
    path: Callable[[], InnerPath],
    bound: Callable[[InnerPath, Progress], None],
    *begin: Any,
    **options: Any,
) -> Solution:
    """Go along a path to the best bounds it leads to; `bound` takes them at every point of it.

    The other arguments are those of `Progress`.
    """
    progress = Progress(*begin, patience=_PATIENCE, falls=_FALLS, **options)
    with one_blas_thread(), np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        point = path()
        while True:
            point.look()
            bound(point, progress)
            if progress.over(max(point.gap, point.grain)) or not point.step():
                return progress.best


class InnerPath:
    """A point between the bounds, and how it moves.

    The first duals must lie between their bounds, and have Z'a = 0 where D has zeros: steps keep
    what it is there.
    """

    def __init__(self, rows: HingeRows, bound: Array, target: Array, first: Array) -> None:
        self._rows, self._target = rows, target
        self.a, self.left = first, bound - first
        # D u = Z'a, but u is kept by its own steps: of long rows the sum has fewer digits than
        # its terms.
        self.u = rows.pull_back(first)
        self.look()
        beyond = self.margin - target
        middle = _FIRST_SHARE * (1.0 + float(np.abs(beyond).mean()))
        self.above = np.maximum(beyond, 0.0) + middle
        self.below = np.maximum(-beyond, 0.0) + middle

    @property
    def gap(self) -> float:
        """The products that are to vanish; the gap where the two parts of a margin are its own."""
        return float(self.above @ self.a + self.below @ self.left)

    @property
    def grain(self) -> float:
        """What rounding may do to the dual value: products below it fall without any use."""
        return _EPS * float(np.abs(self._target) @ self.a)

    def look(self) -> None:
        """The margins at u, afresh."""
        self.margin = self._rows.scores(self.u)

    def step(self) -> bool:
        """A step of predictor and corrector; False where arithmetic has no more to give."""
        n = len(self.a)
        give = 1.0 / (self.above / self.a + self.below / self.left)
        factor, failed = dpotrf(self._rows.matrix(give).T, lower=1, clean=0)
        if failed:
            return False
        zeros = np.zeros(n)
        ahead, _ = self._towards(zeros, zeros, give, factor)
        reach = self._reach(*ahead)
        a, above, below = (reach * by for by in ahead)
        after = float((self.above + above) @ (self.a + a) + (self.below + below) @ (self.left - a))
        tau = (after / self.gap) ** 3 * self.gap / (2.0 * n)
        low, high = tau - ahead[0] * ahead[1], tau + ahead[0] * ahead[2]
        move, by = self._towards(low, high, give, factor)
        reach = min(1.0, _SHY * self._reach(*move))
        if not (np.isfinite(reach) and reach > 1e-10):
            return False
        self.u = self.u + reach * by
        self.a = self.a + reach * move[0]
        self.left = self.left - reach * move[0]
        self.above = self.above + reach * move[1]
        self.below = self.below + reach * move[2]
        return True

    def _towards(
        self, low: Array, high: Array, give: Array, factor: Array
    ) -> tuple[tuple[Array, ...], Array]:
        """The step to  a above = low, (b - a) below = high  on the tangent, and that of u."""
        pull = self._target - self.margin + low / self.a - high / self.left
        eased = give * pull
        by = dpotrs(factor, self._rows.pull_back(eased), lower=1)[0]
        a = eased - give * self._rows.scores(by)
        above = (low - self.above * a) / self.a - self.above
        below = (high + self.below * a) / self.left - self.below
        return (a, above, below), by

    def _reach(self, a: Array, above: Array, below: Array) -> float:
        """The share of a step that ends at the first bound it meets, at most 1."""
        shares = [1.0]
        for at, by in ((self.a, a), (self.left, -a), (self.above, above), (self.below, below)):
            down = by < 0
            shares.append(float((-at[down] / by[down]).min(initial=1.0)))
        return min(shares)
