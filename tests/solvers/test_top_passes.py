"""TopPush and RectPush in few passes: the same optimum as Newton's, and bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from toprank import RectPush, TopPush
from toprank._core import highest_rows
from toprank.designs import DenseDesign, SparseDesign
from toprank.inputs.class_split import Split
from toprank.losses import ThresholdLoss, TopLoss
from toprank.problems import Multipliers, Problem, Solution
from toprank.solvers import solve
from toprank.surrogates import SURROGATES, Rectified

RANKERS = [TopPush, RectPush]
LOSSES = ["squared_hinge", "logistic", "exponential"]


def rows(seed=0, n=6000, d=8, gap=1.5):
    """Classes that overlap, but whose positives' mean is outside the negatives' hull."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    X = rng.normal(size=(n, d))
    X[y == 1] += gap
    return np.clip(X, -2.0, 4.0), y


def problem_of(kind, X, y, alpha, loss="squared_hinge", weight=None):
    design = SparseDesign(X) if sparse.issparse(X) else DenseDesign(X)
    split, surrogate = Split.of(y == 1, weight), SURROGATES[loss]
    if kind is TopPush:
        return Problem(design, TopLoss(split, surrogate), alpha)
    return Problem(design, ThresholdLoss(split, surrogate, Rectified(surrogate)), alpha)


@pytest.mark.parametrize("kind", RANKERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5])
def test_agrees_with_newton(kind, loss, alpha):
    X, y = rows()
    few = kind(alpha=alpha, loss=loss, tol=1e-6, solver="few-passes").fit(X, y)
    newton = kind(alpha=alpha, loss=loss, tol=1e-8, solver="newton").fit(X, y)
    assert few.solver_ == "top-passes"
    assert newton.solver_ == "active-set-newton"
    best = newton.certificate_
    assert few.certificate_.holds(1e-6)
    assert few.certificate_.dual <= best.primal * (1 + 1e-12)
    assert best.dual * (1 - 1e-12) <= few.certificate_.primal <= best.primal * (1 + 2e-6)


@pytest.mark.parametrize("kind", RANKERS)
def test_every_form_of_the_rows_gives_the_same(kind):
    X, y = rows(1)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    exact = kind(alpha=1e-3, tol=1e-9).fit(X, y).certificate_.primal
    csr = sparse.csr_matrix(X)
    wide = sparse.csr_array(csr)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (X, X.astype(np.float32), np.asfortranarray(X), csr, wide, csr.astype(np.float32)):
        fit = kind(alpha=1e-3, solver="few-passes").fit(form, y)
        assert fit.solver_ == "top-passes"
        assert fit.certificate_.holds(1e-4)
        single = form.dtype == np.float32
        assert fit.certificate_.primal == pytest.approx(exact, rel=1.1e-4 + 1e-5 * single)


@pytest.mark.parametrize("kind", RANKERS)
def test_weights_count_as_repeated_rows(kind):
    X, y = rows(2)
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    one = kind(alpha=1e-3, tol=1e-7, solver="few-passes").fit(X, y, sample_weight=weight)
    other = kind(alpha=1e-3, tol=1e-7, solver="few-passes").fit(X[again], y[again])
    assert one.solver_ == other.solver_ == "top-passes"
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-6)
    assert (one.decision_function(X[(y == 0) & (weight > 0)]) <= 0).all()


@pytest.mark.parametrize("kind", RANKERS)
def test_a_warm_start_takes_no_more_passes(kind):
    X, y = rows(3)
    cold = kind(alpha=1e-3, solver="few-passes").fit(X, y)
    warm = (
        kind(alpha=2e-3, solver="few-passes", warm_start=True)
        .fit(X, y)
        .set_params(alpha=1e-3)
        .fit(X, y)
    )
    assert warm.certificate_.holds(1e-4)
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-4)
    assert warm.history_["passes"][-1] <= cold.history_["passes"][-1]
    # A start on other data, far worse than w = 0, does no harm.
    other = (
        kind(alpha=1e-5, solver="few-passes", warm_start=True)
        .fit(-1e3 * X, y)
        .set_params(alpha=1e-1)
        .fit(X, y)
    )
    assert other.certificate_.holds(1e-4)


