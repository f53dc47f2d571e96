"""The hinge of TopPush from inside the bounds of its duals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from support.toy_rows import overlapping
from toprank import InfinitePush
from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.losses import TopLoss
from toprank.problems import Problem
from toprank.solvers import smoothed_newton, solve, top_interior_point
from toprank.solvers.watch import Watch
from toprank.surrogates import SURROGATES


def hinge(X: Any, y: Any, alpha: float, weight: Any = None, loss: str = "hinge") -> Problem:
    return Problem(as_design(X), TopLoss(Split.of(y == 1, weight), SURROGATES[loss]), alpha)


def heavy_tails(seed: int, n: int = 28, d: int = 9) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.35).astype(int)
    y[:2] = 0, 1
    X = rng.normal(size=(n, d))
    X[y == 1] += 0.5
    return np.exp(3.0 * X), y


def one_long_row(seed: int, n: int = 30, d: int = 5) -> tuple[Any, Any]:
    X, y = overlapping(n // 3, n - n // 3, d, shift=1.5)
    X = X.copy()
    X[np.random.default_rng(seed).integers(n)] *= 1e5
    return X, y


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("alpha", [1e-3, 1e-1, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_ends_where_newton_ends(form: Any, alpha: float, weighted: bool) -> None:
    X, y = overlapping(15, 45, 5, shift=1.5)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if weighted else None
    problem = hinge(form(X), y, alpha, weight)
    known = smoothed_newton(problem, tol=1e-10)
    assert problem.certify(known).holds(1e-10)
    found = top_interior_point(problem, tol=1e-8)
    assert found.converged
    assert problem.certify(found).holds(1e-8)
    assert_allclose(problem.value(found.w), problem.value(known.w), rtol=1e-7)


@pytest.mark.parametrize("data", [heavy_tails, one_long_row])
@pytest.mark.parametrize("seed", range(5))
def test_features_of_very_different_sizes(data: Any, seed: int) -> None:
    X, y = data(seed)
    ranker = InfinitePush(1e-5, tol=1e-6).fit(X, y)
    assert ranker.certificate_.holds(1e-6)
    assert ranker.coef_.any()


def test_it_takes_over_where_smoothed_problems_come_to_no_end() -> None:
    X, y = heavy_tails(84)
    problem = hinge(X, y, 1.5e-6)
    first = smoothed_newton(problem, tol=1e-6)
    assert first.gave_up
    assert not problem.certify(first).holds(1e-6)
    watch = Watch(problem.design)
    found = solve(problem, "newton", tol=1e-6, watch=watch)
    assert (found.solver, found.converged) == ("interior-point", True)
    assert found.n_iter > first.n_iter
    assert (np.diff(watch.history["iteration"]) >= 0).all()
    assert watch.history["iteration"][-1] == found.n_iter
    reached = problem.certify(found)
    assert reached.holds(1e-6)
    assert_allclose(watch.history["primal"][-1], reached.primal, rtol=1e-9)


def test_what_was_known_before_is_kept_where_it_is_better() -> None:
    X, y = overlapping(15, 45, 5, shift=1.5)
    problem = hinge(X, y, 1e-3)
    known = smoothed_newton(problem, tol=1e-9)
    found = top_interior_point(problem, start=known, tol=1e-15, max_iter=2)
    assert problem.value(found.w) <= problem.value(known.w)
    assert problem.dual_value(found.dual) >= problem.dual_value(known.dual)


def test_a_callback_ends_it() -> None:
    X, y = overlapping(15, 45, 5, shift=1.5)
    problem = hinge(X, y, 1e-3)
    watch = Watch(problem.design, report=lambda _: True)
    assert top_interior_point(problem, watch=watch).n_iter == 0


def test_other_losses_are_refused() -> None:
    X, y = overlapping(15, 45, 5)
    problem = hinge(X, y, 1.0, loss="squared_hinge")
    with pytest.raises(ValueError, match="interior-point needs the hinge"):
        solve(problem, "interior-point")
