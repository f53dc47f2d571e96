"""BBR: against the loop over pairs, reference cases, CVXPY and its peers; blocks and merging."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeClassifier

from support.examples import examples
from support.shared_files import shared_data
from support.toy_rows import overlapping, sparse_rows
from toprank import BBR, TrivialSolutionWarning
from toprank.methods.squared.bbr import bbr_path
from toprank.metrics import auc
from truth.reference_files import reference_file

X, Y = overlapping(30, 90, 6)
WEIGHT = np.random.default_rng(3).uniform(0.1, 2.0, len(Y))
FORMS = [np.asarray, np.asfortranarray, sparse.csr_array]
CASES = [
    "interior",
    "boundary",
    "constant_feature",
    "duplicate_feature",
    "one_positive",
    "duplicate_rows",
    "offset_1e6",
    "zero_mean_gap",
    "one_pair",
    "one_pair_boundary",
]


def moments_of_pairs(x: Any, y: Any, weight: Any = None) -> tuple[Any, Any]:
    """S and u of Algorithm 1: a loop over pairs."""
    weight = np.ones(len(y)) if weight is None else weight
    second, first, total = np.zeros((x.shape[1],) * 2), np.zeros(x.shape[1]), 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            psi, v = x[i] - x[j], weight[i] * weight[j]
            second, first, total = second + v * np.outer(psi, psi), first + v * psi, total + v
    return second / total, first / total


def reference(name: str) -> dict[str, Any]:
    with np.load(reference_file("pairwise-square")) as file:
        return {key.split("/")[1]: file[key] for key in file if key.startswith(name + "/")}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("form", FORMS, ids=["C", "F", "csr"])
def test_moments_are_those_of_the_loop_over_pairs(form: Any, weight: Any) -> None:
    pairs = BBR().fit(form(X), Y, sample_weight=weight).moments_.of_pairs()
    second, first = moments_of_pairs(X, Y, weight)
    assert_allclose(pairs.second(), second, rtol=0, atol=1e-13 * np.abs(second).max())
    assert_allclose(pairs.mean, first, rtol=0, atol=1e-13 * np.abs(first).max())


@pytest.mark.parametrize("form", FORMS, ids=["C", "F", "csr"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
def test_reference_cases(name: str, form: Any) -> None:
    case = reference(name)
    x = np.vstack([case["P"], case["Q"]])
    y = np.repeat([1, 0], [len(case["P"]), len(case["Q"])])
    tol = 1e-13 if name != "offset_1e6" else 1e-9

    def near(found: Any, expected: Any) -> None:
        assert_allclose(found, expected, rtol=0, atol=tol * max(np.abs(expected).max(), 1e-300))

    ridge = BBR(float(case["lam"])).fit(form(x), y)
    near(ridge.coef_[0], case["w_ridge"])
    near(ridge.moments_.of_pairs().second(), case["Sigma"])
    near(ridge.moments_.of_pairs().mean, case["mu"])
    assert auc(y, x @ ridge.coef_[0]) == pytest.approx(float(case["auc_ridge"]), abs=1e-12)
    ball = BBR(radius=float(case["W"])).fit(form(x), y)
    near(ball.coef_[0], case["w_ball"])
    near(np.array([ball.multiplier_]), case["lam_ball"].reshape(1))
    assert ball.certificate_.primal == pytest.approx(float(case["risk_ball"]), abs=10 * tol)
    assert auc(y, x @ ball.coef_[0]) == pytest.approx(float(case["auc_ball"]), abs=1e-12)
    # An offset of 1e6 costs six digits of every entry, which the certificate owns up to.
    assert ball.certificate_.holds(1e-7 if name == "offset_1e6" else 1e-9)


TARGETS = [(0.1, None), (None, 0.05), (None, 50.0), (0.02, 0.1), (1e-9, None)]


@pytest.mark.parametrize(("alpha", "radius"), TARGETS)
@pytest.mark.parametrize("solver", ["moments", "lanczos"])
@pytest.mark.parametrize("form", FORMS, ids=["C", "F", "csr"])
def test_the_optimum_is_cvxpys(form: Any, solver: str, alpha: Any, radius: Any) -> None:
    ranker = BBR(alpha, radius, solver=solver, tol=1e-9).fit(form(X), Y, sample_weight=WEIGHT)
    second, first = moments_of_pairs(X, Y, WEIGHT)
    w = cp.Variable(X.shape[1])
    ridge = alpha or 0.0
    objective = 0.5 + cp.quad_form(w, cp.psd_wrap(second)) / 2 - first @ w
    objective += ridge / 2 * cp.sum_squares(w)
    problem = cp.Problem(cp.Minimize(objective), [cp.norm(w) <= radius] if radius else [])
    value = problem.solve(solver=cp.CLARABEL)
    assert ranker.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert_allclose(ranker.coef_[0], w.value, atol=1e-4 * np.abs(w.value).max())
    assert ranker.certificate_.dual <= value + 1e-8
    assert ranker.certificate_.holds(1e-9)
    # The conditions of Karush, Kuhn and Tucker.
    slope = second @ ranker.coef_[0] - first + (ridge + ranker.multiplier_) * ranker.coef_[0]
    assert np.linalg.norm(slope) <= 1e-4 * np.linalg.norm(first)
    left = np.linalg.norm(slope) / np.linalg.norm(first)
    assert ranker.kkt_ == pytest.approx(left, rel=1e-3, abs=1e-12)
    assert ranker.multiplier_ >= 0
    if radius is not None:
        slack = radius - np.linalg.norm(ranker.coef_)
        assert slack >= -1e-12
        assert ranker.multiplier_ * slack <= 1e-9


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([np.asarray, sparse.csr_array]))
def test_the_gap_is_above_what_is_missing(seed: int, d: int, form: Any) -> None:
    # Lanczos' method stopped anywhere: its certificate must cover what the optimum is below.
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(40, d)) * rng.lognormal(size=d), rng.permutation([1] * 12 + [0] * 28)
    alpha, radius = 10.0 ** rng.uniform(-6, 1), rng.choice([None, 0.1, 3.0])
    exact = BBR(alpha, radius, solver="moments").fit(x, y)
    rough = BBR(alpha, radius, solver="lanczos", tol=10.0 ** rng.uniform(-8, -1)).fit(form(x), y)
    missing = rough.certificate_.primal - exact.certificate_.primal
    assert -1e-12 <= missing <= rough.certificate_.gap + 1e-12


def test_the_number_of_threads_changes_no_bit() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30_000, 40))
    y = (x[:, 0] + rng.normal(size=len(x)) > 1).astype(int)
    for form in FORMS:
        one, *others = [BBR(n_threads=k).fit(form(x), y) for k in (1, 2, 3, 8)]
        for other in others:
            assert_array_equal(other.coef_, one.coef_)
            assert_array_equal(other.moments_.positive.scatter, one.moments_.positive.scatter)


@pytest.mark.parametrize("form", FORMS, ids=["C", "F", "csr"])
def test_it_is_the_balanced_ridge_classifier(form: Any) -> None:
    a, n = 3.0, len(Y)
    peer = RidgeClassifier(a, class_weight="balanced", tol=1e-10).fit(form(X), Y)
    ranker = BBR(2 * a / n).fit(form(X), Y)
    ours, theirs = ranker.coef_[0], np.ravel(peer.coef_)
    assert ours @ theirs == pytest.approx(
        np.linalg.norm(ours) * np.linalg.norm(theirs), rel=1e-12 if form is np.asarray else 1e-9
    )
    # The lengths: (1 + q) / (1 + q / 2), q = u'(C1 + C0 + alpha I)^-1 u.
    pairs = ranker.moments_.of_pairs()
    q = pairs.mean @ np.linalg.solve(pairs.scatter + 2 * a / n * np.eye(X.shape[1]), pairs.mean)
    ratio = np.linalg.norm(theirs) / np.linalg.norm(ours)
    assert ratio == pytest.approx((1 + q) / (1 + q / 2), rel=1e-6)
    assert_allclose(ranker.intercept_ * ratio, peer.intercept_, rtol=1e-5)
    assert_array_equal(ranker.predict(form(X)), peer.predict(form(X)))


def test_without_a_ridge_it_is_fishers_discriminant_with_equal_priors() -> None:
    peer = LinearDiscriminantAnalysis(solver="lsqr", priors=[0.5, 0.5])
    # lsqr weighs class covariances by the priors, as here; svd pools them by rows.
    theirs = peer.fit(X, Y).coef_[0]
    ours = BBR(alpha=0.0).fit(X, Y).coef_[0]
    cosine = ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)
    assert cosine == pytest.approx(1.0, abs=1e-12)
    pooled = LinearDiscriminantAnalysis(solver="svd").fit(X, Y).coef_[0]
    assert abs(ours @ pooled / np.linalg.norm(ours) / np.linalg.norm(pooled)) < 1 - 1e-6


def test_singular_moments_do_not_spoil_the_score() -> None:
    # 107 of 123 columns of a9a are independent.
    x, y = shared_data("a9a")
    ridge = BBR(2.0 / len(y)).fit(x, y)
    with pytest.warns(ConvergenceWarning, match="linearly dependent, but for rounding"):
        plain = BBR(0.0).fit(x, y)
    assert auc(y, x @ plain.coef_[0]) == pytest.approx(auc(y, x @ ridge.coef_[0]), abs=1e-3)
    assert plain.certificate_.dual == 0.0


def test_features_that_repeat_share_their_weight_and_constant_ones_have_none() -> None:
    x = np.column_stack([X, X[:, 0], np.full(len(Y), 7.3)])
    found = {}
    for alpha in (0.0, 1e-12, 0.1):
        dependent = pytest.warns(ConvergenceWarning, match="linearly dependent")
        with dependent if alpha == 0.0 else nullcontext():
            found[alpha] = w = BBR(alpha).fit(x, Y).coef_[0]
        assert w[6] == pytest.approx(w[0], rel=1e-3 if alpha == 1e-12 else 1e-9)
        assert w[7] == pytest.approx(0.0, abs=1e-12)
    plain = BBR(alpha=0.0).fit(X, Y).coef_[0]
    assert_allclose(found[0.0][[0]] * 2, plain[:1], rtol=1e-9)


def test_a_constant_column_leaves_the_certificate_alone() -> None:
    x = np.column_stack([X, np.full(len(Y), 7.3)])
    assert BBR(alpha=0.0).fit(x, Y).certificate_.holds(1e-9)


@pytest.mark.parametrize("solver", ["moments", "lanczos"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_classes_of_one_mean_are_trivial(form: Any, solver: str) -> None:
    half = np.random.default_rng(0).normal(size=(500, 4)) + 100.0
    x = np.vstack([half, half[::-1]])
    with pytest.warns(TrivialSolutionWarning, match="same mean"):
        ranker = BBR(solver=solver).fit(form(x), np.repeat([0, 1], 500))
    assert ranker.trivial_
    assert not ranker.coef_.any()
    assert ranker.certificate_.primal == pytest.approx(0.5, rel=1e-12)
    assert ranker.certificate_.holds(1e-12)


def test_many_features_go_by_products_with_the_rows() -> None:
    rng = np.random.default_rng(0)
    for n, d in ((80, 700), (900, 3000)):
        x = sparse_rows((n, d), 0.05, rng)
        y = (rng.uniform(size=n) < 0.3).astype(int)
        ranker = BBR(0.01, tol=1e-9).fit(x, y)
        assert ranker.solver_ == "lanczos"
        exact = BBR(0.01, solver="moments").fit(x, y)
        assert_allclose(ranker.coef_, exact.coef_, atol=1e-5 * np.abs(exact.coef_).max())
        assert ranker.history_["relative_gap"][-1] <= 1e-9


def test_lanczos_says_when_it_stops_short() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations"):
        ranker = BBR(1e-6, solver="lanczos", max_iter=1).fit(X, Y)
    assert ranker.certificate_.relative_gap > 1e-6


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("form", FORMS, ids=["C", "F", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_unusable_entry_is_named(form: Any, value: float, weighted: bool) -> None:
    x, weight = X.copy(), np.ones(len(Y)) if weighted else None
    x[70, 2] = value
    if weight is not None:
        weight[70] = 0.0
    for solver in ("moments", "lanczos"):
        with pytest.raises(ValueError, match="row 70, column 2"):
            BBR(solver=solver).fit(form(x), Y, sample_weight=weight)
    with pytest.raises(ValueError, match="row 70, column 2"):
        BBR().partial_fit(form(x), Y, classes=[0, 1], sample_weight=weight)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'radius' .* Got 0"):
        BBR(radius=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"'alpha' .* Got -1"):
        BBR(alpha=-1).fit(X, Y)
    with pytest.raises(ValueError, match="set alpha above 0"):
        BBR(alpha=0, solver="lanczos").fit(X, Y)
    for weight in (1e300, 1e-300):
        with pytest.raises(ValueError, match="divide all weights by it"):
            BBR().fit(X, Y, sample_weight=np.full(len(Y), weight))
    with pytest.raises(ValueError, match="set alpha above 0"):
        bbr_path(X, Y, radii=[0.1, np.inf], solver="lanczos")
    with pytest.raises(ValueError, match="alphas must be a list of numbers: could not convert"):
        bbr_path(X, Y, alphas=["a"])
    wide = sparse.csr_array((2, 30_000))
    with pytest.raises(ValueError, match="30000 features would take 14 GB"):
        BBR().partial_fit(wide, [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="14 GB"):
        BBR(solver="moments").fit(wide, [0, 1])


def test_offsets_cost_no_digits() -> None:
    shift = np.array([1e6, -1e5, 0.0, 3.0, 1e4, 1e6])
    plain, moved = BBR(0.01).fit(X, Y), BBR(0.01).fit(X + shift, Y)
    assert_allclose(moved.coef_, plain.coef_, rtol=1e-7)
    assert_array_equal(moved.predict(X + shift), plain.predict(X))


def test_a_class_repeated_changes_nothing() -> None:
    twice = np.concatenate([np.arange(len(Y)), np.flatnonzero(Y == 1)])
    assert_allclose(BBR(0.01).fit(X[twice], Y[twice]).coef_, BBR(0.01).fit(X, Y).coef_, rtol=1e-11)


def test_a_clone_has_seen_nothing() -> None:
    assert not hasattr(clone(BBR().fit(X, Y)), "coef_")


@pytest.mark.parametrize("solver", ["moments", "lanczos"])
@pytest.mark.parametrize("scale", [1e-90, 1e-40, 1e40, 1e90])
def test_a_ball_for_features_of_any_size(scale: float, solver: str) -> None:
    plain = BBR(radius=0.1, solver=solver, tol=1e-8).fit(X, Y)
    scaled = BBR(radius=0.1 / scale, solver=solver, tol=1e-8).fit(scale * X, Y)
    assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-4)
    assert scaled.certificate_.holds(1e-6)


def test_features_whose_squares_vanish_are_refused() -> None:
    with pytest.raises(ValueError, match="Scale the features first"):
        BBR(alpha=0.0).fit(1e-155 * X, Y)


def test_fits_without_any_loss_are_no_cause_for_warnings() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        d = int(rng.integers(3, 9))
        n = int(rng.integers(2, d + 1))
        y = rng.permutation(np.arange(n) % 2)
        assert BBR(alpha=0.0).fit(rng.normal(size=(n, d)), y).certificate_.holds(1e-4)
