"""A new loss in one class: it says what it can do, and finds its solvers and its certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.losses import Loss, PairLoss, RowLoss, ThresholdLoss
from toprank.problems import Problem
from toprank.solvers import solve
from toprank.solvers.hessian_products import WholeByCG
from toprank.solvers.row_hessians import WholeHessian
from toprank.solvers.watch import Watch
from toprank.surrogates import SURROGATES, Logistic, Surrogate

Array = NDArray[np.float64]


class ClassWeighted(RowLoss):
    """F(s) = 1/N sum_r c_r log(1 + exp(-t_r s_r)), c one weight for each class."""

    def __init__(self, positive: NDArray[np.bool_], weights: tuple[float, float]) -> None:
        weight = np.where(positive, *weights) / len(positive)
        super().__init__(weight, Logistic(), np.where(positive, 1.0, -1.0))


class Plain(Loss):
    """The same as a function of all scores, of which nothing is known but its slope."""

    smooth = True

    def __init__(self, inner: Loss) -> None:
        self.inner = inner

    @property
    def at_zero(self) -> float:
        return self.inner.at_zero

    def value(self, s: Array) -> float:
        return self.inner.value(s)

    def slope(self, s: Array) -> Array:
        return self.inner.slope(s)

    def conjugate(self, v: Array) -> float:
        return self.inner.conjugate(v)

    def worse(self, s: Array, by: Array) -> Array:
        return self.inner.worse(s, by)


def rows(shape: str, form: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Two classes that overlap: many rows of few features, or few rows of many."""
    rng = np.random.default_rng(0)
    n, d = (400, 6) if shape == "narrow" else (60, 3500)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < (1.0 if shape == "narrow" else 0.02))
    positive = X[:, :3].sum(axis=1) + rng.normal(size=n) > 0.7
    return form(X), positive


def by_sklearn(X: Any, problem: Problem) -> Array:
    """The weights that scikit-learn finds: alpha/2 |w|^2 + sum_r c_r l is alpha times its own."""
    loss = problem.loss
    reference = LogisticRegression(
        C=1.0 / problem.alpha, fit_intercept=False, tol=1e-12, max_iter=100_000
    )
    return reference.fit(X, loss.sign > 0, sample_weight=loss.weight).coef_[0]


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "auto"])
@pytest.mark.parametrize("shape", ["narrow", "wide"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("alpha", [1e-4, 1e-1])
def test_a_loss_of_one_class_is_solved(solver: str, shape: str, form: Any, alpha: float) -> None:
    X, positive = rows(shape, form)
    problem = Problem(as_design(X), ClassWeighted(positive, (3.0, 0.5)), alpha)
    watch = Watch(problem.design)
    solution = solve(problem, solver, tol=1e-9, max_iter=10_000, watch=watch)
    # Compiled kernels know the logistic loss: over wide rows few passes are tried first.
    assert solution.solver in (("newton", "few-passes") if solver == "auto" else (solver,))
    assert solution.converged
    certificate = problem.certify(solution)
    assert certificate.holds(1e-9)
    assert certificate.dual <= certificate.primal
    known = by_sklearn(X, problem)
    assert certificate.dual <= problem.value(known) * (1 + 1e-13)
    assert problem.value(solution.w) <= problem.value(known) * (1 + 1e-9)
    # alpha/2 |w - w*|^2 is no more than either gap.
    off = np.linalg.norm(solution.w - known)
    assert off <= 2.0 * np.sqrt(2.0 * 1e-9 * certificate.primal / alpha) + 1e-4
    assert watch.history["relative_gap"][-1] <= 1e-9
    assert watch.history["iteration"][-1] == solution.n_iter


def test_narrow_data_are_factored_and_wide_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    for kind in (WholeHessian, WholeByCG):
        at = kind.at

        def noted(self: Any, point: Any, at: Any = at, name: str = kind.__name__) -> None:
            taken.append(name)
            at(self, point)

        monkeypatch.setattr(kind, "at", noted)
    for shape, expected in (("narrow", "WholeHessian"), ("wide", "WholeByCG")):
        X, positive = rows(shape, sparse.csr_array)
        taken.clear()
        problem = Problem(as_design(X), ClassWeighted(positive, (1.0, 2.0)), 1e-3)
        assert solve(problem, "newton").converged
        assert set(taken) == {expected}


@pytest.mark.parametrize("scale", [1e-40, 1e40])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_features_of_any_size(solver: str, scale: float) -> None:
    X, positive = rows("narrow", np.asarray)
    loss = ClassWeighted(positive, (3.0, 0.5))
    plain, scaled = (Problem(as_design(size * X), loss, 0.01 * size**2) for size in (1.0, scale))
    found, other = (solve(one, solver, tol=1e-9) for one in (plain, scaled))
    assert scaled.certify(other).holds(1e-9)
    assert_allclose(scaled.value(other.w), plain.value(found.w), rtol=2e-9)


@pytest.mark.parametrize("name", ["squared_hinge", "logistic", "exponential"])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_any_smooth_surrogate_on_rows_with_and_without_a_threshold(name: str, solver: str) -> None:
    X, positive = rows("narrow", np.asarray)
    surrogate, rng = SURROGATES[name], np.random.default_rng(1)
    weight = rng.random(len(positive)) * (rng.random(len(positive)) < 0.9) / len(positive)
    of_rows = RowLoss(weight, surrogate, np.where(positive, 1.0, -1.0))
    of_both = ThresholdLoss(Split.of(positive, weight), surrogate, surrogate)
    for loss in (of_rows, of_both):
        problem = Problem(as_design(X), loss, 1e-2)
        found = solve(problem, solver, tol=1e-8, max_iter=10_000)
        assert found.converged
        assert problem.certify(found).holds(1e-8)
        other = solve(problem, tol=1e-10)
        assert_allclose(problem.value(found.w), problem.value(other.w), rtol=1e-8)


class Scaled(Surrogate):
    """l(z) = c log(1 + e^z)."""

    name = "scaled"

    def __init__(self, scale: float) -> None:
        self.scale = self.steepest = scale
        self._inner = Logistic()

    def value(self, z: Array) -> Array:
        return self.scale * self._inner.value(z)

    def rise(self, z: Array) -> Array:
        return self.scale * self._inner.rise(z)

    def slope(self, z: Array) -> Array:
        return self.scale * self._inner.slope(z)

    def curvature(self, z: Array) -> Array:
        return self.scale * self._inner.curvature(z)

    def _conjugate(self, a: Array) -> Array:
        return self.scale * self._inner.conjugate(a / self.scale)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "auto"])
