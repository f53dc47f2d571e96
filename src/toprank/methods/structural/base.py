"""What the estimators that minimise a worst case over rankings share."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...convex import ConvexRanker
from ...history import Watch
from ...losses import RankingLoss
from ...problem import Problem, Solution
from ...solvers import solve

Array = NDArray[np.float64]


class StructuralRanker(ConvexRanker):
    """A ranker whose loss is the worst case over rankings; cutting planes solve it."""

    def _solve(self, problem: Problem, start: Solution | None, watch: Watch, seed: int) -> Solution:
        return solve(problem, start=start, tol=self.tol, max_iter=self.max_iter, watch=watch)

    def _threshold(self, w: Array, problem: Problem, scores: Array) -> float:
        return cast(RankingLoss, problem.loss).split.share_threshold(scores)
