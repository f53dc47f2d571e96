"""The top by other problems than a ridge and a convex loss: SparseInfinitePush and AATP."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import toprank

from . import exact
from .cases import _alpha, _options, _tell, fitted
from .digits import Exact, Real, real
from .exact import SCALARS, ZERO, Classes, Rows
from .extremes import SMALLEST
from .objectives import EPS, OneNorm, Ridge
from .shapes import Problem, Rng
from .tries import Claim, Try, ridge_claim

#: Shares of tau are good to this, as the estimator says: 0.1 of 30 rows are three, not four.
TAU_DIGITS = real(10) ** -12
#: What `alpha_max` is known to, of the objective.
MAX_DIGITS = 1e-6
#: Rows up to which every row's problem is looked at: each takes a fit.
MOST_ENUMERATED = 25
#: More than a loss changes by a step of one along a column within one of its mean.
STEEPEST = 4.0


def _scale(problem: Problem) -> float:
    """The size of a 1-norm's alpha at which weights may leave zero."""
    X, positive = problem.dense, problem.y == 1
    apart = np.abs(X[positive].mean(axis=0) - X[~positive].mean(axis=0))
    return float(apart.max()) or 1.0


def _one_norm(problem: Problem, alpha: float) -> OneNorm:
    rows, classes = Rows(problem.dense), Classes(problem.y, problem.weight)
    objective = OneNorm(rows, exact.top(classes, SCALARS["hinge"]), alpha)
    objective.others = lambda: _by_lp(rows.X, classes, alpha)
    return objective


def _by_lp(X: Any, classes: Classes, alpha: float) -> list[tuple[str, Any]]:
    """The optimum by HiGHS, the columns scaled to one: w+, w-, the highest score, the hinges.

    A column whose weight costs more than it can change a loss stays at zero, and is left out.
    """
    wide = np.abs(X - X.mean(axis=0)).max(axis=0)
    used = np.flatnonzero(STEEPEST * wide > alpha)
    X, width = X[:, used], wide[used]
    if not len(used):
        return []
    Z = (X - X.mean(axis=0)) / width
    a, b, p = Z[classes.pos], Z[classes.neg], np.array([float(x) for x in classes.p])
    (m, d), n = a.shape, len(b)
    top, hinges = np.ones((m, 1)), -sparse.csr_array(sparse.eye(m))
    left = sparse.vstack(
        [
            sparse.hstack([sparse.csr_array(np.hstack([-a, a, top])), hinges]),
            sparse.csr_array(np.hstack([b, -b, -np.ones((n, 1)), np.zeros((n, m))])),
        ]
    )
    found = linprog(
        np.concatenate([np.tile(alpha / width, 2), [0.0], p]),
        left,
        np.repeat([-1.0, 0.0], [m, n]),
        bounds=[(0.0, None)] * (2 * d) + [(None, None)] + [(0.0, None)] * m,
        method="highs",
    )
    if found.status != 0:
        return []
    w = np.zeros(len(wide))
    w[used] = (found.x[:d] - found.x[d : 2 * d]) / width
    return [("HiGHS", w)]


def _strength(rng: Rng, problem: Problem) -> float:
    if rng.random() < 0.8:
        return _scale(problem) * float(10.0 ** rng.uniform(-4, 0.5)) or SMALLEST
    return _alpha(rng, problem)


def sparse_infinite_push(rng: Rng, problem: Problem) -> list[Try]:
    """One fit, and one that goes on from another strength."""
    options = {**_options(rng, problem), "alpha": _strength(rng, problem)}
    objective = _one_norm(problem, options["alpha"])

    def read(ranker: Any) -> list[Claim]:
        return [ridge_claim(ranker, objective, problem)]

    def warm() -> Any:
        first = {**options, "alpha": 10.0 * options["alpha"], "warm_start": True}
        ranker = fitted(toprank.SparseInfinitePush(**first), problem)
        return fitted(ranker.set_params(alpha=options["alpha"]), problem)

    name = "SparseInfinitePush"
    return [
        Try(
            name + _tell(options),
            lambda: fitted(toprank.SparseInfinitePush(**options), problem),
            read,
        ),
        Try(f"{name} warm{_tell(options)}", warm, read),
    ]


