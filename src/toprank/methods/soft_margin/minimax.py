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

In the L1 ball w = a - b, and (a, b) >= 0 sum to one: it is twice a simplex. The ball's rankers are
the rankers and their negatives, but `Weights` and `NewtonMatrix` form no vector or matrix of twice
the size where one of the size will do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ...designs import Design, as_design
from ...losses import tail_mean
from ...problems import Solution
from ...solvers.interior_point import PathPoint, Towards, mehrotra_step
from ...solvers.linalg import cholesky, one_blas_thread
from ...solvers.loop import Close, Progress
from ...solvers.watch import Watch

Array = NDArray[np.float64]

#: A weight below this share of the largest is a zero that the interior point has not reached.
_ZERO_WEIGHT = 1e-6
#: A margin that is proven to be no larger counts as none: in the ball w = 0 is the optimum.
TRIVIAL = 1e-6
#: The accuracy to which margins, which lie between -1 and 1, are computed.
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
        w = np.where(size > _ZERO_WEIGHT * size.max(initial=0.0), w, 0.0)
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


#: The share of the way to the nearest bound that steps go, at first and at most.
_CAUTIOUS, _BOLD = 0.9, 0.9995
#: The smallest of the first slacks, for margins between -1 and 1.
_FIRST_SLACK = 0.05
#: A group whose sum is this share of its caps has no choice.
_FULL = 1.0 - 1e-12


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
    """A point between the bounds, and how it moves.

    The products are  d above,  (caps - d) below  and  t alpha. gamma moves with d, theta with w.
    """

    def __init__(self, box: Box, tol: float, max_iter: int, watch: Watch) -> None:
        self.box, self.weights = box, Weights(box.signed)
        n = box.design.shape[1]
        share = box.totals / box.sums(box.caps)
        d = np.clip(share, 0.02, 0.98)[box.group] * box.caps
        alpha = np.full(2 * n if box.signed else n, 1.0 / (2 * n if box.signed else n))
        edges = self.weights.spread(box.base + box.pull_back(d))
        gamma = float(edges.max()) + 0.1
        s = box.scores(self.weights.net(alpha))
        theta = box.sums(s) / box.sums(np.ones_like(s))
        beyond = s - theta[box.group]
        middle = max(float(np.abs(beyond).mean()), _FIRST_SLACK)
        above = np.maximum(beyond, 0.0) + middle
        self.at = PathPoint(
            [d, box.caps - d, gamma - edges], [above, above - beyond, alpha], [gamma], [theta]
        )
        self.progress = Progress(
            Solution(np.zeros(n), d),
            0.0 if box.signed else np.inf,  # w = 0 is not on the simplex
            -np.inf,
            close=close_bounds(tol, box.signed),
            watch=watch,
            max_iter=max_iter,
            patience=10,
            falls=0.01,
        )

    def run(self) -> BoxSolution:
        progress, best = self.progress, self.progress.best
        while True:
            self._bound()
            if progress.over():
                break
            towards = self._factored()
            fraction = _CAUTIOUS
            if best.n_iter > 3:
                fraction = min(max(_CAUTIOUS, 1.0 - self.at.products), _BOLD)
            after = towards and mehrotra_step(self.at, towards, fraction=fraction, separate=True)
            if not after:
                break
            self.at = after
        w, lower, upper = self.weights.cleaned(best.w), 0.0, -progress.dual
        if w.any():
            lower = self.box.value(w)
        if lower < -progress.primal:
            w, lower = best.w, -progress.primal
        return BoxSolution(w, best.dual, lower, upper, best.n_iter, best.converged)

    def _bound(self) -> None:
        """Bound the optimum by this point, and compute the residuals there."""
        box, (d, _, t), (above, below, alpha) = self.box, self.at.x, self.at.s
        gamma, theta = self.at.free_x[0], self.at.free_s[0]
        w = self.weights.net(alpha)
        s = box.scores(w)
        allowed = box.repaired(d)
        edges = box.base + box.pull_back(allowed)
        if (dual := -self.weights.largest(edges)) > self.progress.dual:
            self.progress.lift(dual, allowed)
        size = float(np.abs(w).sum())
        if size > 0 and (primal := -box.value(w, s) / size) < self.progress.primal:
            self.progress.lower(primal, w / size)
        edges = box.base + box.pull_back(d)
        self.margin_left = s - theta[box.group] - above + below
        self.sums_left = box.totals - box.sums(d)
        self.edge_left = gamma - self.weights.spread(edges) - t
        self.mass_left = 1.0 - float(alpha.sum())

    def _factored(self) -> Towards | None:
        """Factorise the linearised conditions; None where arithmetic has no more to give."""
        box, (d, room, t), (above, below, alpha) = self.box, self.at.x, self.at.s
        give = 1.0 / (above / d + below / room)
        if not np.isfinite(give).all():
            return None
        try:
            matrix = NewtonMatrix(box.design.gram(give, box.rows), t / alpha, box.signed)
        except FloatingPointError:
            return None
        groups = range(len(box.totals))
        pulls = [self.weights.spread(box.pull_back(give * (box.group == g))) for g in groups]
        # Beside the groups' thresholds gamma is one more unknown, and the mass its equation.
        border = np.column_stack([*pulls, -np.ones(len(alpha))])
        solved = matrix.solve(border)
        schur = -border.T @ solved
        schur[groups, groups] += box.sums(give)

        def towards(products: list[Array]) -> PathPoint:
            low, high, weight = products
            pull = low / d - above - high / room + below - self.margin_left
            right = weight / alpha - t - self.edge_left
            first = matrix.solve(right + self.weights.spread(box.pull_back(give * pull)))
            lacks = np.append(self.sums_left - box.sums(give * pull), -self.mass_left)
            # border' alpha = (groups' part of the step of d, minus its mass).
            unknown = np.asarray(np.linalg.solve(schur, lacks + border.T @ first))
            by_alpha = first + solved @ unknown
            theta = unknown[:-1]
            by = give * (pull - box.scores(self.weights.net(by_alpha)) + theta[box.group])
            by_above = (low - above * by) / d - above
            by_below = (high + below * by) / room - below
            by_t = (weight - t * by_alpha) / alpha - t
            return PathPoint(
                [by, -by, by_t], [by_above, by_below, by_alpha], [float(unknown[-1])], [theta]
            )

        return towards
