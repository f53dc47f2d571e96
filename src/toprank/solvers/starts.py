"""Warm starts: decide whether an earlier solution can be reused."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..inputs.class_split import Split
from ..losses import RowSum, ThresholdLoss
from ..problems import Problem, Solution

Array = NDArray[np.float64]

#: Scores that agree as far as this are those of the same data.
_SAME_SCORES = 1e-9


def better_than_zero(problem: Problem, w: Array, s: Array, b: float) -> bool:
    """Whether an earlier solution is worth beginning with; s are the scores in the loss's order.

    On other data, or at a much larger alpha, it may be far worse than w = 0.
    """
    loss = cast(RowSum, problem.loss)
    with np.errstate(over="ignore", invalid="ignore"):
        value = loss.value_at(s, b) + 0.5 * problem.alpha * float(w @ w)
    return bool(value < loss.at_zero)


def better_start(problem: Problem, start: Solution | None) -> tuple[Array, Array] | None:
    """The weights of an earlier solution and their scores, where they are better than w = 0."""
    if start is None or len(start.w) != problem.design.shape[1] or not start.w.any():
        return None
    scores = problem.design.scores(start.w)
    return (start.w, scores) if problem.value(start.w, scores) < problem.loss.at_zero else None


def proven(problem: Problem, start: Solution | None) -> tuple[Array, float]:
    """A dual vector to begin with and its value: an earlier one's, if it proves anything here."""
    n_rows = problem.design.shape[0]
    if start is None or len(start.dual) != n_rows or start.alpha != problem.alpha:
        return np.zeros(n_rows), 0.0
    value = problem.dual_value(start.dual)
    return (start.dual, value) if value > 0 else (np.zeros(n_rows), 0.0)


def same_data(start: Solution, scores: Array, split: Split) -> bool:
    """Whether the rows are those of an earlier fit, going by the scores its weights give them.

    That says nothing of columns whose weight is zero.
    """
    if start.scores is None or start.scores.shape != scores.shape:
        return False
    rows = np.concatenate([split.pos, split.neg])
    before, now = start.scores[rows], scores[rows]
    reach = float(np.abs(before).max())
    return reach > 0 and float(np.abs(now - before).max()) <= _SAME_SCORES * reach


def restart_duals(problem: Problem, start: Solution | None) -> tuple[Array, Array] | None:
    """The duals of an earlier solution in the scale of this alpha: its w stays what it was."""
    loss = cast(ThresholdLoss, problem.loss)
    if start is None or len(start.dual) != loss.split.n_rows or not start.dual.any():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        dual = start.dual * (problem.alpha / start.alpha)
    if not np.isfinite(dual).all():
        return None
    a, delta = loss.parts(dual)
    return (
        np.clip(a, 0.0, loss.split.p * loss.surrogate.steepest),
        np.clip(delta, 0.0, loss.split.q * loss.negatives.steepest),
    )


def beyond_ceiling(loss: ThresholdLoss, delta: Array) -> Array:
    """The part of the negatives' duals that belongs to the constraints."""
    if loss.only_top:
        return delta
    ceiling = loss.below.slope(np.zeros(1))[0] * loss.split.q
    beyond = np.maximum(delta - ceiling, 0.0)
    return np.where(beyond > 1e-9 * ceiling, beyond, 0.0)
