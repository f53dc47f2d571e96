"""What both solvers in few passes share: points that vouch for themselves, and the end."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..losses import RowSum
from ..problems import Problem, Solution
from .loop import Close, Progress
from .watch import Watch

Array = NDArray[np.float64]

#: From this tolerance on rows are computed with in float32.
SINGLE = 3e-6
#: If the squared length of a typical row is between these: float32 holds numbers of 1e-38 to 1e38.
_IN_SINGLE = 1e-30, 1e30
#: The share of what the fit gains over w = 0 that the gap must be below: w must be worth something.
_GAIN = 0.1
#: Passes in which the gap must fall.
_PATIENCE = 12


def single_will_do(tol: float, typical: float) -> bool:
    """Whether rows of such a squared length may be computed with in float32."""
    return tol >= SINGLE and _IN_SINGLE[0] < typical < _IN_SINGLE[1]


def begin(problem: Problem, close: Close, watch: Watch, max_iter: int, falls: float) -> Progress:
    """At w = 0, without a dual vector; `falls` is the share by which the gap must fall."""
    loss = cast(RowSum, problem.loss)
    best = Solution(
        np.zeros(problem.design.shape[1]), np.zeros(0), loss.zero_bias, solver="few-passes"
    )
    best.alpha = problem.alpha
    return Progress(
        best,
        loss.at_zero,
        loss.infimum,
        close=close,
        watch=watch,
        max_iter=max_iter,
        patience=_PATIENCE,
        falls=falls,
    )


def keep(progress: Progress, value: float, gap: float, w: Array, b: float, infimum: float) -> None:
    """Take a point for the best one, with the bound that it proves by itself."""
    progress.lower(value, w, b)
    progress.lift(max(value - gap, infimum), progress.best.dual)


def near(problem: Problem, value: float, gap: float, tol: float) -> bool:
    """Whether the gap is within the tolerance, and w worth something."""
    return gap <= min(tol * problem.size_of(value), _GAIN * (problem.loss.at_zero - value))


def end(progress: Progress) -> Solution:
    """The best point; where it is short of the tolerance, another solver may go on."""
    best = progress.best
    best.gave_up = not best.converged
    return best
