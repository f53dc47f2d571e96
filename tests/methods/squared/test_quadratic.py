"""The quadratic problem of pairs: decompositions against each other and against its conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from support.examples import examples
from toprank.designs import DenseDesign
from toprank.inputs.class_split import Split
from toprank.methods.squared.certificate import Curvature, Local, certify
from toprank.methods.squared.krylov import FeatureSpace, Krylov, PairOperator, SampleSpace, krylov
from toprank.methods.squared.quadratic import (
    Factored,
    QuadraticSolution,
    Spectrum,
    Target,
    Tridiagonal,
    decompose,
    solve_once,
)


def problem(seed: int, d: int, rank: int, spread: float = 2.0) -> tuple[Any, Any]:
    """S = E psi psi' and u = E psi of some pairs; u lies in the range of S."""
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(rank, d)) * 10.0 ** rng.uniform(-spread, spread, d)
    psi = (rng.normal(size=(3 * rank, rank)) + 0.5) @ basis
    return psi.T @ psi / len(psi), psi.mean(axis=0)


@examples(80)
@example(seed=8000, d=4, share=0.25, radius=np.inf, alpha=0.0)  # zero but for rounding
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(2, 30),
    share=st.floats(0.2, 1.0),
    radius=st.one_of(st.just(np.inf), st.floats(1e-4, 1e3)),
    alpha=st.one_of(st.just(0.0), st.floats(1e-4, 1e3)),
)
def test_conditions_of_the_minimum(
    seed: int, d: int, share: float, radius: float, alpha: float
) -> None:
    second, first = problem(seed, d, max(1, int(share * d)))
    target = Target(alpha, radius)
    for solve in (Spectrum(second, first).solve, Tridiagonal(second, first).solve):
        solution = solve(target)
        w, shift = solution.w, alpha + solution.multiplier
        assert np.linalg.norm(w) <= radius * (1 + 1e-12)
        assert solution.multiplier >= 0.0
        if solution.multiplier > 0.0:
            assert np.linalg.norm(w) == pytest.approx(radius, rel=1e-9)
        residual = second @ w + shift * w - first
        assert np.linalg.norm(residual) <= 1e-7 * np.linalg.norm(first)
    once = solve_once(second, first, target)
    assert_allclose(once.w, w, atol=1e-6 * np.abs(w).max())


def test_a_singular_problem_has_its_shortest_solution() -> None:
    second, first = problem(0, 12, 5)
    expected = np.linalg.pinv(second, rcond=1e-12) @ first
    for made in (Spectrum(second, first), Tridiagonal(second, first)):
        assert_allclose(made.solve(Target()).w, expected, atol=1e-8 * np.abs(expected).max())


def test_wide_problems_are_made_tridiagonal() -> None:
    second, first = problem(1, 400, 400, spread=0.2)
    whole, three = Spectrum(second, first), Tridiagonal(second, first)
    for target in (Target(0.1), Target(0.0, 1e-3), Target(1e-3, 10.0)):
        expected = whole.solve(target)
        found = three.solve(target)
        assert_allclose(found.w, expected.w, atol=1e-8 * np.abs(expected.w).max())
        assert found.multiplier == pytest.approx(expected.multiplier, rel=1e-8, abs=1e-12)


@examples(60)
@given(seed=st.integers(0, 10**6), radius=st.one_of(st.just(np.inf), st.floats(1e-3, 10.0)))
def test_the_certificate_covers_any_weights(seed: int, radius: float) -> None:
    second, first = problem(seed, 6, 6)
    rng = np.random.default_rng(seed)
    target = Target(10.0 ** rng.uniform(-6, 1), radius)

    def value(w: Any) -> float:
        return float(0.5 + w @ second @ w / 2 - first @ w + target.alpha / 2 * w @ w)

    best = value(Spectrum(second, first).solve(target).w)
    w = Spectrum(second, first).solve(target).w * rng.uniform(0.0, 1.0)
    gradient = second @ w - first + target.alpha * w
    multiplier = 10.0 ** rng.uniform(-6, 1) if np.isfinite(radius) else 0.0
    at = Local(value(w), gradient, 0.0, np.zeros(6))
    for curvature in (None, Curvature(second, np.zeros(6))):
        certificate = certify(at, target, QuadraticSolution(w, multiplier), curvature)
        assert certificate.dual <= best + 1e-9 * abs(best)
        assert certificate.primal >= best - 1e-9 * abs(best)


