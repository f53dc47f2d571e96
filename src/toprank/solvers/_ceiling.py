"""Quadratic models under a ceiling: their minimum, and the few negatives that bind there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm, dtrsv

from .._core import ActiveSet
from ._candidates import Candidates, largest

Array = NDArray[np.float64]

#: Rounds in which a model finds the negatives it has to carry.
_ROUNDS = 14
#: Steps of the active-set method in a round, at the most.
_MAX_STEPS = 20_000


def model_step(
    known: Candidates,
    factor: Array,
    gradient: Array,
    v: Array,
    *,
    tolerance: float,
    scores: Callable[[Array], Array],
    worth: Callable[[Array], float],
) -> tuple[Array, Array]:
    """The step to the minimum of a quadratic model, under every negative's constraint, by rounds.

    `factor` is the lower Cholesky factor of its Hessian in (w, b); v are the scores of the
    negatives that `known` lists from, b included, and `scores` what a step of w adds to them. No
    negative is left above the ceiling by more than a step is `worth`. The multipliers are left
    with `known`. Returns the step, and what its w adds to the scores.
    """
    block = min(max(50, (len(gradient) - 1) // 2), 150)
    free, rows = -dtrsv(factor, gradient, lower=1), _whiten(factor, known.rows)
    model = ActiveSet(free)
    model.append(rows, v[known.members])
    guess = np.flatnonzero(known.multiplier)
    guess = guess[np.argsort(-known.multiplier[guess], kind="stable")]
    # More than can bind are not an active set's: half as many as may are worth a try.
    model.warm(guess if len(guess) < len(free) else guess[: len(free) // 2])
    for _ in range(_ROUNDS):
        model.solve(tolerance, _MAX_STEPS)
        step = dtrsv(factor, model.y, lower=1, trans=1)
        moved = scores(step[:-1])
        violation = v + moved + step[-1]
        enough = worth(step)
        found = known.unlisted(np.flatnonzero(violation > 0.1 * (enough + tolerance)))
        if len(found) == 0:
            break
        found = found[largest(violation[found], min(block, len(found)))]
        rows = known.add(found)
        model.append(_whiten(factor, rows), v[found])
        if violation.max() <= enough:
            break
    known.multiplier = model.multipliers
    return step, moved


def _whiten(factor: Array, rows: Array) -> Array:
    """L^-1 applied to every row."""
    return np.asarray(dtrsm(1.0, factor, rows.T, lower=1)).T


__all__ = ["model_step"]
