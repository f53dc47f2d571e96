"""Other weights: the bound of a certificate must lie below the objective of any of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .digits import Exact, Real, digits, real, solve_positive, sqrt
from .exact import Classes, precise
from .margins import Margin, Stumps
from .objectives import Ridge, squared_length
from .polish import polished
from .shapes import Rng
from .soft_margins import best_by_lp

#: Ridge in place of none, relative to the trace: the optimum of a singular problem to 90 digits.
NEXT_TO_NONE = real(10) ** -90
#: Moves about the best weights that are tried, relative to their size.
STEPS = (1e-9, 1e-5, 1e-2)
#: Bits for systems of equations that may be singular.
MORE_BITS = 1600


def rivals_of(objective: Any, pool: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Named weights that the objective allows; the pool has those of all fits."""
    named = list(pool)
    if isinstance(objective, Margin):
        named += _of_margin(objective)
    else:
        named += [("zero", np.zeros(objective.n_weights)), *objective.others()]
        if objective.quadratic is not None:
            named.append(("exact optimum", quadratic_optimum(objective)))
    return [(name, objective.inside(w)) for name, w in named if _fits(objective, w)]


def near(rng: Rng, objective: Any, best: Any, other: Any) -> list[tuple[str, Any]]:
    """Weights about the best, and between it and another."""
    if isinstance(best, Stumps) or isinstance(other, Stumps):
        return []
    w, v = precise(best), precise(other)
    terms = getattr(objective, "terms", None)
    newton = None if terms is None else polished(terms(), objective.alpha, w)
    if newton is not None:
        return [("Newton with many digits", newton)]
    found = [(f"moved by {step:g}", _moved(rng, w, step)) for step in STEPS]
    share = float(rng.random())
    found.append(("between two", w * (1 - share) + v * share))
    return [(name, objective.inside(x)) for name, x in found]


def _moved(rng: Rng, w: Exact, step: float) -> Exact:
    return w * precise(1.0 + step * rng.normal(size=len(w)))


def _fits(objective: Any, w: Any) -> bool:
    stumps = isinstance(objective, Margin) and objective.kind == "stumps"
    if isinstance(w, Stumps) or stumps:
        return isinstance(w, Stumps) and stumps
    return len(w) == objective.n_weights and bool(np.all(np.isfinite(np.asarray(w, dtype=float))))


def _of_margin(objective: Margin) -> list[tuple[str, Any]]:
    named: list[tuple[str, Any]] = []
    if not objective.positive:
        none = np.zeros(objective.n_weights)
        stumps = Stumps(np.zeros(0, int), np.zeros(0), np.zeros(0))
        named.append(("zero", stumps if objective.kind == "stumps" else none))
    best = best_by_lp(objective)
    return named if best is None else [*named, ("HiGHS", best)]


def _moments(rows: Exact, weights: Exact) -> tuple[Exact, Exact]:
    """The mean and the second moment of rows whose weights sum to one."""
    weighted = rows * weights[:, np.newaxis]
    return weighted.sum(axis=0), weighted.T @ rows


def _first_and_second(objective: Ridge) -> tuple[Exact, Exact]:
    """u = E psi and S = E psi psi' over the pairs of a squared loss."""
    X, kind = objective.rows.precise, objective.quadratic
    if not isinstance(kind, Classes):  # listed pairs
        return objective.rows.pair_moments(*kind)
    shifted = X - X[0]  # exact, and no pair sees it
    m1, s1 = _moments(shifted[kind.pos], kind.p)
    m0, s0 = _moments(shifted[kind.neg], kind.q)
    return m1 - m0, s1 + s0 - np.outer(m1, m0) - np.outer(m0, m1)


def quadratic_optimum(objective: Ridge) -> Exact:
    """The minimum of w'Sw/2 - u'w + alpha/2 |w|^2 in the ball, to many digits."""
    with digits(MORE_BITS):
        return _quadratic_optimum(objective, *_first_and_second(objective))


def _quadratic_optimum(objective: Ridge, u: Exact, S: Exact) -> Exact:
    d = len(u)
    trace = sum(S[k, k] for k in range(d)) or real(1)

    def solve(shift: Real, b: Exact) -> Exact:
        A = S.copy()
        for k in range(d):
            A[k, k] += shift
        return solve_positive(A, b)

    shift = objective.alpha or NEXT_TO_NONE * trace
    w = solve(shift, u)
    if objective.radius is None:
        return w
    for _ in range(200):  # Newton's method on 1/|w|, from below
        length = sqrt(squared_length(w))
        if length <= objective.radius * (1 + real(2) ** -200):
            break
        bend = sum(w * solve(shift, w))
        shift += length**2 / bend * (length - objective.radius) / objective.radius
        w = solve(shift, u)
    return w


__all__ = ["near", "quadratic_optimum", "rivals_of"]
