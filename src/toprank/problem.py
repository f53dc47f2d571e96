"""A regularised problem, its solution, and the certificate that says how good that is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from .designs import Ask, Design, Sums
from .losses import DualRounding, Loss, Mixture, RankingLoss, RowSum
from .rounding import STEPS, UNIT, gamma
from .sum_bounds import is_balanced, shifted_bound, size_of_terms

Array = NDArray[np.float64]


#: What a gap may be above the tolerance, as a share of it: solvers stop at the tolerance, and
#: rounding comes on top.
ROOM = 0.01
#: A gap as small as this, beside the objective at w = 0, is no gap.
NO_GAP = 1e-12
#: Above this many columns X'u is bounded where it counts for little.
_MANY_COLUMNS = 1000


@dataclass(frozen=True)
class Certificate:
    """Two values that bracket the optimum: `dual` <= minimum <= objective at w <= `primal`.

    They hold in floating point: what rounding may have done to either is included. `at_zero` is
    what w = 0 costs, where that is known. `unit` is what the gap is a share of where the primal
    value is less than that: of an objective that falls below zero.
    """

    primal: float
    dual: float
    at_zero: float = 0.0
    unit: float = 0.0

    @property
    def gap(self) -> float:
        """How far `primal` can be from the minimum, at most."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal value, or of the `unit`."""
        return self.gap / self._size if self._size != 0 else self.gap

    @property
    def _size(self) -> float:
        return max(abs(self.primal), self.unit)

    def holds(self, tol: float) -> bool:
        """Whether the relative gap is within `tol`, a hundredth of it left for rounding.

        A gap of 1e-12 of what w = 0 costs is none, however little the fit itself costs. One that is
        further below zero than that proves nothing but a fault: it does not hold.
        """
        none = 1e-13 * self._size + NO_GAP * max(self.at_zero, self.unit)
        enough = tol * (1.0 + ROOM) * self._size + none
        return bool(-none <= self.gap <= enough < np.inf)

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.8g}, dual {self.dual + 0.0:.8g}, "
            f"relative gap {self.relative_gap:.2g}"
        )


@dataclass
class Solution:
    """What a solver returns: weights, a dual vector that vouches for them, and the way there.

    `dual` is an N-vector v with F*(v) finite, or empty where the slopes at w and b are to be it;
    `b` is the threshold in the solver's own terms.
    """

    w: Array
    dual: Array
    b: float = 0.0
    n_iter: int = 0
    converged: bool = False
    gave_up: bool = False
    solver: str = ""
    alpha: float = 1.0
    #: The rankings that prove the bound, where the loss is the worst case over rankings.
    mixture: Mixture | None = field(default=None, repr=False)
    #: X w, by which the same data are known again.
    scores: Array | None = field(default=None, repr=False)
    #: The certificate, where the rows that prove it are few, and there is no dual vector of all.
    certificate: Certificate | None = None
    #: What the solver knows of the data, and may use again on the same.
    kept: object = field(default=None, repr=False)

    @property
    def proof(self) -> Array | Mixture:
        """What `Problem.certify` is to go by."""
        return self.dual if self.mixture is None else self.mixture

    @property
    def has_dual(self) -> bool:
        """Whether there is a dual vector, or a mixture; else the slopes at w and b are one."""
        return self.mixture is not None or len(self.dual) > 0