def sparse_path(rng: Rng, problem: Problem) -> list[Try]:
    """A path of strengths, and the one at which it begins."""
    tol = float(rng.choice([1e-4, 1e-8]))
    some = [[_strength(rng, problem) for _ in range(3)], None][int(rng.random() < 0.3)]

    def read(found: Any) -> list[Claim]:
        claims = []
        for k, certificate in enumerate(found.certificates):
            objective = _one_norm(problem, float(found.alphas[k]))
            shown = np.append(found.coefs[k], found.intercepts[k])
            bounds = certificate.primal, certificate.dual
            claims.append(Claim(objective, found.coefs[k], *bounds, tol, shown=shown))
        # From alpha_max on zero is the optimum; at any alpha where that is zero.
        largest = found.alpha_max or MAX_DIGITS * _scale(problem)
        objective, zero = _one_norm(problem, largest), np.zeros(problem.X.shape[1])
        claims.append(Claim(objective, zero, 1.0, -np.inf, MAX_DIGITS, trivial=True))
        return claims

    return [
        Try(
            f"sparse_infinitepush_path{_tell({'tol': tol, 'alphas': some})}",
            lambda: toprank.methods.push.sparseinfinitepush.sparse_infinitepush_path(
                problem.X,
                problem.y,
                alphas=some,
                sample_weight=problem.weight,
                tol=tol,
                n_threads=1,
            ),
            read,
        )
    ]


def aatp(rng: Rng, problem: Problem) -> list[Try]:
    """Its objective, which is not convex, the bound of it, and the bracket of one row's problem."""
    options = {
        **_options(rng, problem, 1e-3),
        "tau": float(rng.choice([0.02, 0.1, 0.3, rng.random()])),
    }
    options["random_state"] = 0
    rows, shares = Rows(problem.dense), Classes(problem.y, problem.weight).sharing(1.0)
    whole = Ridge(rows, exact.about(shares, _at_share(shares, options["tau"])), options["alpha"])

    def read(ranker: Any) -> list[Claim]:
        w, certificate, row = ranker.coef_[0], ranker.certificate_, ranker.threshold_row_
        own, off = whole.value(w), _off(rows.X, w)
        if abs(own - ranker.objective_value_) > off * (1 + abs(own)):
            raise ArithmeticError(f"objective_value_ {ranker.objective_value_}, exact {own}")
        shown = np.concatenate([w, ranker.intercept_, ranker.decision_function(problem.X)])
        tol = ranker.tol if ranker.trivial_ else None
        of_row = Ridge(rows, exact.about(shares, lambda s: s[row]), ranker.alpha)
        return [
            Claim(
                whole,
                w,
                float(own * (1 + 2 * EPS)),
                ranker.objective_bound_,
                tol,
                ranker.trivial_,
                shown,
            ),
            Claim(of_row, w, certificate.primal, certificate.dual, None),
        ]

    solvers = ["auto", "alternating"] if rng.random() < 0.5 else ["alternating"]
    if len(problem.y) <= MOST_ENUMERATED:
        solvers = ["auto", "enumeration", "alternating"]
    return [
        Try(
            f"AATP{_tell({**options, 'solver': solver})}",
            lambda solver=solver: fitted(toprank.AATP(**options, solver=solver), problem),
            read,
        )
        for solver in solvers
    ]


def _at_share(shares: Classes, tau: float) -> Any:
    """The score with which the highest rows first weigh tau."""
    weight = dict(zip([*shares.pos, *shares.neg], [*shares.p, *shares.q], strict=True))

    def level(s: Exact) -> Real:
        upto = ZERO
        for k in sorted(weight, key=lambda k: -s[k]):
            upto += weight[k]
            if upto >= real(tau) - TAU_DIGITS:
                break
        return s[k]

    return level


def _off(X: Any, w: Any) -> float:
    """What rounding may do to an objective by the scores of these weights."""
    largest = float((np.abs(X) @ np.abs(w)).max())
    return 8.0 * (sum(X.shape) + 8) * float(EPS) * (1.0 + largest)


TOPS = {
    "AATP": aatp,
    "SparseInfinitePush": sparse_infinite_push,
    "sparse_infinitepush_path": sparse_path,
}
