"""What the solvers of TopPush share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..losses import TopLoss
from ..problem import Problem, Solution

Array = NDArray[np.float64]

#: The mean positive is in the hull of the negatives if it is as near to it as this share of a
#: middling row.
_HULL_DISTANCE = 1e-4


def top_loss(problem: Problem) -> TopLoss:
    """The problem's loss, which must be the one these solvers know."""
    if not isinstance(problem.loss, TopLoss):
        raise TypeError(
            f"This solver needs a TopLoss; {type(problem.loss).__name__} is another loss."
        )
    if not problem.loss.surrogate.smooth:
        raise TypeError(
            f"This solver needs a smooth surrogate; {problem.loss.surrogate.name} has a kink."
        )
    return problem.loss


class HullTest:
    """Whether w = 0 is the optimum: whether the mean positive lies in the negatives' hull.

    A small gap at w = 0 does not show it. At a large alpha, or for small features, the best w
    improves on zero by less than any tolerance, and still ranks.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem, self._split = problem, problem.loss.split

    @cached_property
    def _reach(self) -> float:
        sides = (self._split.pos, self._split.neg)
        norms = (np.sqrt(self._problem.design.squared_norms(rows)) for rows in sides)
        # The middling row: a single huge one says nothing of how far apart the others are, nor
        # do empty ones.
        return _HULL_DISTANCE * max(float(np.median(x[x > 0])) if x.any() else 0.0 for x in norms)

    @cached_property
    def _mean_positive(self) -> Array:
        return self._problem.design.pull_back(self._split.p, self._split.pos)

    def holds(self, delta: Array) -> bool:
        """Whether these duals of the negatives, as convex weights, reach the mean positive."""
        total = delta.sum()
        if not total > 0:
            return False
        rows = np.flatnonzero(delta)
        point = self._problem.design.pull_back(delta[rows] / total, self._split.neg[rows])
        return bool(np.linalg.norm(self._mean_positive - point) <= self._reach)

    @property
    def gap(self) -> float:
        """The relative gap at w = 0 by which duals that reach it are sure to be found."""
        loss = top_loss(self._problem)
        steepness = float(loss.surrogate.slope(np.zeros(1))[0])
        return (steepness * self._reach) ** 2 / (2.0 * self._problem.alpha * loss.at_zero)


def restart_duals(problem: Problem, start: Solution | None) -> tuple[Array, Array] | None:
    """The duals of an earlier solution in the scale of this alpha: its w stays what it was."""
    loss = top_loss(problem)
    if start is None or len(start.dual) != loss.split.n_rows or not start.dual.any():
        return None
    a, delta = loss.parts(start.dual * (problem.alpha / start.alpha))
    return np.clip(a, 0.0, loss.split.p * loss.surrogate.steepest), np.maximum(delta, 0.0)


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
