"""Few passes over wide rows: certified, and in agreement with Newton's method and CVXPY."""

from __future__ import annotations

import pickle
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from support.toy_rows import sparse_rows
from support.wide_text import SIDES, make, text
from toprank import LogisticRank
from toprank.designs import SparseDesign
from toprank.losses import RowLoss, RowSum
from toprank.problems import Problem, Solution
from toprank.solvers import newton, row_passes, solve
from toprank.solvers.watch import Watch
from toprank.surrogates import SURROGATES

losses = pytest.mark.parametrize("name", SIDES)


def solved(problem: Problem, tol: float = 1e-4, **options: Any) -> Solution:
    """A solution whose certificate, computed afresh, holds."""
    found = row_passes(problem, tol=tol, **options)
    assert found.converged, name_of(problem)
    assert problem.certify(found).holds(tol)
    return found


def name_of(problem: Problem) -> str:
    return f"{problem.loss} at alpha {problem.alpha}"


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


@losses
@pytest.mark.parametrize("tol", [1e-6, 1e-8])
def test_small_gaps_are_reached_in_float64(name: str, tol: float) -> None:
    X, positive = text(2)
    problem = make(X, positive, name, 1e-4)
    found = solve(problem, "few-passes", tol=tol)
    assert problem.certify(found).holds(tol)


@pytest.mark.parametrize("name", ["logistic", "steep squared hinge", "powers"])
def test_the_minimum_is_that_of_cvxpy(name: str) -> None:
    X, positive = text(4, n=60, d=1100)
    alpha = 1e-2
    problem = make(X, positive, name, alpha)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    up, down = -(X[positive] @ w + b), X[~positive] @ w + b
    if name == "logistic":
        rows = cp.sum(cp.logistic(up)) / sum(positive) + cp.sum(cp.logistic(down)) / sum(~positive)
    elif name == "powers":
        rows = cp.sum(cp.exp(up)) / sum(positive) + cp.sum(cp.exp(4 * down)) / 4 / sum(~positive)
    else:  # ((1 + 4 v)^2 - 1) / 4 + 1 = (1 + v)^2 + 3 v^2 above the threshold
        rows = cp.sum(cp.square(cp.pos(1 + up))) / sum(positive)
        rows += cp.sum(cp.square(cp.pos(1 + down)) + 3 * cp.square(cp.pos(down))) / sum(~positive)
    optimum = cp.Problem(cp.Minimize(alpha / 2 * cp.sum_squares(w) + rows)).solve()
    certificate = problem.certify(solved(problem, tol=1e-7))
    assert certificate.primal == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("name", ["logistic", "steep squared hinge", "powers"])
def test_the_minimum_is_the_same_in_every_storage(name: str) -> None:
    X, positive = text(5)
    dense = X.toarray()
    long = sparse.csr_array(X)
    long.indices, long.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    forms = [
        X,
        X.astype(np.float32),
        long,
        dense,
        dense.astype(np.float32),
        np.asfortranarray(dense),
    ]
    values = [
        (problem := make(form, positive, name, 1e-3)).certify(solved(problem, 1e-6)).primal
        for form in forms
    ]
    assert values == pytest.approx([values[0]] * len(forms), rel=1.1e-6)


@losses
def test_threads_change_no_bit_and_a_seed_decides_all(name: str) -> None:
    X, positive = text(6, n=55_000, d=1100)  # large enough to be shared out
    found = [
        row_passes(make(X, positive, name, 1e-4, n_threads=threads), seed=7)
        for threads in (1, 3, 1)
    ]
    for other in found[1:]:
        assert np.array_equal(found[0].w, other.w)
        assert found[0].b == other.b


@pytest.mark.parametrize(
    ("name", "tol"),
    [
        ("logistic", 1e-2),
        ("logistic", 1e-4),
        ("logistic", 1e-7),
        ("powers", 1e-2),
        ("powers", 1e-4),
    ],
)
def test_dual_sweeps_end_where_the_gap_is_what_it_should_be(name: str, tol: float) -> None:
    X, positive = text(8)
    problem = make(X, positive, name, 1e-3)
    watch = Watch(problem.design)
    found = row_passes(problem, tol=tol, watch=watch)
    assert problem.certify(found).holds(tol)
    # A step or two at the most, where their guess of the gap was too low.
    assert found.n_iter <= 2
    assert watch.history["relative_gap"][0] <= 30 * tol


@pytest.mark.parametrize("name", ["logistic", "powers"])
def test_duals_of_sweeps_prove_the_gap_before_the_slopes_do(name: str) -> None:
    X, positive = text(8)
    problem = make(X, positive, name, 1e-4)
    found = solved(problem)
    assert found.n_iter == 0
    assert len(found.dual)
    at_w = problem.certify(Solution(found.w, b=-problem.loss.threshold(X @ found.w)))
    assert problem.certify(found).gap < at_w.gap
    assert found.w == pytest.approx(-problem.design.pull_back(found.dual) / 1e-4, abs=1e-2)
    # The next alpha of a path begins at it.
    after = problem.at_alpha(7e-5)
    assert after.certify(solved(after, start=found)).primal == pytest.approx(
        after.certify(newton(after, tol=1e-8)).primal, rel=1.1e-4
    )


