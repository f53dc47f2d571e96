"""What solvers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf
from threadpoolctl import ThreadpoolController

from ..losses import PairLoss, ThresholdLoss, TopLoss
from ..problem import Problem, Solution
from ..split import Split

Array = NDArray[np.float64]

#: The mean positive is in the hull of the negatives if it is as near to it as this share of a
#: middling row.
_HULL_DISTANCE = 1e-4
#: Scores that agree as far as this are those of the same data.
_SAME_SCORES = 1e-9
#: What is added to a diagonal where rounding has left no factor, as a share of what is given.
_RIDGES = (0.0, *np.geomspace(1e-15, 1.0, 16))
#: The means of the two classes are the same if they are as near as this.
_MEAN_DISTANCE = 1e-12


def push_loss(problem: Problem, *, kinks: bool = False) -> ThresholdLoss:
    """The problem's loss, which must keep the negatives down; smooth, unless it may have kinks."""
    loss = problem.loss
    if not (isinstance(loss, ThresholdLoss) and np.isfinite(loss.negatives.ceiling)):
        raise TypeError(
            "This solver needs a loss that puts a ceiling on the negatives' scores; "
            f"{type(loss).__name__} is another loss."
        )
    if not (loss.surrogate.smooth or (kinks and loss.only_top)):
        raise TypeError(f"This solver needs a smooth surrogate; {loss.surrogate.name} has a kink.")
    return loss


def top_loss(problem: Problem) -> TopLoss:
    """The problem's loss, which must be that of TopPush."""
    if not isinstance(problem.loss, TopLoss):
        raise TypeError(
            f"This solver needs a TopLoss; {type(problem.loss).__name__} is another loss."
        )
    push_loss(problem)
    return problem.loss


class ZeroTest:
    """Whether w = 0 is the optimum, at any alpha.

    It is where only the highest negative counts and the mean positive lies in the negatives'
    hull, and where all negatives count and the two classes have the same mean.

    A small gap at w = 0 does not show it. At a large alpha, or for small features, the best w
    improves on zero by less than any tolerance, and still ranks.
    """

    def __init__(self, problem: Problem) -> None:
        loss = problem.loss
        assert isinstance(loss, ThresholdLoss | PairLoss)
        self._problem, self._loss, self._split = problem, loss, loss.split

    @cached_property
    def middling(self) -> float:
        """The length of a middling row of the class with the longer ones.

        A single huge row says nothing of how far apart the others are, nor do empty ones.
        """
        return max(float(np.median(x[x > 0])) if x.any() else 0.0 for x in self._norms)

    @cached_property
    def _norms(self) -> tuple[Array, Array]:
        squared = self._problem.design.squared_norms
        return np.sqrt(squared(self._split.pos)), np.sqrt(squared(self._split.neg))

    @property
    def _reach(self) -> float:
        if self._loss.only_top:
            return _HULL_DISTANCE * self.middling
        # The means themselves are good to rounding only, which a huge row may rule.
        rounding = 4.0 * np.finfo(np.float64).eps * float(self._split.p @ self._norms[0])
        rounding += 4.0 * np.finfo(np.float64).eps * float(self._split.q @ self._norms[1])
        return _MEAN_DISTANCE * self.middling + rounding

    @cached_property
    def _mean_positive(self) -> Array:
        return self._problem.design.pull_back(self._split.p, self._split.pos)

    def holds(self, delta: Array | None = None) -> bool:
        """Whether the mean positive is reached: by the negatives' mean, or by their hull.

        Where only the highest negative counts, delta are its duals, taken as convex weights.
        """
        weights = delta if self._loss.only_top and delta is not None else self._split.q
        total = weights.sum()
        if not total > 0:
            return False
        rows = np.flatnonzero(weights)
        point = self._problem.design.pull_back(weights[rows] / total, self._split.neg[rows])
        return bool(np.linalg.norm(self._mean_positive - point) <= self._reach)

    @property
    def gap(self) -> float:
        """The relative gap at w = 0 by which duals that reach it are sure to be found."""
        steepness = float(self._loss.surrogate.slope(np.zeros(1))[0])
        return (steepness * self._reach) ** 2 / (2.0 * self._problem.alpha * self._loss.at_zero)


@dataclass
class Point:
    """Weights and the best threshold for them, and the scores of the two classes."""

    w: Array
    b: float
    s_pos: Array
    s_neg: Array


def better_than_zero(problem: Problem, at: Point) -> bool:
    """Whether an earlier solution is worth beginning with.

    On other data, or at a much larger alpha, it may be far worse than w = 0.
    """
    loss = problem.loss
    assert isinstance(loss, ThresholdLoss)
    with np.errstate(over="ignore", invalid="ignore"):
        value = loss.level(at.s_pos, at.s_neg, at.b) + 0.5 * problem.alpha * float(at.w @ at.w)
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
    loss = problem.loss
    assert isinstance(loss, ThresholdLoss)
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


def descend(
    slope_at: Callable[[float], float], slope: float, share: float, longest: float = 1.0
) -> float:
    """Where on [0, longest] a slope that increases from below zero has fallen to a share of it.

    The end where it has not fallen so far; what is not finite is too far.
    """
    if not slope < 0:
        return 0.0
    enough = share * abs(slope)
    low, at_low, high, at_high, theta, kept = 0.0, slope, np.inf, np.inf, 1.0, ""
    for _ in range(60):
        value = slope_at(theta)
        if abs(value) <= enough or (value < 0 and theta >= longest):
            return theta
        if value < 0:
            at_high *= 0.5 if kept == "high" else 1.0  # an end that is kept twice counts for less
            low, at_low, kept = theta, value, "high"
        else:  # or not a number
            at_low *= 0.5 if kept == "low" else 1.0
            high, at_high, kept = theta, value, "low"
        if np.isinf(high):
            theta = min(4.0 * low, longest)
            continue
        if high - low <= 1e-8 * high:  # a kink
            break
        part = at_low / (at_low - at_high) if np.isfinite(at_high) else 0.1
        theta = low + (high - low) * min(max(part, 0.02), 0.98)
    return low if low > 0 else theta


def cholesky(matrix: Array, lift: Array | float) -> Array | None:
    """The lower Cholesky factor of a symmetric matrix in Fortran order, which is written to.

    Columns may be multiples of each other, at a tiny alpha: the diagonal is lifted by ever more of
    `lift`, for what rounding lost, until there is a factor; None where nothing helps.
    """
    diagonal = np.einsum("ii->i", matrix)
    for ridge in _RIDGES:
        diagonal += ridge * lift
        factor, failed = dpotrf(matrix, lower=1, clean=0)
        if not failed:
            return np.asarray(factor)
    return None


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


_limiting = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread: its sums depend on their number otherwise.

    The limit is the whole process's. Of fits that overlap, in threads, only the first sets and
    lifts it: a second would take the first one's limit for what was there before.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()
