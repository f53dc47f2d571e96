"""Newton's method for smooth threshold losses: reference optima, limits in p, hard cases."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from support.toy_rows import sparse_rows
from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.losses import ThresholdLoss
from toprank.problems import Problem, Solution
from toprank.solvers import newton, solve
from toprank.solvers.linalg import descend
from toprank.solvers.score_points import LossScores, ScorePoints
from toprank.solvers.watch import Watch
from toprank.surrogates import SURROGATES, Flat, PowerExponential, Rectified, Steepened, Surrogate
from truth import reference as truth
from truth.reference_files import reference_file

module = importlib.import_module("toprank.solvers.rows")
LOSSES = {"sq": "squared_hinge", "log": "logistic", "exp": "exponential"}
losses = pytest.mark.parametrize("name", truth.SMOOTH)
X, POSITIVE = truth.rows_of_two_classes(0, 15, 40, 6)


def make(
    name: str,
    p: float = 4.0,
    alpha: float = 0.01,
    X: Any = X,
    y: Any = POSITIVE,
    weight: Any = None,
) -> Problem:
    loss = SURROGATES[name]
    split = Split.of(y, weight)
    return Problem(as_design(X, 1), ThresholdLoss(split, loss, Steepened(loss, p)), alpha)


@pytest.fixture(params=["Cholesky", "conjugate gradients"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to solve for a step, whatever the shape of the data."""
    factor = request.param == "Cholesky"
    monkeypatch.setattr(module, "factor_is_cheap", lambda design: factor)
    return str(request.param)


def by_cvxpy(problem: Problem, X: Any, *, wall: bool = False) -> tuple[float, Any, float]:
    """The balanced risk, p = 1, or with a wall at zero RectPush: value, w, b."""
    loss = problem.loss
    assert isinstance(loss, ThresholdLoss)
    split, w, b = loss.split, cp.Variable(X.shape[1]), cp.Variable()
    of = {
        "squared_hinge": lambda z: cp.square(cp.pos(1 + z)),
        "logistic": cp.logistic,
        "exponential": cp.exp,
    }[loss.surrogate.name]
    v = X[split.neg] @ w + b
    value = split.p @ of(-(X[split.pos] @ w + b)) + split.q @ of(v)
    objective = cp.Minimize(0.5 * problem.alpha * cp.sum_squares(w) + value)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        cp.Problem(objective, [v <= 0] if wall else []).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
        )
    return float(objective.value), np.asarray(w.value), float(b.value)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("key", ["c15", "c16", "c17", "c18"])
def test_reference_optima(key: str, form: Any, way: str) -> None:
    with np.load(reference_file("top-push")) as file:
        data = np.concatenate([file[f"{key}_Xp"], file[f"{key}_Xn"]])
        y = np.arange(len(data)) < len(file[f"{key}_Xp"])
        _, kind, name, alpha, p, _ = file[f"{key}_meta"]
        value, w, b = (file[f"{key}_{part}"] for part in ("obj", "w", "b"))
    loss = SURROGATES[LOSSES[name]]
    negatives = PowerExponential(float(p)) if kind == "pclass" else Steepened(loss, float(p))
    threshold = ThresholdLoss(Split.of(y), loss, negatives)
    problem = Problem(as_design(form(data), 1), threshold, float(alpha))
    # alpha/2 |w - w*|^2 <= gap: 1e-15 of the value is 1e-7 in w, and Newton does better.
    solution = newton(problem, tol=1e-15, max_iter=100)
    assert problem.value(solution.w) == pytest.approx(float(value), abs=1e-8)
    near = 1e-8 if way == "Cholesky" and kind != "pclass" else 1e-7
    np.testing.assert_allclose(solution.w, w, atol=near)
    assert solution.b == pytest.approx(float(b), abs=near)


@losses
def test_p_of_one_is_the_balanced_risk(name: str, way: str) -> None:
    problem = make(name, p=1.0)
    solution = newton(problem, tol=1e-12)
    value, w, b = by_cvxpy(problem, X)
    assert problem.value(solution.w) == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(solution.w, w, atol=1e-4)
    assert solution.b == pytest.approx(b, abs=1e-4)


