"""What the estimators that minimise a worst case over rankings share."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...estimators.convex import ConvexRanker
from ...losses import RankingLoss
from ...problems import Problem, Solution
from ...solvers.watch import Watch
from .bundle import bundle

Array = NDArray[np.float64]


class StructuralRanker(ConvexRanker):
    """A ranker whose loss is the worst case over rankings; cutting planes solve it."""

    def _solve(self, problem: Problem, start: Solution | None, watch: Watch, seed: int) -> Solution:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return bundle(problem, start=start, tol=self.tol, max_iter=self.max_iter, watch=watch)

    def _threshold(self, w: Array, problem: Problem, scores: Array) -> float:
        return cast(RankingLoss, problem.loss).split.share_threshold(scores)