def test_a_solution_is_certified_by_the_residual_of_its_own_conditions() -> None:
    # Bounded by the whole gradient, which the ball balances, the gap would be far from zero.
    second, first = problem(3, 6, 6, spread=0.5)
    target = Target(2.0, 1e-2)
    solution = Spectrum(second, first).solve(target)
    w = solution.w
    assert solution.multiplier > 0.0
    value = float(0.5 + w @ second @ w / 2 - first @ w + w @ w)
    at = Local(value, second @ w - first + 2.0 * w, 0.0, np.zeros(6))
    assert certify(at, target, solution).relative_gap <= 1e-12


def test_columns_of_any_size_keep_their_part() -> None:
    second, first = problem(0, 8, 8, spread=0.3)
    scale = 10.0 ** np.array([0, 0, 9, 0, -3, 0, 3, 0])
    graded, turned = scale[:, np.newaxis] * second * scale, scale * first
    assert isinstance(decompose(graded, turned), Factored)
    for target in (Target(), Target(1e-6), Target(1e-3, 0.5)):
        solution = decompose(graded, turned).solve(target)
        w, shift = solution.w, target.alpha + solution.multiplier
        ridged = second + np.diag(shift / scale**2)
        assert_allclose(w * scale, np.linalg.solve(ridged, first), rtol=1e-8)


def test_dependent_columns_without_a_ridge_bound_nothing() -> None:
    second, first = problem(0, 12, 5, spread=0.3)
    w = Spectrum(second, first).solve(Target()).w
    value = float(0.5 + w @ second @ w / 2 - first @ w)
    at = Local(value, second @ w - first, 0.0, np.full(12, 1e-14))
    curvature = Curvature(second, 1e-14 * np.diag(second))
    assert certify(at, Target(), QuadraticSolution(w), curvature).dual == 0.0
    assert certify(at, Target(1e-6), QuadraticSolution(w), curvature).dual > 0.0


def operator(n: int, d: int) -> PairOperator:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d)) + 1.0
    weight = rng.uniform(0.5, 2.0, n)
    return PairOperator(DenseDesign(x), Split.of(rng.uniform(size=n) < 0.4, weight))


def explicit(operator: PairOperator) -> tuple[Any, Any]:
    x, split = operator.design.X, operator.split
    psi = x[split.pos][:, np.newaxis] - x[split.neg]
    weight = np.outer(split.p, split.q)
    second = np.einsum("ij,ijk,ijl->kl", weight, psi, psi)
    return second, np.einsum("ij,ijk->k", weight, psi)


def test_products_with_the_rows_are_those_with_the_moments() -> None:
    op = operator(30, 5)
    second, first = explicit(op)
    v = np.random.default_rng(1).normal(size=5)
    assert_allclose(op.apply(v), second @ v, rtol=1e-12)
    assert_allclose(op.first, first, rtol=1e-12)
    value, gradient = op.value_and_gradient(v, 0.3)
    assert value == pytest.approx(0.5 - first @ v + v @ second @ v / 2 + 0.15 * v @ v, rel=1e-12)
    assert_allclose(gradient, second @ v - first + 0.3 * v, rtol=1e-11)


@pytest.mark.parametrize(("n", "d"), [(40, 12), (20, 60)])
def test_both_krylov_spaces_are_the_same(n: int, d: int) -> None:
    op = operator(n, d)
    spaces = [FeatureSpace(op), SampleSpace(op)]
    for space in spaces:
        for _ in range(8):
            space.step()
    assert_allclose(spaces[0].diagonal, spaces[1].diagonal, rtol=1e-9)
    assert_allclose(spaces[0].beside, spaces[1].beside, rtol=1e-8)
    second, first = explicit(op)
    for space in spaces:
        found = Krylov(space)
        solution = found.solve(Target(0.5))
        at = found.shifted(0.5)
        residual = np.linalg.norm(second @ solution.w + 0.5 * solution.w - first)
        assert found.residual(at.h) == pytest.approx(residual, rel=1e-6, abs=1e-10)


def test_one_space_serves_all_targets() -> None:
    op = operator(50, 20)
    second, first = explicit(op)
    targets = [Target(1e-4), Target(10.0), Target(0.0, 0.01), Target(0.0, 100.0)]
    found, _ = krylov(op, targets, tol=1e-12, max_iter=100)
    whole = Spectrum(second, first)
    for target in targets:
        w = whole.solve(target).w
        assert_allclose(found.solve(target).w, w, atol=1e-5 * np.abs(w).max())