@pytest.mark.parametrize("kind", RANKERS)
def test_the_same_for_any_number_of_threads(kind):
    X, y = rows(4, n=30_000, d=12)
    one, two = (kind(alpha=1e-3, n_threads=k, solver="few-passes").fit(X, y) for k in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.certificate_ == two.certificate_


def test_a_trivial_optimum_is_proven_in_few_passes():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20_000, 6)), (rng.random(20_000) < 0.1).astype(int)
    with pytest.warns(match="convex hull"):
        fit = TopPush(alpha=1e-4, solver="few-passes").fit(X, y)
    assert fit.trivial_
    assert fit.solver_ == "top-passes"
    assert fit.history_["passes"][-1] < 5


@pytest.mark.parametrize("kind", RANKERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e150])
def test_unusable_entries_are_named(kind, bad):
    X, y = rows(6)
    X[17, 3] = bad
    with pytest.raises(ValueError, match="row 17, column 3"):
        kind().fit(X, y)


@pytest.mark.parametrize("kind", RANKERS)
@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e60])
def test_features_of_any_size(kind, scale):
    X, y = rows(7)
    fit = kind(alpha=1e-3 * scale**2, solver="few-passes").fit(scale * X, y)
    assert fit.certificate_.holds(1e-4)
    assert fit.certificate_.primal == pytest.approx(
        kind(alpha=1e-3).fit(X, y).certificate_.primal, rel=2e-4
    )


@pytest.mark.parametrize("kind", RANKERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_under_a_ceiling_are_true(kind, loss, weighted):
    X, y = rows(8, n=400)
    rng = np.random.default_rng(8)
    weight = rng.random(len(y)) * (rng.random(len(y)) < 0.9) if weighted else None
    problem = problem_of(kind, X, y, 1e-2, loss, weight)
    best = solve(problem, "newton", tol=1e-10)
    minimum = problem.certify(best)
    split = problem.loss.split
    for _ in range(20):
        w = best.w * rng.uniform(0.5, 1.5) + 0.05 * rng.normal(size=len(best.w))
        top = float((X[split.neg] @ w).max())
        active = rng.choice(split.neg, 5, replace=False), rng.random(5)
        proof = Multipliers(*active, np.zeros(len(y)))
        solution = Solution(w, proof, -top - 0.01)
        found = problem.certify(solution)
        assert found.dual <= minimum.primal
        if solution.proof is not proof:  # the negatives' slopes outweigh those of the positives
            continue
        s = X @ w
        exact = problem.loss.level(s[split.pos], s[split.neg], -top - 0.01)
        exact += 0.5e-2 * float(w @ w)
        assert exact <= found.primal <= exact * (1 + 1e-10)
    # Too high a threshold proves nothing.
    w = best.w
    top = float((X[split.neg] @ w).max())
    solution = Solution(w, proof, -top + 1e-9)
    problem.certify(solution)
    assert solution.proof is proof.dual


@pytest.mark.parametrize("kind", RANKERS)
def test_the_quick_certificate_is_that_of_the_whole_dual_vector(kind):
    X, y = rows(9)
    problem = problem_of(kind, X, y, 1e-3)
    found = solve(problem, "few-passes", tol=1e-6)
    assert isinstance(found.proof, Multipliers)
    quick = problem.certify(found)
    found.proof = found.dual
    whole = problem.certify(found)
    assert quick.holds(1e-6)
    assert whole.dual <= quick.primal
    assert quick.dual <= whole.primal
    assert quick.primal == pytest.approx(whole.primal, rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 7, 300, 5000])
def test_highest_rows_are_those_of_a_sort(dtype, count):
    rng = np.random.default_rng(10)
    for n in (1, 255, 256, 257, 4000):
        z = np.round(rng.normal(size=n), 1).astype(dtype)  # many ties
        tilt = rng.choice([-1.0, 0.0, 1.0], n)
        neg = np.flatnonzero(tilt < 0)
        order = neg[np.argsort(-z[neg], kind="stable")][:count]
        found, top = highest_rows(z, tilt, count)
        np.testing.assert_array_equal(found, np.sort(order))
        assert top == (z[order[0]] if len(order) else -np.inf)