@pytest.mark.parametrize("free_bias", [True, False])
def test_duals_that_rounding_has_moved_are_made_duals_again(free_bias: bool) -> None:
    X, positive = text(9)
    problem = make(X, positive, "logistic", 1e-3)
    weight, sign = np.abs(problem.loss.compiled.tilt), np.where(positive, -1.0, 1.0)
    loss = problem.loss if free_bias else RowLoss(weight, SURROGATES["logistic"], -sign)
    v = sign * weight * np.linspace(0.0, 1.0 + 1e-7, len(sign))
    assert loss.conjugate(v) == np.inf
    near = loss.dual_near(v)
    assert np.isfinite(loss.conjugate(near))
    assert near == pytest.approx(v, abs=1e-2)


def test_dual_sweeps_pass_over_rows_that_count_for_nothing() -> None:
    X, positive = text(9)
    weight = np.ones(len(positive))
    weight[::5] = 0.0
    rows = X.tolil()
    rows[3:6] = 0.0  # rows of zeros move no weight
    X = sparse.csr_array(rows.tocsr())
    X.eliminate_zeros()
    problem = make(X, positive, "logistic", 1e-3, weight)
    kept = np.flatnonzero(weight)
    fewer = make(X[kept], positive[kept], "logistic", 1e-3)
    ours, theirs = solved(problem, tol=1e-6), solved(fewer, tol=1e-6)
    assert problem.certify(ours).primal == pytest.approx(fewer.certify(theirs).primal, rel=2e-6)


@losses
def test_a_path_goes_on_from_where_it_was(name: str) -> None:
    X, positive = text(7)
    start: Solution | None = None
    passes = []
    for alpha in (1e-2, 5e-3, 2.5e-3):
        problem = make(X, positive, name, alpha)
        start = solved(problem, start=start)
        passes.append(problem.design.passes)
        cold = make(X, positive, name, alpha)
        value = cold.certify(solved(cold)).primal
        assert problem.certify(start).primal == pytest.approx(value, rel=1.1e-4)


def test_a_start_from_other_data_is_left() -> None:
    X, positive = text(8)
    problem = make(X, positive, "logistic", 1e-3)
    wrong = Solution(np.full(X.shape[1], 1e3), alpha=1e-3)
    assert problem.certify(solved(problem, start=wrong)).holds(1e-4)


@pytest.mark.parametrize("kind", ["logistic", "squared_hinge", "exponential"])
@pytest.mark.parametrize("alpha", [1e-3, 1e-5])
def test_without_a_threshold(kind: str, alpha: float) -> None:
    X, positive = text(9)
    loss: RowSum = RowLoss(
        np.full(X.shape[0], 1 / X.shape[0]), SURROGATES[kind], np.where(positive, 1.0, -1.0)
    )
    problem = Problem(SparseDesign(X), loss, alpha)
    found = solved(problem)
    assert found.b == 0.0
    certificate = problem.certify(found)
    assert certificate.primal == pytest.approx(
        problem.certify(newton(problem, tol=1e-8)).primal, rel=1.1e-4
    )


@losses
def test_rows_of_very_different_lengths(name: str) -> None:
    X, positive = text(10)
    lengths = np.geomspace(0.1, 30.0, X.shape[0])[np.random.default_rng(0).permutation(X.shape[0])]
    X.data *= np.repeat(lengths, np.diff(X.indptr))
    problem = make(X, positive, name, 1e-1)
    found = solve(problem, "few-passes")
    assert problem.certify(found).holds(1e-4)


def test_classes_of_one_mean_are_trivial() -> None:
    X, _ = text(11, n=200)
    both, positive = sparse.vstack([X, X], format="csr"), np.arange(400) < 200
    problem = make(sparse.csr_array(both), positive, "logistic", 1e-3)
    found = solve(problem, "few-passes")
    assert found.converged
    assert not found.w.any()


def test_a_callback_ends_it() -> None:
    X, positive = text(12)
    problem = make(X, positive, "logistic", 1e-5)
    watch = Watch(problem.design, report=lambda attributes: True)
    assert solve(problem, "few-passes", watch=watch).n_iter == 0


def test_auto_takes_it_for_wide_rows() -> None:
    X, positive = text(13)
    assert solve(make(X, positive, "powers", 1e-3)).solver == "few-passes"
    assert solve(make(X[:, :50], positive, "powers", 1e-3)).solver == "newton"
    assert solve(make(X, positive, "steep logistic", 1e-3)).solver == "few-passes"
    assert solve(make(X.toarray(), positive, "steep squared hinge", 1e-3)).solver == "few-passes"


def test_what_a_fit_keeps_of_its_rows_is_not_pickled() -> None:
    X = sparse_rows((50, 1100), 0.02, np.random.default_rng(0))
    ranker = LogisticRank(warm_start=True).fit(X, np.arange(50) % 2)
    assert ranker._solution.kept is not None
    again = pickle.loads(pickle.dumps(ranker))
    assert again._solution.kept is None
    assert again.set_params(alpha=0.5).fit(X, np.arange(50) % 2).certificate_.holds(1e-4)
