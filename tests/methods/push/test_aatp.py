"""AATP: the objective, its bound, the search, weights and the threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from support.special_rows import CASES
from support.toy_rows import overlapping
from toprank import AATP, RankSVM
from toprank.designs import DenseDesign
from toprank.inputs.class_split import Split
from toprank.methods.push.top_quantile import TopQuantile
from truth.reference_files import reference_file

X, Y = overlapping(10, 30, 5)
SOLVERS = pytest.mark.parametrize("solver", ["enumeration", "alternating"])


def objective(w: Any, X: Any, y: Any, alpha: float, tau: float) -> float:
    """The truth, in the three lines of its definition."""
    s = np.asarray(X @ w).ravel()
    q = np.sort(s)[-int(np.ceil(tau * len(s) - 1e-9))]
    loss = np.maximum(1.0 - np.where(y > 0, 1.0, -1.0) * (s - q), 0.0)
    return float(0.5 * alpha * w @ w + loss.mean())


def target(tau: float = 0.2, alpha: float = 0.05, weight: Any = None) -> TopQuantile:
    return TopQuantile(DenseDesign(X), Split.of(Y > 0, weight), alpha, tau)


@pytest.mark.parametrize("tau", [0.001, 0.05, 0.2, 0.5, 0.999])
def test_the_objective_is_that_of_its_definition(tau: float) -> None:
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=5)
        assert_allclose(target(tau).value(w, X @ w), objective(w, X, Y, 0.05, tau), rtol=1e-12)


def test_no_other_length_of_the_weights_is_better() -> None:
    mean = X[Y > 0].mean(axis=0) - X[Y == 0].mean(axis=0)
    for seed in range(5):
        w = mean + 0.5 * np.random.default_rng(seed).normal(size=5)
        best = target().stretch(w, X @ w)
        lengths = np.linspace(0.0, 3.0 * best + 1.0, 3001)
        values = [objective(t * w, X, Y, 0.05, 0.2) for t in lengths]
        assert best > 0.0
        assert objective(best * w, X, Y, 0.05, 0.2) <= min(values) + 1e-12
    assert target().stretch(-mean, -X @ mean) == 0.0


def test_a_dual_vector_of_one_row_s_problem_bounds_that_of_every_row() -> None:
    cp = pytest.importorskip("cvxpy")
    aim, rng = target(), np.random.default_rng(0)
    signs = np.where(Y > 0, 1.0, -1.0)
    minima = []
    for k in aim.rows[::6]:
        w = cp.Variable(5)
        loss = cp.sum(cp.pos(1.0 - cp.multiply(signs, (X - X[k]) @ w))) / len(Y)
        problem = cp.Problem(cp.Minimize(0.025 * cp.sum_squares(w) + loss))
        minima.append(problem.solve(solver="CLARABEL"))
    for _ in range(20):
        found = aim.bounds(-aim.weight * rng.uniform(size=len(Y)) ** rng.integers(0, 8))[::6]
        assert (found <= np.array(minima) + 1e-8).all()
    ranker = AATP(0.05, tau=0.2, tol=1e-6, solver="enumeration", random_state=0).fit(X, Y)
    assert ranker.objective_bound_ <= min(minima) + 1e-8


@SOLVERS
def test_the_reference_case(solver: str) -> None:
    case = np.load(reference_file("pairs-and-points"))
    weight = 4.0  # of the losses in all
    ranker = AATP(1 / weight, tau=float(case["c11_tau"]), tol=1e-8, solver=solver, random_state=0)
    ranker.fit(case["X"], case["y"])
    best, least = case["c11_true_obj"].min() / weight, case["c11_sub_obj"].min() / weight
    assert_allclose(ranker.objective_value_, best, rtol=1e-6)
    assert_allclose(ranker.coef_[0], case["c11_best_w"], atol=1e-3)
    assert ranker.threshold_row_ == int(case["c11_best_k"])
    assert ranker.certificate_.holds(1e-6)  # this row is at tau of its own solution
    assert ranker.objective_bound_ <= least + 1e-9
    if solver == "enumeration":
        assert_allclose(ranker.objective_bound_, least, rtol=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_the_least_over_all_directions_lies_between_the_bound_and_the_objective(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(24, 2)), (np.arange(24) < 7).astype(int)
    rows[:7, 0] += 1.0
    aim = TopQuantile(DenseDesign(rows), Split.of(y > 0), 0.1, 0.2)
    least = 1.0
    for angle in np.linspace(0.0, 2 * np.pi, 2000):
        w = np.array([np.cos(angle), np.sin(angle)])
        w *= aim.stretch(w, rows @ w)
        least = min(least, objective(w, rows, y, 0.1, 0.2))
    ranker = AATP(0.1, tau=0.2, tol=1e-6, solver="enumeration", random_state=0).fit(rows, y)
    assert ranker.objective_bound_ <= least
    assert_allclose(ranker.objective_value_, least, rtol=1e-3)
    assert_allclose(
        objective(ranker.coef_[0], rows, y, 0.1, 0.2), ranker.objective_value_, rtol=1e-12
    )


@SOLVERS
@pytest.mark.parametrize("tau", [0.02, 0.4])
def test_it_is_no_worse_than_where_it_starts(solver: str, tau: float) -> None:
    for alpha, form in ((1e-2, np.asarray), (0.1, sparse.csr_array)):
        ranker = AATP(alpha, tau=tau, solver=solver, random_state=0).fit(form(X), Y)
        start = RankSVM(alpha, random_state=0).fit(X, Y).coef_[0]
        assert ranker.objective_value_ <= objective(start, X, Y, alpha, tau) + 1e-12
        assert ranker.objective_value_ <= 1.0
        assert ranker.objective_bound_ <= ranker.objective_value_
        found = objective(ranker.coef_[0], X, Y, alpha, tau)
        assert_allclose(found, ranker.objective_value_, rtol=1e-9)
        assert_allclose(ranker.certificate_.primal, ranker.objective_value_, rtol=1e-9)
        assert (
            ranker.objective_bound_ <= ranker.certificate_.dual <= ranker.objective_value_ + 1e-12
        )
        assert (np.diff(ranker.history_["primal"]) <= 0).all()
        assert (np.diff(ranker.history_["dual"]) >= 0).all()


def test_weights_are_repeated_rows() -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    options = {"tau": 0.2, "tol": 1e-7, "random_state": 0}
    weighted = AATP(0.05, **options).fit(X, Y, sample_weight=weight)
    again, labels = np.repeat(X, weight, axis=0), np.repeat(Y, weight)
    repeated = AATP(0.05, **options).fit(again, labels)
    assert_allclose(weighted.objective_value_, repeated.objective_value_, rtol=1e-3)
    assert_allclose(weighted.objective_bound_, repeated.objective_bound_, rtol=1e-5)
    w = weighted.coef_[0]
    assert_allclose(weighted.objective_value_, objective(w, again, labels, 0.05, 0.2), rtol=1e-9)


@pytest.mark.parametrize("tau", [0.01, 0.1, 0.35])
def test_predict_calls_the_top_positive(tau: float) -> None:
    ranker = AATP(0.05, tau=tau, random_state=0).fit(X, Y)
    top = int(np.ceil(tau * len(Y)))
    assert ranker.predict(X).sum() == top
    assert_array_equal(np.sort(ranker.rank(X)[:top]), np.flatnonzero(ranker.predict(X)))
    assert ranker.rank(X)[top - 1] == ranker.threshold_row_


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_odd_data(case: Any, form: Any) -> None:
    data, positive = case()
    solver = "enumeration" if form is np.asarray else "alternating"
    ranker = AATP(0.05, solver=solver, random_state=0).fit(form(data), positive)
    assert ranker.objective_bound_ <= ranker.objective_value_ <= 1.0 + 1e-12
    assert ranker.certificate_.gap >= 0.0
    assert np.isfinite(ranker.decision_function(form(data))).all()


@pytest.mark.parametrize("scale", [1e-40, 1e-8, 1e8, 1e40])
def test_features_of_any_size(scale: float) -> None:
    options = {"tau": 0.2, "solver": "alternating", "random_state": 0}
    plain = AATP(0.05, **options).fit(X, Y)
    scaled = AATP(0.05 * scale**2, **options).fit(scale * X, Y)
    assert_allclose(scaled.objective_value_, plain.objective_value_, rtol=1e-3)
    assert_allclose(scaled.objective_bound_, plain.objective_bound_, rtol=1e-2)


def test_a_fit_that_stops_short_says_so() -> None:
    with pytest.warns(UserWarning, match="AATP stopped after 1 iterations .* of a row's problem"):
        AATP(1e-6, max_iter=1, random_state=0).fit(X, Y)


def test_the_same_rows_in_both_classes_are_trivial_only_if_all_are_one() -> None:
    with pytest.warns(UserWarning, match="trivial"):
        ranker = AATP(random_state=0).fit(np.ones((10, 2)), np.arange(10) % 2)
    assert ranker.trivial_
    assert not ranker.coef_.any()


@pytest.mark.parametrize("tau", [0.0, 1.0, -0.1, 2])
def test_a_share_of_none_or_all_is_refused(tau: float) -> None:
    with pytest.raises(ValueError, match="tau"):
        AATP(tau=tau).fit(X, Y)
