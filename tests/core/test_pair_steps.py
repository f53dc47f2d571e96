"""PairSteps: Newton's step and dual sweeps on the squared hinge of all pairs, by dense algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from toprank._core import Matrix, PairRanks, PairSteps

Array = NDArray[np.float64]


def problem(weighted: bool, seed: int, d: int = 50) -> tuple[Any, ...]:
    """Sparse rows, one in ten of them of neither class."""
    rng = np.random.default_rng(seed)
    n = 80
    X = np.asarray(sp.random(n, d, 0.2, random_state=seed).todense())
    side = rng.random(n)
    pos, neg = np.flatnonzero(side < 0.3), np.flatnonzero(side > 0.4)
    weights = [rng.uniform(0.1, 2, len(k)) if weighted else np.ones(len(k)) for k in (pos, neg)]
    p, q = (w / w.sum() for w in weights)
    return X, pos, neg, p, q, PairRanks(n, pos, p, neg, q), rng


def matrix(X: Array, form: str) -> Matrix:
    if form == "dense":
        return Matrix.dense(X)
    rows = sp.csr_matrix(X, dtype=np.float32 if form == "single" else np.float64)
    return Matrix.csr(rows.data, rows.indices, rows.indptr.astype(np.int64), X.shape[1])


def hessian(X: Array, s: Array, pos: Any, neg: Any, p: Array, q: Array) -> Array:
    """Summed pair by pair."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for i, p_i in zip(pos, p, strict=True):
        for j, q_j in zip(neg, q, strict=True):
            if 1.0 - s[i] + s[j] > 0.0:
                total += 2.0 * p_i * q_j * np.outer(X[i] - X[j], X[i] - X[j])
    return total


@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_of_all_rows_is_newtons(form: str, weighted: bool) -> None:
    X, pos, neg, p, q, ranks, rng = problem(weighted, 0)
    s, gradient, alpha = rng.normal(size=len(X)), rng.normal(size=X.shape[1]), 1e-2
    ranks.slope(s)
    steps = PairSteps(matrix(X, form), False, 1)
    step, _, left = steps.step(ranks, gradient, alpha, 1.0, 1e-12, 0.0, 500)
    H = hessian(X, s, pos, neg, p, q) + alpha * np.eye(len(gradient))
    assert_allclose(step, np.linalg.solve(H, -gradient), rtol=1e-7, atol=1e-9)
    assert left <= 1e-24 * float(gradient @ gradient)


def test_a_step_of_few_rows_is_right_in_the_mean() -> None:
    X, pos, neg, p, q, _, rng = problem(False, 1)
    gradient, alpha = rng.normal(size=X.shape[1]), 2.0
    steps, found = PairSteps(matrix(X, "sparse"), False, 1), []
    for _ in range(400):  # all pairs count: the Hessian is the same in all orders
        ranks = PairRanks(len(X), pos, None, rng.permutation(neg), None)
        ranks.slope(s := 0.01 * rng.normal(size=len(X)))
        found.append(steps.step(ranks, gradient, alpha, 0.3, 1e-10, 0.0, 500)[0])
    assert 0 < steps.entries < 0.7 * np.count_nonzero(X)
    H = hessian(X, s, pos, neg, p, q) + alpha * np.eye(len(gradient))
    exact = np.linalg.solve(H, -gradient)
    # An inverse of the mean is not the mean of inverses, but where alpha is much of both.
    assert np.linalg.norm(np.mean(found, axis=0) - exact) < 0.02 * np.linalg.norm(exact)


@pytest.mark.parametrize("form", ["sparse", "single"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [1e-1, 1e-2, 1e-3])
def test_sweeps_lead_to_the_minimum(form: str, weighted: bool, alpha: float) -> None:
    X, pos, neg, p, q, ranks, _ = problem(weighted, 2, 600)
    tilt = np.zeros(len(X))
    tilt[pos], tilt[neg] = p, -q
    steps = PairSteps(matrix(X, form), form == "single", 1)
    enough = 1e-5 if form == "single" else 1e-9
    w, entries = steps.sweep(tilt, alpha, 1000, enough, 1)
    assert entries >= np.count_nonzero(X[tilt != 0])
    v, value, _ = ranks.slope(X @ w)
    gradient, size = alpha * w + X.T @ v, value + 0.5 * alpha * w @ w
    assert gradient @ gradient / (2.0 * alpha) < 10.0 * enough * size
    assert_allclose(w, steps.sweep(tilt, alpha, 1000, enough, 1)[0], rtol=0)


def test_rows_of_zeros_and_one_sweep() -> None:
    X, pos, neg, p, q, _, _ = problem(False, 3)
    X[pos[0]] = X[neg[0]] = 0.0
    tilt = np.zeros(len(X))
    tilt[pos], tilt[neg] = p, -q
    steps = PairSteps(matrix(X, "sparse"), False, 1)
    assert np.isfinite(steps.sweep(tilt, 1e-3, 1, 1e-9, 1)[0]).all()


def test_wrong_arguments() -> None:
    X, _, _, _, _, ranks, _ = problem(False, 4)
    steps = PairSteps(matrix(X, "sparse"), False, 1)
    with pytest.raises(ValueError, match="slope comes first"):
        steps.step(ranks, np.zeros(X.shape[1]), 1.0, 0.0, 0.1, 0.0, 1)
    ranks.slope(np.zeros(len(X)))
    with pytest.raises(ValueError, match="one entry a column"):
        steps.step(ranks, np.zeros(3), 1.0, 0.0, 0.1, 0.0, 1)
    with pytest.raises(ValueError, match="one weight a row"):
        steps.sweep(np.zeros(3), 1.0, 1, 0.1, 1)
    dense = PairSteps(matrix(X, "dense"), False, 1)
    with pytest.raises(ValueError, match="rows are sparse"):
        dense.sweep(np.zeros(len(X)), 1.0, 1, 0.1, 1)
