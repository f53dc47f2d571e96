"""The 1-norm soft margins over all decision stumps, by column generation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...designs import DenseDesign, MemoryDesign
from ...inputs.class_split import Split
from ...losses import Loss
from ...problems import BallProblem, Certificate, Solution
from ...rounding import STEPS, gamma
from ...solvers.watch import Watch
from ...weak_learners import Pick, Stumps, StumpSum
from .column_generation import Generated, Master, generate_columns

Array = NDArray[np.float64]


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
        primal = problem.certify(found.w, found.dual).primal
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
