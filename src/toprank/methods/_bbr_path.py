"""The fits of BBR along values of alpha or of the radius."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..problem import Certificate
from ..solvers.quadratic import Target, certify
from ..squared import Risk

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
    """Every target from one decomposition."""
    found = risk.decompose(targets, tol, max_iter)
    solutions = [found.solve(target) for target in targets]
    coefs = np.array([solution.w for solution in solutions])
    certificates = []
    for target, w in zip(targets, coefs, strict=True):
        value, gradient = risk.value_and_gradient(w, target.alpha)
        certificates.append(certify(value, gradient, w, target, found.smallest))
    return BBRPath(
        np.array([target.alpha for target in targets]),
        np.array([target.radius for target in targets]),
        coefs,
        np.array([-risk.threshold(w) for w in coefs]),
        np.array([solution.multiplier for solution in solutions]),
        certificates,
    )


def targets_of(of: Target, alphas: ArrayLike | None, radii: ArrayLike | None) -> list[Target]:
    """What is asked for, value by value."""
    if (alphas is None) == (radii is None):
        raise ValueError("Give either alphas or radii: the values that the path goes through.")
    name, given = ("alphas", alphas) if radii is None else ("radii", radii)
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{name} must be a list of numbers, got shape {values.shape}.")
    good = (values >= 0.0) & np.isfinite(values) if radii is None else values > 0.0
    if not good.all():
        place = int(np.argmin(good))
        least = "0 or above, and finite" if radii is None else "above 0"
        raise ValueError(f"{name}[{place}] is {values[place]:g}: it must be {least}.")
    if radii is None:
        return [Target(float(value), of.radius) for value in values]
    return [Target(of.alpha, float(value)) for value in values]
