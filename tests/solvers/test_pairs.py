"""The solvers of all pairs on tiny problems of every kind: what they claim, and that they end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from toprank.designs import PairDesign, as_design
from toprank.losses import PairLoss, PointLoss
from toprank.problem import Problem
from toprank.solvers import listed_pairs, pair_newton, solve_pairs
from toprank.split import Split
from toprank.surrogates import SURROGATES
from toprank.watch import Watch


def tiny(seed: int, loss: str = "hinge") -> Problem:
    """Rows that are rounded, repeated, separable, or none of it; any alpha."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 80)), int(rng.integers(1, 10))
    X = rng.normal(size=(n, d))
    if seed % 4 == 1:
        X = np.round(X)
    if seed % 5 == 2:
        X = np.repeat(X, 2, axis=0)
    positive = X[:, 0] + rng.normal(size=len(X)) * [0, 0.3, 1, 3][seed % 4] > 0
    positive[:2] = True, False
    if seed % 7 == 3:
        X[:, 0] += 4 * positive
    split = Split.of(positive, rng.uniform(0.1, 2, len(X)) if seed % 3 == 0 else None)
    alpha = 10 ** rng.uniform(-5, 0)
    return Problem(as_design(X, 1), PairLoss(split, SURROGATES[loss]), float(alpha))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("seed", range(60))
def test_tiny_problems_are_solved(loss: str, tol: float, seed: int) -> None:
    problem = tiny(seed, loss)
    solution = solve_pairs(problem, tol=tol, max_iter=10**5)
    assert solution.converged
    assert problem.certify(solution.w, solution.dual).holds(tol)


@pytest.mark.parametrize("solver", [pair_newton, listed_pairs])
@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_claimed_without_a_certificate(solver: Any, seed: int) -> None:
    problem = tiny(seed)
    for tol in (1e-2, 1e-5, 1e-9):
        solution = solver(problem, tol=tol, max_iter=300)
        certificate = problem.certify(solution.w, solution.dual)
        assert certificate.holds(tol) or not solution.converged
        assert certificate.relative_gap >= -1e-9


@pytest.mark.parametrize("seed", range(10))
def test_listed_pairs_are_the_same_problem_as_points_of_a_pair_design(seed: int) -> None:
    problem = tiny(seed)
    assert isinstance(problem.loss, PairLoss)
    split = problem.loss.split
    i, j = (k.ravel() for k in np.meshgrid(split.pos, split.neg, indexing="ij"))
    written = Problem(
        PairDesign(problem.design, i, j),
        PointLoss(np.outer(split.p, split.q).ravel()),
        problem.alpha,
    )
    w = np.random.default_rng(seed).normal(size=problem.design.shape[1])
    assert_allclose(problem.value(w), written.value(w), rtol=1e-12)


def test_a_watch_can_stop_every_solver() -> None:
    problem = tiny(2)
    for solver in (pair_newton, listed_pairs, solve_pairs):
        watch = Watch(problem.design, on_iteration=lambda w: True)
        solution = solver(problem, tol=1e-12, watch=watch)
        assert watch.asked_to_stop
        assert len(watch.history) == 1
        assert not solution.converged


def test_other_losses_are_refused() -> None:
    problem = tiny(0, "squared_hinge")
    with pytest.raises(TypeError, match="for the hinge on all pairs"):
        listed_pairs(problem)
    points = Problem(problem.design, PointLoss(np.ones(problem.design.shape[0])), 1.0)
    for solver in (pair_newton, solve_pairs):
        with pytest.raises(TypeError, match="needs a PairLoss; PointLoss is another loss"):
            solver(points)
