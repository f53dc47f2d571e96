"""An interior-point method for a hinge on rows of few features, however ill-conditioned.

Solves   min over w  alpha/2 |w|^2 + sum_q c_q [1 - w.z_q]_+
by       its dual, max over a  sum a - 1/2 |Z'a|^2  s.t.  0 <= a <= b = c / alpha: steps towards the
         points where  a above = (b - a) below = tau  for  above - below = Z Z'a - 1, both
         positive, as tau falls to zero. Predictor and corrector share a Cholesky factor of
         I + Z' diag(t) Z.
Given    a Problem with a PointLoss, of few enough features for that matrix.
Returns  a Solution whose dual vector is v = -alpha a.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from ..losses import PointLoss
from ..problem import Problem, Solution
from ..watch import Watch
from ._common import one_blas_thread

Array = NDArray[np.float64]

#: What both parts of a margin are at the start, as a share of a middling one.
_FIRST_SHARE = 1.0
#: How far a step goes, of the way to the nearest bound.
_SHY = 0.995
#: Steps in which the products must fall: arithmetic may have no more digits to give.
_PATIENCE = 10


def interior_point(
    problem: Problem, *, tol: float = 1e-3, max_iter: int = 200, watch: Watch | None = None
) -> Solution:
    """Solve a problem with a hinge on every row; an iteration is a step inside the bounds."""
    loss, alpha = problem.loss, problem.alpha
    if not isinstance(loss, PointLoss):
        raise TypeError(f"This solver needs a PointLoss; {type(loss).__name__} is another loss.")
    watch = watch or Watch(problem.design)
    best = Solution(np.zeros(problem.design.shape[1]), np.zeros(len(loss.weight)), alpha=alpha)
    best.solver = "interior-point"
    primal, dual, gap, moved = loss.at_zero / alpha, 0.0, np.inf, 0
    with one_blas_thread(), np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        path = _Path(problem, loss)
        for best.n_iter in range(max_iter + 1):
            path.look()
            if path.primal < primal:
                primal, best.w = path.primal, path.w
            if path.dual > dual:
                dual, best.dual = path.dual, path.dual_vector()
            best.converged = primal - dual <= tol * primal
            if watch(best.n_iter, alpha * primal, alpha * dual, lambda: best.w):
                break
            if path.gap < 0.99 * gap:
                gap, moved = path.gap, best.n_iter
            stuck = best.n_iter - moved >= _PATIENCE
            if best.converged or stuck or best.n_iter == max_iter or not path.step():
                break
    return best


class _Path:
    """A point between the bounds, and how it moves."""

    def __init__(self, problem: Problem, loss: PointLoss) -> None:
        self._problem, self._design = problem, problem.design
        self._c = loss.weight
        self._rows = np.flatnonzero(loss.weight)
        self._bound = loss.weight[self._rows] / problem.alpha
        self.a, self.left = 0.5 * self._bound, 0.5 * self._bound
        # Z'a, but kept by its own steps: of long rows the sum has fewer digits than its terms.
        self.w = self._design.pull_back(self.a, self._rows)
        self.look()
        beyond = self._margin - 1.0
        middle = _FIRST_SHARE * (1.0 + float(np.abs(beyond).mean()))
        self.above = np.maximum(beyond, 0.0) + middle
        self.below = np.maximum(-beyond, 0.0) + middle

    @property
    def gap(self) -> float:
        """The products that are to vanish; the gap where the two parts of a margin are its own."""
        return float(self.above @ self.a + self.below @ self.left)

    def look(self) -> None:
        """What the weights and the duals reach."""
        self._margin = self._design.scores(self.w, self._rows)
        loss = float(self._bound @ np.maximum(1.0 - self._margin, 0.0))
        self.primal = 0.5 * float(self.w @ self.w) + loss
        pull = self._design.pull_back(self.a, self._rows)
        self.dual = float(self.a.sum()) - 0.5 * float(pull @ pull)

    def dual_vector(self) -> Array:
        v = np.zeros(len(self._c))
        v[self._rows] = np.maximum(-self._problem.alpha * self.a, -self._c[self._rows])
        return v

    def step(self) -> bool:
        """A step of predictor and corrector; False where arithmetic has no more to give."""
        n = len(self.a)
        give = 1.0 / (self.above / self.a + self.below / self.left)
        matrix = self._design.gram(give, self._rows)
        np.einsum("ii->i", matrix)[:] += 1.0
        factor, failed = dpotrf(matrix.T, lower=1, clean=0)
        if failed:
            return False
        zeros = np.zeros(n)
        ahead, _ = self._towards(zeros, zeros, give, factor)
        reach = self._reach(*ahead)
        a, above, below = (reach * by for by in ahead)
        after = float((self.above + above) @ (self.a + a) + (self.below + below) @ (self.left - a))
        tau = (after / self.gap) ** 3 * self.gap / (2.0 * n)
        low, high = tau - ahead[0] * ahead[1], tau + ahead[0] * ahead[2]
        move, by = self._towards(low, high, give, factor)
        reach = min(1.0, _SHY * self._reach(*move))
        if not (np.isfinite(reach) and reach > 1e-10):
            return False
        self.w = self.w + reach * by
        self.a = self.a + reach * move[0]
        self.left = self.left - reach * move[0]
        self.above = self.above + reach * move[1]
        self.below = self.below + reach * move[2]
        return True

    def _towards(
        self, low: Array, high: Array, give: Array, factor: Array
    ) -> tuple[tuple[Array, ...], Array]:
        """The step to  a above = low, (b - a) below = high  on the tangent, and that of Z'a."""
        pull = 1.0 - self._margin + low / self.a - high / self.left
        eased = give * pull
        by = dpotrs(factor, self._design.pull_back(eased, self._rows), lower=1)[0]
        a = eased - give * self._design.scores(by, self._rows)
        above = (low - self.above * a) / self.a - self.above
        below = (high + self.below * a) / self.left - self.below
        return (a, above, below), by

    def _reach(self, a: Array, above: Array, below: Array) -> float:
        """The share of a step that ends at the first bound it meets, at most 1."""
        shares = [1.0]
        for at, by in ((self.a, a), (self.left, -a), (self.above, above), (self.below, below)):
            down = by < 0
            shares.append(float((-at[down] / by[down]).min(initial=1.0)))
        return min(shares)
