"""RectPush as the paper solves it: accelerated gradient steps on its dual, ended early.

Solves   (19) for the squared hinge, over a, beta, gamma >= 0 with sum a = sum beta + sum gamma:
         |X+'a - X-'(beta + gamma)|^2 / (2 lambda) + sum_i (m a_i^2 / 4 - a_i)
         + sum_j (n beta_j^2 / 4 - beta_j)
by       the scheme of appendix B, its gradients (23) and the step rule of the TopPush paper mended
Stops    as the program passed on as the TopPush authors' own does: from the tenth step on at a
         change of the objective of at most `tol` relative to it, or at a step m |v| of 1e-6; or
         after `max_iter` steps. The paper's own rule looks at norms of gradients, which do not
         vanish at this optimum, and has no threshold.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from toprank._core import project_balanced

Array = NDArray[np.float64]

#: The change is looked at from this step on; the first steps are short ones.
_FIRST = 10
#: The steps end at one of this length, times the number of positives.
_SHORTEST = 1e-6


class EarlyRectPush(BaseEstimator):
    """A linear score from few steps towards RectPush's."""

    def __init__(self, alpha: float, tol: float = 1e-4, max_iter: int = 400) -> None:
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Step until the change is small or the steps are used up."""
        positives, negatives = X[y == 1], X[y != 1]
        m, n = positives.shape[0], negatives.shape[0]
        curvature = np.repeat([m / 2.0, n / 2.0, 0.0], [m, n, n])
        pull = np.repeat([1.0, 1.0, 0.0], [m, n, n])

        def image(v: Array) -> Array:
            return positives.T @ v[:m] - negatives.T @ (v[m : m + n] + v[m + n :])

        def objective(v: Array, u: Array) -> float:
            separable = float(v @ (0.5 * curvature * v - pull))
            return float(u @ u) / (2.0 * self.alpha) + separable

        v = v_last = np.zeros(m + 2 * n)
        u = u_last = np.zeros(X.shape[1])
        g = 0.0
        lipschitz, t_last, t = 1.0, 0.0, 1.0
        self.n_iter_, stopped = 0, False
        while self.n_iter_ < self.max_iter and not stopped:
            self.n_iter_ += 1
            omega = max((t_last - 1.0) / t, 0.0)
            v_ahead, u_ahead = v + omega * (v - v_last), u + omega * (u - u_last)
            g_ahead = objective(v_ahead, u_ahead)
            s = negatives @ (u_ahead / self.alpha)
            scores = np.concatenate([positives @ (u_ahead / self.alpha), -s, -s])
            slope = scores + curvature * v_ahead - pull
            while True:  # double L until the quadratic model bounds the objective
                v_new = v_ahead - slope / lipschitz
                v_new = np.concatenate(project_balanced(v_new[:m], v_new[m:]))
                u_new = image(v_new)
                g_new, move = objective(v_new, u_new), v_new - v_ahead
                model = g_ahead + slope @ move + 0.5 * lipschitz * (move @ move)
                if g_new <= model + 1e-12 * abs(g_ahead) or not lipschitz < 1e300:
                    break
                lipschitz *= 2.0
            still = self.n_iter_ >= _FIRST and abs(g_new - g) <= self.tol * abs(g)
            stopped = still or m * math.sqrt(move @ move) <= _SHORTEST
            v_last, u_last, v, u, g = v, u, v_new, u_new, g_new
            t_last, t = t, (1.0 + math.sqrt(1.0 + 4.0 * t * t)) / 2.0
        self.coef_ = u / self.alpha
        if not stopped:
            warnings.warn(f"Cut off after {self.n_iter_} steps.", ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X: Any) -> Array:
        """Score rows, without a threshold."""
        return np.asarray(X @ self.coef_)
