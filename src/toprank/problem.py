"""A regularised problem, its solution, and the certificate that says how good that is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .designs import Design
from .losses import Loss

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Certificate:
    """Two values that bracket the optimum: `dual` <= minimum <= `primal`."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """How far `primal` can be from the minimum, at most."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal value."""
        return self.gap / abs(self.primal) if self.primal != 0 else self.gap

    def holds(self, tol: float) -> bool:
        """Whether the relative gap is within `tol`, but for the rounding of the two values."""
        return bool(self.relative_gap <= tol * (1.0 + 1e-6) + 1e-13)

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.8g}, dual {self.dual + 0.0:.8g}, "
            f"relative gap {self.relative_gap:.2g}"
        )


@dataclass
class Solution:
    """What a solver returns: weights, a dual vector that vouches for them, and the way there.

    `dual` is an N-vector v with F*(v) finite; `b` the threshold in the solver's own terms.
    """

    w: Array
    dual: Array
    b: float = 0.0
    n_iter: int = 0
    converged: bool = False
    gave_up: bool = False
    solver: str = ""
    alpha: float = 1.0
    #: X w, by which the same data are known again.
    scores: Array | None = field(default=None, repr=False)
    #: What the solver knows of the data, and may use again on the same.
    kept: object = field(default=None, repr=False)


class Problem:
    """min over w of  alpha/2 |w|^2 + F(X w)."""

    def __init__(self, design: Design, loss: Loss, alpha: float) -> None:
        self.design = design
        self.loss = loss
        self.alpha = alpha

    def value(self, w: Array, s: Array | None = None) -> float:
        """The objective at w; s are the scores of w, where they are known."""
        s = self.design.scores(w) if s is None else s
        return 0.5 * self.alpha * float(w @ w) + self.loss.value(s)

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        """The objective and a subgradient of it."""
        s = self.design.scores(w)
        return self.value(w, s), self.alpha * w + self.design.pull_back(self.loss.slope(s))

    def dual_value(self, v: Array) -> float:
        """-|X'v|^2 / (2 alpha) - F*(v): never above the minimum."""
        rows = np.flatnonzero(v)
        u = self.design.pull_back(v[rows], rows)
        return -float(u @ u) / (2.0 * self.alpha) - self.loss.conjugate(v)

    def certify(self, w: Array, v: Array, s: Array | None = None) -> Certificate:
        """Both values from the weights and a dual vector, whatever a solver believes of them.

        Where F* is not known of any vector, the slope at w is the dual vector: there
        F*(v) = v.s - F(s).
        """
        s = self.design.scores(w) if s is None else s
        primal = self.value(w, s)
        if self.loss.has_conjugate:
            return Certificate(primal, max(self.dual_value(v), self.loss.infimum))
        gradient = self.alpha * w + self.design.pull_back(self.loss.slope(s))
        dual = primal - float(gradient @ gradient) / (2.0 * self.alpha)
        return Certificate(primal, max(dual, self.loss.infimum))


class BallProblem:
    """min of F(X w)  over |w|_1 <= 1, or over w >= 0 that sum to one.

    F is a loss whose conjugate is known, so that any vector v bounds the minimum:
    F(X w) >= v.X w - F*(v) >= -max_k |X'v|_k - F*(v).
    """

    def __init__(self, design: Design, loss: Loss, *, signed: bool = True) -> None:
        self.design, self.loss, self.signed = design, loss, signed

    def lowest(self, gradient: Array) -> float:
        """The least w.gradient of any w that is allowed."""
        if self.signed:
            return -float(np.abs(gradient).max(initial=0.0))
        return float(gradient.min(initial=np.inf))

    def dual_value(self, v: Array) -> float:
        """min over w of w.X'v, less F*(v): never above the minimum."""
        rows = np.flatnonzero(v)
        return self.lowest(self.design.pull_back(v[rows], rows)) - self.loss.conjugate(v)

    def certify(self, w: Array, v: Array, s: Array | None = None) -> Certificate:
        """Both values from the weights and a dual vector, whatever a solver believes of them."""
        s = self.design.scores(w) if s is None else s
        return Certificate(self.loss.value(s), self.dual_value(v))
