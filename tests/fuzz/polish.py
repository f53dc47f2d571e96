"""Newton's method with many digits: the optimum of smooth objectives, however ill-conditioned."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from .exact import ONE, ZERO, Classes, Exact, Rows, Scalar, precise

#: Products of a step at the most: beyond, a step takes tens of milliseconds.
MOST_PRODUCTS = 10_000
#: Steps at the most, and halvings of one.
STEPS, HALVINGS = 40, 30
#: Bits: what is wanted are some 40 digits of the objective.
BITS = 250
#: Relative to the trace: keeps a Hessian without curvature in b from being singular.
NEXT_TO_NONE = mpf(2) ** -200


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

    def value(self, at: Exact, alpha: mpf) -> mpf:
        """The objective."""
        z, w = self.A @ at, at[: len(at) - self.has_bias]
        values = [loss.value(x) for loss, x in zip(self.losses, z, strict=True)]
        return alpha / 2 * mp.fdot(w, w) + mp.fdot(self.weights, values)

    def step(self, at: Exact, alpha: mpf) -> tuple[Exact, mpf]:
        """Newton's step, and how fast the objective falls along it."""
        z, ridge = self.A @ at, np.array([alpha] * len(at), dtype=object)
        if self.has_bias:
            ridge[-1] = ZERO
        slope = self.weights * [loss.slope(x) for loss, x in zip(self.losses, z, strict=True)]
        bend = self.weights * [loss.bend(x) for loss, x in zip(self.losses, z, strict=True)]
        gradient = self.A.T @ slope + ridge * at
        H = (self.A * bend[:, np.newaxis]).T @ self.A + np.diag(ridge)
        H += np.diag([NEXT_TO_NONE * (np.trace(H) or ONE)] * len(at))
        found = mp.cholesky_solve(mp.matrix(H.tolist()), mp.matrix((-gradient).tolist()))
        step = np.array(list(found), dtype=object)
        return step, -mp.fdot(step, gradient)


def polished(terms: Terms, alpha: mpf, w: Any) -> Exact | None:
    """The optimum near w, or what better was found; None where that takes too long."""
    n, d = terms.A.shape
    if n * d * d > MOST_PRODUCTS:
        return None
    with mp.workprec(BITS):
        at = precise(w)
        if terms.has_bias:
            at = np.append(at, -np.median(np.array(terms.A[:, :-1] @ at, dtype=float)))
            at[-1] = mpf(at[-1])
        value = terms.value(at, alpha)
        for _ in range(STEPS):
            step, fall = terms.step(at, alpha)
            share = ONE
            for _ in range(HALVINGS):
                there = terms.value(at + share * step, alpha)
                if there <= value - share * fall / 1000:
                    break
                share /= 2
            else:
                break
            at, value = at + share * step, there
            if fall <= abs(value) * mpf(2) ** -150:
                break
        return at[: len(at) - terms.has_bias]
