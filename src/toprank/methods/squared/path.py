"""The fits of BBR along values of alpha or of the radius."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...exceptions import warn_path_unconverged
from ...inputs.arguments import check_values
from ...problems import Certificate
from .quadratic import QuadraticSolution, Target
from .risks import Risk, is_trivial

Array = NDArray[np.float64]


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
