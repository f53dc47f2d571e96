"""Regularised problems, and the one way to a certificate of a solution: `Problem.certify`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from .._compat import cached_property
from .._core import highest_rows
from ..designs import Ask, Design, Highest, Sums, Thinning
from ..losses import (
    Bracket,
    DualRounding,
    Loss,
    Mixture,
    PairLoss,
    RankingLoss,
    ReversedLoss,
    RowSum,
    ThresholdLoss,
)
from ..rounding import STEPS, UNIT, gamma
from ..rounding import length as length_of
from .rounding import (
    carried_by,
    is_balanced,
    primal_bound,
    pull_rounding,
    score_rounding,
    shifted_bound,
)
from .solution import Certificate, Multipliers, Solution

Array = NDArray[np.float64]


#: Above this many columns X'u is bounded where it counts for little.
_MANY_COLUMNS = 1000


@dataclass(frozen=True)
class _Certified:
    """A certified solution: its weights, its threshold, its evidence and the scores of its rows."""

    w: Array
    b: float
    #: The dual vector, the mixture or the rows with multipliers; None for slopes at (w, b).
    evidence: object
    certificate: Certificate
    scores: Array | None = None


class Problem:
    """min over w of  alpha/2 |w|^2 + F(X w)."""

    def __init__(self, design: Design, loss: Loss, alpha: float) -> None:
        self.design = design
        self.loss = loss
        self.alpha = alpha
        #: The last solution that was certified: callers certify it again.
        self._last: _Certified | None = None

    def at_alpha(self, alpha: float) -> Self:
        """The same design and loss at another alpha."""
        return type(self)(self.design, self.loss, alpha)

    @cached_property
    def inner(self) -> Problem:
        """The problem with the classes exchanged, where the loss is another one with them so."""
        assert isinstance(self.loss, ReversedLoss)
        return Problem(self.design, self.loss.inner, self.alpha)

    def value(self, w: Array, s: Array | None = None) -> float:
        """The objective at w; s are the scores of w, where they are known."""
        s = self.design.scores(w) if s is None else s
        return self.penalty(w) + self.loss.value(s)

    def penalty(self, w: Array) -> float:
        """alpha/2 |w|^2; infinite where no float64 holds it."""
        with np.errstate(over="ignore"):
            return 0.5 * self.alpha * float(w @ w)

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        """The objective and a subgradient of it; of a sum over rows block by block."""
        if self.loss.sums_rows and not self.loss.free_bias:
            sums = self.design.reduce(Ask(self.loss, w))
            return self.penalty(w) + sums.value, self.alpha * w + sums.pull
        s = self.design.scores(w)
        return self.value(w, s), self.alpha * w + self.design.pull_back(self.loss.slope(s))

    def dual_value(self, v: Array) -> float:
        """-|X'v|^2 / (2 alpha) - F*(v): never above the minimum."""
        rows = np.flatnonzero(v)
        u = self.design.pull_back(v[rows], rows)
        return -float(u @ u) / (2.0 * self.alpha) - self.loss.conjugate(v)

    def certify(self, solution: Solution, scores: Array | None = None) -> Certificate:
        """Bracket the optimum by a solution and its proof, by code that all solvers share.

        Both bounds include all rounding errors. The last certificate is stored, so that a solver
        may ask for it before it stops. `scores` is X w, if the caller has computed it. If the
        bounds depend on the score of every row, `solution.scores` is set to these scores. If
        multipliers prove no bound because b is too high, the dual vector that comes with them
        replaces them as the proof.
        """
        if solution.certificate is not None:
            return solution.certificate
        w, b, proof = solution.w, solution.b, solution.proof
        if isinstance(proof, Multipliers):
            known = self._by_multipliers(w, b, proof)
            if known is not None:
                return known
            proof = solution.proof = proof.dual
        if proof is None:
            last = self._known(w, None, b)
            return self.examine(w, b)[0] if last is None else last.certificate
        last = self._known(w, proof)
        if last is None:
            if scores is None:
                scores = self.design.scores(w) if w.any() else np.zeros(self.design.shape[0])
            last = self._keep(w, b, proof, self._by_dual(w, proof, scores), scores)
        solution.scores = last.scores
        return last.certificate

    def _known(self, w: Array, evidence: object, b: float | None = None) -> _Certified | None:
        """Return the last certified solution if its weights, evidence and threshold are these."""
        last = self._last
        if last is None or last.evidence is not evidence or (b is not None and last.b != b):
            return None
        return last if np.array_equal(last.w, w) else None

    def _keep(
        self,
        w: Array,
        b: float,
        evidence: object,
        certificate: Certificate,
        scores: Array | None = None,
    ) -> _Certified:
        self._last = _Certified(w.copy(), b, evidence, certificate, scores)
        return self._last

    def _by_dual(self, w: Array, v: Array | Mixture, s: Array) -> Certificate:
        """Certify by a dual vector or by rankings.

        The primal bound is from the scores X w, the dual one -|X'v|^2 / (2 alpha) - F*(v). Where F*
        is not known of any vector, the slope at w is the dual vector: there
        F*(v) = v.s - F(s), of F or of a loss below it that a dual vector chooses. Where F is the
        worst case over rankings, any rankings and weights for them are a dual vector whose F* is
        known.
        """
        off = score_rounding(self.design, w, s)
        near = self.loss.bracket(s, off) if w.any() else None
        if near is not None:
            pull = self.design.pull_back(near.v)
            return self._certificate_near(w, near, pull, self._wrong(s, off, near.v))
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

    def examine_pairs(
        self, w: Array, s: Array, value: float, v: Array, pull: Array, tol: float
    ) -> Certificate:
        """Certify weights whose sums over pairs are known: a step of solvers, without a pass.

        Known are the scores s, the value of the loss, its slope v, and X'v. The rounding error of
        the longest row is first taken for all rows, because that is cheap and small compared with
        most gaps. If the certificate does not hold at `tol`, the error of each row is computed.
        """
        loss, (n, d) = cast(PairLoss, self.loss), self.design.shape
        longest = np.sqrt(self._longest) * (1.0 + gamma(d + STEPS))
        by = gamma(d + STEPS) * length_of(w) * longest
        by += 4.0 * UNIT * max(float(s.max()), -float(s.min()))
        near, mass = loss.bracket_within(by, value, v)
        own = gamma(loss.rounds(n)) + gamma(n + STEPS)
        found = self._certificate_near(w, near, pull, longest * (8.0 * by + own * mass))
        if not found.holds(tol):
            off = score_rounding(self.design, w, s)
            near = loss.bracket_by(s, off, value, v)
            found = self._certificate_near(w, near, pull, self._wrong(s, off, v))
        return self._keep(w, 0.0, v, found, s).certificate

    @cached_property
    def _longest(self) -> float:
        """The squared length of the longest row."""
        return float(self.design.squared_norms().max(initial=0.0))

    def _certificate_near(self, w: Array, near: Bracket, pull: Array, wrong: float) -> Certificate:
        penalty = self.penalty(w)
        error = gamma(len(w) + STEPS) * penalty + 2.0 * UNIT * (abs(near.high) + penalty)
        low = near.low + penalty - error - self._fall(w, pull, wrong)
        return self._certificate(near.high + penalty + error, low)

    def _certificate(self, primal: float, dual: float) -> Certificate:
        loss = self.loss
        return Certificate(primal, max(dual, loss.infimum) + 0.0, loss.at_zero, loss.unit)

    def size_of(self, value: float) -> float:
        """The size that a gap at an objective of this value is measured against."""
        return max(abs(value), self.loss.unit)

    def highest_negatives(self, w: Array, count: int) -> tuple[Highest, float]:
        """Return the `count` highest negatives and a bound of all: a step of solvers, one pass."""
        ask = Ask(self.loss, w, highest=count, only_top=True, per_length=self._lift(w))
        sums = self.design.reduce(ask)
        assert sums.highest is not None
        return sums.highest, sums.top

    def _lift(self, w: Array) -> float:
        """Error of the score of a row of length one."""
        return 2.0 * gamma(self.design.shape[1] + STEPS) * length_of(w)

    def sums_below(self, w: Array, b: float, *, thin: Thinning | None = None) -> Sums:
        """Return the sums of a loss with a ceiling, at a b that keeps every negative below it.

        This is a step of solvers, and takes one pass.
        """
        terms = cast(ThresholdLoss, self.loss).under_ceiling
        ask = Ask(terms, w, b, shift=not self.loss.only_top, per_length=self._lift(w), thin=thin)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.design.reduce(ask)

    def _by_multipliers(self, w: Array, b: float, proof: Multipliers) -> Certificate | None:
        """Certify by multipliers of negatives at the ceiling; None if b may be too high.

        For a loss with a ceiling, below which compiled kernels know it. If the proof comes with a
        dual vector, one pass is enough: the scores of all rows show whether b is too high. If it
        does not, b is first lowered until no negative is above the ceiling, rounding included. That
        takes a pass of its own.
        """
        if isinstance(self.loss, ReversedLoss):
            return self.inner._by_multipliers(-w, -b, proof)
        last = self._known(w, proof.rows, b)
        if last is not None:
            return last.certificate
        loss = cast(ThresholdLoss, self.loss)
        if proof.dual is None:
            _, top = self.highest_negatives(w, 1)
            sums = self.sums_below(w, min(b, loss.highest_from(top)))
        else:
            ask = Ask(loss.under_ceiling, w, b, scores=True, per_length=self._lift(w))
            with np.errstate(over="ignore", invalid="ignore"):
                sums = self.design.reduce(ask)
            assert sums.scores is not None
            # The scores are moved up by their rounding errors.
            _, top = highest_rows(sums.scores, loss.tilt, 1)
            if not (top <= 0.0 and -np.inf < sums.slope < 0.0 and np.isfinite(sums.value)):
                return None
        with np.errstate(over="ignore", invalid="ignore"):
            primal = primal_bound(sums, w, self.alpha, loss.infimum)
            terms = loss.under_ceiling.compiled
            assert terms is not None
            carried = carried_by(sums, self.design.take(proof.rows), proof.values)
            dual = shifted_bound(carried, self.alpha, terms.steepest, True)
        return self._keep(w, b, proof.rows, self._certificate(primal, dual)).certificate

    def examine(
        self, w: Array, b: float, *, scores: bool = False, squares: bool = False
    ) -> tuple[Certificate, Sums]:
        """Return the certificate of a point and the sums it is made of: a step of solvers.

        For a sum over rows that compiled kernels know, in one pass. The slopes at (w, b), shifted
        to sum to zero where b is free, are the dual vector.
        """
        loss = cast(RowSum, self.loss)
        d, length = self.design.shape[1], length_of(w)
        own = gamma(d + STEPS)
        # Of many columns the second vector that a shift needs costs more than it is worth where b
        # is the best one.
        shift = loss.free_bias and (d <= _MANY_COLUMNS or not self.design.reads_rows)
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
            primal = primal_bound(sums, w, self.alpha, loss.infimum)
            dual = shifted_bound(sums, self.alpha, loss.compiled.steepest, loss.free_bias)
        if not np.isfinite(primal):
            primal, dual = np.inf, -np.inf
        found = self._certificate(primal, dual)
        return self._keep(w, b, None, found).certificate, sums

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
        length = length_of(u) + pull_rounding(self.design, v, off)
        value = length * (length / (2.0 * self.alpha)) * (1.0 + gamma(len(u) + STEPS))
        return -(value + conjugate + off.value + 2.0 * UNIT * (value + abs(conjugate)))

    def _slope_bound(self, w: Array, s: Array, off: Array) -> float:
        """P(w) - |g|^2 / (2 alpha), or less, g the gradient: no more than the minimum."""
        v = self.loss.slope(s)
        fall = self._fall(w, self.design.pull_back(v), self._wrong(s, off, v))
        return self._bound(w, s, off, -1.0) - fall

    def _wrong(self, s: Array, off: Array, v: Array) -> float:
        """How far X'v can be off in length, v the slopes at s."""
        wrong = self.loss.slope_rounding(s, off, v) + gamma(len(v) + STEPS) * np.abs(v)
        return float(self.design.norms @ wrong)

    def _fall(self, w: Array, pull: Array, error: float) -> float:
        """|g|^2 / (2 alpha), or more, g the gradient by X'v, which may be so far off."""
        gradient = self.alpha * w + pull
        error += gamma(STEPS) * self.alpha * length_of(w)
        length = length_of(gradient) * (1.0 + gamma(len(w) + STEPS)) + error
        return length * (length / (2.0 * self.alpha)) * (1.0 + 4.0 * UNIT)


__all__ = ["Problem"]
