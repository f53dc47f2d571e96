"""Quadratic models under a ceiling: their minimum, and the few negatives that bind there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm, dtrsv

from .._core import ActiveSet
from ._candidates import Candidates, Listed, largest
from .linalg import cholesky

Array = NDArray[np.float64]

#: Rounds in which a model finds the negatives it has to carry.
_ROUNDS = 14
#: Steps of the active-set method in a round, at the most.
_MAX_STEPS = 20_000
#: A violated negative matters once it costs this share of what is at stake; the next step sees to
#: what is less.
_VIOLATION_SHARE = 0.2
#: The least curvature of a model in b, in units of that in w.
_LEAST_BEND = 1e-4
#: A curvature in b beyond which its square may be no number.
_MOST_BEND = 1e150


def factored(hessian: Array, alpha: float, longest: float) -> Array | None:
    """The lower Cholesky factor of a Hessian in (w, b), alpha included; None if it overflowed.

    The matrix is overwritten; `longest` is the length of the longest row that a model carries.
    """
    # Where no row has curvature, b costs the model nothing: as much as keeps its rows apart. Rows
    # of almost no length are not kept apart by any number.
    least = _LEAST_BEND * alpha / max(longest**2, 1e-300)
    if least > _MOST_BEND:
        least = 0.0
    hessian[-1, -1] = max(hessian[-1, -1] * (1.0 + 1e-10), least, 1e-16)
    return cholesky(hessian, hessian.diagonal().copy())


def block_of(n_features: int) -> int:
    """How many negatives may join the list in a round."""
    return min(max(50, n_features // 2), 150)


def tolerance_at(known: Listed, gradient: Array, alpha: float, b: float) -> float:
    """What scores are told apart by, in units of those a step may make: tiny for tiny features."""
    reach = float(known.longest * np.linalg.norm(gradient[:-1])) / alpha
    return 1e-9 * max(min(1.0, reach), abs(b))


def worth_of(gap: float, gain: float, least: float, steepness: float) -> float:
    """By how much a negative may be above the ceiling after a step that gains so much.

    The gap may be far more than the step gains: at stake is the less of the two, or what is the
    `least` that counts. `steepness` is what a unit above the ceiling costs.
    """
    return _VIOLATION_SHARE * max(min(gap, max(gain, 0.0)), least) / steepness


def model_step(
    known: Listed,
    heights: Array,
    factor: Array,
    gradient: Array,
    *,
    tolerance: float,
    more: Callable[[Array], tuple[Array, Array, bool]],
) -> Array:
    """The step to the minimum of a quadratic model, under every negative's constraint, by rounds.

    `factor` is the lower Cholesky factor of its Hessian in (w, b); `heights` are the scores of the
    negatives that are `known`, b included. `more`, given a step, lists negatives that are too high
    after it: it returns their rows and heights, and whether the rest is too little to look again.
    The multipliers are left with `known`.
    """
    free = -dtrsv(factor, gradient, lower=1)
    model = ActiveSet(free)
    model.append(_whiten(factor, known.rows), heights)
    guess = np.flatnonzero(known.multiplier)
    guess = guess[np.argsort(-known.multiplier[guess], kind="stable")]
    # More than can bind are not an active set's: half as many as may are worth a try.
    model.warm(guess if len(guess) < len(free) else guess[: len(free) // 2])
    for _ in range(_ROUNDS):
        model.solve(tolerance, _MAX_STEPS)
        step = np.asarray(dtrsv(factor, model.y, lower=1, trans=1))
        rows, heights, enough = more(step)
        if len(rows) == 0:
            break
        model.append(_whiten(factor, rows), heights)
        if enough:
            break
    known.multiplier = model.multipliers
    return step


def pooled_step(
    known: Candidates,
    factor: Array,
    gradient: Array,
    v: Array,
    *,
    tolerance: float,
    scores: Callable[[Array], Array],
    worth: Callable[[Array], float],
) -> tuple[Array, Array]:
    """The same where all negatives that `known` lists from are scored after every round.

    v are their scores, b included, and `scores` what a step of w adds to them. No negative is left
    above the ceiling by more than a step is `worth`. Returns the step, and what its w adds.
    """
    block = block_of(len(gradient) - 1)
    moved = v

    def more(step: Array) -> tuple[Array, Array, bool]:
        nonlocal moved
        moved = scores(step[:-1])
        violation = v + moved + step[-1]
        enough = worth(step)
        found = known.unlisted(np.flatnonzero(violation > 0.1 * (enough + tolerance)))
        found = found[largest(violation[found], min(block, len(found)))]
        return known.add(found), v[found], bool(violation.max() <= enough)

    step = model_step(known, v[known.members], factor, gradient, tolerance=tolerance, more=more)
    return step, moved


def _whiten(factor: Array, rows: Array) -> Array:
    """L^-1 applied to every row."""
    return np.asarray(dtrsm(1.0, factor, rows.T, lower=1)).T


__all__ = ["block_of", "factored", "model_step", "pooled_step", "tolerance_at", "worth_of"]
