"""The experiments of sections 6.1 and 6.2: few points in the plane, labels by a noisy line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from theory import Distribution, population_auc, population_minimiser, ptop_risk

Array = NDArray[np.float64]

N_ATOMS = 4
#: The methods, the risks they minimise, and the risk of the score zero.
METHODS = {"TopPush": ("ptop", 1.0), "RectPush": ("recttop", 2.0)}
#: Scores nearer to each other than this share of their range are a tie that rounding broke.
TIE = 1e-7


@dataclass(frozen=True)
class Measured:
    """What was measured of a method: arrays of one row a draw and one column a setting."""

    norm: Array
    auc: Array
    excess: Array


def draw_points(n_draws: int, seed: int) -> list[Array]:
    """Supports: `N_ATOMS` points, uniform in the square from -1 to 1."""
    rng = np.random.default_rng([seed, 1])
    return list(rng.uniform(-1.0, 1.0, size=(n_draws, N_ATOMS, 2)))


def distribution(X: Array, W: float) -> Distribution:
    """Every point equally likely, and positive with probability 1 / (1 + e^-(w*.x)).

    w* is W times the diagonal's direction. The classes are given, not eta, which at the largest W
    rounds to one: then a point would never be negative, and could be lifted.
    """
    z = W / np.sqrt(2.0) * X.sum(axis=1)
    eta, rest = expit(z), expit(-z)
    return Distribution.from_conditionals(X, eta / eta.sum(), rest / rest.sum(), eta.mean())


def population_study(points: list[Array], widths: Array) -> dict[str, Measured]:
    """Section 6.1: the minimisers of the population risks, for every W."""
    settings = [[(D := distribution(X, W), D) for W in widths] for X in points]
    return {method: _measure(method, settings) for method in METHODS}


def stopped_short(points: list[Array], widths: Array, seed: int) -> Measured:
    """TopPush's population risk by a general-purpose minimiser, as the paper has it.

    The paper took MATLAB's fmincon. This is SciPy's SLSQP, like it a method for smooth functions
    with slopes by differences, from a normal start.
    """
    rng = np.random.default_rng([seed, 3])
    rows = []
    for X in points:
        for W in widths:
            D = distribution(X, W)
            found = minimize(_ptop_of(D), rng.standard_normal(2), method="SLSQP")
            excess = 1.0 - float(found.fun)
            norm = float(np.linalg.norm(found.x))
            rows.append((norm, population_auc(X @ found.x, D), excess))
    return _columns(rows, len(points))


def _ptop_of(D: Distribution) -> Callable[[Array], float]:
    return lambda w: ptop_risk(D.X @ w, D, "squared_hinge")


def sample_study(points: list[Array], sizes: list[int], seed: int) -> dict[str, Measured]:
    """Section 6.2: the minimisers of the empirical risks at W = 1, for every sample size.

    A sample that lacks a class is drawn again. Its minimiser's AUC is that on the distribution.
    """
    rng = np.random.default_rng([seed, 2])
    settings = []
    for X in points:
        D = distribution(X, 1.0)
        settings.append([(_sample(D, size, rng), D) for size in sizes])
    return {method: _measure(method, settings) for method in METHODS}


def best_auc(points: list[Array], widths: Array) -> Array:
    """The AUC that no score exceeds, that of eta, for every draw and W."""
    return np.array(
        [[population_auc(D.eta, D) for D in (distribution(X, W) for W in widths)] for X in points]
    )


def _sample(D: Distribution, size: int, rng: np.random.Generator) -> Distribution:
    while True:
        X, y = D.sample(size, rng)
        if 0 < y.sum() < size:
            return Distribution.empirical(X, y)


def _measure(method: str, settings: list[list[tuple[Distribution, Distribution]]]) -> Measured:
    """Fit on the first distribution of each pair, judge on the second."""
    risk, at_zero = METHODS[method]
    rows = []
    for row in settings:
        for fitted_on, judged_on in row:
            scorer = population_minimiser(fitted_on, risk, loss="squared_hinge")
            scores = judged_on.X @ scorer.w
            if (span := np.ptp(scores)) > 0:
                scores = np.round(scores / (TIE * span))
            norm, excess = float(np.linalg.norm(scorer.w)), at_zero - scorer.risk
            rows.append((norm, population_auc(scores, judged_on), excess))
    return _columns(rows, len(settings))


def _columns(rows: list[tuple[float, float, float]], n_draws: int) -> Measured:
    return Measured(*np.moveaxis(np.array(rows).reshape(n_draws, -1, 3), 2, 0))
