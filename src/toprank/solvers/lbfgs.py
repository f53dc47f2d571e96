"""L-BFGS: for any smooth loss, where nothing more is known of it.

Solves   min over w  alpha/2 |w|^2 + F(X w)
by       SciPy's L-BFGS-B on the objective and its gradient, until the gap is within `tol`.
Given    a Problem whose loss is smooth.
Returns  a Solution; its dual is the slope of F at the scores of w.

At any w the slope v = F'(X w) is a dual vector with F(s) + F*(v) = v.s, so that the gap is
|g|^2 / (2 alpha), g the gradient: it comes with every step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ..problems import Problem, Solution
from .linalg import one_blas_thread
from .loop import Progress, within
from .starts import better_start
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]

#: Steps that the model of the Hessian remembers.
_MEMORY = 20
#: Steps in which the gap must fall: it does not in every one.
_PATIENCE = 200
#: By this share.
_FALLS = 0.01
#: Evaluations in a line search, at the most.
_LINE_SEARCH = 40


def lbfgs(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a smooth loss by L-BFGS; an iteration is a step."""
    n, d = problem.design.shape
    alpha, zero = problem.alpha, ZeroTest(problem)
    # SciPy is given u = unit w: its first step and its rules are for rows of length one.
    unit = zero.typical or 1.0
    progress = Progress(
        Solution(np.zeros(d), np.zeros(n), solver="lbfgs", alpha=alpha),
        problem.loss.at_zero,
        problem.loss.infimum,
        close=within(tol, problem.loss.unit),
        zero=zero.holds,
        watch=watch or Watch(problem.design),
        max_iter=max_iter,
        patience=_PATIENCE,
        falls=_FALLS,
    )
    best = progress.best
    last: tuple[Array, float, Array] | None = None

    def evaluate(u: Array) -> tuple[float, Array]:
        nonlocal last
        value, gradient = problem.value_and_gradient(u / unit)
        last = u.copy(), value, gradient
        return value, gradient / unit

    def look(u: Array) -> None:
        if last is None or not np.array_equal(last[0], u):
            evaluate(u)
        assert last is not None
        u, value, gradient = last
        w = u / unit
        gap = float(gradient @ gradient) / (2.0 * alpha)
        # At a huge alpha the best w improves on zero by less than rounding shows; its gap does.
        as_good = not best.w.any() and value <= progress.primal and gap < progress.gap
        if value < progress.primal or as_good:
            progress.lower(value, w)
        progress.dual = max(progress.dual, value - gap)
        if progress.over():
            raise StopIteration

    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        begin = better_start(problem, start)
        first = np.zeros(d) if begin is None else unit * begin[0]
        try:
            look(first)
        except StopIteration:
            pass
        else:
            minimize(
                evaluate,
                first,
                jac=True,
                method="L-BFGS-B",
                callback=look,
                options={
                    "maxiter": max_iter,
                    "maxfun": _LINE_SEARCH * (max_iter + 1),
                    "maxls": _LINE_SEARCH,
                    "maxcor": _MEMORY,
                    "ftol": 0.0,
                    "gtol": 0.0,
                },
            )
        best.proof = problem.loss.slope(problem.design.scores(best.w))
    best.gave_up = not best.converged and best.n_iter < max_iter
    return best
