"""The mean square loss over pairs, by moments or by products with rows, and its paths.

A path is the minima for several values of alpha, or of the radius, from one decomposition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._compat import cached_property
from ...exceptions import warn_path_unconverged
from ...inputs.arguments import check_values
from ...problems import Certificate
from ...solvers.watch import Watch
from .certificate import Curvature, Local, certify, refined
from .krylov import PairOperator, krylov
from .moments import ClassMoments, Moments
from .quadratic import Decomposition, QuadraticSolution, Target, decompose, solve_once

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


@dataclass(frozen=True)
class BBRPath:
    """The fits of BBR along values of alpha or of the radius.

    Attributes
    ----------
    alphas, radii : ndarray of shape (n_values,)
        What each fit was asked for.
    coefs : ndarray of shape (n_values, n_features)
        The weights.
    intercepts : ndarray of shape (n_values,)
        Minus the score halfway between the means of the classes.
    multipliers : ndarray of shape (n_values,)
        What the ball adds to alpha.
    certificates : list of Certificate
        Primal and dual value of each.
    """

    alphas: Array
    radii: Array
    coefs: Array
    intercepts: Array
    multipliers: Array
    certificates: list[Certificate]


def solve_path(risk: Risk, targets: list[Target], tol: float, max_iter: int) -> BBRPath:
    """Every target from one decomposition, with its certificate."""
    found, _ = solve_targets(risk, targets, tol, max_iter)
    settled = [risk.settle(target, one, tol) for target, one in zip(targets, found, strict=True)]
    solutions, certificates = [one for one, _ in settled], [one for _, one in settled]
    short = [one.relative_gap for one in certificates if not one.holds(tol)]
    warn_path_unconverged(short, len(targets), tol, "raise max_iter where the solver is 'lanczos'")
    return BBRPath(
        np.array([target.alpha for target in targets]),
        np.array([target.radius for target in targets]),
        np.array([solution.w for solution in solutions]),
        np.array([-risk.threshold(solution.w) for solution in solutions]),
        np.array([solution.multiplier for solution in solutions]),
        certificates,
    )


def solve_targets(
    risk: Risk, targets: list[Target], tol: float, max_iter: int
) -> tuple[list[QuadraticSolution], bool]:
    """Every target from one decomposition, and whether that was carried far enough."""
    if is_trivial(risk):
        return [QuadraticSolution(np.zeros(risk.n_features))] * len(targets), True
    # Weights that overflow have no finite risk, and `settle` does not certify them.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = risk.decompose(targets, tol, max_iter)
        return [found.solve(target) for target in targets], found.met


def targets_of(of: Target, alphas: ArrayLike | None, radii: ArrayLike | None) -> list[Target]:
    """What is asked for, value by value."""
    if (alphas is None) == (radii is None):
        raise ValueError("Give either alphas or radii: the values that the path goes through.")
    name, given = ("alphas", alphas) if radii is None else ("radii", radii)
    values = check_values(name, given, above_zero=radii is not None)
    if radii is None:
        return [Target(value, of.radius) for value in values]
    return [Target(of.alpha, value) for value in values]