def test_class_weights_with_an_intercept(solver: str) -> None:
    X, positive = rows("narrow", np.asarray)
    loss = ThresholdLoss(Split.of(positive), Scaled(5.0), Scaled(0.5))
    problem = Problem(as_design(X), loss, 1e-2)
    found = solve(problem, solver, tol=1e-9, max_iter=10_000)
    assert problem.certify(found).holds(1e-9)
    weight = np.where(positive, 5.0 / positive.sum(), 0.5 / (~positive).sum())
    known = LogisticRegression(C=100.0, tol=1e-12, max_iter=100_000).fit(X, positive, weight)
    assert_allclose(found.w, known.coef_[0], atol=1e-3)
    scores = problem.design.scores(found.w)
    bias = loss.best_bias(scores[positive], scores[~positive])
    assert_allclose(bias, known.intercept_[0], atol=1e-3)


@pytest.mark.parametrize("shape", ["narrow", "wide"])
def test_of_a_loss_that_is_only_smooth_auto_takes_what_any_smooth_loss_gets(shape: str) -> None:
    X, positive = rows(shape, sparse.csr_array)
    inner = ClassWeighted(positive, (1.0, 4.0))
    problem = Problem(as_design(X), Plain(inner), 1e-3)
    found = solve(problem, tol=1e-7)
    assert (found.solver, found.converged) == ("lbfgs", True)
    assert problem.certify(found).holds(1e-7)
    best = solve(Problem(as_design(X), inner, 1e-3), tol=1e-10)
    assert_allclose(problem.value(found.w), problem.value(best.w), rtol=2e-7)


def test_a_smooth_loss_of_pairs_is_solved_alike_by_both() -> None:
    X, positive = rows("narrow", np.asarray)
    loss = PairLoss(Split.of(positive), SURROGATES["squared_hinge"])
    problem = Problem(as_design(X), loss, 1e-2)
    one, other = solve(problem, "lbfgs", tol=1e-8), solve(problem, "pair-newton", tol=1e-8)
    for found in (one, other):
        assert problem.certify(found).holds(1e-8)
    assert_allclose(problem.value(one.w), problem.value(other.w), rtol=2e-8)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_rows_that_balance_each_other_are_trivial(solver: str) -> None:
    X = np.random.default_rng(2).normal(size=(20, 3))
    X = np.vstack([X, X])  # every row is to score high and low
    loss = RowLoss(np.full(40, 1 / 40), Logistic(), np.repeat([1.0, -1.0], 20))
    problem = Problem(as_design(X), loss, 1e-3)
    found = solve(problem, solver)
    assert found.converged
    assert not found.w.any()
    assert problem.certify(found).holds(1e-12)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("alpha", [1e6, 1e12])
def test_at_a_huge_alpha_the_best_direction_is_found(solver: str, alpha: float) -> None:
    X, positive = rows("narrow", np.asarray)
    problem = Problem(as_design(X), ClassWeighted(positive, (1.0, 1.0)), alpha)
    found = solve(problem, solver, tol=1e-6)
    steepest = -X.T @ problem.loss.slope(np.zeros(len(X)))
    assert found.w.any()
    cosine = found.w @ steepest / np.linalg.norm(found.w) / np.linalg.norm(steepest)
    assert cosine > 1 - 1e-6


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_it_stops_when_asked_and_goes_on_from_a_start(solver: str) -> None:
    X, positive = rows("narrow", np.asarray)
    problem = Problem(as_design(X), ClassWeighted(positive, (1.0, 1.0)), 1e-3)
    watch = Watch(problem.design, report=lambda _: True)
    assert solve(problem, solver, tol=1e-12, watch=watch).n_iter == 0
    short = solve(problem, solver, tol=1e-12, max_iter=2)
    assert (short.n_iter, short.converged) == (2, False)
    done = solve(problem, solver, tol=1e-8, max_iter=1000)
    again = solve(problem, solver, start=done, tol=1e-8)
    assert again.converged
    assert again.n_iter <= 1
