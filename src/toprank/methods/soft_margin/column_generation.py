"""Soft margins over more rankers than one would write out: all stumps, or all words.

Solves   min of F(H w) over |w|_1 <= 1, the columns of H half the values of all base rankers
by       solving it for some of them, the master; the master's dual vector v has an edge
         |sum_x v(x) h(x)| / 2 with every ranker, and the rankers of the largest edges join. Rankers
         without a weight for some rounds leave. A master is solved to a part of the gap only: a
         dual vector in the middle of the optimal ones gives better edges than one at a corner.
Given    base rankers, a tail loss (its conjugate zero at the dual vectors that are allowed), and a
         solver of the master.
Returns  a Generated, whose bounds hold over all rankers: -F of its weights, and the largest edge
         of a dual vector with any ranker.

`StumpMargins` is this over all decision stumps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...designs import DenseDesign, MemoryDesign
from ...inputs.class_split import Split
from ...losses import Loss
from ...problems import BallProblem, Certificate, Solution
from ...rounding import STEPS, gamma
from ...solvers.watch import Watch
from ...weak_learners import Pick, Stumps, StumpSum, WeakLearners
from .minimax import Weights, close_enough

Array = NDArray[np.float64]

#: Solves a master to a relative gap, from a solution with fewer rankers.
Master = Callable[[BallProblem, float, Solution | None], Solution]

#: The most rankers that join in a round, one of a feature.
_AT_ONCE = 20
#: Rounds without a weight after which a ranker leaves.
_IDLE = 8
#: The share by which the margin must rise in a round for rankers to leave after it.
_RISES = 1e-6
#: A smaller weight is zero.
_ZERO_WEIGHT = 1e-6
#: The share of the gap to which a master is solved.
_SHARE = 0.05
#: The loosest relative gap of a master.
_LOOSEST = 1e-2
#: The closest relative gap of a master, as a share of `tol`.
_CLOSEST = 0.05


@dataclass
class Generated:
    """Rankers with their weights, and lower <= optimal margin <= upper over all rankers."""

    picks: list[Pick] = field(default_factory=list)
    #: Half the values of the rankers on all rows, a column each.
    values: Array = field(default_factory=lambda: np.zeros((0, 0)))
    w: Array = field(default_factory=lambda: np.zeros(0))
    dual: Array = field(default_factory=lambda: np.zeros(0))
    lower: float = 0.0
    upper: float = np.inf
    n_iter: int = 0
    converged: bool = False
    #: The most rankers that a master had.
    most: int = 0


def generate_columns(
    rankers: WeakLearners,
    loss: Loss,
    n_rows: int,
    solve: Master,
    *,
    tol: float = 1e-4,
    max_iter: int = 200,
    look: Callable[[Generated], bool] | None = None,
) -> Generated:
    """Solve until upper - lower <= tol |lower|, or no ranker is left to join.

    `look` is called with what every round has found so far; True asks to stop.
    """
    found, master = Generated(), _Columns(rankers, n_rows)
    v = loss.slope(np.zeros(n_rows))
    w: Array | None = None
    solved_to = np.inf
    for found.n_iter in range(1, max_iter + 1):
        best = rankers.best_edges(-0.5 * v[rankers.rows], _AT_ONCE)
        upper = abs(best[0].merit) if best else 0.0
        if upper < found.upper and np.isfinite(loss.conjugate(v)):
            found.upper, found.dual = upper, v
        found.converged = close_enough(found.lower, found.upper, tol, True)
        stopped = look is not None and look(found)
        if found.converged or stopped:
            break
        gap = (found.upper - found.lower) / max(found.lower, 1e-3)
        joined = master.join(best, found.lower)
        closest = _CLOSEST * tol
        inner = float(np.clip(_SHARE * gap, closest, _LOOSEST))
        if not joined and min(inner, solved_to) <= closest:
            break  # the same master again would end at the same gap
        solved_to = inner = inner if joined else closest
        found.most = max(found.most, len(master.picks))
        problem = BallProblem(master.design, loss, signed=True)
        start = None if w is None else Solution(np.concatenate([w, np.zeros(joined)]), v)
        solution = solve(problem, inner, start)
        w, v = solution.w, solution.dual
        lower, before = -loss.value(problem.design.scores(w)), found.lower
        if lower > before:
            found.lower, found.picks, found.w = lower, list(master.picks), w
            found.values = master.values
        # Where the margin does not rise, rankers that leave may come back for ever.
        if lower > before + _RISES * abs(before):
            w = master.leave(w)
    _clean(found, loss, tol)
    return found


def _clean(found: Generated, loss: Loss, tol: float) -> None:
    """Leave out rankers whose weights are what an interior point leaves of zero."""
    w = Weights(True).cleaned(found.w)
    kept = w != 0.0
    if not kept.any():
        return
    values = found.values[:, kept]
    lower = -loss.value(DenseDesign(values).scores(w[kept]))
    if lower >= found.lower - 0.01 * tol * abs(found.lower):
        found.picks = [pick for pick, keep in zip(found.picks, kept, strict=True) if keep]
        found.values, found.w, found.lower = values, w[kept], lower


class _Columns:
    """The rankers of the master, half their values."""

    def __init__(self, rankers: WeakLearners, n_rows: int) -> None:
        self._rankers, self._n_rows = rankers, n_rows
        self.picks: list[Pick] = []
        self.values = np.zeros((n_rows, 0))
        self._idle = np.zeros(0, dtype=np.int64)

    @property
    def design(self) -> DenseDesign:
        return DenseDesign(self.values)

    def join(self, picks: list[Pick], lower: float) -> int:
        """Take in those that are new and have an edge above the margin reached."""
        known = {pick[:3] for pick in self.picks}
        new = [pick for pick in picks if abs(pick.merit) > lower and pick[:3] not in known]
        columns = np.zeros((self._n_rows, len(new)))
        for k, pick in enumerate(new):
            columns[self._rankers.rows, k] = 0.5 * self._rankers.column(pick)
        self.picks += new
        self.values = np.concatenate([self.values, columns], axis=1)
        self._idle = np.concatenate([self._idle, np.zeros(len(new), dtype=np.int64)])
        return len(new)

    def leave(self, w: Array) -> Array:
        """Let go those without a weight for long; what is left of the weights."""
        self._idle = np.where(np.abs(w) > _ZERO_WEIGHT, 0, self._idle + 1)
        kept = self._idle < _IDLE
        if not kept.all():
            self.picks = [pick for pick, keep in zip(self.picks, kept, strict=True) if keep]
            self.values, self._idle = self.values[:, kept], self._idle[kept]
        return np.asarray(w[kept])


class StumpMargins:
    """All stumps over the columns of a design."""

    def __init__(self, design: MemoryDesign, split: Split) -> None:
        self.design, self.stumps = design, Stumps(design, split)
        self.n_features = design.shape[1]
        #: The features that have a stump.
        self.columns = np.flatnonzero(
            [len(self.stumps.levels(k)) > 1 for k in range(self.n_features)]
        )
        self.constant = np.zeros(len(self.columns), dtype=np.bool_)

    def generate(
        self,
        loss: Loss,
        solve: Master,
        tol: float,
        max_iter: int,
        watch: Watch,
    ) -> tuple[BallProblem, Solution, Certificate]:
        """The problem of the stumps that came to matter, its solution, and bounds over all."""
        n_rows = self.design.shape[0]

        def look(found: Generated) -> bool:
            best = found.picks, found.w
            return watch(found.n_iter, -found.lower, -found.upper, lambda: best)

        found = generate_columns(
            self.stumps, loss, n_rows, solve, tol=tol, max_iter=max_iter, look=look
        )
        solution = Solution(
            found.w,
            found.dual,
            n_iter=found.n_iter,
            converged=found.converged,
            solver="column-generation",
        )
        solution.kept = found.picks
        if not found.picks:
            certificate = Certificate(0.0, self._dual_bound(loss, found.dual))
            return BallProblem(self.design, loss, signed=True), solution, certificate
        problem = BallProblem(DenseDesign(found.values), loss, signed=True)
        primal = problem.certify(solution).primal
        return problem, solution, Certificate(primal, self._dual_bound(loss, found.dual))

    def _dual_bound(self, loss: Loss, v: Array) -> float:
        """Minus the largest edge of any stump, or less: a bound of the minimum over all stumps."""
        if not (len(v) and np.isfinite(loss.conjugate(v))):
            return -np.inf
        # Of every column, not of the best stump: of stumps that are as good but for rounding the
        # first is picked.
        edge = float(np.abs(self.stumps.edges(-0.5 * v[self.stumps.rows])).max(initial=0.0))
        off = loss.dual_rounding(v)
        share = gamma(len(v) + STEPS) + off.share
        # The values of a stump, of which half are taken, are one or minus one.
        return -(edge + 0.5 * (share * float(np.abs(v).sum()) + off.mass))

    def sum_of(self, picks: list[Pick], w: Array) -> tuple[StumpSum, NDArray[np.int64], Array]:
        """The score of weighted stumps, their features and their thresholds."""
        features = np.array([pick.feature for pick in picks], dtype=np.int64)
        thresholds = np.array([self.stumps.threshold(pick) for pick in picks], dtype=np.float64)
        nowhere = np.zeros(len(picks), dtype=np.bool_)
        return StumpSum(features, thresholds, nowhere, w, -1.0), features, thresholds
