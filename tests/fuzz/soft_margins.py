"""The 1-norm soft margins, LPPair and SoftMarginRank, over columns and over stumps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import toprank

from .cases import _tell, fitted
from .exact import Classes
from .margins import Margin, Stumps
from .shapes import Problem, Rng
from .tries import Claim, Try

#: All stumps and all pairs as one linear programme, up to so many entries.
MOST_ENTRIES = 60_000


def soft_margin(name: str) -> Any:
    """Fits of one estimator; those of the other are rivals, for their weights are allowed."""

    def make(rng: Rng, problem: Problem) -> list[Try]:
        kind = str(rng.choice(["linear", "linear", "precomputed", "stumps"]))
        if kind == "precomputed":
            problem = _within_one(problem)
        positive = kind != "stumps" and rng.random() < 0.3
        classes, X = Classes(problem.y, problem.weight), problem.dense
        pairs = len(classes.pos) * len(classes.neg)
        options = {
            "epsilon": float(rng.choice([1.0, 0.5, 0.3, 0.05, 1.0 / pairs, rng.random()])),
            "weak_learners": kind,
            "nonnegative": positive,
            "tol": float(rng.choice([1e-5, 1e-5, 1e-8])),
            "on_trivial": str(rng.choice(["raise_epsilon", "keep"])),
            "n_threads": 1,
        }
        if problem.weight is None and rng.random() < 0.2:
            options |= {"nu": float(rng.uniform(0.5, pairs))}

        def read(ranker: Any) -> list[Claim]:
            if isinstance(ranker, toprank.LPPair):
                shares = [ranker.epsilon_]
            else:
                totals = [_total(problem, label) for label in (1, 0)]
                shares = [ranker.nu_plus_ / totals[0], ranker.nu_minus_ / totals[1]]
            objective = Margin(X, classes, kind, positive, shares)
            w: Any = ranker.ranker_weights_
            if kind == "stumps":
                w = Stumps(ranker.features_, ranker.thresholds_, w)
            certificate = ranker.certificate_
            # What rounding leaves of a margin is given up, whatever tol is: see `close_enough`.
            tol = None if ranker.trivial_ else 1.01 * ranker.tol
            shown = np.append(ranker.decision_function(problem.X), ranker.intercept_)
            bounds = certificate.primal, certificate.dual
            return [Claim(objective, w, *bounds, tol, ranker.trivial_, shown)]

        extra = (
            [{"polish": True}]
            if name == "LPPair"
            else [{"nu_plus": str(rng.choice(["search", "paper"]))}]
        )
        tries = []
        for estimator, more in (
            (getattr(toprank, name), {}),
            *((getattr(toprank, name), one) for one in extra),
            (toprank.SoftMarginRank if name == "LPPair" else toprank.LPPair, {}),
        ):
            chosen = {**options, **more}
            tries.append(
                Try(
                    estimator.__name__ + _tell(chosen),
                    lambda estimator=estimator, chosen=chosen: fitted(estimator(**chosen), problem),
                    read,
                )
            )
        return tries

    return make


def _total(problem: Problem, label: int) -> float:
    """The weight of a class, as the estimators add it up."""
    own = problem.y == label
    return float(own.sum() if problem.weight is None else problem.weight[own].sum())


def _within_one(problem: Problem) -> Problem:
    """The same columns between -1 and 1."""
    X = problem.dense
    X = X / np.maximum(np.abs(X).max(axis=0), np.finfo(np.float64).tiny)
    given = sparse.csr_array(X) if sparse.issparse(problem.X) else X
    return Problem(given, problem.y, problem.weight, [*problem.story, "within 1"])


def best_by_lp(objective: Margin) -> Any:
    """The optimum by HiGHS over all columns or all stumps; None where that is too large.

    min -r + sum_g caps_g xi_g  s.t.  every margin + xi >= r, in the tails of pairs or of classes.
    """
    classes = objective.classes
    half, stumps = _half_columns(objective)
    if not half.shape[1]:
        return None
    p, q = (np.array([float(x) for x in share]) for share in (classes.p, classes.q))
    a, b = half[classes.pos], half[classes.neg]
    shares = [float(share) for share in objective.shares]
    if len(shares) == 1:
        rows = (a[:, np.newaxis] - b).reshape(-1, half.shape[1])
        caps, group = np.outer(p, q).ravel() / shares[0], np.zeros(len(rows), int)
    else:
        rows = np.vstack([a, -b])
        caps = np.concatenate([p / shares[0], q / shares[1]])
        group = np.repeat([0, 1], [len(a), len(b)])
    k, (n, d) = len(shares), rows.shape
    if n * d > MOST_ENTRIES or not np.isfinite(caps).all():
        return None
    # Columns: w+, w-, the levels r, the shortfalls xi.
    levels = (group[:, np.newaxis] == np.arange(k)).astype(float)
    shortfalls = -sparse.csr_array(sparse.eye(n))  # older SciPy has no `eye_array`
    left = sparse.hstack([sparse.csr_array(np.hstack([-rows, rows, levels])), shortfalls])
    norm = np.concatenate([np.ones(2 * d), np.zeros(k + n)])[np.newaxis]
    minus = (0.0, 0.0) if objective.positive else (0.0, None)
    found = linprog(
        np.concatenate([np.zeros(2 * d), -np.ones(k), caps]),
        sparse.vstack([left, norm]),
        np.append(np.zeros(n), 1.0),
        bounds=[(0.0, None)] * d + [minus] * d + [(None, None)] * k + [(0.0, None)] * n,
        method="highs",
    )
    if found.status != 0:
        return None
    w = found.x[:d] - found.x[d : 2 * d]
    return w if stumps is None else stumps._replace(weights=w)


def _half_columns(objective: Margin) -> tuple[Any, Stumps | None]:
    if objective.kind != "stumps":
        return np.array(objective._half, dtype=float), None
    rows = np.concatenate([objective.classes.pos, objective.classes.neg])
    features, thresholds = [], []
    for k, column in enumerate(objective.X[rows].T):
        values = np.unique(column)
        features += [k] * (len(values) - 1)
        thresholds += list(values[:-1])  # above a value: the same rows as above the middle
    stumps = Stumps(np.array(features, int), np.array(thresholds), np.zeros(len(features)))
    above = objective.X[:, stumps.features] > stumps.thresholds
    return np.where(above, 0.5, -0.5), stumps


SOFT_MARGINS = {name: soft_margin(name) for name in ("LPPair", "SoftMarginRank")}
