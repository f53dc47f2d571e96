"""What the estimators that push positives above the highest negative share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from ...estimators.convex import ConvexRanker
from ...inputs.class_split import between
from ...losses import ThresholdLoss
from ...problems import Problem

Array = NDArray[np.float64]

#: What the order of summation may change in a score, relative to the sum of its terms' sizes.
_ROUNDING = 1e-14
#: What a copy of the row in float32 may change in it: half of this at each entry.
_SINGLE = float(np.finfo(np.float32).eps)
#: Why w = 0 is the optimum where only the highest negative counts.
IN_THE_HULL = (
    "The mean of the positives lies in the convex hull of the negatives, so no direction lifts "
    "the positives above the highest negative on average, at any alpha and for any loss."
)


class TopRanker(ConvexRanker):
    """A ranker whose threshold no training negative is above.

    A threshold on the highest negative would call that row positive as soon as its score is summed
    in another order, or from a copy in float32. So it lies halfway to the next positive.
    """

    def _threshold(self, w: Array, problem: Problem, scores: Array) -> float:
        loss = problem.loss
        assert isinstance(loss, ThresholdLoss)
        s_neg, s_pos = scores[loss.split.neg], scores[loss.split.pos]
        first = int(np.argmax(s_neg))
        highest = float(s_neg[first])
        row = problem.design.take(loss.split.neg[first : first + 1])[0]
        if problem.design.offset is not None:
            row += problem.design.offset
        size = float(np.abs(row * w).sum())
        chosen = super()._threshold(w, problem, scores)
        if chosen > highest + _SINGLE * size:
            return chosen
        above = s_pos[s_pos > highest + _ROUNDING * size]  # the others are tied with the negative
        return between(highest, float(above.min())) if len(above) else highest + _SINGLE * size


class PushRanker(TopRanker):
    """A ranker whose loss keeps the negatives at or below its threshold, with a squared 2-norm."""

    solver: str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexRanker._parameter_constraints,
        "loss": [StrOptions({"squared_hinge", "logistic", "exponential"})],
        "solver": [StrOptions({"auto", "few-passes", "newton", "dual-descent"})],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "squared_hinge",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        solver: str = "auto",
        warm_start: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label
