"""Newton under a ceiling by sums over rows: the minimum of the method for rows in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from toprank.datasets import load_mammography, load_spambase
from toprank.designs import DenseDesign, Highest
from toprank.inputs.class_split import Split
from toprank.losses import ThresholdLoss, TopLoss
from toprank.problems import Multipliers, Problem, Solution
from toprank.solvers.ceiling import ceiling
from toprank.solvers.ceiling_sums import ceiling_by_sums
from toprank.surrogates import SURROGATES, Rectified

SURROGATE_NAMES = ["squared_hinge", "logistic", "exponential"]


def problem_of(kind: str, loss: str, alpha: float, weighted: bool = False) -> Problem:
    X, y = load_spambase(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float) if weighted else None
    split, l = Split.of(y == 1, weight), SURROGATES[loss]  # noqa: E741
    made = TopLoss(split, l) if kind == "top" else ThresholdLoss(split, l, Rectified(l))
    return Problem(DenseDesign(X, 1), made, alpha)


@pytest.mark.parametrize("loss", SURROGATE_NAMES)
@pytest.mark.parametrize("kind", ["top", "rect"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_minimum_is_that_of_the_method_in_memory(kind: str, loss: str, weighted: bool) -> None:
    problem = problem_of(kind, loss, 1e-2, weighted)
    other = ceiling(problem, tol=1e-10)
    found = ceiling_by_sums(problem, tol=1e-10)
    assert found.converged
    certificate = problem.certify(found)
    assert certificate.holds(1e-10)
    assert certificate.primal == pytest.approx(problem.certify(other).primal, rel=1e-10)
    # As near as the gaps prove both to be to the one minimum: alpha/2 |w - w*|^2 is no more.
    gaps = certificate.gap, problem.certify(other).gap
    near = sum(np.sqrt(2.0 * gap / problem.alpha) for gap in gaps)
    assert np.linalg.norm(found.w - other.w) <= near


@pytest.mark.parametrize("kind", ["top", "rect"])
def test_the_certificate_is_right_far_from_the_optimum(kind: str) -> None:
    problem = problem_of(kind, "logistic", 1e-2)
    optimum = problem.certify(ceiling(problem, tol=1e-11)).primal
    rng = np.random.default_rng(1)
    negatives = problem.loss.split.neg  # type: ignore[attr-defined]
    for scale in (0.0, 1e-3, 0.1):
        w = scale * rng.normal(size=problem.design.shape[1])
        proof = Multipliers(rng.choice(negatives, 20, replace=False), rng.random(20))
        found = problem.certify(Solution(w, proof, 0.3))
        assert found.dual <= optimum <= found.primal
        # No more than b is given away, where that is free: the loss takes the best one.
        assert found.primal >= problem.value(w) * (1 - 1e-12)


def test_no_negative_is_above_the_threshold() -> None:
    problem = problem_of("rect", "squared_hinge", 1e-3)
    found = ceiling_by_sums(problem)
    scores = problem.design.scores(found.w, problem.loss.split.neg)  # type: ignore[attr-defined]
    assert (scores + found.b).max() <= 0.0


def test_a_trivial_optimum_is_told() -> None:
    X, y = load_mammography(return_X_y=True)
    problem = Problem(DenseDesign(X, 1), TopLoss(Split.of(y == 1), SURROGATES["logistic"]), 1e-3)
    found = ceiling_by_sums(problem)
    assert found.converged
    assert not found.w.any()
    assert problem.certify(found).holds(1e-9)


def test_an_earlier_solution_is_a_start() -> None:
    problem = problem_of("top", "squared_hinge", 1e-3)
    first = ceiling_by_sums(problem, tol=1e-6)
    again = ceiling_by_sums(problem, start=first, tol=1e-6)
    assert again.n_iter < first.n_iter
    other = ceiling_by_sums(problem.at_alpha(5e-4), start=replace(first), tol=1e-6)
    assert problem.at_alpha(5e-4).certify(other).holds(1e-6)


def test_max_iter_ends_it_short() -> None:
    problem = problem_of("top", "logistic", 1e-3)
    found = ceiling_by_sums(problem, tol=1e-9, max_iter=1)
    assert not found.converged
    certificate: Any = problem.certify(found)
    assert certificate.dual < certificate.primal


def test_the_highest_of_parts_with_few_rows_are_all_kept() -> None:
    first = Highest(np.array([3.0]), np.array([0]), 3)
    second = Highest(np.array([5.0, 3.0, 1.0]), np.array([7, 8, 9]), 3)
    joined = first.joined(second)
    assert joined.scores.tolist() == [5.0, 3.0, 3.0]
    assert joined.rows.tolist() == [7, 0, 8]
