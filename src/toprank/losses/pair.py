"""Losses of all pairs of a positive and a negative row, which are never listed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import PairRanks, PairScan
from ..inputs.class_split import Split
from ..surrogates import Surrogate
from .base import Loss
from .rounded import RoundedPairs

Array = NDArray[np.float64]

#: What rounding may add to the sums a dual vector is held against.
_ROUNDING = 1e-9
#: Scores below this have every pair within the margin: the loss is a polynomial of them.
_ALL_COUNT = 0.5


class PairLoss(RoundedPairs, Loss):
    """F(s) = sum_i sum_j p_i q_j l(s_j - s_i), l the hinge or its square, in time N log N.

    Its dual vectors are v = (-a on the positives, +delta on the negatives), the sums over rows and
    columns of a dual of every pair. For the hinge that is between 0 and p_i q_j, and
    F*(v) = -sum a wherever such duals exist. The square's conjugate is known where v is a slope.
    """

    shift_invariant = True
    sums_pairs = True

    def __init__(self, split: Split, surrogate: Surrogate) -> None:
        if surrogate.name not in ("hinge", "squared_hinge"):
            raise TypeError(f"The loss of pairs is the hinge or its square, not {surrogate.name}.")
        self.split = split
        self.surrogate: Surrogate = surrogate
        self.hinge, self.smooth = not surrogate.quadratic, surrogate.quadratic
        self.has_conjugate = not surrogate.quadratic
        #: The width of the bend: the hinge has next to none, its square bends everywhere.
        self.width = np.inf if surrogate.quadratic else np.finfo(np.float64).tiny

    @property
    def at_zero(self) -> float:
        """F(0) = l(0)."""
        return self.surrogate.at_zero

    def _classes(self) -> tuple[Any, ...]:
        """The rows of the two classes with their weights, None where all are the same."""
        split = self.split
        p, q = (x if np.ptp(x) > 0 else None for x in (split.p, split.q))
        return split.n_rows, split.pos, p, split.neg, q

    def ranks(self) -> PairRanks:
        """What sums the squared hinge over the pairs, with one class sorted."""
        return PairRanks(*self._classes())

    def scan(self, s: Array | None = None) -> PairScan:
        """What sorts the classes by the scores and sums over the pairs."""
        scan = PairScan(*self._classes())
        if s is not None:
            scan.sort(s)
        return scan

    def threshold(self, s: Array) -> float:
        """As large a share of the rows lies above it as are positive: pairs say nothing of it."""
        return self.split.share_threshold(s)

    def value(self, s: Array) -> float:
        """F(s)."""
        if self.surrogate.quadratic:
            return self.ranks().slope(s)[1]
        return self.scan(s).value(self.width)[1]

    def rise(self, s: Array, value: float | None = None) -> float:
        """F(s) - F(0), exact to rounding of itself however small the scores are.

        `value` is F(s), if it is at hand.
        """
        s_pos, s_neg, p, q = s[self.split.pos], s[self.split.neg], self.split.p, self.split.q
        if max(np.abs(s_pos).max(), np.abs(s_neg).max()) >= _ALL_COUNT:
            return (self.value(s) if value is None else value) - self.at_zero
        above, below = float(p @ s_pos), float(q @ s_neg)
        if not self.surrogate.quadratic:
            return below - above
        squares = float(p @ s_pos**2) + float(q @ s_neg**2)
        return 2.0 * (below - above) + squares - 2.0 * above * below

    def slope(self, s: Array) -> Array:
        """The gradient, and for the hinge a subgradient, of F at s."""
        if self.surrogate.quadratic:
            return self.ranks().slope(s)[0]
        return self.scan(s).slope(self.width)[0]

    def conjugate(self, v: Array) -> float:
        """F*(v) for the hinge: -sum a, where a dual of every pair can be found with these sums.

        It can (Gale and Ryser) where both sides sum to the same and, for the sets S of positives
        with the largest a_i / p_i, sum_{i in S} a_i <= sum_j min(delta_j, q_j p(S)).
        """
        if self.surrogate.quadratic:
            raise NotImplementedError("The conjugate of the squared hinge is known at slopes only.")
        total = -float(v[self.split.pos].sum())
        return -total if self.excess(v) <= _ROUNDING * 2.0 * total else float(np.inf)

    def excess(self, v: Array) -> float:
        """How much of the duals cannot be shared out among the pairs: 0 where F* is finite.

        By the theorem of the greatest flow and the least cut, no more than this need be taken off
        either side to leave duals that can.
        """
        split = self.split
        a, delta = -v[split.pos], v[split.neg]
        outside = v.copy()
        outside[split.pos] = outside[split.neg] = 0.0
        if outside.any() or min(a.min(), delta.min()) < 0:
            return float(np.inf)
        share, load, _ = _steepest_first(a, split.p)
        q_share, q_load, steepness = _steepest_first(delta, split.q)
        # sum_j min(delta_j, q_j P): the negatives with delta_j / q_j > P give q_j P.
        steep = np.searchsorted(-steepness, -share, side="left")
        room = share * q_share[steep] + (q_load[-1] - q_load[steep])
        return max(float((load - room).max()), abs(float(a.sum() - delta.sum())), 0.0)


def _steepest_first(load: Array, share: Array) -> tuple[Array, Array, Array]:
    """Sums of the shares and of the loads, zero first, and the loads a share: the largest first.

    What has no load is left out.
    """
    loaded = load > 0
    load, share = load[loaded], share[loaded]
    falling = -load / share
    order = np.argsort(falling)
    return (
        np.concatenate([[0.0], np.cumsum(share[order])]),
        np.concatenate([[0.0], np.cumsum(load[order])]),
        -falling[order],
    )