@pytest.mark.parametrize("name", ["squared_hinge", "exponential"])
def test_the_value_rises_with_p_towards_that_with_a_wall(name: str) -> None:
    values = [
        (problem := make(name, p)).value(newton(problem, tol=1e-10).w)
        for p in (1.0, 4.0, 16.0, 64.0, 256.0)
    ]
    limit, _, _ = by_cvxpy(make(name), X, wall=True)
    assert (np.diff(values) > 0).all()
    assert values[-1] < limit
    shortfall = limit - np.array(values)
    assert (shortfall[1:] < 0.75 * shortfall[:-1]).all()
    assert shortfall[-1] < 0.06 * limit


def test_logistic_losses_tend_to_no_wall() -> None:
    problem = make("logistic", 4096.0)
    value = problem.value(newton(problem, tol=1e-8).w)
    limit, _, _ = by_cvxpy(make("logistic"), X, wall=True)
    split, w, b = problem.loss.split, cp.Variable(X.shape[1]), cp.Variable()
    v = X[split.neg] @ w + b
    # h tends to log(1 + e^v) below zero and v + log 2 above, the larger of the two.
    h = cp.maximum(cp.logistic(v), v + np.log(2.0))
    objective = 0.005 * cp.sum_squares(w)
    objective += split.p @ cp.logistic(-(X[split.pos] @ w + b)) + split.q @ h
    without_wall = cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
    assert value == pytest.approx(without_wall, rel=1e-3)
    assert value < 0.99 * limit


@losses
@pytest.mark.parametrize("form", [sparse.csr_array, lambda x: x.astype(np.float32)])
def test_the_form_of_the_matrix_does_not_matter(name: str, form: Any, way: str) -> None:
    data = X.astype(np.float32).astype(np.float64)
    expected = newton(make(name, X=data), tol=1e-13)
    found = newton(make(name, X=form(data)), tol=1e-13)
    np.testing.assert_allclose(found.w, expected.w, atol=1e-6)


@losses
def test_the_certificate_holds_and_the_bounds_bracket_the_optimum(name: str, way: str) -> None:
    problem = make(name, alpha=1e-3)
    watch = Watch(problem.design)
    solution = newton(problem, tol=1e-9, watch=watch)
    assert solution.converged
    assert problem.certify(solution).holds(1e-9)
    optimum = problem.value(newton(problem, tol=1e-14).w)
    history = watch.history
    assert (history["dual"] <= optimum * (1 + 1e-12)).all()
    assert (history["primal"] >= optimum * (1 - 1e-12)).all()
    assert (np.diff(history["primal"]) <= 0).all()
    assert (np.diff(history["dual"]) >= 0).all()


@losses
def test_weights_are_repeated_rows(name: str, way: str) -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = newton(make(name, weight=weight.astype(float)), tol=1e-13)
    repeated = newton(
        make(name, X=np.repeat(X, weight, axis=0), y=np.repeat(POSITIVE, weight)), tol=1e-13
    )
    np.testing.assert_allclose(weighted.w, repeated.w, atol=1e-6)
    assert weighted.b == pytest.approx(repeated.b, abs=1e-6)


@losses
def test_a_warm_start_saves_steps_and_a_bad_one_does_no_harm(name: str, way: str) -> None:
    cold = newton(make(name, alpha=1e-4), tol=1e-8)
    again = newton(make(name, alpha=1e-4), start=cold, tol=1e-8)
    assert again.n_iter == 0
    assert again.converged
    bad = Solution(w=1e3 * np.ones(6), proof=np.zeros(len(X)), b=-1e6, alpha=1.0)
    other = newton(make(name, alpha=1e-4), start=bad, tol=1e-8)
    assert other.converged
    np.testing.assert_allclose(other.w, cold.w, atol=1e-2 * np.abs(cold.w).max())


@losses
@pytest.mark.parametrize("alpha", [2.0**15, 1e8])
def test_a_huge_alpha_still_ranks(name: str, alpha: float, way: str) -> None:
    solution = newton(make(name, alpha=alpha))
    assert solution.converged
    means = X[POSITIVE].mean(axis=0) - X[~POSITIVE].mean(axis=0)
    slope = float(SURROGATES[name].slope(np.zeros(1))[0])
    np.testing.assert_allclose(solution.w, slope * means / alpha, rtol=1e-3)


@losses
@pytest.mark.parametrize("p", [4.0, 64.0])
def test_a_tiny_alpha_is_solved(name: str, p: float, way: str) -> None:
    problem = make(name, p, alpha=2.0**-20)
    solution = newton(problem, tol=1e-6)
    assert solution.converged
    assert problem.certify(solution).holds(1e-6)


