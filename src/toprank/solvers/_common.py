"""What the solvers of TopPush share."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..losses import TopLoss
from ..problem import Problem, Solution

Array = NDArray[np.float64]

#: w = 0 is called the optimum only at a gap this much below the tolerance: at a large alpha the
#: best w improves on it by less than `tol`, and still ranks.
_TRIVIAL_CARE = 0.01


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


def trivial_needs_more(primal: float, dual: float, at_zero: float, tol: float) -> bool:
    """Whether no w better than 0 is known, while one may still exist."""
    return primal >= at_zero and (at_zero - dual) > _TRIVIAL_CARE * tol * at_zero


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


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread: its sums depend on their number otherwise."""
    limited: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limited
