"""Lanczos' method for the quadratic problem of all pairs, without any d x d matrix.

S v = X'a with a_i = p_i (s_i - s0) on positive rows, q_j (s_j - s1) on negative ones, s = X v, s1
and s0 the mean scores of the classes: each class is compared with the other's mean. Started at
u = E psi, the Krylov space gives S = V T V' there with T tridiagonal and V'u = |u| e1, and serves
every alpha and every radius at once; what is left of the gradient is known without another pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...designs import Design
from ...inputs.class_split import Split
from ...rounding import STEPS, UNIT, gamma
from .quadratic import Decomposition, Shifted, Target

Array = NDArray[np.float64]

#: The residual is looked at after so many steps, and then after a tenth more each time.
FIRST_LOOK = 4
#: What is left of a direction when the space is exhausted.
EXHAUSTED = 1e-13


class PairOperator:
    """S and u of all pairs of a split, by products with the rows."""

    def __init__(self, design: Design, split: Split) -> None:
        self.design, self.split = design, split
        self.start = np.zeros(design.shape[0])
        self.start[split.pos], self.start[split.neg] = split.p, -split.q
        self.first = design.pull_back(self.start)
        # Means that agree but for the order of summation do not tell the classes apart.
        size = float(np.abs(self.start) @ np.sqrt(design.squared_norms()))
        if linalg.norm(self.first) <= 16.0 * np.finfo(np.float64).eps * size:
            self.first = np.zeros_like(self.first)
        self._last: tuple[Array, Array] | None = None

    def _scores(self, w: Array) -> Array:
        """X w; the last one is remembered."""
        if self._last is None or self._last[0] is not w:
            self._last = w, self.design.scores(w)
        return self._last[1]

    def middle_score(self, w: Array) -> float:
        """Halfway between the mean scores of the classes."""
        s = self._scores(w)
        below = float(self.split.q @ s[self.split.neg])
        return below + 0.5 * (float(self.split.p @ s[self.split.pos]) - below)

    def compare(self, s: Array) -> Array:
        """What every row says: its score less the other class's mean, times its weight."""
        split, a = self.split, np.zeros(len(s))
        above, below = s[split.pos], s[split.neg]
        a[split.pos] = split.p * (above - split.q @ below)
        a[split.neg] = split.q * (below - split.p @ above)
        return a

    def apply(self, v: Array) -> Array:
        """S v."""
        return self.design.pull_back(self.compare(self.design.scores(v)))

    def value_and_gradient(self, w: Array, alpha: float = 0.0) -> tuple[float, Array]:
        """E (1 - w.psi)^2 / 2 + alpha/2 |w|^2, as a sum of squares, and its gradient."""
        split, s = self.split, self._scores(w)
        above, below = s[split.pos], s[split.neg]
        mean_above, mean_below = float(split.p @ above), float(split.q @ below)
        missing = 1.0 - (mean_above - mean_below)
        spread = split.p @ np.square(above - mean_above) + split.q @ np.square(below - mean_below)
        value = 0.5 * (missing * missing + float(spread) + alpha * float(w @ w))
        if not w.any():
            return value, -self.first
        return value, self.design.pull_back(self.compare(s) - self.start) + alpha * w

    def rounding_at(
        self, w: Array, alpha: float = 0.0, *, entrywise: bool = False
    ) -> tuple[float, Array]:
        """How far value and gradient of `value_and_gradient` can be off.

        The gradient entry by entry, from |X| itself, or else by its length, which one entry has
        as well, from the lengths of the rows. The latter are at hand, the former wide products
        that rows and columns of very different size are worth.
        """
        split, (n, d) = self.split, self.design.shape
        own, of_sums = gamma(d + STEPS), gamma(n + STEPS)

        def pulled(wrong: Array) -> Array:
            if entrywise:
                return self.design.absolute_pull_back(wrong)
            return np.array([float(self.design.norms @ wrong)])

        if not w.any():
            # Means that differ by no more than 16 eps were taken for the same.
            return 0.0, pulled((of_sums + 2.0 * STEPS * UNIT) * np.abs(self.start))
        s, size = self._scores(w), float(np.linalg.norm(w))
        off = own * (self.design.absolute_scores(w) if entrywise else size * self.design.norms)
        means, value, lean = [], 0.0, 0.0
        for rows, weight in ((split.pos, split.p), (split.neg, split.q)):
            mean = float(weight @ s[rows])
            means.append(mean)
            error = float(weight @ off[rows]) + of_sums * float(weight @ np.abs(s[rows]))
            lean += error
            apart, each = np.abs(s[rows] - mean), off[rows] + error
            value += float(weight @ (each * (2.0 * apart + each)))
            value += of_sums * float(weight @ np.square(apart))
        missing = abs(1.0 - (means[0] - means[1])) + lean
        lean += own * (1.0 + abs(means[0]) + abs(means[1]))
        value += lean * (2.0 * missing + lean) + own * alpha * size * size
        a = np.abs(self.compare(s) - self.start)
        wrong = np.zeros(n)
        wrong[split.pos] = split.p * (off[split.pos] + lean + own * np.abs(s[split.pos]))
        wrong[split.neg] = split.q * (off[split.neg] + lean + own * np.abs(s[split.neg]))
        ridge = own * alpha * (np.abs(w) if entrywise else size)
        return 0.5 * value, np.asarray(pulled(wrong + of_sums * a) + ridge)