@pytest.mark.parametrize(
    "negatives", [PowerExponential(64.0), Steepened(SURROGATES["exponential"], 64.0)]
)
def test_exponentials_of_badly_scaled_features_do_not_overflow(
    negatives: Surrogate, way: str
) -> None:
    data = X * np.array([1e3, 1.0, 1e-3, 1e3, 1.0, 1.0])
    loss = ThresholdLoss(Split.of(POSITIVE), SURROGATES["exponential"], negatives)
    problem = Problem(as_design(data, 1), loss, 1e-3)
    solution = newton(problem, tol=1e-4)  # without a warning
    assert np.isfinite(solution.w).all()
    assert problem.value(solution.w) < loss.at_zero
    if way == "Cholesky":
        assert solution.converged


@losses
def test_a_row_beyond_all_scales_ends_the_fit_without_an_error(name: str, way: str) -> None:
    data = X.copy()
    data[3] *= 1e60
    solution = newton(make(name, X=data), max_iter=50)
    assert np.isfinite(solution.w).all()


def test_equal_means_make_zero_the_optimum(way: str) -> None:
    data = np.concatenate([X, -X, X, -X])
    y = np.repeat([True, False], 2 * len(X))
    solution = newton(make("squared_hinge", X=data, y=y))
    assert solution.converged
    assert not solution.w.any()


def test_almost_equal_means_do_not(way: str) -> None:
    data = np.concatenate([X, -X, X, -X])
    data[0, 0] += 1e-6
    y = np.repeat([True, False], 2 * len(X))
    solution = newton(make("squared_hinge", X=data, y=y))
    assert solution.converged
    assert solution.w[0] > 0


def test_separable_wide_data_at_a_small_alpha() -> None:
    rng = np.random.default_rng(0)
    wide = sparse_rows((300, 20_000), 0.005, rng)
    problem = make("squared_hinge", X=wide, y=np.arange(300) % 3 == 0, alpha=1e-5)
    assert not module.factor_is_cheap(problem.design)
    solution = newton(problem)
    assert problem.certify(solution).holds(1e-4)


def test_it_stops_when_asked_and_when_time_is_up() -> None:
    problem = make("logistic", alpha=1e-6)
    assert newton(problem, tol=1e-12, max_iter=2).n_iter == 2
    watch = Watch(problem.design, report=lambda _: True)
    assert newton(problem, tol=1e-12, watch=watch).n_iter == 0


def test_other_losses_are_refused_or_go_to_another_newton() -> None:
    split, hinge, smooth = Split.of(POSITIVE), SURROGATES["hinge"], SURROGATES["logistic"]
    kinks = Problem(as_design(X, 1), ThresholdLoss(split, hinge, hinge), 0.1)
    with pytest.raises(ValueError, match="newton needs a loss that is smooth and finite"):
        solve(kinks, "newton")
    for negatives in (Rectified(smooth), Rectified(Flat())):
        walled = Problem(as_design(X, 1), ThresholdLoss(split, smooth, negatives), 0.1)
        assert solve(walled, "newton").solver == "active-set-newton"


def test_the_line_search_finds_the_root_on_either_side() -> None:
    for root in (1e-8, 0.01, 1.0, 30.0, 1e6):
        theta = descend(lambda t, root=root: t - root, -root, 0.1, np.inf)
        assert abs(theta - root) <= 0.1 * root
        assert descend(lambda t, root=root: t - root, -root, 0.1) == min(theta, 1.0)
    steep = descend(lambda t: np.inf if t > 0.01 else 1e3 * t - 1.0, -1.0, 0.1)
    assert 0.0008 < steep < 0.0012
    assert descend(lambda t: t, 0.0, 0.1) == 0.0
    kink = descend(lambda t: -1.0 if t < 0.3 else 1.0, -1.0, 0.1)
    assert kink == pytest.approx(0.3, rel=1e-6)


@losses
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e6])
def test_a_step_never_raises_the_objective(name: str, length: float) -> None:
    problem = make(name, p=64.0, alpha=1e-6)
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.1, 1.0):
        scores, w = LossScores(problem), scale * rng.normal(size=6)
        scores.begin(w, 0.0)
        points = ScorePoints(problem, scores, 1.0)
        points.alpha = problem.alpha
        at = points.at(w)
        moved, theta = points.step(at, -length * at.gradient)
        assert moved is not None
        assert theta > 0
        assert moved.value <= at.value * (1 + 1e-10)
        assert moved.value == pytest.approx(problem.value(moved.x[:-1]), rel=1e-9)
