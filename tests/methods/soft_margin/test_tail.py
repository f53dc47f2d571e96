"""The tail mean of all pairs: bounds against HiGHS, reference cases, ties, large data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from support.examples import examples
from toprank.designs import SparseDesign
from toprank.inputs.class_split import Split
from toprank.losses import PairTailLoss
from toprank.methods.soft_margin.listed_tail import solve_tail
from toprank.methods.soft_margin.tail_newton import tail_newton
from toprank.problems import BallProblem
from toprank.solvers.watch import Watch
from truth.soft_margin_lps import CASES, pair_margin, problem_of, rankers, reference_case


@pytest.mark.parametrize("name", CASES)
def test_reference_cases(name: str) -> None:
    case, H, labels = reference_case(name)
    P, Q = case["P"], case["Q"]
    split = Split.of(labels == 1)
    epsilon = float(case["nu"]) / (len(P) * len(Q))
    problem = problem_of(H, split, epsilon, bool(case["signed"]))
    found = solve_tail(problem, tol=1e-5)
    certificate = problem.certify(found)
    assert_allclose(-certificate.primal, case["gamma_pair"], atol=1e-8)
    assert_allclose(-certificate.dual, case["gamma_pair"], atol=1e-8)
    assert_allclose(found.w, case["w_pair"], atol=1e-6)
    rho, above = problem.loss.rho(problem.design.scores(found.w))
    assert_allclose(rho, case["rho_pair"], atol=1e-8)
    assert above * len(P) * len(Q) >= len(P) * len(Q) - np.floor(case["nu"]) - 1e-6


@examples(40)
@given(
    st.integers(0, 10**6),
    st.integers(3, 14),
    st.integers(1, 6),
    st.sampled_from(["continuous", "boolean"]),
    st.floats(0.02, 1.0),
    st.booleans(),
    st.booleans(),
)
def test_certificates_hold_highs_between_them(
    seed: int, n: int, d: int, kind: str, epsilon: float, signed: bool, weighted: bool
) -> None:
    H, positive = rankers(seed, n, d, kind)
    weight = np.random.default_rng(seed).integers(1, 4, n).astype(float) if weighted else None
    split = Split.of(positive, weight)
    problem = problem_of(H, split, epsilon, signed)
    optimum = pair_margin(H, split, epsilon, signed)
    for solver in (solve_tail, tail_newton):
        found = solver(problem)
        certificate = problem.certify(found)
        if found.w.any() or signed:
            assert -certificate.primal <= optimum + 1e-9
        assert optimum <= -certificate.dual + 1e-9
        assert np.abs(found.w).sum() <= 1 + 1e-12
    found = solve_tail(problem, tol=1e-5)
    certificate = problem.certify(found)
    assert_allclose(-certificate.primal, optimum, atol=2e-6 if abs(optimum) < 2e-6 else 2e-9)


@pytest.mark.parametrize("kind", ["continuous", "boolean"])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("epsilon", [0.1, 0.6])
def test_newton_and_lists_of_pairs_end_at_the_optimum(
    kind: str, signed: bool, weighted: bool, epsilon: float
) -> None:
    H, positive = rankers(1, 190, 6, kind)
    weight = np.random.default_rng(0).integers(1, 3, 190).astype(float) if weighted else None
    split = Split.of(positive, weight)
    problem = problem_of(H, split, epsilon, signed)
    watch = Watch(problem.design)
    found = solve_tail(problem, tol=1e-5, watch=watch)
    assert found.converged
    certificate = problem.certify(found)
    assert certificate.gap <= max(1.01e-5 * abs(certificate.primal), 1e-6)
    optimum = pair_margin(H, split, epsilon, signed)
    assert -certificate.primal - 1e-9 <= optimum <= -certificate.dual + 1e-9
    assert (np.diff(watch.history["primal"]) <= 0).all()
    assert (np.diff(watch.history["dual"]) >= 0).all()
    exact = solve_tail(problem, exact=True)
    atol = 1e-8 if optimum > 1e-6 or not signed else 1e-6
    assert_allclose(-problem.certify(exact).primal, optimum, atol=atol)


def test_sparse_and_sampled_hessians_and_many_rows() -> None:
    rng = np.random.default_rng(0)
    n = 9000
    positive = rng.random(n) < 0.3
    H = (rng.random((n, 8)) < 0.3) * rng.uniform(-1, 1, (n, 8))
    H[positive, 0] = 0.8 * np.abs(H[positive, 0]) + 0.2
    loss = PairTailLoss(Split.of(positive), 0.5)
    values = []
    for design in (
        problem_of(H, loss.split, 0.5, True).design,
        SparseDesign(sparse.csr_array(H / 2)),
    ):
        problem = BallProblem(design, loss)
        found = solve_tail(problem, tol=1e-6)
        certificate = problem.certify(found)
        assert found.converged
        assert certificate.gap <= 1.01e-6 * -certificate.primal
        values.append(-certificate.primal)
    assert_allclose(values[0], values[1], rtol=2e-6)
    assert values[0] > 0.01


def test_massive_ties_keep_a_certified_answer() -> None:
    rng = np.random.default_rng(0)
    positive = np.arange(3000) < 1500
    H = np.where(rng.random((3000, 2)) < 0.25, -1.0, 1.0) * np.where(positive, 1, -1)[:, np.newaxis]
    problem = problem_of(H, Split.of(positive), 0.5, True)
    found = solve_tail(problem, tol=1e-6, exact=True)
    certificate = problem.certify(found)
    assert 0 <= certificate.gap <= 1e-4 * -certificate.primal