class _Space(ABC):
    """An orthonormal basis v_1, v_2, ... of the Krylov space, grown by one vector a step."""

    def __init__(self, operator: PairOperator) -> None:
        self._operator = operator
        self.diagonal: list[float] = []
        #: Beside the diagonal; its last entry belongs to the vector that is next.
        self.beside: list[float] = []

    @abstractmethod
    def step(self) -> None:
        """S v_k = beside_{k-1} v_{k-1} + diagonal_k v_k + beside_k v_{k+1}."""

    @abstractmethod
    def lift(self, h: Array) -> Array:
        """The sum of h_k v_k."""


class FeatureSpace(_Space):
    """The basis as vectors of features."""

    def __init__(self, operator: PairOperator) -> None:
        super().__init__(operator)
        self.length = float(linalg.norm(operator.first))
        self._basis = _Rows(operator.first / self.length)

    def step(self) -> None:
        """Twice made orthogonal to all vectors before."""
        u = self._operator.apply(self._basis.last)
        self.diagonal.append(float(self._basis.last @ u))
        for _ in range(2):
            u -= (self._basis.rows @ u) @ self._basis.rows
        self.beside.append(float(linalg.norm(u)))
        if self.beside[-1] > 0.0:
            self._basis.append(u / self.beside[-1])

    def lift(self, h: Array) -> Array:
        """The sum of h_k v_k."""
        return np.asarray(h @ self._basis.rows[: len(h)])


class SampleSpace(_Space):
    """The basis as v_k = X'a_k, kept by a_k and s_k = X v_k: for rows fewer than features."""

    def __init__(self, operator: PairOperator) -> None:
        super().__init__(operator)
        self.length = float(linalg.norm(operator.first))
        self._a = _Rows(operator.start / self.length)
        self._s = _Rows(operator.design.scores(operator.first) / self.length)

    def step(self) -> None:
        """Inner products of v are those of a with s."""
        a = self._operator.compare(self._s.last)
        self.diagonal.append(float(self._s.last @ a))
        for _ in range(2):
            a -= (self._s.rows @ a) @ self._a.rows
        v = self._operator.design.pull_back(a)
        self.beside.append(float(linalg.norm(v)))
        if self.beside[-1] > 0.0:
            self._a.append(a / self.beside[-1])
            self._s.append(self._operator.design.scores(v) / self.beside[-1])

    def lift(self, h: Array) -> Array:
        """One product, at the end."""
        return self._operator.design.pull_back(np.asarray(h @ self._a.rows[: len(h)]))


