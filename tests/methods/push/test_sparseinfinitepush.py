"""SparseInfinitePush: the optimum, its certificate, where weights begin, the path."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from support.toy_rows import overlapping
from toprank import SparseInfinitePush, TrivialSolutionWarning
from toprank.designs import DenseDesign
from toprank.inputs.class_split import Split
from toprank.losses import TopLoss
from toprank.methods.push.sparseinfinitepush import SparsePath, sparse_infinitepush_path
from toprank.problems import L1Problem, Solution
from toprank.surrogates import SURROGATES
from truth.reference_files import reference_file

lp = import_module("toprank.methods.push.linear_programming")
CASE = np.load(reference_file("pairs-and-points"))
X, Y = CASE["X2"], (CASE["y"] > 0).astype(int)


def by_cvxpy(X: Any, y: Any, alpha: float, weight: Any = None) -> tuple[float, Any]:
    """The optimum over all pairs of the paper's form: the worst negative's mean loss."""
    w, pos, neg = cp.Variable(X.shape[1]), X[y > 0], X[y == 0]
    p = np.ones(len(pos)) if weight is None else weight[y > 0]
    losses = [(p / p.sum()) @ cp.pos(1.0 + row @ w - pos @ w) for row in neg]
    problem = cp.Problem(cp.Minimize(alpha * cp.norm1(w) + cp.max(cp.hstack(losses))))
    tight = {"tol_gap_rel": 1e-11, "tol_gap_abs": 1e-11, "tol_feas": 1e-11}
    return float(problem.solve(solver="CLARABEL", **tight)), w.value


def wide(seed: int = 0) -> tuple[Any, Any]:
    """Few of many features tell the classes apart."""
    rng = np.random.default_rng(seed)
    y = (np.arange(36) < 12).astype(int)
    rows = rng.normal(size=(36, 50))
    rows[y > 0, :3] += 2.5
    return rows, y


def test_the_reference_case() -> None:
    ranker = SparseInfinitePush(float(CASE["c10_l1_lambda"]), tol=1e-9).fit(X, Y)
    assert_allclose(ranker.certificate_.primal, CASE["c10_l1_obj"], rtol=1e-9)
    assert_allclose(ranker.coef_[0], CASE["c10_l1_w"], atol=1e-6)
    assert ranker.coef_[0, 3] == 0.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("alpha", [0.3, 0.01])
def test_the_optimum_is_cvxpy_s(alpha: float, form: Any) -> None:
    for rows, y in ((X, Y), wide()):
        weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
        ranker = SparseInfinitePush(alpha, tol=1e-8).fit(form(rows), y, sample_weight=weight)
        optimum, _ = by_cvxpy(rows, y, alpha, weight)
        certificate = ranker.certificate_
        assert certificate.dual <= optimum * (1 + 1e-9)
        assert certificate.primal >= optimum * (1 - 1e-9)
        assert_allclose(certificate.primal, optimum, rtol=1e-7)


def test_the_certificate_again_by_hand() -> None:
    rows, y = wide()
    ranker = SparseInfinitePush(0.05).fit(rows, y)
    s = rows @ ranker.coef_[0]
    loss = np.maximum(1.0 + s[y == 0].max() - s[y > 0], 0.0).mean()
    primal = 0.05 * np.abs(ranker.coef_).sum() + loss
    assert_allclose(ranker.certificate_.primal, primal, rtol=1e-10)
    assert 0 < np.count_nonzero(ranker.coef_) < 40


def test_any_dual_vector_bounds_the_minimum() -> None:
    problem = L1Problem(DenseDesign(X), TopLoss(Split.of(Y > 0), SURROGATES["hinge"]), 0.05)
    optimum, _ = by_cvxpy(X, Y, 0.05)
    rng, split = np.random.default_rng(0), problem.loss.split
    for _ in range(50):
        a, delta = split.p * rng.uniform(size=len(split.p)), rng.exponential(size=len(split.q))
        v = problem.loss.join(a, delta)
        certificate = problem.certify(Solution(rng.normal(size=4), v))
        assert certificate.dual <= optimum <= certificate.primal
        assert_allclose(certificate.dual, max(problem.dual_value(v), 0.0), rtol=1e-9, atol=1e-12)
        assert np.abs(X.T @ problem._scaled(v, 0.0)).max() <= 0.05 * (1 + 1e-12)


def test_parts_of_the_data_lead_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, y = wide()
    whole = SparseInfinitePush(0.02, tol=1e-9).fit(rows, y)
    monkeypatch.setattr(lp, "_FIRST", (2, 2, 2))
    monkeypatch.setattr(lp, "_MORE", (3, 3, 3))
    parts = SparseInfinitePush(0.02, tol=1e-9).fit(rows, y)
    assert parts.n_iter_ > 3 > whole.n_iter_
    assert_allclose(parts.certificate_.primal, whole.certificate_.primal, rtol=1e-9)


def test_weights_begin_at_the_strength_that_is_told() -> None:
    for rows, y in ((X, Y), wide()):
        path = sparse_infinitepush_path(rows, y, alphas=[1.0])
        mean, neg, delta = rows[y > 0].mean(axis=0), rows[y == 0], cp.Variable((y == 0).sum())
        far = cp.Problem(
            cp.Minimize(cp.norm_inf(mean - neg.T @ delta)), [delta >= 0, cp.sum(delta) == 1]
        )
        assert_allclose(path.alpha_max, far.solve(solver="CLARABEL"), rtol=1e-6)
        below = SparseInfinitePush(0.999 * path.alpha_max).fit(rows, y)
        assert below.coef_.any()
        assert not below.trivial_
        with pytest.warns(TrivialSolutionWarning, match="alpha_max"):
            above = SparseInfinitePush(1.001 * path.alpha_max).fit(rows, y)
        assert above.trivial_
        assert not above.coef_.any()
        assert above.certificate_.relative_gap < 1e-9


def test_the_path_is_that_of_single_fits() -> None:
    rows, y = wide()
    path = sparse_infinitepush_path(rows, y)
    assert isinstance(path, SparsePath)
    assert len(path.alphas) == 20
    assert_allclose(path.alphas[[0, -1]], [path.alpha_max, path.alpha_max / 100])
    assert not path.coefs[0].any()
    primal = [one.primal for one in path.certificates]
    assert (np.diff(primal) <= 1e-12).all()
    for k in (5, 19):
        single = SparseInfinitePush(path.alphas[k]).fit(rows, y)
        assert_allclose(path.certificates[k].primal, single.certificate_.primal, rtol=2e-4)
        assert (rows[y == 0] @ path.coefs[k] + path.intercepts[k]).max() <= 0.0


def test_a_mean_in_the_hull_leaves_no_path() -> None:
    rows = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.1, 0.1]])
    y = np.array([0, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="convex hull"):
        sparse_infinitepush_path(rows, y)
    path = sparse_infinitepush_path(rows, y, alphas=[0.1, 0.01])
    assert path.alpha_max == 0.0
    assert not path.coefs.any()
    with pytest.warns(TrivialSolutionWarning, match="convex hull"):
        SparseInfinitePush().fit(rows, y)


@pytest.mark.parametrize("alphas", [[], [0.0], [np.inf], [np.nan], "x", [[1.0]]])
def test_values_that_are_no_strengths_are_refused(alphas: Any) -> None:
    with pytest.raises(ValueError, match="alphas"):
        sparse_infinitepush_path(X, Y, alphas=alphas)


def test_a_warm_start_uses_what_was_used() -> None:
    rows, y = wide()
    ranker = SparseInfinitePush(0.05, warm_start=True).fit(rows, y)
    again = ranker.set_params(alpha=0.04).fit(rows, y)
    cold = SparseInfinitePush(0.04).fit(rows, y)
    assert_allclose(again.certificate_.primal, cold.certificate_.primal, rtol=2e-4)


def test_weights_are_repeated_rows_and_their_unit_is_none() -> None:
    rows, y = overlapping(15, 25, 4)
    weight = np.random.default_rng(3).integers(0, 3, len(y))
    one = SparseInfinitePush(0.01, tol=1e-8).fit(rows, y, sample_weight=1e5 * weight)
    repeated = np.repeat(rows, weight, axis=0), np.repeat(y, weight)
    other = SparseInfinitePush(0.01, tol=1e-8).fit(*repeated)
    assert_allclose(one.certificate_.primal, other.certificate_.primal, rtol=1e-8)


@pytest.mark.parametrize("scale", [2.0**-1000, 1e-200, 1e-160, 1e-40, 1e-8, 1e8, 1e40])
def test_features_of_any_size(scale: float) -> None:
    plain = SparseInfinitePush(0.05).fit(X, Y)
    scaled = SparseInfinitePush(0.05 * scale).fit(scale * X, Y)
    assert_allclose(scaled.certificate_.primal, plain.certificate_.primal, rtol=2e-4)
    assert_array_equal(scaled.coef_ != 0.0, plain.coef_ != 0.0)


@pytest.mark.parametrize("width", [5e-324, 1e-315, 1e-309])
@pytest.mark.parametrize("alpha", [1e-320, 4.6e-291, 1e-3])
@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
def test_a_subnormal_column_leaves_numbers_and_no_word_of_numpy(alpha: float, width: float) -> None:
    rows = np.column_stack([np.round(X[:, 0]) * width, X[:, 1:]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker = SparseInfinitePush(alpha).fit(rows, Y)
    certificate = ranker.certificate_
    assert 0.0 <= certificate.dual <= certificate.primal < np.inf
    assert np.isfinite(ranker.decision_function(rows)).all()


@pytest.mark.parametrize("alpha", [1e-312, 1e-310])
def test_a_weight_that_no_float_holds_is_zero(alpha: float) -> None:
    rows = 1e-309 * Y[:, np.newaxis] + 1e-310 * np.round(X[:, :1])
    with pytest.warns(ConvergenceWarning):
        ranker = SparseInfinitePush(alpha).fit(rows, Y)
    assert_array_equal(ranker.coef_, 0.0)
    assert_allclose(ranker.certificate_.primal, 1.0)


def test_a_fit_that_stops_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lp, "_FIRST", (2, 2, 2))
    monkeypatch.setattr(lp, "_MORE", (1, 1, 1))
    with pytest.warns(UserWarning, match="stopped after 2 iterations"):
        SparseInfinitePush(0.01, max_iter=2).fit(*wide())
    with pytest.warns(UserWarning, match="of the 1 fits of the path"):
        sparse_infinitepush_path(*wide(), alphas=[0.01], max_iter=2)
