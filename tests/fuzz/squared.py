"""The squared loss over pairs: BBR, its path and its cross-validation, and LCBR."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

import toprank

from . import exact
from .cases import _alpha, _power, _radius, _tell, fitted
from .exact import Classes, Rows
from .objectives import Ridge
from .shapes import Problem, Rng
from .tries import Claim, Try, ridge_claim

#: A hundred pairs for each of more columns would take exact sums too long.
MOST_FOR_AUTO = 10


def _targets(rng: Rng, problem: Problem) -> dict[str, Any]:
    """Alpha, a radius, or both; None is the default."""
    kind = int(rng.integers(5))
    alpha = [_alpha(rng, problem), _alpha(rng, problem), 0.0, None, _alpha(rng, problem)][kind]
    radius = [None, None, None, _radius(rng, problem), _radius(rng, problem)][kind]
    return {"alpha": alpha, "radius": radius}


def _meant(alpha: float | None, radius: float | None) -> float:
    """Alpha as the docstring has it: None is 1e-3, or 0 where a radius is given."""
    if alpha is None:
        return 1e-3 if radius is None else 0.0
    return alpha


def bbr(rng: Rng, problem: Problem) -> list[Try]:
    """One fit by every solver, and in blocks."""
    target = _targets(rng, problem)
    tol = float(rng.choice([1e-4, 1e-4, 1e-8, 1e-12]))
    rows, classes = Rows(problem.dense), Classes(problem.y, problem.weight)
    loss = exact.squares(classes)
    alpha = _meant(**target)
    objective = Ridge(rows, loss, alpha, target["radius"], classes)

    def read(ranker: Any) -> list[Claim]:
        return [ridge_claim(ranker, objective, problem)]

    def in_blocks() -> Any:
        parts = [toprank.BBR(**target, tol=tol, n_threads=1) for _ in range(2)]
        for k, part in enumerate(parts):
            for start in (k, k + 2):
                block = slice(start, None, 4)
                weight = None if problem.weight is None else problem.weight[block]
                part.partial_fit(
                    problem.rows(block), problem.y[block], classes=[0, 1], sample_weight=weight
                )
        return parts[0].merge(parts[1])

    unbounded = alpha == 0.0 and target["radius"] is None
    tries = [
        Try(
            f"BBR{_tell({**target, 'tol': tol, 'solver': solver})}",
            lambda solver=solver: fitted(
                toprank.BBR(**target, tol=tol, solver=solver, n_threads=1), problem
            ),
            read,
        )
        for solver in (["moments"] if unbounded else ["auto", "moments", "lanczos"])
    ]
    return [*tries, Try(f"BBR in blocks{_tell(target)}", in_blocks, read)]


def bbr_path(rng: Rng, problem: Problem) -> list[Try]:
    """Paths of alpha and of the radius."""
    rows, classes = Rows(problem.dense), Classes(problem.y, problem.weight)
    loss = exact.squares(classes)
    tol = float(rng.choice([1e-4, 1e-8]))

    def path(solver: str, **values: Any) -> Try:
        def read(found: Any) -> list[Claim]:
            claims = []
            for k, certificate in enumerate(found.certificates):
                target = float(found.alphas[k]), float(found.radii[k])
                objective = Ridge(rows, loss, *target, classes)
                shown = np.append(found.coefs[k], found.intercepts[k])
                bounds = certificate.primal, certificate.dual
                claims.append(Claim(objective, found.coefs[k], *bounds, tol, shown=shown))
            return claims

        return Try(
            f"bbr_path{_tell({'solver': solver, 'tol': tol, **values})}",
            lambda: toprank.methods.squared.bbr.bbr_path(
                problem.X,
                problem.y,
                sample_weight=problem.weight,
                solver=solver,
                tol=tol,
                n_threads=1,
                **values,
            ),
            read,
        )

    first, second = _power(rng), _power(rng)
    name = str(rng.choice(["alphas", "radii"]))
    unit = problem.strength if name == "alphas" else 1.0 / math.sqrt(problem.strength)
    some = [first * unit, second * unit]
    return [path(solver, **{name: some}) for solver in ("moments", "lanczos")]


def bbr_cv(rng: Rng, problem: Problem) -> list[Try]:
    """The problem at the alpha that was chosen."""
    rows, classes = Rows(problem.dense), Classes(problem.y, problem.weight)
    loss = exact.squares(classes)

    def read(ranker: Any) -> list[Claim]:
        return [ridge_claim(ranker, Ridge(rows, loss, ranker.alpha_, None, classes), problem)]

    alphas = [None, [_alpha(rng, problem) for _ in range(5)]][rng.integers(2)]
    cv = int(rng.integers(2, 6))
    return [
        Try(
            f"BBRCV{_tell({'alphas': alphas, 'cv': cv, 'solver': solver})}",
            lambda solver=solver: fitted(
                toprank.BBRCV(alphas, cv=cv, solver=solver, n_threads=1), problem
            ),
            read,
        )
        for solver in ("auto", "moments", "lanczos")
    ]


def _differences(X1: Any, X0: Any) -> Any:
    return X1 - X0


class _Recorder:
    """Differences as features of a pair, and a list of the rows that they were asked for."""

    def __init__(self) -> None:
        self.first: list[Any] = []
        self.second: list[Any] = []
        self.psi: list[Any] = []

    def __call__(self, X1: Any, X0: Any) -> Any:
        psi = _differences(X1, X0)
        for kept, rows in ((self.first, X1), (self.second, X0), (self.psi, psi)):
            kept.append(np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, float))
        return psi


def lcbr(rng: Rng, problem: Problem) -> list[Try]:
    """Pairs drawn from rows, by features, and given."""
    target = _targets(rng, problem)
    drawn = int(rng.integers(1, 300))
    options = {
        **target,
        "n_pairs": "auto" if rng.random() < 0.3 and problem.X.shape[1] <= MOST_FOR_AUTO else drawn,
        "sampling": str(rng.choice(["matched", "uniform"])),
        "random_state": 0,
        "n_threads": 1,
    }
    alpha = _meant(**target)
    recorder = _Recorder()

    def objective_of(first: Any, second: Any) -> Ridge:
        """The mean over pairs: rows of the first members, then of the second ones."""
        both, place = np.unique(np.vstack([first, second]), axis=0, return_inverse=True)
        i, j = np.split(place.ravel(), 2)
        loss = exact.listed(i, j, np.ones(len(i)), exact.HALF_SQUARE)
        rows = Rows(both)
        return Ridge(rows, lambda s: loss(s) / len(i), alpha, target["radius"], (i, j))

    def recorded() -> tuple[Any, Any, Any]:
        if not recorder.first:
            with warnings.catch_warnings(action="ignore"):
                fitted(toprank.LCBR(**options, features=recorder), problem)
        # The first call asks how wide the features are.
        kept = recorder.first, recorder.second, recorder.psi
        first, second, psi = (np.vstack(rows[1:]) for rows in kept)
        return first, second, psi

    def read(ranker: Any) -> list[Claim]:
        return [ridge_claim(ranker, objective_of(*recorded()[:2]), problem)]

    def read_pairs(ranker: Any) -> list[Claim]:
        psi = recorded()[2]
        objective = objective_of(psi, np.zeros_like(psi))
        certificate = ranker.certificate_
        w, bounds = ranker.coef_[0], (certificate.primal, certificate.dual)
        return [Claim(objective, w, *bounds, ranker.tol, ranker.trivial_, w)]

    def given() -> Any:
        return toprank.LCBR(**target, n_threads=1).fit_pairs(recorded()[2])

    told = _tell(options)
    return [
        Try(f"LCBR{told}", lambda: fitted(toprank.LCBR(**options), problem), read),
        Try(
            f"LCBR by features{told}",
            lambda: fitted(toprank.LCBR(**options, features=_differences), problem),
            read_pairs,
        ),
        Try(f"LCBR of given pairs{told}", given, read_pairs),
    ]


SQUARED = {"BBR": bbr, "bbr_path": bbr_path, "BBRCV": bbr_cv, "LCBR": lcbr}
