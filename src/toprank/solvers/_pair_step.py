"""The Newton step of a loss over all pairs, by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..problems import Problem
from .linalg import conjugate_gradient

Array = NDArray[np.float64]

#: Conjugate gradients leave this share of the gradient.
_CG_RESIDUAL = 0.4
#: The most of their steps.
_MAX_CG = 50
#: They read the rows with pairs that count alone, if those are less than this share of all.
_MOST_ROWS = 0.8


def conjugate_step(
    problem: Problem, curvature: Callable[[Array], Array], bent: NDArray[np.int64], gradient: Array
) -> tuple[Array, Array]:
    """The step, and the scores it adds; the `bent` rows have pairs that count."""
    design, alpha = problem.design, problem.alpha
    n = design.shape[0]
    # With all rows the scores of the step come with the products.
    rows = bent if len(bent) < _MOST_ROWS * n else None
    r = np.zeros(n)

    def product(direction: Array) -> tuple[Array, Array]:
        nonlocal r
        if rows is None:
            r = design.scores(direction)
            pulled = design.pull_back(curvature(r))
        else:
            r[rows] = design.scores(direction, rows)
            pulled = design.pull_back(curvature(r)[rows], rows)
        return alpha * direction + pulled, r

    enough = _CG_RESIDUAL * float(np.linalg.norm(gradient))
    step, moved = conjugate_gradient(product, -gradient, enough=enough, max_iter=_MAX_CG)
    return step, moved if rows is None else design.scores(step)
