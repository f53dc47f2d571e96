"""Dual descent of both classes at a free threshold: certified, and in agreement with Newton."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from support.wide_text import make, text
from toprank import RectPushApp
from toprank.problems import Problem, Solution
from toprank.solvers import dual_descent, newton, solve
from toprank.solvers.watch import Watch

losses = pytest.mark.parametrize(
    "name", ["squared hinge", "steep squared hinge", "logistic", "steep logistic"]
)


def solved(problem: Problem, tol: float = 1e-4, **options: Any) -> Solution:
    """A solution whose certificate, computed afresh, holds."""
    found = dual_descent(problem, tol=tol, **options)
    assert found.converged
    assert problem.certify(found).holds(tol)
    return found


@losses
@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_the_minimum_is_that_of_newtons_method(name: str, alpha: float, weighted: bool) -> None:
    X, positive = text(1)
    weight = np.random.default_rng(3).integers(0, 4, len(positive)) if weighted else None
    problem = make(X, positive, name, alpha, weight)
    ours, theirs = problem.certify(solved(problem)), problem.certify(newton(problem, tol=1e-8))
    assert theirs.holds(1e-8)
    assert ours.dual <= theirs.primal
    assert theirs.dual <= ours.primal <= theirs.primal * (1 + 1.1e-4)


def test_the_minimum_is_that_of_cvxpy() -> None:
    X, positive = text(4, n=60, d=1100)
    alpha = 1e-2
    problem = make(X, positive, "steep squared hinge", alpha)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    up, down = -(X[positive] @ w + b), X[~positive] @ w + b
    # ((1 + 4 v)^2 - 1) / 4 + 1 = (1 + v)^2 + 3 v^2 above the threshold
    rows = cp.sum(cp.square(cp.pos(1 + up))) / sum(positive)
    rows += cp.sum(cp.square(cp.pos(1 + down)) + 3 * cp.square(cp.pos(down))) / sum(~positive)
    optimum = cp.Problem(cp.Minimize(alpha / 2 * cp.sum_squares(w) + rows)).solve()
    certificate = problem.certify(solved(problem, tol=1e-8))
    assert certificate.primal == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("name", ["steep squared hinge", "steep logistic"])
def test_the_minimum_is_the_same_in_every_storage(name: str) -> None:
    X, positive = text(5)
    long = sparse.csr_array(X)
    long.indices, long.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    forms = [X, X.astype(np.float32), long, X.toarray(), X.toarray().astype(np.float32)]
    values = [
        (problem := make(form, positive, name, 1e-3)).certify(solved(problem, 1e-6)).primal
        for form in forms
    ]
    assert values == pytest.approx([values[0]] * len(forms), rel=1.1e-6)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_columns_that_no_row_stores_are_left_out(dtype: Any) -> None:
    X, positive = text(3)
    spread = sparse.csr_array(X)
    spread.indices, spread.indptr = (37 * X.indices).astype(dtype), X.indptr.astype(dtype)
    spread = sparse.csr_array((spread.data, spread.indices, spread.indptr), (X.shape[0], 50_000))
    problem, narrow = (make(form, positive, "squared hinge", 1e-3) for form in (spread, X))
    matrix, columns = problem.design.stored_columns()
    assert columns is not None
    assert np.array_equal(columns, np.unique(spread.indices))
    v = np.random.default_rng(0).standard_normal(X.shape[0])
    assert np.array_equal(matrix.pull_back(v, None, 1), problem.design.pull_back(v)[columns])
    wide, plain = solved(problem), solved(narrow)
    # Sums over vectors of another length are rounded otherwise. A weight whose rows came and went
    # again is zero only to rounding, so that no two fits need have the same number of zeros.
    np.testing.assert_allclose(wide.w[::37][: X.shape[1]], plain.w, atol=1e-9)
    assert not np.delete(wide.w, columns).any()


def test_rows_without_entries_are_trivial() -> None:
    empty = sparse.csr_array((20, 2000))
    problem = make(empty, np.arange(20) < 5, "squared hinge", 1e-3)
    found = solve(problem)
    assert found.converged
    assert not found.w.any()


@losses
def test_threads_change_no_bit_and_a_seed_decides_all(name: str) -> None:
    X, positive = text(6, n=4000, d=1100)
    found = [
        dual_descent(make(X, positive, name, 1e-3, n_threads=threads), seed=7)
        for threads in (1, 3, 1)
    ]
    for other in found[1:]:
        assert np.array_equal(found[0].w, other.w)
        assert np.array_equal(found[0].dual, other.dual)


@losses
def test_a_path_goes_on_from_where_it_was(name: str) -> None:
    X, positive = text(7)
    start: Solution | None = None
    for alpha in (1e-2, 5e-3, 2.5e-3):
        problem = make(X, positive, name, alpha)
        start = solved(problem, start=start)
        start.scores = problem.design.scores(start.w)
        cold = make(X, positive, name, alpha)
        value = cold.certify(solved(cold)).primal
        assert problem.certify(start).primal == pytest.approx(value, rel=1.1e-4)


@losses
@pytest.mark.parametrize("tol", [1e-6, 1e-9])
def test_small_gaps_are_reached(name: str, tol: float) -> None:
    X, positive = text(2)
    solved(make(X, positive, name, 1e-3), tol)


@pytest.mark.parametrize("name", ["squared hinge", "steep squared hinge"])
def test_rows_of_very_different_lengths(name: str) -> None:
    X, positive = text(10)
    lengths = np.geomspace(0.1, 30.0, X.shape[0])[np.random.default_rng(0).permutation(X.shape[0])]
    X.data *= np.repeat(lengths, np.diff(X.indptr))
    problem = make(X, positive, name, 1e-1)
    assert problem.certify(solve(problem)).holds(1e-4)


def test_classes_of_one_mean_are_trivial() -> None:
    X, _ = text(11, n=200)
    both, positive = sparse.vstack([X, X], format="csr"), np.arange(400) < 200
    problem = make(sparse.csr_array(both), positive, "steep squared hinge", 1e-3)
    found = solve(problem)
    assert found.converged
    assert not found.w.any()


def test_a_callback_ends_it() -> None:
    X, positive = text(12)
    problem = make(X, positive, "squared hinge", 1e-5)
    watch = Watch(problem.design, report=lambda attributes: True)
    assert solve(problem, watch=watch).n_iter == 3  # the first check


def test_auto_takes_it_for_squared_hinges_of_wide_sparse_rows() -> None:
    X, positive = text(13)
    assert solve(make(X, positive, "steep squared hinge", 1e-3)).solver == "dual-descent"
    assert solve(make(X[:, :50], positive, "steep squared hinge", 1e-3)).solver == "newton"
    # Few kinks are met at a large alpha.
    assert solve(make(X, positive, "steep squared hinge", 1.0)).solver == "few-passes"
    ranker = RectPushApp(1e-3).fit(X, positive)
    assert ranker.solver_ == "dual-descent"
    assert ranker.certificate_.holds(1e-4)
