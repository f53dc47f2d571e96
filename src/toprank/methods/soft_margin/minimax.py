"""A dense interior-point method for the largest edge of few rankers.

Solves   min over d  max_k |c + Z'd|_k   s.t.  0 <= d <= caps, and sums of d over groups are given,
         and its dual, max over |w|_1 <= 1 of  c.w + sum over groups of the least d.Zw  (without
         the bars: over w >= 0 that sum to one)
by       Mehrotra's predictor and corrector on
             z_i.w - theta_g(i) = s_i - x_i,   t_k = gamma -+ (c + Z'd)_k,
             d_i s_i = (caps_i - d_i) x_i = alpha_k t_k = mu,   w = alpha_+ - alpha_-,
         which share a Cholesky factor of Z' diag(W) Z + D, W = 1 / (s / d + x / (caps - d)).
Given    a Box: Z as a design or an array, of few enough columns for that matrix.
Returns  a BoxSolution whose bounds are computed from w and from d, whatever the path believes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...designs import Design, as_design
from ...losses import tail_mean
from ...problems import Solution
from ...solvers.linalg import one_blas_thread
from ...solvers.loop import Progress
from ...solvers.simplex import NewtonMatrix, Weights, close_bounds, one_ranker, reach
from ...solvers.watch import Watch

Array = NDArray[np.float64]

#: How far a step goes at first, of the way to the nearest bound.
_SHY = 0.9
#: How far it goes at the most.
_BOLD = 0.9995
#: The first slacks are no smaller than this; margins are between -1 and 1.
_FIRST_SLACK = 0.05
#: A group that must fill so much of its caps has no choice.
_FULL = 1.0 - 1e-12
#: Steps in which the gap must fall.
_PATIENCE = 10
#: By this share.
_FALLS = 0.01


@dataclass
class Box:
    """The rows z_i = sign_i x_i, and what d may be.

    `rows` are the rows of X that take part, `group` says to which sum of d each belongs.
    """

    X: Any
    caps: Array
    totals: Array
    group: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    sign: Array | None = None
    constant: Array | None = None
    rows: NDArray[np.int64] | None = None
    signed: bool = True
    design: Design = field(init=False)

    def __post_init__(self) -> None:
        self.design = self.X if isinstance(self.X, Design) else as_design(self.X)
        if not len(self.group):
            self.group = np.zeros(len(self.caps), dtype=np.int64)
        self.base = np.zeros(self.design.shape[1]) if self.constant is None else self.constant

    def scores(self, w: Array) -> Array:
        """Z w."""
        s = self.design.scores(w, self.rows)
        return s if self.sign is None else s * self.sign

    def pull_back(self, d: Array) -> Array:
        """Z'd."""
        return self.design.pull_back(d if self.sign is None else d * self.sign, self.rows)

    def sums(self, d: Array) -> Array:
        """The sums of d over the groups."""
        return np.asarray(np.bincount(self.group, d, len(self.totals)), dtype=np.float64)

    def value(self, w: Array, s: Array | None = None) -> float:
        """c.w + sum over groups of min { d.Zw }: never above the optimum."""
        s = self.scores(w) if s is None else s
        low = float(self.base @ w)
        for g, total in enumerate(self.totals):
            own = self.group == g
            low += tail_mean(s[own], self.caps[own], total)[0]
        return low

    def repaired(self, d: Array) -> Array:
        """The d that is allowed nearest by: between the bounds, then the sums put right."""
        d = np.clip(d, 0.0, self.caps)
        sums, room = self.sums(d), self.sums(self.caps - d)
        lack = self.totals - sums
        up = np.where(lack > 0, lack / np.maximum(room, 1e-300), 0.0)
        down = np.where(lack < 0, self.totals / np.maximum(sums, 1e-300), 1.0)
        return np.asarray(
            (d + np.minimum(up, 1.0)[self.group] * (self.caps - d)) * down[self.group]
        )


@dataclass
class BoxSolution:
    """lower <= optimum <= upper, the first by w and the second by d, which is allowed."""

    w: Array
    d: Array
    lower: float
    upper: float
    n_iter: int = 0
    converged: bool = False


