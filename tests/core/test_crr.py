"""`CombinedDescent`: its steps at given draws are those of plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from support.steps import plain_steps
from support.toy_rows import as_matrix
from toprank._core import CombinedDescent, Matrix
from truth import reference as truth
from truth.reference_files import reference_file

ALPHA = 0.05
losses = pytest.mark.parametrize("loss", ["hinge", "squared"])


def rows_and_draws(n_draws: int = 400) -> tuple[Any, Any, Any]:
    """Float32-exact rows of which a third of the entries are zero; pairs and points."""
    X, positive = truth.rows_of_two_classes(3, m=12, n=30, d=7)
    rng = np.random.default_rng(3)
    X = (X * (rng.random(X.shape) < 0.67)).astype(np.float32).astype(np.float64)
    i, j = (rng.choice(np.flatnonzero(side), n_draws) for side in (positive, ~positive))
    kind = rng.integers(0, 4, n_draws)
    return X, np.where(kind == 0, -1, i), np.where(kind == 1, -1, j)


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_the_reference_steps(storage: str) -> None:
    with np.load(reference_file("pairs-and-points")) as file:
        X, y = file["X"], file["y"]
        pair, a, b, alpha, expected = (
            file[f"c12_{name}"] for name in ("is_pair", "a", "b", "lambda", "w_final")
        )
    other = np.where(pair, b, -1)
    above, below = np.where(y[a] > 0, a, other), np.where(y[a] > 0, other, a)
    core = CombinedDescent(np.zeros(X.shape[1]), 0, float(alpha), "hinge", False)
    assert core.run(as_matrix(X, storage), above, below, False) == len(a)
    assert_allclose(core.weights, expected, rtol=0, atol=1e-12)


@losses
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("storage", "dtype", "index"),
    [
        ("dense", np.float64, None),
        ("dense", np.float32, None),
        *(("csr", dtype, index) for dtype in (np.float64, np.float32) for index in ("i4", "i8")),
    ],
)
def test_steps_are_those_of_numpy(
    loss: str, project: bool, bias: bool, storage: str, dtype: Any, index: Any
) -> None:
    # Without projection the squared loss overflows soon: shorter steps, and small rows.
    alpha = 2.0 if loss == "squared" and not project else ALPHA
    X, i, j = rows_and_draws()
    wide = np.c_[X, np.ones(len(X))] if bias else X
    draws = list(zip(i, j, strict=True))
    plain = plain_steps(wide, draws, alpha=alpha, loss=loss, project=project)
    core = CombinedDescent(np.zeros(wide.shape[1]), 0, alpha, loss, project)
    matrix = as_matrix(X, storage, dtype, index)
    assert core.run(matrix, i[:150], j[:150], False) == 150
    assert_allclose(core.weights, plain[149], rtol=1e-10, atol=1e-12 * np.abs(plain).max())
    assert not core.total.any()
    assert core.run(matrix, i[150:], j[150:], True) == 250
    assert_allclose(core.weights, plain[-1], rtol=1e-10, atol=1e-12 * np.abs(plain).max())
    total = plain[150:].sum(axis=0)
    assert_allclose(core.total, total, rtol=1e-10, atol=1e-11 * np.abs(plain).sum(axis=0).max())


@losses
def test_the_sum_of_all_iterates_from_the_very_first(loss: str) -> None:
    X, i, j = rows_and_draws(300)
    plain = plain_steps(X, list(zip(i, j, strict=True)), alpha=ALPHA, loss=loss, project=True)
    core = CombinedDescent(np.zeros(X.shape[1]), 0, ALPHA, loss, True)
    core.run(as_matrix(X, "dense"), i, j, True)
    assert_allclose(core.total, plain.sum(axis=0), rtol=1e-10, atol=1e-9)


@losses
def test_the_loss_is_that_before_each_step(loss: str) -> None:
    X, i, j = rows_and_draws(200)
    iterates = plain_steps(X, list(zip(i, j, strict=True)), alpha=ALPHA, loss=loss, project=True)
    before = np.vstack([np.zeros(X.shape[1]), iterates[:-1]])
    Z = np.where(i >= 0, X[i].T, 0.0).T - np.where(j >= 0, X[j].T, 0.0).T
    u, target = (before * Z).sum(axis=1), np.where((i >= 0) & (j >= 0), 2.0, 1.0)
    each = np.maximum(1 - u, 0) if loss == "hinge" else (target - u) ** 2 / 2
    core = CombinedDescent(np.zeros(X.shape[1]), 0, ALPHA, loss, True)
    core.run(as_matrix(X, "csr"), i, j, False)
    assert core.loss == pytest.approx(each.sum(), rel=1e-10)


def test_it_goes_on_from_given_weights_and_their_step() -> None:
    X, i, j = rows_and_draws()
    matrix = as_matrix(X, "dense")
    whole = CombinedDescent(np.zeros(X.shape[1]), 0, ALPHA, "hinge", False)
    whole.run(matrix, i, j, False)
    first = CombinedDescent(np.zeros(X.shape[1]), 0, ALPHA, "hinge", False)
    first.run(matrix, i[:37], j[:37], False)
    second = CombinedDescent(first.weights, 37, ALPHA, "hinge", False)
    second.run(matrix, i[37:], j[37:], False)
    assert_allclose(second.weights, whole.weights, rtol=1e-11)


def test_many_steps_lose_no_digits() -> None:
    # Long enough for the scale of w to be taken into v, and for its length to be tracked.
    X, i, j = rows_and_draws(30_000)
    plain = plain_steps(X, list(zip(i, j, strict=True)), alpha=1e-4, project=True)
    core = CombinedDescent(np.zeros(X.shape[1]), 0, 1e-4, "hinge", True)
    core.run(as_matrix(X, "dense"), i, j, True)
    assert_allclose(core.weights, plain[-1], rtol=1e-9, atol=1e-9 * np.abs(plain[-1]).max())
    assert_allclose(core.total / len(i), plain.mean(axis=0), rtol=1e-9, atol=1e-8)


def test_an_overflow_ends_the_run_and_is_told() -> None:
    X, i, j = rows_and_draws()
    core = CombinedDescent(np.zeros(X.shape[1]), 0, 1e-7, "squared", False)
    taken = core.run(as_matrix(X, "dense"), i, j, False)
    assert 20 < taken < 300
    tiny = CombinedDescent(np.zeros(X.shape[1]), 0, 1e-308, "hinge", False)
    assert tiny.run(as_matrix(1e3 * X, "dense"), i[:1], j[:1], False) == 0


def test_what_does_not_fit_together_is_refused() -> None:
    X, i, j = rows_and_draws(10)
    matrix = as_matrix(X, "dense")
    core = CombinedDescent(np.zeros(X.shape[1]), 0, ALPHA, "hinge", False)
    for row in (-2, len(X)):
        wrong = i.copy()
        wrong[4] = row
        with pytest.raises(IndexError, match="row out of range"):
            core.run(matrix, wrong, j, False)
        with pytest.raises(IndexError, match="row out of range"):
            core.run(matrix, j, wrong, False)
    with pytest.raises(ValueError, match="a draw has a row"):
        core.run(matrix, np.full(10, -1), np.full(10, -1), False)
    with pytest.raises(ValueError, match="two sides"):
        core.run(matrix, i, j[:-1], False)
    with pytest.raises(ValueError, match="one entry a column"):
        core.run(as_matrix(X[:, :5], "dense"), i, j, False)
    with pytest.raises(TypeError, match="C-ordered"):
        core.run(Matrix.dense(np.asfortranarray(X)), i, j, False)
    with pytest.raises(ValueError, match="unknown loss"):
        CombinedDescent(np.zeros(7), 0, ALPHA, "logistic", False)
    with pytest.raises(ValueError, match="alpha"):
        CombinedDescent(np.zeros(7), 0, 0.0, "hinge", False)
    with pytest.raises(ValueError, match="steps"):
        CombinedDescent(np.zeros(7), -1, ALPHA, "hinge", False)
    assert_array_equal(core.weights, np.zeros(7))