class Problem:
    """min over w of  alpha/2 |w|^2 + F(X w)."""

    def __init__(self, design: Design, loss: Loss, alpha: float) -> None:
        self.design = design
        self.loss = loss
        self.alpha = alpha
        #: The last point that was certified, for it is asked for again.
        self._certified: tuple[Array, float, Certificate] | None = None

    def at_alpha(self, alpha: float) -> Self:
        """The same design and loss at another alpha."""
        return type(self)(self.design, self.loss, alpha)

    def value(self, w: Array, s: Array | None = None) -> float:
        """The objective at w; s are the scores of w, where they are known."""
        s = self.design.scores(w) if s is None else s
        return self.penalty(w) + self.loss.value(s)

    def penalty(self, w: Array) -> float:
        """alpha/2 |w|^2."""
        return 0.5 * self.alpha * float(w @ w)

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        """The objective and a subgradient of it; of a sum over rows block by block."""
        if self.loss.sums_rows and not self.loss.free_bias:
            sums = self.design.reduce(Ask(cast(RowSum, self.loss), w))
            return self.penalty(w) + sums.value, self.alpha * w + sums.pull
        s = self.design.scores(w)
        return self.value(w, s), self.alpha * w + self.design.pull_back(self.loss.slope(s))

    def dual_value(self, v: Array) -> float:
        """-|X'v|^2 / (2 alpha) - F*(v): never above the minimum."""
        rows = np.flatnonzero(v)
        u = self.design.pull_back(v[rows], rows)
        return -float(u @ u) / (2.0 * self.alpha) - self.loss.conjugate(v)

    def certify(self, w: Array, v: Array | Mixture, s: Array | None = None) -> Certificate:
        """Both values from the weights and a dual vector, whatever a solver believes of them.

        Both include what rounding may have done to them. Where F* is not known of any vector, the
        slope at w is the dual vector: there F*(v) = v.s - F(s), of F or of a loss below it that a
        dual vector chooses. Where F is the worst case over
        rankings, any rankings and weights for them are a dual vector whose F* is known.
        """
        s = self.design.scores(w) if s is None else s
        off = _score_rounding(self.design, w, s)
        primal = self._bound(w, s, off, 1.0)
        if self.loss.over_rankings:
            dual = self._mixture_bound(v, s)
        elif self.loss.has_conjugate:
            dual = self._dual_bound(cast(Array, v))
        else:
            below = self.loss.minorant(cast(Array, v))
            dual = -np.inf
            if below is not None:
                dual = Problem(self.design, below, self.alpha)._slope_bound(w, s, off)
        # Not -0, which max may leave of a dual vector of zeros.
        return self._certificate(primal, dual)

    def _certificate(self, primal: float, dual: float) -> Certificate:
        loss = self.loss
        return Certificate(primal, max(dual, loss.infimum) + 0.0, loss.at_zero, loss.unit)

    def size_of(self, value: float) -> float:
        """What a gap at an objective of this value is a share of."""
        return max(abs(value), self.loss.unit)

    def vouch(self, solution: Solution) -> Certificate:
        """The certificate of a solution; of one without a dual vector, from its w and b alone."""
        if solution.certificate is not None:
            return solution.certificate
        if solution.has_dual:
            return self.certify(solution.w, solution.proof, solution.scores)
        return self.certify_at(solution.w, solution.b)

    def certify_at(self, w: Array, b: float) -> Certificate:
        """Both values from the weights and the threshold, in one pass.

        For a sum over rows that compiled kernels know. Slopes v at the point, shifted to sum to
        zero where b is free, are the dual vector, and what rounding may have done is included:
        scores are moved to where the loss is larger, and F* is bounded at them.
        """
        last = self._certified
        if last is not None and last[1] == b and np.array_equal(last[0], w):
            return last[2]
        return self.examine(w, b)[0]

    def examine(
        self, w: Array, b: float, *, scores: bool = False, squares: bool = False
    ) -> tuple[Certificate, Sums]:
        """The certificate of a point, and the sums it is made of, for who goes on from there."""
        loss = cast(RowSum, self.loss)
        d, length = self.design.shape[1], float(np.linalg.norm(w))
        own = gamma(d + STEPS)
        # Of many columns the second vector that a shift needs costs more than it is worth where b
        # is the best one.
        shift = loss.free_bias and d <= _MANY_COLUMNS
        ask = Ask(
            loss,
            w,
            b,
            shift=shift,
            scores=scores,
            squares=squares,
            per_length=2.0 * own * length,
        )
        with np.errstate(over="ignore", invalid="ignore"):
            sums = self.design.reduce(ask)
            if loss.free_bias and not shift and not is_balanced(sums):
                sums = self.design.reduce(replace(ask, shift=True))
            assert loss.compiled is not None
            ridge = 0.5 * self.alpha * length * length
            error = gamma(sums.depth + 4 * STEPS)
            terms = sums.value if loss.infimum >= 0.0 else size_of_terms(sums)
            primal = sums.value + error * terms + ridge
            primal += gamma(d + STEPS) * (abs(sums.value) + ridge)
            dual = shifted_bound(sums, self.alpha, loss.compiled.steepest, loss.free_bias)
        if not np.isfinite(primal):
            primal, dual = np.inf, -np.inf
        found = self._certificate(primal, dual)
        self._certified = (w.copy(), b, found)
        return found, sums

    def _bound(self, w: Array, s: Array, off: Array, up: float) -> float:
        """The objective at w, or more where `up` is 1, or less where it is -1."""
        if not w.any():
            return self.loss.at_zero + up * self.loss.zero_rounding
        moved = self.loss.worse(s, up * off)
        penalty, loss = self.penalty(w), self.loss.value(moved)
        value = loss + penalty
        error = self.loss.value_rounding(moved, loss) + gamma(len(w) + STEPS) * penalty
        return value + up * (error + 2.0 * UNIT * abs(value))

    def _dual_bound(self, v: Array) -> float:
        """-|X'v|^2 / (2 alpha) - F*(v), or less: no more than the minimum."""
        conjugate = self.loss.conjugate(v)
        if not np.isfinite(conjugate):
            return -np.inf
        return self._bound_by(v, conjugate, self.loss.dual_rounding(v))

    def _mixture_bound(self, v: Array | Mixture, s: Array) -> float:
        """The same of a mixture of rankings; without one, of the worst ranking at s."""
        loss = cast(RankingLoss, self.loss)
        if not isinstance(v, Mixture):
            v = Mixture(loss.worst_ranking(s)[np.newaxis], np.ones(1))
        plane, off = loss.mixed(v)
        return self._bound_by(plane.v, -plane.level, off)

    def _bound_by(self, v: Array, conjugate: float, off: DualRounding) -> float:
        """The same of a dual vector with its F*, and what rounding can have done to both."""
        rows = np.flatnonzero(v)
        u = self.design.pull_back(v[rows], rows)
        length = float(np.linalg.norm(u)) + _pull_rounding(self.design, v, off)
        value = length * (length / (2.0 * self.alpha)) * (1.0 + gamma(len(u) + STEPS))
        return -(value + conjugate + off.value + 2.0 * UNIT * (value + abs(conjugate)))

    def _slope_bound(self, w: Array, s: Array, off: Array) -> float:
        """P(w) - |g|^2 / (2 alpha), or less, g the gradient: no more than the minimum."""
        v = self.loss.slope(s)
        gradient = self.alpha * w + self.design.pull_back(v)
        wrong = self.loss.slope_rounding(s, off, v)
        own = gamma(len(v) + STEPS)
        error = float(self.design.norms @ (wrong + own * np.abs(v)))
        error += gamma(STEPS) * self.alpha * float(np.linalg.norm(w))
        length = float(np.linalg.norm(gradient)) * (1.0 + gamma(len(w) + STEPS)) + error
        fall = length * (length / (2.0 * self.alpha)) * (1.0 + 4.0 * UNIT)
        return self._bound(w, s, off, -1.0) - fall


