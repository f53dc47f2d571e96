"""The certificate of the quadratic problem of pairs in floating point, and steps towards it.

P(w) = 1/2 E (1 - w.psi)^2 + alpha/2 |w|^2 is known at w as a value and a gradient g, each with a
bound of its rounding. With r = g + m w for any m >= 0, and H <= S + alpha I, any w' of the ball has

    P(w') - P(w) >= g.(w' - w) + 1/2 (w' - w)'H(w' - w)
                 >= -r'H^-1 r / 2 - m |w| (radius - |w|).

H = alpha I needs alpha above zero. H = S + alpha I, less what rounding may have added to S, needs a
Cholesky factor, whose existence shows that it is positive definite. In a ball g.(w' - w) alone is
bounded (Frank and Wolfe). And P >= 0.

Where rows differ much in size their moments lose digits. `refined` takes Newton steps on the
conditions of the minimum, g + m w = 0 and |w| = radius or m = 0, with g from products with the rows
and S from the moments, raised by what rounding may have taken off it. So the errors of S slow the
steps down, and do not show in the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ...problems import Certificate
from ...rounding import STEPS, UNIT, gamma, length
from .quadratic import QuadraticSolution, Target

Array = NDArray[np.float64]

#: P(0).
AT_ZERO = 0.5
#: A gap of this share of the value is tight: no better bound is looked for.
TIGHT = 1e-9
#: What a factor may say of a matrix whose columns are almost dependent: more is rounding.
MOST_INVERSE = 1e12
#: What the inverse's own rounding may add to a gap, as a share of it, short of that.
INVERSE_ROUNDING = 1e-3


@dataclass(frozen=True)
class Local:
    """P at some weights: its value and its gradient, and how far both can be off by rounding."""

    value: float
    gradient: Array
    value_error: float
    #: Entry by entry; or one number, its length, where no curvature asks for more.
    gradient_error: Array


@dataclass(frozen=True)
class Curvature:
    """S, and a diagonal that, taken off S, leaves no more than the S of the rows."""

    second: Array
    rounding: Array


@np.errstate(over="ignore", invalid="ignore")  # a length that no float holds bounds nothing
def certify(
    at: Local, target: Target, solution: QuadraticSolution, curvature: Curvature | None = None
) -> Certificate:
    """The bracket of the minimum that P at the solution gives, rounding included."""
    w, m, off = solution.w, solution.multiplier, at.value_error
    own = gamma(2 * len(w) + STEPS)
    size, steep = length(w), length(at.gradient)
    error = length(at.gradient_error) * (1.0 + own)
    residual = at.gradient + m * w
    error_left = error + own * (steep + m * size)
    left = length(residual) * (1.0 + own) + error_left
    ball, gaps = 0.0, [at.value]
    if np.isfinite(target.radius):
        reach = size + target.radius
        ball = m * size * max(target.radius - size, 0.0) + own * m * size * reach
        # Rounding may have left w outside the ball.
        off += own * steep * size
        gaps.append(left * reach + ball)
        pull = max(float(at.gradient @ w) + target.radius * steep, 0.0)
        gaps.append(pull + (error + own * steep) * reach)
    if target.alpha > 0.0:
        gaps.append(left * (left / (2.0 * target.alpha)) + ball)
    if curvature is not None and min(gaps) > TIGHT * at.value:
        spread = at.gradient_error + own * (np.abs(at.gradient) + m * np.abs(w))
        gaps.append(_by_curvature(curvature, target.alpha, residual, spread) + ball)
    gap = min(gaps)
    if off > 0.0 or gap > 0.0:
        off += 2.0 * UNIT * (at.value + gap)
    return Certificate(at.value + off, max(at.value - gap - off, 0.0), AT_ZERO)


def _by_curvature(curvature: Curvature, alpha: float, residual: Array, error: Array) -> float:
    """r'H^-1 r / 2 for any r within `error` of the residual; infinite where H is not known."""
    diagonal = np.diag(curvature.second) + alpha
    # A column without any square, and without an error, is constant: no weight of it matters.
    alive = (diagonal > 0.0) | (residual != 0.0) | (error != 0.0)
    d = int(alive.sum())
    lowered = (diagonal - curvature.rounding)[alive]
    # What Cholesky's method may be off, in the unit of every column.
    lowered -= d * gamma(d + STEPS) * diagonal[alive]
    if d == 0 or not (lowered > 0.0).all():
        return np.inf if d else 0.0
    unit = 1.0 / np.sqrt(lowered)
    scaled = unit[:, np.newaxis] * curvature.second[np.ix_(alive, alive)] * unit
    np.fill_diagonal(scaled, 1.0)
    factor, info = lapack.dpotrf(scaled, lower=1)
    if info != 0:
        return np.inf
    inverse, info = lapack.dtrtri(factor, lower=1)
    inverse = np.tril(inverse)
    reach = np.sqrt(np.square(inverse).sum(axis=0))
    if info != 0 or not float(reach.max()) ** 2 <= MOST_INVERSE:
        return np.inf
    size = float(np.linalg.norm(inverse @ (unit * residual[alive])))
    size += float(reach @ (unit * error[alive]))
    return 0.5 * size * size * (1.0 + INVERSE_ROUNDING)


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
