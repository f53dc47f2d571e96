"""The mean square loss over pairs as its solvers see it: by moments, or by products with rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._compat import cached_property
from ...problems import Certificate
from ...solvers.watch import Watch
from .krylov import PairOperator, krylov
from .moments import ClassMoments, Moments
from .quadratic import Decomposition, QuadraticSolution, Target, decompose, solve_once
from .quadratic_certificate import Curvature, Local, certify
from .refinement import refined

Array = NDArray[np.float64]

#: Of smaller features the squares lose their digits.
SMALLEST = 1e-140


class Risk(Protocol):
    """E (1 - w.psi)^2 / 2 over pairs, however it is known."""

    @property
    def n_features(self) -> int:
        """How many features a pair has."""

    def decompose(self, targets: Sequence[Target], tol: float, max_iter: int) -> Decomposition:
        """A decomposition that serves all targets."""

    def solve(
        self, target: Target, tol: float, max_iter: int, watch: Watch | None
    ) -> tuple[QuadraticSolution, int]:
        """The minimum for one target alone, and how many steps it took."""

    def value_and_gradient(self, w: Array, alpha: float = 0.0) -> tuple[float, Array]:
        """The risk + alpha/2 |w|^2, and its gradient."""

    def settle(
        self, target: Target, found: QuadraticSolution, tol: float
    ) -> tuple[QuadraticSolution, Certificate]:
        """A solution with its certificate: the one found, or a better one."""

    def threshold(self, w: Array) -> float:
        """Halfway between the mean scores of the classes."""


class MomentRisk:
    """The risk from the moments of pairs; `middle` is halfway between the classes.

    Where the rows are at hand, `rows` gives products with them: they settle what the moments of
    rows that differ much in size have lost to rounding.
    """

    def __init__(
        self, pairs: Moments, middle: Array, rows: Callable[[], PairOperator] | None = None
    ) -> None:
        self._pairs, self._middle, self._rows = pairs, middle, rows
        self.n_features = len(pairs.mean)
        self.value_and_gradient = pairs.value_and_gradient

    @classmethod
    def of(
        cls, moments: ClassMoments, rows: Callable[[], PairOperator] | None = None
    ) -> MomentRisk:
        """The risk of all pairs of the rows of two classes."""
        return cls(moments.of_pairs(), moments.middle, rows)

    @cached_property
    def _curvature(self) -> Curvature:
        return Curvature(self._pairs.second(), self._pairs.second_rounding())

    def decompose(self, targets: Sequence[Target], tol: float, max_iter: int) -> Decomposition:
        """Exact, whatever the targets."""
        return decompose(self._curvature.second, self._pairs.mean)

    def solve(
        self, target: Target, tol: float, max_iter: int, watch: Watch | None
    ) -> tuple[QuadraticSolution, int]:
        """Exact, but for rounding."""
        return solve_once(self._curvature.second, self._pairs.mean, target), 1

    def settle(
        self, target: Target, found: QuadraticSolution, tol: float
    ) -> tuple[QuadraticSolution, Certificate]:
        """By the moments, and by products with the rows where those do not suffice."""
        value, gradient = self._pairs.value_and_gradient(found.w, target.alpha)
        at = Local(value, gradient, *self._pairs.rounding_at(found.w, target.alpha))
        certificate = certify(at, target, found, self._curvature)
        if certificate.holds(tol) or self._rows is None:
            return found, certificate
        local = partial(RowRisk(self._rows()).local, target.alpha, entrywise=True)
        return refined(self._curvature, target, found, local, tol)

    def threshold(self, w: Array) -> float:
        """w.(m1 + m0)/2."""
        return float(self._middle @ w)


class RowRisk:
    """The risk of all pairs from products with the rows."""

    def __init__(self, operator: PairOperator) -> None:
        self._operator = operator
        self.n_features = operator.design.shape[1]
        self.value_and_gradient = operator.value_and_gradient

    def decompose(self, targets: Sequence[Target], tol: float, max_iter: int) -> Decomposition:
        """Lanczos' method, until the targets are met."""
        return krylov(self._operator, targets, tol=tol, max_iter=max_iter)[0]

    def solve(
        self, target: Target, tol: float, max_iter: int, watch: Watch | None
    ) -> tuple[QuadraticSolution, int]:
        """Lanczos' method."""
        found, n_iter = krylov(self._operator, [target], tol=tol, max_iter=max_iter, on_look=watch)
        return found.solve(target), n_iter

    def local(self, alpha: float, w: Array, *, entrywise: bool = False) -> Local:
        """The risk at w, with the rounding of the products."""
        value, gradient = self._operator.value_and_gradient(w, alpha)
        rounding = self._operator.rounding_at(w, alpha, entrywise=entrywise)
        return Local(value, gradient, *rounding)

    def settle(
        self, target: Target, found: QuadraticSolution, tol: float
    ) -> tuple[QuadraticSolution, Certificate]:
        """By products with the rows."""
        return found, certify(self.local(target.alpha, found.w), target, found)

    def threshold(self, w: Array) -> float:
        """w.(m1 + m0)/2."""
        return self._operator.middle_score(w)


def is_trivial(risk: Risk) -> bool:
    """Return whether w = 0 is the minimum: E psi = 0."""
    return not slope_at_zero(risk).any()


def slope_at_zero(risk: Risk) -> Array:
    """Return the gradient at w = 0, unless it is so small that its square underflows."""
    _, slope = risk.value_and_gradient(np.zeros(risk.n_features))
    size = float(np.abs(slope).max())
    if 0.0 < size < SMALLEST:
        raise ValueError(
            f"The mean difference of the classes is {size:g} at most, so small that its square "
            "vanishes. Scale the features first, for instance with "
            "sklearn.preprocessing.StandardScaler."
        )
    return slope


__all__ = ["MomentRisk", "Risk", "RowRisk", "is_trivial", "slope_at_zero"]
