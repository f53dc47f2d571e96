"""Problem and Certificate: the gap is what the mathematics says, and bounds the true error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from support.examples import examples
from toprank.losses import TopLoss
from toprank.problems import Certificate, Problem, Solution
from truth import reference as truth

Array = NDArray[np.float64]

losses = pytest.mark.parametrize("name", truth.SMOOTH)
storages = pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def small_problem(
    seed: int, name: str, alpha: float = 0.1, weighted: bool = True, storage: object = np.asarray
) -> tuple[Array, Problem, TopLoss]:
    rng = np.random.default_rng(seed)
    X, positive = truth.rows_of_two_classes(seed, m=5, n=9, d=4)
    weight = rng.uniform(0.2, 2.0, len(X)) if weighted else None
    problem = truth.make_problem(storage(X), positive, name, alpha, weight)  # type: ignore[operator]
    assert isinstance(problem.loss, TopLoss)
    return X, problem, problem.loss


def feasible_duals(loss: TopLoss, rng: np.random.Generator) -> Array:
    steepest = min(loss.surrogate.steepest, 4.0)
    a = loss.split.p * steepest * rng.uniform(0.0, 1.0, len(loss.split.p))
    return loss.join(a, rng.exponential(size=len(loss.split.neg)))


@losses
@storages
@pytest.mark.parametrize("seed", range(3))
def test_values_and_gradient_against_the_truths(name: str, storage: object, seed: int) -> None:
    X, problem, loss = small_problem(seed, name, storage=storage)
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(4)
    value, gradient = problem.value_and_gradient(w)
    assert value == pytest.approx(truth.primal_value(X, loss.split, name, 0.1, w), rel=1e-12)
    assert problem.value(w) == value
    step = 1e-6
    for k, ahead in enumerate(step * np.eye(4)):
        slope = (problem.value(w + ahead) - problem.value(w - ahead)) / (2 * step)
        assert gradient[k] == pytest.approx(slope, rel=1e-6, abs=1e-7)
    v = feasible_duals(loss, rng)
    a, delta = loss.parts(v)
    dual = truth.dual_value(X, loss.split, name, 0.1, a, delta)
    assert problem.dual_value(v) == pytest.approx(dual, rel=1e-11, abs=1e-12)


@losses
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_the_gap_is_a_sum_of_three_terms_none_below_zero(name: str, weighted: bool) -> None:
    X, problem, loss = small_problem(0, name, weighted=weighted)
    split, rng = loss.split, np.random.default_rng(1)
    for _ in range(25):
        w, v = rng.standard_normal(4), feasible_duals(loss, rng)
        a, delta = loss.parts(v)
        apart = w - truth.dual_weights(X, split, problem.alpha, a, delta)
        s = X @ w
        below = s[split.neg].max() - s[split.neg]
        z = s[split.neg].max() - s[split.pos]
        young = [
            p * (truth.VALUE[name](z_i) + truth.CONJUGATE[name](a_i / p)) - a_i * z_i
            for p, a_i, z_i in zip(split.p, a, z, strict=True)
        ]
        terms = 0.5 * problem.alpha * apart @ apart, delta @ below, sum(young)
        assert min(terms) >= 0
        gap = problem.value(w) - problem.dual_value(v)
        assert gap == pytest.approx(sum(terms), rel=1e-10)


@losses
def test_the_last_term_vanishes_for_the_slopes_own_duals(name: str) -> None:
    X, problem, loss = small_problem(2, name)
    w = np.random.default_rng(2).standard_normal(4)
    v = loss.slope(X @ w)  # all of delta on the highest negative
    a, delta = loss.parts(v)
    apart = w - truth.dual_weights(X, loss.split, problem.alpha, a, delta)
    gap = problem.value(w) - problem.dual_value(v)
    assert gap == pytest.approx(0.5 * problem.alpha * apart @ apart, rel=1e-10)


@examples(25)
@given(
    seed=st.integers(0, 10_000),
    name=st.sampled_from(truth.SMOOTH),
    alpha=st.sampled_from([1e-3, 0.1, 10.0]),
    weighted=st.booleans(),
    scale=st.sampled_from([0.0, 0.3, 3.0]),
)
def test_the_certificate_brackets_the_minimum(
    seed: int, name: str, alpha: float, weighted: bool, scale: float
) -> None:
    X, problem, loss = small_problem(seed, name, alpha, weighted)
    best = truth.optimum(X, loss.split, name, alpha)
    rng = np.random.default_rng(seed)
    w = scale * rng.standard_normal(4)
    slope = loss.slope(X @ w)
    for v in (slope, feasible_duals(loss, rng), np.zeros(len(X))):
        certificate = problem.certify(Solution(w, v))
        # CLARABEL's own error is about 1e-10.
        assert certificate.dual <= best * (1 + 1e-8)
        assert best <= certificate.primal * (1 + 1e-8)
        assert certificate.primal - best <= certificate.gap + 1e-8 * best
        assert certificate.dual >= 0.0  # v = 0 is always at hand
        assert certificate.primal == pytest.approx(problem.value(w), rel=1e-12)


@losses
@pytest.mark.parametrize("seed", range(3))
def test_the_dual_value_reaches_the_minimum_at_good_duals(name: str, seed: int) -> None:
    """The bound is tight, not only valid: mixing slopes along a subgradient descent gets there."""
    X, problem, loss = small_problem(seed, name, alpha=1.0)
    best = truth.optimum(X, loss.split, name, 1.0)
    w, mixed = np.zeros(4), np.zeros(len(X))
    for k in range(4_000):  # the conditional gradient method on the dual
        v = loss.slope(X @ w)
        mixed += 2.0 / (k + 2.0) * (v - mixed)
        w = -X.T @ mixed
    certificate = problem.certify(Solution(w, mixed))
    assert certificate.dual <= best * (1 + 1e-9)
    assert certificate.dual == pytest.approx(best, rel=2e-3)  # the method's error is O(1/k)
    assert certificate.primal == pytest.approx(best, rel=2e-3)


def test_infeasible_duals_give_the_bound_of_zero_duals() -> None:
    X, problem, _ = small_problem(0, "squared_hinge")
    certificate = problem.certify(Solution(np.zeros(4), np.ones(len(X))))
    assert problem.dual_value(np.ones(len(X))) == -np.inf
    assert certificate.primal == pytest.approx(1.0, rel=1e-13)
    assert certificate.dual == 0.0


def test_gap_and_relative_gap() -> None:
    certificate = Certificate(primal=2.0, dual=1.5)
    assert certificate.gap == 0.5
    assert certificate.relative_gap == 0.25
    assert certificate.holds(0.25)
    assert certificate.holds(0.2499)  # a hundredth of the tolerance is left for rounding
    assert not certificate.holds(0.247)
    assert Certificate(1e-20, 0.0, at_zero=1.0).holds(
        1e-4
    )  # less than w = 0 costs by twenty digits
    assert not Certificate(1e-20, 0.0).holds(1e-4)
    assert Certificate(-2.0, -2.5).relative_gap == 0.25
    assert Certificate(0.0, -0.1).relative_gap == 0.1
    assert Certificate(1.0, 1.0 - 1e-14).holds(0.0)
    assert not Certificate(1.0, 1.0 - 1e-11).holds(0.0)
    assert not Certificate(1.0, 1.001).holds(1e-4)  # a bound above the value: a fault
    assert not Certificate(1.0, np.nan).holds(1.0)
    assert not Certificate(np.inf, 0.0).holds(1.0)
    assert str(certificate) == "primal 2, dual 1.5, relative gap 0.25"
