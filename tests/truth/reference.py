"""Truths of three lines, and small problems to hold the fast code against."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog, minimize_scalar

from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.losses import Loss, ThresholdLoss, TopLoss
from toprank.problems import Problem
from toprank.surrogates import SURROGATES, Rectified

Array = NDArray[np.float64]

#: The losses TopPush takes, and those where the negatives lose too: RectPush.
SMOOTH = ["squared_hinge", "logistic", "exponential"]
RECTIFIED = [f"rectified {name}" for name in SMOOTH]

#: l(z), one number at a time.
VALUE: dict[str, Callable[[float], float]] = {
    "squared_hinge": lambda z: max(1.0 + z, 0.0) ** 2,
    "logistic": lambda z: float(np.logaddexp(0.0, z)),
    "exponential": lambda z: float(np.exp(z)),
    "hinge": lambda z: max(1.0 + z, 0.0),
}


def entropy(x: float) -> float:
    """x log x, and 0 at 0."""
    return float(x * np.log(x)) if x > 0 else 0.0


#: l*(a) inside its domain, one number at a time.
CONJUGATE: dict[str, Callable[[float], float]] = {
    "squared_hinge": lambda a: a * a / 4.0 - a,
    "logistic": lambda a: entropy(a) + entropy(1.0 - a),
    "exponential": lambda a: entropy(a) - a,
    "hinge": lambda a: -a,
}


def positive_against_worst(s: Array, split: Split, name: str) -> float:
    """sum_i p_i max_j l(s_j - s_i): every positive against its worst negative."""
    return sum(
        p * max(VALUE[name](s[j] - s[i]) for j in split.neg)
        for i, p in zip(split.pos, split.p, strict=True)
    )


def infinite_push(s: Array, split: Split, name: str) -> float:
    """max_j sum_i p_i l(s_j - s_i): the worst negative against all positives."""
    return max(
        sum(p * VALUE[name](s[j] - s[i]) for i, p in zip(split.pos, split.p, strict=True))
        for j in split.neg
    )


def of_both_classes(s: Array, split: Split, name: str, b: float) -> float:
    """sum_i p_i l(-(s_i + b)) + sum_j q_j l(s_j + b)."""
    sides = ((split.pos, split.p, -1.0), (split.neg, split.q, 1.0))
    return sum(
        share * VALUE[name](sign * (s[row] + b))
        for rows, shares, sign in sides
        for row, share in zip(rows, shares, strict=True)
    )


def rectified(s: Array, split: Split, name: str) -> float:
    """The least of `of_both_classes` over the b that keep every negative at or below zero."""
    highest = -float(s[split.neg].max())
    width = 10.0 + 2.0 * float(np.abs(s).max())
    inside = minimize_scalar(
        lambda b: of_both_classes(s, split, name, b),
        bounds=(highest - width, highest),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return min(float(inside.fun), of_both_classes(s, split, name, highest))


def loss_value(s: Array, split: Split, name: str) -> float:
    """The loss of the scores: TopPush's or, for a rectified one, RectPush's."""
    kind, _, plain = name.rpartition(" ")
    return (rectified if kind else positive_against_worst)(s, split, plain)


def at_zero(name: str) -> float:
    """The loss of w = 0."""
    kind, _, plain = name.rpartition(" ")
    return (2.0 if kind else 1.0) * VALUE[plain](0.0)


def primal_value(X: Array, split: Split, name: str, alpha: float, w: Array) -> float:
    """alpha/2 |w|^2 and the loss of the scores."""
    return 0.5 * alpha * float(w @ w) + loss_value(X @ w, split, name)


def dual_weights(X: Array, split: Split, alpha: float, a: Array, delta: Array) -> Array:
    """(sum_i a_i x_i - sum_j delta_j x_j) / alpha."""
    return (X[split.pos].T @ a - X[split.neg].T @ delta) / alpha


def dual_value(X: Array, split: Split, name: str, alpha: float, a: Array, delta: Array) -> float:
    """-alpha/2 |w|^2 - sum_i p_i l*(a_i / p_i), w the weights of the dual point.

    For a rectified loss less sum_j q_j l*(min(delta_j / q_j, l'(0))) as well.
    """
    kind, _, plain = name.rpartition(" ")
    conjugate = CONJUGATE[plain]
    w = dual_weights(X, split, alpha, a, delta)
    separable = sum(p * conjugate(a_i / p) for a_i, p in zip(a, split.p, strict=True))
    if kind:
        cap = {"squared_hinge": 2.0, "logistic": 0.5, "exponential": 1.0}[plain]
        duals = zip(delta, split.q, strict=True)
        separable += sum(q * conjugate(min(delta_j / q, cap)) for delta_j, q in duals)
    return -0.5 * alpha * float(w @ w) - separable


def hinge_optimum(Z: Array, weight: Array, alpha: float = 1.0) -> float:
    """The minimum of alpha/2 |w|^2 + sum_q c_q [1 - w.z_q]_+, by CVXPY."""
    w = cp.Variable(Z.shape[1])
    loss = weight @ cp.pos(1 - Z @ w)
    problem = cp.Problem(cp.Minimize(0.5 * alpha * cp.sum_squares(w) + loss))
    return float(problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-11, tol_gap_abs=1e-11))


def optimum(X: Array, split: Split, name: str, alpha: float) -> float:
    """The minimum of TopPush's objective or, for a rectified loss, of RectPush's, by CVXPY."""
    kind, _, plain = name.rpartition(" ")
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    loss = {
        "squared_hinge": lambda z: cp.square(cp.pos(1 + z)),
        "logistic": cp.logistic,
        "exponential": cp.exp,
        "hinge": lambda z: cp.pos(1 + z),
    }[plain]
    below = X[split.neg] @ w + b
    objective = 0.5 * alpha * cp.sum_squares(w) + split.p @ loss(-(X[split.pos] @ w + b))
    if kind:
        objective += split.q @ loss(below)
    problem = cp.Problem(cp.Minimize(objective), [below <= 0])
    with warnings.catch_warnings():  # of tolerances that are out of reach: as near as it gets
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    # CLARABEL's point may break a constraint by its tolerance; the value here breaks none.
    return primal_value(X, split, name, alpha, np.asarray(w.value))


def in_hull(point: Array, corners: Array) -> bool:
    """Whether the point is a mean of the corners with weights >= 0 that sum to one."""
    equal = np.vstack([corners.T, np.ones(len(corners))])
    found = linprog(np.zeros(len(corners)), A_eq=equal, b_eq=np.append(point, 1.0), method="highs")
    return found.status == 0


def rows_of_two_classes(
    seed: int, m: int, n: int, d: int, shift: float = 1.0
) -> tuple[Array, NDArray[np.bool_]]:
    """Normal rows in random order, the positives' mean moved along every feature."""
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(m + n) < m)
    X = rng.standard_normal((m + n, d)) + shift * positive[:, None]
    return X / np.sqrt(d), positive


def make_problem(
    X: Any,
    positive: NDArray[np.bool_],
    name: str = "squared_hinge",
    alpha: float = 0.01,
    weight: Array | None = None,
) -> Problem:
    """TopPush, or RectPush for a rectified loss, on these rows; arrays and sparse alike."""
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    return Problem(as_design(X, 1), make_loss(Split.of(positive, weight), name), alpha)


def make_loss(split: Split, name: str) -> Loss:
    """The library's loss of this name."""
    kind, _, plain = name.rpartition(" ")
    surrogate = SURROGATES[plain]
    return (
        ThresholdLoss(split, surrogate, Rectified(surrogate)) if kind else TopLoss(split, surrogate)
    )
