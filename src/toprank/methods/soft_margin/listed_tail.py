"""The tail mean of all pairs: by Newton's method, and by listing the pairs that matter.

Solves   what `tail_newton` solves
by       `tail_newton` first, where pairs are many; then, where that has not reached `tol`, or an
         exact optimum is asked for, the pairs nearest to the quantile become single unknowns, those
         below them count in full, those above not at all, and `minimax` finds the best of that. It
         is an upper bound; its weights, or a point on the way there, are the next lower bound.
Given    a BallProblem with a PairTailLoss.
Returns  a Solution.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...designs import PairDesign
from ...losses import PairTailLoss
from ...problems import BallProblem, Solution
from ...solvers.linalg import one_blas_thread
from ...solvers.watch import Watch
from .class_tails import Reduction
from .minimax import Box, close_enough, minimax, one_ranker
from .tail_newton import tail_newton

Array = NDArray[np.float64]

#: The number of pairs in the first list.
_FIRST_LIST = 3000
#: The most pairs in a list.
_LONGEST = 48000
#: The most pairs that are listed at once, whatever their margins.
_ALL_LISTED = 6000
#: The gap to which a list is solved, as a share of `tol`.
_LIST_TOL = 0.05
#: The relative gap of an exact optimum.
_EXACT = 1e-9
#: The most entries of differences of rows that are stored.
_STORED = 5_000_000
#: A cap on the dual of a listed pair that is this multiple of the sum of all duals never binds.
_CAP = 2.0
#: Pairs whose caps together are this share of the sum of all duals add nothing.
_VANISHING = 1e-16


def solve_tail(
    problem: BallProblem,
    *,
    start: Solution | None = None,
    tol: float = 1e-5,
    max_iter: int = 200,
    exact: bool = False,
    watch: Watch | None = None,
) -> Solution:
    """Solve to upper - lower <= tol |lower|; with `exact` as near as arithmetic comes."""
    watch = watch or Watch(problem.design)
    # Steps may overflow: a point whose value is not finite improves no bound.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return _solve(problem, start, tol, max_iter, exact, watch)


def _solve(
    problem: BallProblem,
    start: Solution | None,
    tol: float,
    max_iter: int,
    exact: bool,
    watch: Watch,
) -> Solution:
    loss = cast(PairTailLoss, problem.loss)
    if loss.epsilon >= 1.0:
        return _all_pairs(problem, watch)
    lightest = loss.split.lightest_pair
    if loss.epsilon <= lightest * (1.0 + 1e-12):
        return _worst_pair(problem, min(tol, _EXACT) if exact else tol, max_iter, watch)
    if len(loss.split.pos) * len(loss.split.neg) <= _ALL_LISTED:
        best = Solution(np.zeros(problem.design.shape[1]), np.zeros(loss.split.n_rows))
    else:
        best = tail_newton(problem, start=start, tol=tol, max_iter=max_iter, watch=watch)
        if watch.asked_to_stop or (best.converged and not exact):
            return best
    before = watch.iterations_before
    watch.iterations_before += best.n_iter
    with one_blas_thread():
        lists = _Lists(problem, loss, best, min(tol, _EXACT) if exact else tol, watch)
        found = lists.run(max_iter)
    watch.iterations_before = before
    return found


def _all_pairs(problem: BallProblem, watch: Watch) -> Solution:
    """The optimum where all pairs count: one ranker."""
    v = problem.loss.slope(np.zeros(problem.design.shape[0]))
    w, edge = one_ranker(-problem.design.pull_back(v), problem.signed)
    watch(0, -edge, -edge, lambda: w)
    return Solution(w, v, converged=True, solver="one-ranker")


def _worst_pair(problem: BallProblem, tol: float, max_iter: int, watch: Watch) -> Solution:
    """The optimum where the worst pair alone counts: that of the worst rows of either class."""
    split = cast(PairTailLoss, problem.loss).split
    reduction = Reduction(problem.design, split, 0.0, problem.signed, max_iter)
    rows = reduction.problem(float(split.p.min()), float(split.q.min()))
    return reduction.solve(rows, tol, watch)


class _Lists:
    def __init__(
        self, problem: BallProblem, loss: PairTailLoss, best: Solution, tol: float, watch: Watch
    ) -> None:
        self.problem, self.loss, self.best, self.tol, self.watch = problem, loss, best, tol, watch
        self.lower, self.upper = -np.inf, np.inf
        if best.w.any() or problem.signed:  # w = 0 is not on the simplex
            self.lower = -loss.value(problem.design.scores(best.w))
        if best.dual.any():
            self.upper = -problem.dual_value(best.dual)
        #: Where pairs are ranked: the best weights, or those that were on the way to better ones.
        self.w = best.w if best.w.any() or best.kept is None else np.asarray(best.kept)
        self.s = problem.design.scores(self.w)

    def run(self, max_iter: int) -> Solution:
        best, begun = self.best, self.best.n_iter
        n_pairs = len(self.loss.split.pos) * len(self.loss.split.neg)
        length = n_pairs if n_pairs <= _ALL_LISTED else _FIRST_LIST
        while length <= _LONGEST and best.n_iter < max_iter:
            steps = self._round(length, max_iter - best.n_iter)
            if steps is None:
                break
            best.n_iter, best.solver = best.n_iter + steps, "listed-pairs"
            best.converged = close_enough(self.lower, self.upper, self.tol, self.problem.signed)
            at = best.n_iter - begun
            stopped = self.watch(at, -self.lower, -self.upper, lambda: best.w)
            if best.converged or stopped or length == n_pairs:
                break
            length = min(2 * length, n_pairs)
        return best

    def _round(self, length: int, max_iter: int) -> int | None:
        """Better bounds by a list of pairs; the steps that took, None if too many pairs tie."""
        loss, design, epsilon = self.loss, self.problem.design, self.loss.epsilon
        pos, neg = loss.split.pos, loss.split.neg
        scan = loss.scan(self.s)
        half = 0.5 * length / (len(pos) * len(neg))
        low, high = scan.quantile(epsilon - half), scan.quantile(epsilon + half)
        if 2.0 * half >= 1.0:
            low, high = -np.inf, np.inf
        count, first, second, weight, _ = scan.list(low, high, 4 * length)
        if count > 4 * length:
            return None
        v = scan.marginals(low)[0] / epsilon
        v[pos] *= -1.0
        total = 1.0 + float(v[pos].sum())
        # Weights may differ by hundreds of decades; `minimax` can bear those that matter.
        caps = np.minimum(weight / epsilon, _CAP * total)
        kept = caps > _VANISHING * total / len(caps)
        first, second, caps = first[kept], second[kept], caps[kept]
        pairs: Any = PairDesign(design, first, second)
        if pairs.shape[0] * pairs.shape[1] <= _STORED:  # made once, not at every step
            pairs = pairs.take(np.arange(len(first)))
        box = Box(
            pairs,
            caps,
            np.array([total]),
            constant=-design.pull_back(v),
            signed=self.problem.signed,
        )
        tol = _EXACT if 2.0 * half >= 1.0 else max(_LIST_TOL * self.tol, 0.01 * _EXACT)
        found = minimax(box, tol=tol, max_iter=max_iter)
        v -= np.bincount(first, found.d, len(v))
        v += np.bincount(second, found.d, len(v))
        if (upper := -self.problem.dual_value(v)) < self.upper:
            self.upper, self.best.proof = upper, v
        self._go(found.w)
        return found.n_iter

    def _go(self, w: Array) -> None:
        """Go towards other weights for as long as the tail mean rises."""
        by = self.problem.design.scores(w) - self.s
        near, far, share = 0.0, 1.0, 1.0
        best, highest = 0.0, -self.loss.value(self.s) if self.w.any() else -np.inf
        for _ in range(20):
            at = self.s + share * by
            v = self.loss.slope(at)
            rises = float(v @ by) < 0
            if (low := -float(v @ at)) > highest:
                highest, best = low, share
            # From w = 0 the tail mean is linear on the way.
            if (rises and share == 1.0) or not self.w.any() or far - near < 1e-3 * far:
                break
            near, far = (share, far) if rises else (near, share)
            share = 0.5 * (near + far)
        if best > 0:
            self.w = w if best == 1.0 else self.w + best * (w - self.w)
            self.s = self.problem.design.scores(self.w)
        if (low := -self.loss.value(self.s)) > self.lower:
            self.lower, self.best.w = low, self.w
