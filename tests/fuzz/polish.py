"""Newton's method with many digits: the optimum of smooth objectives, however ill-conditioned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .digits import Exact, Real, digits, dot, real, solve_positive
from .exact import ONE, ZERO, Classes, Rows, Scalar, precise

#: Products of a step at the most: beyond, a step takes tens of milliseconds.
MOST_PRODUCTS = 10_000
#: Steps at the most, and halvings of one.
STEPS, HALVINGS = 80, 30
#: Bits: what is wanted are some 40 digits of the objective.
BITS = 250
#: What a step may still gain, of the objective: far less than the last bit of a float.
NEAR_ENOUGH = real(2) ** -110
#: Entries are zero below this share of the largest: exact sums over both take all memory.
NOTHING = real(2) ** -3000
#: Relative to the trace: keeps a Hessian without curvature in b from being singular.
NEXT_TO_NONE = real(2) ** -200


class Terms:
    """sum_k c_k l_k(a_k . (w, b)): smooth losses of linear functions, b perhaps without a part."""

    def __init__(self, A: Exact, weights: Exact, losses: list[Scalar], has_bias: bool) -> None:
        self.A, self.weights, self.losses, self.has_bias = A, weights, losses, has_bias

    @classmethod
    def of_threshold(cls, rows: Rows, classes: Classes, loss: Scalar, negatives: Scalar) -> Terms:
        """sum_i p_i l(-(s_i + b)) + sum_j q_j h(s_j + b)."""
        X = rows.precise
        A = np.vstack([-X[classes.pos], X[classes.neg]])
        m, n = len(classes.pos), len(classes.neg)
        bias = np.array([-ONE] * m + [ONE] * n, dtype=object)[:, np.newaxis]
        weights = np.concatenate([classes.p, classes.q])
        return cls(np.hstack([A, bias]), weights, [loss] * m + [negatives] * n, True)

    @classmethod
    def of_pairs(cls, rows: Rows, classes: Classes, loss: Scalar) -> Terms:
        """sum_ij p_i q_j l(s_j - s_i)."""
        X = rows.precise
        A = (X[classes.neg][np.newaxis] - X[classes.pos][:, np.newaxis]).reshape(-1, X.shape[1])
        return cls(A, np.outer(classes.p, classes.q).ravel(), [loss] * len(A), False)

    def value(self, at: Exact, alpha: Real) -> Real:
        """The objective."""
        z, w = self.A @ at, at[: len(at) - self.has_bias]
        values = [loss.value(x) for loss, x in zip(self.losses, z, strict=True)]
        return alpha / 2 * dot(w, w) + dot(self.weights, values)

    def at(self, alpha: Real) -> Callable[[Exact], Real]:
        """The objective as a function of the weights and b."""
        return lambda at: self.value(at, alpha)

    def first_biases(self, w: Exact) -> list[Real]:
        """Places to begin: the middle, and those at which no loss of a class is steep."""
        part, side = self.A[:, :-1] @ w, self.A[:, -1]
        bounds = [-max(part[side == 1], default=ZERO), max(part[side == -1], default=ZERO)]
        return [*bounds, -sorted(part)[len(part) // 2]]

    def step(self, at: Exact, alpha: Real) -> tuple[Exact, Real]:
        """Newton's step, and how fast the objective falls along it."""
        z, ridge = self.A @ at, np.array([alpha] * len(at), dtype=object)
        if self.has_bias:
            ridge[-1] = ZERO
        slope = self.weights * [loss.slope(x) for loss, x in zip(self.losses, z, strict=True)]
        bend = self.weights * [loss.bend(x) for loss, x in zip(self.losses, z, strict=True)]
        gradient = self.A.T @ slope + ridge * at
        H = (self.A * bend[:, np.newaxis]).T @ self.A + np.diag(ridge)
        H += np.diag([NEXT_TO_NONE * (np.trace(H) or ONE)] * len(at))
        step = solve_positive(H, -gradient)
        return step, -dot(step, gradient)


def polished(terms: Terms, alpha: Real, w: Any) -> Exact | None:
    """The optimum near w, or what better was found; None where that takes too long or fails."""
    n, d = terms.A.shape
    if n * d * d > MOST_PRODUCTS:
        return None
    with digits(BITS):
        at = precise(w)
        if terms.has_bias:
            at = min((np.append(at, b) for b in terms.first_biases(at)), key=terms.at(alpha))
        value = terms.value(at, alpha)
        for _ in range(STEPS):
            try:
                step, fall = terms.step(at, alpha)
            except ArithmeticError:  # no digits, or numbers without an end
                return None
            share = ONE
            for _ in range(HALVINGS):
                there = terms.value(at + share * step, alpha)
                if there <= value - share * fall / 1000:
                    break
                share /= 2
            else:
                break
            at, value = at + share * step, there
            if fall <= abs(value) * NEAR_ENOUGH:
                break
        w = at[: len(at) - terms.has_bias]
        return np.where(abs(w) < NOTHING * max(abs(w)), ZERO, w)
