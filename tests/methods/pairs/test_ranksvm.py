"""RankSVM against reference optima and CVXPY, its certificate, its solvers, and what leaves it."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from support.examples import examples
from support.shared_files import shared_data
from support.toy_rows import inside_out, overlapping
from toprank import RankSVM, TrivialSolutionWarning
from toprank.datasets import load_spambase, make_gaussian_mixture, make_sparse_text_like
from toprank.metrics import auc
from truth.reference_files import reference_file

X, Y = overlapping()

both = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
solvers = pytest.mark.parametrize("solver", ["auto", "newton", "dual-descent"])


def pairs(data: Any, y: Any, weight: Any = None) -> tuple[Any, Any]:
    """Differences of all pairs, and their weights, which sum to one."""
    weight = np.ones(len(y)) if weight is None else weight
    pos, neg = np.flatnonzero((y == 1) & (weight > 0)), np.flatnonzero((y == 0) & (weight > 0))
    i, j = (k.ravel() for k in np.meshgrid(pos, neg, indexing="ij"))
    c = weight[i] * weight[j]
    return data[i] - data[j], c / c.sum()


def objective(ranker: RankSVM, data: Any, y: Any, weight: Any = None) -> float:
    """alpha/2 |w|^2 + the mean over pairs of the loss."""
    z, c = pairs(data, y, weight)
    w = ranker.coef_[0]
    losses = np.maximum(1 - z @ w, 0) ** (1 if ranker.loss == "hinge" else 2)
    return float(0.5 * ranker.alpha * w @ w + c @ losses)


def optimum(data: Any, y: Any, alpha: float, loss: str, weight: Any = None) -> tuple[float, Any]:
    z, c = pairs(data, y, weight)
    w = cp.Variable(data.shape[1])
    slack = cp.pos(1 - z @ w)
    value = c @ (slack if loss == "hinge" else cp.square(slack))
    problem = cp.Problem(cp.Minimize(0.5 * alpha * cp.sum_squares(w) + value))
    tight = {f"tol_{name}": 1e-12 for name in ("gap_abs", "gap_rel", "feas")}
    problem.solve(solver=cp.CLARABEL, **tight)
    return float(problem.value), w.value


@pytest.mark.parametrize("case", ["c1_hinge", "c2_sqhinge"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@solvers
def test_reference_optima(case: str, form: Any, solver: str) -> None:
    loss = "hinge" if case == "c1_hinge" else "squared_hinge"
    if loss != "hinge" and solver == "dual-descent":
        pytest.skip("listed pairs are for the hinge")
    with np.load(reference_file("pairs-and-points")) as file:
        total = float(file["C"] * file["B"])
        rows, y = file["X"], (file["y"] > 0).astype(int)
        ranker = RankSVM(1 / total, loss=loss, tol=1e-10, solver=solver, max_iter=10**5)
        ranker.set_params(random_state=0).fit(form(rows), y)
        assert_allclose(total * ranker.certificate_.primal, file[f"{case}_obj"], rtol=1e-8)
        assert_allclose(ranker.coef_[0], file[f"{case}_w"], atol=1e-5)


@both
@examples(30)
@given(st.integers(0, 10**6), st.floats(-4, 1), st.floats(-6, -0.5), st.booleans())
@example(456621, -2.25, -1.0, False)  # a line search went beyond the minimum, to a higher point
@example(382, -4.0, -2.0, False)
def test_the_gap_bounds_the_true_suboptimality(
    loss: str, seed: int, log_alpha: float, log_tol: float, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    data, y = overlapping(*rng.integers(2, 9, 2), int(rng.integers(1, 6)), shift=0.5, seed=seed)
    weight = rng.uniform(0.2, 3, len(y)) if weighted else None
    alpha = 10**log_alpha
    ranker = RankSVM(alpha, loss=loss, tol=10**log_tol, max_iter=10**4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        ranker.fit(data, y, sample_weight=weight)
    best, _ = optimum(data, y, alpha, loss, weight)
    certificate = ranker.certificate_
    # Margins are near one and rounded there, however small the objective is.
    found = objective(ranker, data, y, weight)
    assert_allclose(certificate.primal, found, rtol=1e-10, atol=1e-14)
    assert certificate.holds(ranker.tol)
    assert certificate.dual <= best * (1 + 1e-7) + 1e-9
    assert certificate.primal - best <= certificate.gap + 1e-7 * best + 1e-9


@both
@pytest.mark.parametrize("alpha", [1.0, 1e-3])
def test_the_optimum_is_that_of_cvxpy(loss: str, alpha: float) -> None:
    best, w = optimum(X, Y, alpha, loss)
    ranker = RankSVM(alpha, loss=loss, tol=1e-9).fit(X, Y)
    assert_allclose(ranker.certificate_.primal, best, rtol=2e-8)
    assert_allclose(ranker.coef_[0], w, atol=1e-3 * np.abs(w).max())


@both
def test_weights_are_repetitions(loss: str) -> None:
    counts = np.random.default_rng(0).integers(0, 4, len(Y))
    common: dict[str, Any] = {"alpha": 1e-2, "loss": loss, "tol": 1e-8}
    weighted = RankSVM(**common).fit(X, Y, sample_weight=counts)
    repeated = RankSVM(**common).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    assert_allclose(weighted.certificate_.primal, repeated.certificate_.primal, rtol=1e-7)
    assert_allclose(weighted.coef_, repeated.coef_, atol=2e-4)
    assert_allclose(weighted.intercept_, repeated.intercept_, atol=2e-3)


@both
def test_swapped_classes_turn_the_score_round(loss: str) -> None:
    one = RankSVM(1e-2, loss=loss, tol=1e-9).fit(X, Y)
    other = RankSVM(1e-2, loss=loss, tol=1e-9).fit(X, 1 - Y)
    assert_allclose(one.certificate_.primal, other.certificate_.primal, rtol=3e-9)
    assert_allclose(one.coef_, -other.coef_, atol=2e-4)


@both
def test_a_constant_added_to_every_row_changes_nothing(loss: str) -> None:
    one = RankSVM(1e-2, loss=loss, tol=1e-8).fit(X, Y)
    other = RankSVM(1e-2, loss=loss, tol=1e-8).fit(X + np.arange(10), Y)
    assert_allclose(one.certificate_.primal, other.certificate_.primal, rtol=3e-8)
    assert_allclose(one.coef_, other.coef_, atol=3e-4)


@solvers
def test_separable_rows_end(solver: str) -> None:
    data, y = overlapping(30, 30, 60, shift=2.0)
    for alpha in (1.0, 1e-3, 1e-6):
        ranker = RankSVM(alpha, solver=solver, max_iter=10**5, random_state=0)
        if solver == "newton":  # single pairs rule: it may stop short, and says so
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                ranker.fit(data, y)
        else:
            assert ranker.fit(data, y).certificate_.holds(1e-3)
        assert ranker.score(data, y) == 1.0


def test_descent_ends_what_newton_began_on_wide_separable_rows() -> None:
    data, y = make_sparse_text_like(600, 4000, random_state=0)
    ranker = RankSVM(1e-6, tol=1e-5, max_iter=10**4, random_state=0).fit(data, y)
    assert ranker.solver_ == "listed-pairs"
    assert ranker.certificate_.holds(1e-5)
    assert (np.diff(ranker.history_["iteration"]) >= 0).all()
    assert ranker.n_iter_ == ranker.history_["iteration"][-1]


@both
def test_many_rows_begin_with_a_sample_and_end_at_the_same_optimum(loss: str) -> None:
    data, y = make_gaussian_mixture(20_000, 6, random_state=0)
    alone = RankSVM(1e-3, loss=loss, tol=1e-7).fit(data, y)
    warm = RankSVM(1e-2, loss=loss, tol=1e-7, warm_start=True).fit(data, y)
    warm.set_params(alpha=1e-3).fit(data, y)
    assert_allclose(alone.certificate_.primal, warm.certificate_.primal, rtol=2e-7)
    w = alone.coef_[0]
    s = data @ w
    rng = np.random.default_rng(0)
    i, j = rng.choice(np.flatnonzero(y == 1), 10**6), rng.choice(np.flatnonzero(y == 0), 10**6)
    losses = np.maximum(1 - s[i] + s[j], 0) ** (1 if loss == "hinge" else 2)
    error = losses.std() / 1e3
    value = 0.5e-3 * w @ w + losses.mean()
    assert abs(value - alone.certificate_.primal) < 5 * error


@both
def test_a_path_of_alphas_is_as_good_as_each_alone(loss: str) -> None:
    data, y = load_spambase(return_X_y=True)
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    warm = RankSVM(loss=loss, warm_start=True, tol=1e-5)
    for alpha in (1.0, 1e-1, 1e-2, 1e-3):
        warm.set_params(alpha=alpha).fit(data, y)
        alone = RankSVM(alpha, loss=loss, tol=1e-5).fit(data, y)
        assert warm.certificate_.holds(1e-5)
        assert_allclose(warm.certificate_.primal, alone.certificate_.primal, rtol=1e-5)


def test_a_fit_of_the_same_again_is_certified_at_once() -> None:
    ranker = RankSVM(1e-3, warm_start=True).fit(X, Y)
    first = ranker.certificate_
    assert ranker.fit(X, Y).n_iter_ == 0
    assert_allclose(
        [ranker.certificate_.primal, ranker.certificate_.dual], [first.primal, first.dual]
    )


def test_forms_of_the_same_rows_agree() -> None:
    data = np.round(X * 4) / 4
    common: dict[str, Any] = {"alpha": 1e-3, "tol": 1e-8}
    plain = RankSVM(**common).fit(data, Y)
    forms = (data.astype(np.float32), np.asfortranarray(data), sparse.csr_array(data))
    for form in forms:
        other = RankSVM(**common).fit(form, Y)
        assert_allclose(other.coef_, plain.coef_, atol=2e-4)


def test_predict_calls_as_many_positive_as_there_are() -> None:
    ranker = RankSVM().fit(X, Y)
    assert ranker.predict(X).sum() == Y.sum()


@both
def test_classes_with_the_same_mean_are_said_to_be_trivial(loss: str) -> None:
    data, y = inside_out()
    data[y == 1] -= data[y == 1].mean(axis=0) - data[y == 0].mean(axis=0)
    with pytest.warns(TrivialSolutionWarning, match="same mean"):
        ranker = RankSVM(loss=loss).fit(data, y)
    assert ranker.trivial_
    assert not ranker.coef_.any()
    tiny = RankSVM(1e6, loss=loss).fit(X, Y)
    assert not tiny.trivial_
    direction = X[Y == 1].mean(axis=0) - X[Y == 0].mean(axis=0)  # all pairs count alike
    assert_allclose(tiny.score(X, Y), auc(Y, X @ direction))


def test_a_fit_that_stops_short_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations at a relative gap"):
        ranker = RankSVM(1e-4, max_iter=1, tol=1e-9).fit(X, Y)
    assert ranker.certificate_.relative_gap > 1e-9


def test_what_dual_descent_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="listed-pairs needs the hinge"):
        RankSVM(loss="squared_hinge", solver="dual-descent").fit(X, Y)
    data, y = np.zeros((5000, 1)), np.arange(5000) % 2
    with pytest.raises(ValueError, match="listed-pairs needs no more than 5000000 pairs"):
        RankSVM(solver="dual-descent").fit(data, y)


@pytest.mark.parametrize("name", ["letter", "a9a", "reuters-acq"])
def test_real_data_against_what_another_program_reached(name: str) -> None:
    """1/2 |w|^2 + 800 times the mean loss, on the same files."""
    reached = {"letter": 34.096, "a9a": 190.019, "reuters-acq": 84.002}
    data, y = shared_data(name)
    if name == "letter":
        low, high = data.min(axis=0), data.max(axis=0)
        data = 2.0 * (data - low) / (high - low) - 1.0
    ranker = RankSVM(1 / 800).fit(data.astype(np.float64), y)
    assert 800 * ranker.certificate_.dual <= reached[name]
    assert 800 * ranker.certificate_.primal <= reached[name] * (1 + 1e-3)
    assert_allclose(ranker.score(data, y), auc(y, ranker.decision_function(data)))
