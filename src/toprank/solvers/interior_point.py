"""Mehrotra's interior-point method: the step that all use, and the hinge on few features.

Solves   min over u  1/2 u'D u + sum_q b_q [r_q - z_q.u]_+,   D a diagonal of ones and zeros
by       its dual, max over a  r.a - 1/2 |Z'a|^2  s.t.  0 <= a <= b, Z'a = 0 where D has zeros:
         steps towards the points where  a above = (b - a) below = tau  for
         above - below = Z u - r, both positive, as tau falls to zero. Predictor and corrector
         share a Cholesky factor of D + Z' diag(t) Z.
Given    the rows Z behind their products (`HingeRows`), of few enough features for that matrix.
         `interior_point` takes a Problem with a RowLoss of the hinge: z_q is x_q, or -x_q where
         the row is to score low, r = 1, b = c / alpha and D = I.
Returns  a Solution whose dual vector is v_q = -alpha a_q, or alpha a_q.

`mehrotra_step` is the step of every interior-point method here. A method supplies a point and
the solution of its linearised conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from ..designs import Design
from ..losses import RowLoss
from ..problems import Problem, Solution
from .linalg import one_blas_thread
from .loop import Progress, within
from .watch import Watch
from .zero_test import settle

Array = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
#: Steps without a fall of the gap after which arithmetic has no more digits to give.
_PATIENCE = 10
#: The share by which the gap must fall to count as a fall.
_FALLS = 0.01
#: The share of the way to the nearest bound that a step goes, as in Mehrotra's paper.
TO_BOUNDARY = 0.995
#: A step that ends at a bound after this share of its length is rounding.
_SHORTEST = 1e-10


@dataclass
class PathPoint:
    """A point inside its bounds, or a step from one: the vectors x and s are positive.

    The products x s of vectors at the same position fall to zero along the path. `free_x` and
    `free_s` have no bounds; they move with x and with s.
    """

    x: list[Array]
    s: list[Array]
    free_x: list[Any] = field(default_factory=list)
    free_s: list[Any] = field(default_factory=list)

    @property
    def products(self) -> float:
        """The sum of the products x s."""
        return sum(float(x @ s) for x, s in zip(self.x, self.s, strict=True))

    def plus(self, step: PathPoint, share_x: float, share_s: float) -> PathPoint:
        """The point after shares of a step."""
        return PathPoint(
            [x + share_x * by for x, by in zip(self.x, step.x, strict=True)],
            [s + share_s * by for s, by in zip(self.s, step.s, strict=True)],
            [u + share_x * by for u, by in zip(self.free_x, step.free_x, strict=True)],
            [u + share_s * by for u, by in zip(self.free_s, step.free_s, strict=True)],
        )


#: Solves the linearised conditions for  x s = products, one vector for each pair of vectors.
Towards = Callable[[list[Array]], PathPoint]


def mehrotra_step(
    at: PathPoint,
    towards: Towards,
    *,
    fraction: float = TO_BOUNDARY,
    separate: bool = False,
) -> PathPoint | None:
    """Return the point after a step of predictor and corrector; None if there is no progress.

    Parameters
    ----------
    at : PathPoint
        The present point.
    towards : callable
        Solves the linearised conditions; it is called twice, and may share a factorisation.
    fraction : float, default=0.995
        The share of the way to the nearest bound that the step goes.
    separate : bool, default=False
        Let x and s move by steps of different lengths, as linear programs allow.
    """

    def lengths(step: PathPoint) -> tuple[float, float]:
        of_x, of_s = reach(at.x, step.x), reach(at.s, step.s)
        return (of_x, of_s) if separate else (min(of_x, of_s),) * 2

    predictor = towards([np.zeros(1)] * len(at.x))
    of_x, of_s = lengths(predictor)
    vectors = zip(at.x, predictor.x, at.s, predictor.s, strict=True)
    before = at.products
    after = sum(float((x + of_x * by_x) @ (s + of_s * by_s)) for x, by_x, s, by_s in vectors)
    centre = (after / before) ** 3 * before / sum(len(x) for x in at.x)
    corrected = [centre - x * s for x, s in zip(predictor.x, predictor.s, strict=True)]
    step = towards(corrected)
    of_x, of_s = (min(1.0, fraction * share) for share in lengths(step))
    if not (np.isfinite(of_x + of_s) and max(of_x, of_s) > _SHORTEST):
        return None
    return at.plus(step, of_x, of_s)


def reach(at: list[Array], by: list[Array]) -> float:
    """The share of a step that ends at the first zero it meets, at most 1."""
    share = 1.0
    for x, step in zip(at, by, strict=True):
        down = step < 0
        share = min(share, float((-x[down] / step[down]).min(initial=1.0)))
    return share


class HingeRows(Protocol):
    """The rows z_q of the hinges, behind their products."""

    def scores(self, u: Array) -> Array:
        """Z u."""

    def pull_back(self, a: Array) -> Array:
        """Z'a."""

    def matrix(self, give: Array) -> Array:
        """D + Z' diag(give) Z."""


