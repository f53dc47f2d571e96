"""Refinement of the quadratic problem of pairs: steps by the moments, residuals by the rows.

Solves   min over |w| <= radius of  1/2 E (1 - w.psi)^2 + alpha/2 |w|^2
by       Newton steps on its conditions, g + m w = 0 and |w| = radius or m = 0, with the gradient g
         from products with the rows, and S from the moments, raised by what rounding may have
         taken off it. So the errors of S slow the steps down, and do not show in the result.
Given    S with the bounds of its rounding, a first solution, and P with its rounding at any w.
Returns  the solution with the best certificate, and that certificate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ...problems import Certificate
from .quadratic import QuadraticSolution, Target
from .quadratic_certificate import Curvature, Local, certify

Array = NDArray[np.float64]

#: Steps at the most; each reads the rows twice.
MOST_STEPS = 40
#: Steps without a better certificate before it is given up.
PATIENCE = 4


@np.errstate(over="ignore", invalid="ignore")  # steps that overflow are not kept
def refined(
    curvature: Curvature,
    target: Target,
    found: QuadraticSolution,
    local: Callable[[Array], Local],
    tol: float,
) -> tuple[QuadraticSolution, Certificate]:
    """Steps from the solution found until its certificate is within `tol`, or gains no more."""
    raised = curvature.second + np.diag(curvature.rounding + target.alpha)
    best, certificate, waited = found, Certificate(np.inf, 0.0), 0
    for _ in range(MOST_STEPS):
        at = local(found.w)
        reached = certify(at, target, found, curvature)
        if reached.gap < certificate.gap:
            best, certificate, waited = found, reached, 0
        else:
            waited += 1
        following = _step(raised, target, found, at.gradient)
        if certificate.holds(tol) or waited >= PATIENCE or following is None:
            break
        found = following
    return best, certificate


def _step(
    raised: Array, target: Target, found: QuadraticSolution, gradient: Array
) -> QuadraticSolution | None:
    """One step on the conditions of the minimum; None where there is no factor."""
    w, m = found.w, found.multiplier
    matrix = raised + m * np.eye(len(w))
    unit = 1.0 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(np.float64).tiny))
    factor, info = lapack.dpotrf(unit[:, np.newaxis] * matrix * unit, lower=1)
    if info != 0:
        return None
    sides = unit[:, np.newaxis] * np.column_stack([-(gradient + m * w), w])
    solved = unit[:, np.newaxis] * lapack.dpotrs(factor, sides, lower=1)[0]
    step, turn = solved.T
    free = w + step
    inside = not np.isfinite(target.radius) or (m == 0.0 and np.linalg.norm(free) <= target.radius)
    if inside:
        return QuadraticSolution(free, 0.0)
    # w.(step - change turn) brings |w|^2 to radius^2, to first order.
    size = float(np.linalg.norm(w))
    short = 0.5 * (target.radius - size) * (target.radius + size)
    change = (float(w @ step) - short) / max(float(w @ turn), np.finfo(np.float64).tiny)
    moved = w + step - change * turn
    length = float(np.linalg.norm(moved))
    if m + change <= 0.0 and length <= target.radius:
        return QuadraticSolution(moved, 0.0)
    return QuadraticSolution(moved * (target.radius / length), max(m + change, 0.0))


__all__ = ["refined"]