def _score_rounding(design: Design, w: Array, s: Array) -> Array:
    """How far computed scores can be off, and differences of them."""
    if not w.any():
        return np.zeros(len(s))
    size = float(np.linalg.norm(w))
    own = 4.0 * UNIT * float(np.abs(s).max(initial=0.0))
    return np.asarray(gamma(design.shape[1] + STEPS) * size * design.norms + own)


def _pull_rounding(design: Design, v: Array, off: DualRounding) -> float:
    """How far X'v can be from that of a dual vector that is surely allowed, in length."""
    size = np.abs(v)
    share = gamma(len(v) + STEPS) + off.share
    largest = float(design.norms[size > 0.0].max(initial=0.0))
    return share * float(size @ design.norms) + off.mass * largest


class L1Problem(Problem):
    """min over w of  alpha |w|_1 + F(X w).

    Any v with |X'v|_k <= alpha in every column bounds the minimum by -F*(v), and any other does
    once it is scaled down to that.
    """

    def penalty(self, w: Array) -> float:
        """alpha |w|_1."""
        return self.alpha * float(np.abs(w).sum())

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        """The objective and a subgradient of it."""
        s = self.design.scores(w)
        pull = self.design.pull_back(self.loss.slope(s))
        return self.value(w, s), self.alpha * np.sign(w) + pull

    def dual_value(self, v: Array) -> float:
        """-F*(theta v), theta the largest up to 1 that v may be scaled by."""
        return -self.loss.conjugate(self._scaled(v, 0.0))

    def _scaled(self, v: Array, wrong: float) -> Array:
        """v scaled down until no column of X'v, off by `wrong`, is above alpha."""
        rows = np.flatnonzero(v)
        steepest = float(np.abs(self.design.pull_back(v[rows], rows)).max(initial=0.0)) + wrong
        return v if steepest <= self.alpha else v * (self.alpha / steepest * (1.0 - 4.0 * UNIT))

    def _dual_bound(self, v: Array) -> float:
        """-F*(theta v), or less: no more than the minimum."""
        v = self._scaled(v, _pull_rounding(self.design, v, self.loss.dual_rounding(v)))
        conjugate = self.loss.conjugate(v)
        if not np.isfinite(conjugate):
            return -np.inf
        return -(conjugate + self.loss.dual_rounding(v).value + 2.0 * UNIT * abs(conjugate))


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
        """Both values from the weights and a dual vector, whatever a solver believes of them.

        Both include what rounding may have done to them, and to the length of w, which is one.
        """
        s = self.design.scores(w) if s is None else s
        moved = self.loss.worse(s, _score_rounding(self.design, w, s))
        value, dual = self.loss.value(moved), self.dual_value(v)
        error = self.loss.value_rounding(moved, value) + gamma(len(w) + STEPS) * abs(value)
        wrong = _pull_rounding(self.design, v, self.loss.dual_rounding(v))
        return Certificate(value + error, dual - wrong - 2.0 * UNIT * abs(dual))