class _Rows:
    """A list of vectors that is a matrix."""

    def __init__(self, first: Array) -> None:
        self._room = np.empty((8, len(first)))
        self._count = 0
        self.append(first)

    def append(self, vector: Array) -> None:
        if self._count == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[self._count] = vector
        self._count += 1

    @property
    def rows(self) -> Array:
        return self._room[: self._count]

    @property
    def last(self) -> Array:
        return np.asarray(self._room[self._count - 1])


class Krylov(Decomposition):
    """S on the Krylov space so far: T by its eigenvectors, for it is small."""

    def __init__(self, space: FeatureSpace | SampleSpace) -> None:
        self._space = space
        self.theta, self._vectors = linalg.eigh_tridiagonal(
            np.array(space.diagonal), np.array(space.beside[:-1])
        )
        self.theta = np.maximum(self.theta, 0.0)
        self._b = space.length * self._vectors[0]

    def shifted(self, shift: float) -> Shifted:
        """(T + shift)^+ |u| e1."""
        theta = self.theta + shift
        alive = theta > len(theta) * np.finfo(np.float64).eps * theta[-1]
        h = np.divide(self._b, theta, out=np.zeros_like(theta), where=alive)
        at = Shifted.of_diagonal(h, theta)
        return Shifted(self._vectors @ h, at.length, at.fall)

    def lift(self, h: Array) -> Array:
        """V h."""
        return self._space.lift(h)

    @property
    def length(self) -> float:
        """|u|."""
        return self._space.length

    @property
    def largest(self) -> float:
        """The largest eigenvalue of T, which no multiplier of the ball can do without."""
        return float(self.theta[-1])

    def residual(self, h: Array) -> float:
        """|S w + shift w - u| at w = V h: only the vector that comes next is left over."""
        return self._space.beside[-1] * abs(float(h[-1]))


def krylov(
    operator: PairOperator,
    targets: Sequence[Target],
    *,
    tol: float,
    max_iter: int,
    on_look: Callable[[int, float, float, Callable[[], Array]], bool] | None = None,
) -> tuple[Krylov, int]:
    """Grow the space until the relative gap of every target is within `tol`.

    Returns the decomposition and the number of steps.
    """
    n, d = operator.design.shape
    space = SampleSpace(operator) if n < d else FeatureSpace(operator)
    look = FIRST_LOOK
    for step in range(1, max_iter + 1):
        space.step()
        exhausted = space.beside[-1] <= EXHAUSTED * max(*space.diagonal, 0.0)
        if step < look and not exhausted and step < max_iter:
            continue
        look = step + max(1, step // 10)
        found = Krylov(space)
        met = True
        for target in targets:
            primal, gap, h = _bracket(found, target)
            met = met and gap <= tol * primal
            if not met:
                break
        current = partial(found.lift, h)
        stop = on_look is not None and on_look(step, primal, primal - gap, current)
        if met or exhausted or stop:
            break
    found.met = met or exhausted
    return found, step


def _bracket(found: Krylov, target: Target) -> tuple[float, float, Array]:
    """The value at the target's solution, what may be left to gain, and the solution in V."""
    at, multiplier = found.reach(target)
    residual, u_w = found.residual(at.h), found.length * float(at.h[0])
    # P = 1/2 - u'w + w'Sw/2 + alpha/2 |w|^2, and S w = u - shift w but for the residual.
    primal = 0.5 - 0.5 * u_w - 0.5 * multiplier * at.length**2
    gaps = []
    if target.alpha > 0.0:
        gaps.append(residual**2 / (2.0 * target.alpha))
    if np.isfinite(target.radius):
        # g'w + radius |g| with g = -multiplier w + residual, at right angles, on the sphere.
        pull = multiplier * target.radius
        size = float(np.hypot(pull, residual))
        gaps.append(target.radius * residual * (residual / (size + pull)) if size > 0.0 else 0.0)
    return max(primal, 0.0), min(gaps), at.h


__all__ = ["FeatureSpace", "Krylov", "PairOperator", "SampleSpace", "krylov"]
