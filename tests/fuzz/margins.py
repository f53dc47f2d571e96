"""The 1-norm soft margins without rounding: LPPair and SoftMarginRank."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .digits import Exact, Real, real, total
from .exact import LEFT, ONE, ZERO, Classes, precise
from .objectives import EPS


class Stumps(NamedTuple):
    """Weights of stumps, +1 where a feature is above a threshold, else -1."""

    features: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    weights: Any


def tail_mean(values: list[Real], caps: list[Real]) -> Real:
    """min { d.values : 0 <= d <= caps, sum d = 1 }."""
    left, total = ONE, ZERO
    for value, cap in sorted(zip(values, caps, strict=True), key=lambda pair: pair[0]):
        taken = min(cap, left)
        total, left = total + taken * value, left - taken
        last = value
        if left <= 0:
            break
    return total + left * last  # caps that sum to one but for the last bits


class Margin:
    """Minus the soft margin over |w|_1 <= 1, or over w >= 0 that sum to one."""

    def __init__(
        self, X: NDArray[np.float64], classes: Classes, kind: str, positive: bool, shares: Any
    ) -> None:
        self.X, self.classes, self.kind, self.positive = X, classes, kind, positive
        #: Epsilon of the pairs, or those of the positives and of the negatives.
        self.shares = [real(share) for share in shares]
        self.n_weights = X.shape[1]
        #: Columns that are rankers: "linear" leaves out the constant ones.
        self.usable = np.ones(X.shape[1], dtype=bool)
        self._half = None if kind == "stumps" else self._half_scores()
        # Rankers are within [-1, 1], so that what is said here of them is absolute.
        # "linear": the range of a column, one over it and two products are rounded, each by half
        # an eps, in every entry of either row of a margin.
        self.slack = 4 * EPS if kind == "linear" else real(0)
        if len(self.shares) == 2:
            # nu_plus_ over the number of positives is the share that was used but for an eps, and
            # a tail mean changes by the range of its values times the log of the share.
            self.slack += 4 * EPS

    def _half_scores(self) -> Exact:
        rows = np.concatenate([self.classes.pos, self.classes.neg])
        X = precise(self.X)
        if self.kind == "precomputed":
            return X / 2
        for k in range(X.shape[1]):
            low, high = min(X[rows, k]), max(X[rows, k])
            self.usable[k] = high > low
            X[:, k] = (X[:, k] - low) / (high - low) if high > low else ZERO
        return X

    def scores(self, w: Any) -> Exact:
        """Half the scores of all rows."""
        if isinstance(w, Stumps):
            above = self.X[:, w.features] > w.thresholds
            signs = np.where(above, 1, -1).astype(object)
            return signs @ precise(w.weights) / 2 if len(w.features) else precise(0 * self.X[:, 0])
        assert self._half is not None
        return self._half @ precise(w)

    def value(self, w: Any) -> Real:
        """Minus the mean of the lowest margins."""
        s, (pos, neg, p, q) = self.scores(w), self._parts
        if len(self.shares) == 1:
            caps = [a * b / self.shares[0] for a in p for b in q]
            return -tail_mean([x - z for x in s[pos] for z in s[neg]], caps)
        low = tail_mean(list(s[pos]), [a / self.shares[0] for a in p])
        return -low - tail_mean(list(-s[neg]), [b / self.shares[1] for b in q])

    @property
    def _parts(self) -> tuple[Any, Any, Exact, Exact]:
        return self.classes.pos, self.classes.neg, self.classes.p, self.classes.q

    def inside(self, w: Any) -> Any:
        """W, or weights that are allowed in its place."""
        weights = precise(w.weights if isinstance(w, Stumps) else w)
        if self.positive:
            weights = np.where(self.usable, [max(x, ZERO) for x in weights], ZERO)
            weights = weights if any(weights) else np.where(self.usable, ONE, ZERO)
            weights = weights / (sum(weights) or ONE)
        elif (length := sum(map(abs, weights), ZERO)) > 1:
            weights = weights / (length * (1 + LEFT))
        return w._replace(weights=weights) if isinstance(w, Stumps) else weights

    def allows(self, w: Any) -> bool:
        """Whether the 1-norm is one at most, but for the rounding of d sums."""
        weights = precise(w.weights if isinstance(w, Stumps) else w)
        length = total(map(abs, weights))
        fine = length <= 1 + (len(weights) + 2) * EPS
        return bool(fine and (not self.positive or min(weights, default=ZERO) >= 0))