class HingePath:
    """A point between the bounds of the duals of a hinge, and its steps.

    The first duals must lie between their bounds, and have Z'a = 0 where D has zeros. Steps keep
    Z'a there.
    """

    def __init__(self, rows: HingeRows, bound: Array, target: Array, first: Array) -> None:
        self._rows, self._target = rows, target
        # D u = Z'a, but u is updated by steps of u: for long rows the sum Z'a has fewer digits
        # than its terms.
        u = rows.pull_back(first)
        self.margin = rows.scores(u)
        beyond = self.margin - target
        middle = 1.0 + float(np.abs(beyond).mean())
        above, below = np.maximum(beyond, 0.0) + middle, np.maximum(-beyond, 0.0) + middle
        self._at = PathPoint([first, bound - first], [above, below], free_s=[u])

    @property
    def a(self) -> Array:
        """The duals."""
        return self._at.x[0]

    @property
    def u(self) -> Array:
        """The weights."""
        return np.asarray(self._at.free_s[0])

    @property
    def gap(self) -> float:
        """The sum of the products, but no less than rounding changes the dual value by."""
        return max(self._at.products, _EPS * float(np.abs(self._target) @ self.a))

    def step(self) -> bool:
        """Take a step; False where arithmetic has no more to give."""
        (a, left), (above, below) = self._at.x, self._at.s
        give = 1.0 / (above / a + below / left)
        factor, failed = dpotrf(self._rows.matrix(give).T, lower=1, clean=0)
        if failed:
            return False

        def towards(products: list[Array]) -> PathPoint:
            low, high = products
            pull = give * (self._target - self.margin + low / a - high / left)
            by_u = dpotrs(factor, self._rows.pull_back(pull), lower=1)[0]
            by = pull - give * self._rows.scores(by_u)
            of_above = (low - above * by) / a - above
            of_below = (high + below * by) / left - below
            return PathPoint([by, -by], [of_above, of_below], free_s=[by_u])

        after = mehrotra_step(self._at, towards)
        if after is None:
            return False
        self._at = after
        self.margin = self._rows.scores(self.u)
        return True


def follow(
    rows: HingeRows,
    bound: Array,
    target: Array,
    first: Array,
    take: Callable[[HingePath, Progress], None],
    *begin: Any,
    **options: Any,
) -> Solution:
    """Follow the path of a hinge to its end; `take` bounds the optimum at every point.

    The other arguments are those of `Progress`.
    """
    progress = Progress(*begin, patience=_PATIENCE, falls=_FALLS, **options)
    with one_blas_thread(), np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        path = HingePath(rows, bound, target, first)
        while True:
            take(path, progress)
            if progress.over(path.gap) or not path.step():
                return progress.best


def interior_point(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 200,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a hinge on every row; an iteration is a step inside the bounds.

    Where rounding ends it early, `start` may have the better weights, or the better dual vector.
    """
    loss, alpha = cast(RowLoss, problem.loss), problem.alpha
    n, d = problem.design.shape
    rows = _Rows(problem.design, loss)
    weight = loss.weight[rows.places]
    bound = weight / alpha

    def take(path: HingePath, progress: Progress) -> None:
        w, pull = path.u, rows.pull_back(path.a)
        primal = 0.5 * float(w @ w) + float(bound @ np.maximum(1.0 - path.margin, 0.0))
        if alpha * primal < progress.primal:
            progress.lower(alpha * primal, w)
        dual = float(path.a.sum()) - 0.5 * float(pull @ pull)
        if alpha * dual > progress.dual:
            v = np.zeros(n)
            v[rows.places] = rows.signed(np.maximum(-alpha * path.a, -weight))
            progress.lift(alpha * dual, v)

    best = follow(
        rows,
        bound,
        np.ones(len(bound)),
        0.5 * bound,
        take,
        Solution(np.zeros(d), np.zeros(n), solver="interior-point", alpha=alpha),
        loss.at_zero,
        0.0,
        close=within(tol),
        watch=watch or Watch(problem.design),
        max_iter=max_iter,
    )
    reached = problem.certify(best)
    dual = reached.dual
    if start is not None and not reached.holds(tol):
        before = problem.certify(Solution(start.w, start.dual))
        if before.primal < reached.primal:
            best.w = start.w
        if before.dual > dual:
            best.proof, dual = start.dual, before.dual
    return settle(problem, best, tol, dual)


class _Rows:
    """The rows with a weight above zero; those that are to score low have the opposite sign."""

    def __init__(self, design: Design, loss: RowLoss) -> None:
        self._design, self.places = design, np.flatnonzero(loss.weight)
        self._sign = None if loss.sign is None else loss.sign[self.places]

    def signed(self, x: Array) -> Array:
        """x with the signs of the rows."""
        return x if self._sign is None else self._sign * x

    def scores(self, u: Array) -> Array:
        """Z u."""
        return self.signed(self._design.scores(u, self.places))

    def pull_back(self, a: Array) -> Array:
        """Z'a."""
        return self._design.pull_back(self.signed(a), self.places)

    def matrix(self, give: Array) -> Array:
        """I + Z' diag(give) Z."""
        matrix = self._design.gram(give, self.places)
        np.einsum("ii->i", matrix)[:] += 1.0
        return matrix