def minimax(
    box: Box, *, tol: float = 1e-9, max_iter: int = 60, watch: Watch | None = None
) -> BoxSolution:
    """Solve, until upper - lower <= tol |lower|, or no more than margins are good for."""
    full = box.totals >= _FULL * box.sums(box.caps)
    free, watch = ~full[box.group], watch or Watch(box.design)
    with one_blas_thread(), np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if free.all():
            return _Path(box, tol, max_iter, watch).run()
        d = np.where(free, 0.0, box.caps)
        constant = box.base + box.pull_back(d)
        if not free.any():
            w, value = one_ranker(constant, box.signed)
            found = BoxSolution(w, d, value, value, converged=True)
            watch(0, -found.lower, -found.upper, lambda: found.w)
            return found
        number = np.cumsum(~full) - 1
        part = Box(
            box.design,
            box.caps[free],
            box.totals[~full],
            number[box.group[free]],
            None if box.sign is None else box.sign[free],
            constant,
            np.flatnonzero(free) if box.rows is None else box.rows[free],
            box.signed,
        )
        found = _Path(part, tol, max_iter, watch).run()
        d[free] = found.d
        return BoxSolution(found.w, d, found.lower, found.upper, found.n_iter, found.converged)


class _Path:
    """A point between the bounds, and how it moves."""

    def __init__(self, box: Box, tol: float, max_iter: int, watch: Watch) -> None:
        self.box, self.weights = box, Weights(box.signed)
        n = box.design.shape[1]
        share = box.totals / box.sums(box.caps)
        self.d = np.clip(share, 0.02, 0.98)[box.group] * box.caps
        self.alpha = np.full(2 * n if box.signed else n, 1.0 / (2 * n if box.signed else n))
        edges = self.weights.spread(box.base + box.pull_back(self.d))
        self.gamma = float(edges.max()) + 0.1
        self.t = self.gamma - edges
        s = box.scores(self.weights.net(self.alpha))
        self.theta = box.sums(s) / box.sums(np.ones_like(s))
        beyond = s - self.theta[box.group]
        middle = max(float(np.abs(beyond).mean()), _FIRST_SLACK)
        self.above = np.maximum(beyond, 0.0) + middle
        self.below = self.above - beyond
        self.progress = Progress(
            Solution(np.zeros(n), self.d),
            0.0 if box.signed else np.inf,  # w = 0 is not on the simplex
            -np.inf,
            close=close_bounds(tol, box.signed),
            watch=watch,
            max_iter=max_iter,
            patience=_PATIENCE,
            falls=_FALLS,
        )

    def run(self) -> BoxSolution:
        progress, best = self.progress, self.progress.best
        while True:
            self._look()
            if progress.over() or not self._step(best.n_iter):
                break
        w, lower, upper = self.weights.cleaned(best.w), 0.0, -progress.dual
        if w.any():
            lower = self.box.value(w)
        if lower < -progress.primal:
            w, lower = best.w, -progress.primal
        return BoxSolution(w, best.dual, lower, upper, best.n_iter, best.converged)

    def _look(self) -> None:
        """Residuals of this point, and what it bounds."""
        box = self.box
        w = self.weights.net(self.alpha)
        s = box.scores(w)
        allowed = box.repaired(self.d)
        edges = box.base + box.pull_back(allowed)
        if (dual := -self.weights.largest(edges)) > self.progress.dual:
            self.progress.lift(dual, allowed)
        size = float(np.abs(w).sum())
        if size > 0 and (primal := -box.value(w, s) / size) < self.progress.primal:
            self.progress.lower(primal, w / size)
        edges = box.base + box.pull_back(self.d)
        self.margin_left = s - self.theta[box.group] - self.above + self.below
        self.sums_left = box.totals - box.sums(self.d)
        self.edge_left = self.gamma - self.weights.spread(edges) - self.t
        self.mass_left = 1.0 - float(self.alpha.sum())

    @property
    def _products(self) -> float:
        """The products that are to vanish."""
        room = self.box.caps - self.d
        return float(self.d @ self.above + room @ self.below + self.alpha @ self.t)

    def _step(self, iteration: int) -> bool:
        """A step of predictor and corrector; False where arithmetic has no more to give."""
        box = self.box
        room = box.caps - self.d
        give = 1.0 / (self.above / self.d + self.below / room)
        if not np.isfinite(give).all():
            return False
        try:
            matrix = NewtonMatrix(box.design.gram(give, box.rows), self.t / self.alpha, box.signed)
        except FloatingPointError:
            return False
        groups = range(len(box.totals))
        pulls = [self.weights.spread(box.pull_back(give * (box.group == g))) for g in groups]
        # Beside the groups' thresholds gamma is one more unknown, and the mass its equation.
        border = np.column_stack([*pulls, -np.ones(len(self.alpha))])
        solved = matrix.solve(border)
        schur = -border.T @ solved
        schur[groups, groups] += box.sums(give)
        system = (matrix, border, solved, schur, give, room)
        zero = np.zeros(1)
        ahead = self._towards(zero, zero, zero, *system)
        count = 2 * len(self.d) + len(self.alpha)
        products = self._products
        tau = (self._after(ahead, *self._reaches(ahead)) / products) ** 3 * products / count
        move = self._towards(
            tau - ahead.d * ahead.above,
            tau + ahead.d * ahead.below,
            tau - ahead.alpha * ahead.t,
            *system,
        )
        shy = min(max(_SHY, 1.0 - products), _BOLD) if iteration > 3 else _SHY
        of_d, of_w = (min(1.0, shy * share) for share in self._reaches(move))
        if not (np.isfinite(of_d + of_w) and max(of_d, of_w) > 1e-8):
            return False
        self.d = self.d + of_d * move.d
        self.gamma, self.t = self.gamma + of_d * move.gamma, self.t + of_d * move.t
        self.alpha = self.alpha + of_w * move.alpha
        self.theta = self.theta + of_w * move.theta
        self.above, self.below = self.above + of_w * move.above, self.below + of_w * move.below
        return True

    def _towards(
        self,
        low: Array,
        high: Array,
        weight: Array,
        matrix: NewtonMatrix,
        border: Array,
        solved: Array,
        schur: Array,
        give: Array,
        room: Array,
    ) -> _Move:
        """The step to d s = low, (caps - d) x = high, alpha t = weight, on the tangent."""
        box = self.box
        pull = low / self.d - self.above - high / room + self.below - self.margin_left
        right = weight / self.alpha - self.t - self.edge_left
        first = matrix.solve(right + self.weights.spread(box.pull_back(give * pull)))
        lacks = np.append(self.sums_left - box.sums(give * pull), -self.mass_left)
        # border' alpha = (groups' part of the step of d, minus its mass).
        unknown = np.asarray(np.linalg.solve(schur, lacks + border.T @ first), dtype=np.float64)
        alpha = first + solved @ unknown
        theta, gamma = unknown[:-1], float(unknown[-1])
        d = give * (pull - box.scores(self.weights.net(alpha)) + theta[box.group])
        return _Move(
            d=d,
            above=(low - self.above * d) / self.d - self.above,
            below=(high + self.below * d) / room - self.below,
            alpha=alpha,
            t=(weight - self.t * alpha) / self.alpha - self.t,
            theta=theta,
            gamma=gamma,
        )

    def _reaches(self, move: _Move) -> tuple[float, float]:
        """How far the step of d, and that of w, can go."""
        room = self.box.caps - self.d
        return (
            reach((self.d, move.d), (room, -move.d), (self.t, move.t)),
            reach((self.alpha, move.alpha), (self.above, move.above), (self.below, move.below)),
        )

    def _after(self, move: _Move, of_d: float, of_w: float) -> float:
        """The products after such a step."""
        d, room = self.d + of_d * move.d, self.box.caps - self.d - of_d * move.d
        after = d @ (self.above + of_w * move.above) + room @ (self.below + of_w * move.below)
        return float(after + (self.alpha + of_w * move.alpha) @ (self.t + of_d * move.t))


@dataclass
class _Move:
    d: Array
    above: Array
    below: Array
    alpha: Array
    t: Array
    theta: Array
    gamma: float
