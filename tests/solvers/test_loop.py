"""What loops share: when they end, what they keep, and how one solver goes on from another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from toprank.designs import as_design
from toprank.problems import Solution
from toprank.solvers.linalg import conjugate_gradient
from toprank.solvers.loop import Progress, hand_over, within
from toprank.solvers.watch import Watch

DESIGN = as_design(np.ones((3, 2)))


def begin(watch: Watch | None = None, **options: Any) -> Progress:
    chosen: dict[str, Any] = {"max_iter": 100, "patience": 5, "falls": 0.1}
    chosen["close"] = within(1e-3)
    best = Solution(np.zeros(2), np.zeros(3))
    watch = watch or Watch(DESIGN)
    return Progress(best, 1.0, 0.0, watch=watch, **chosen | options)


def test_it_ends_where_the_bounds_are_close() -> None:
    watch = Watch(DESIGN)
    progress = begin(watch)
    assert not progress.over()
    progress.lower(0.5, np.ones(2), 0.25)
    assert not progress.over()
    progress.lift(0.4999, np.full(3, 2.0))
    assert progress.over()
    best = progress.best
    assert (best.converged, best.n_iter, best.b) == (True, 2, 0.25)
    assert_allclose(best.w, 1.0)
    assert_allclose(best.dual, 2.0)
    assert watch.history["iteration"].tolist() == [0, 1, 2]
    assert watch.history["primal"].tolist() == [1.0, 0.5, 0.5]
    assert watch.history["dual"].tolist() == [0.0, 0.0, 0.4999]


@pytest.mark.parametrize("proven", [True, False])
def test_at_zero_a_small_gap_is_not_enough(proven: bool) -> None:
    asked = []
    progress = begin(zero=lambda v: bool(asked.append(v) or proven))
    progress.lift(0.9999, np.ones(3))
    assert progress.over() == progress.best.converged == proven
    assert_allclose(asked[0], 1.0)  # the best dual vector
    progress.lower(0.9999, np.ones(2))
    assert progress.over()
    assert len(asked) == 1  # not asked of weights that are not zero


def test_it_waits_for_the_gap_to_fall_only_so_long() -> None:
    progress = begin()
    for waited in range(5):
        assert not progress.over()
        assert progress.waited == waited
    assert progress.over()
    assert (progress.best.n_iter, progress.best.converged, progress.stuck) == (5, False, True)
    progress = begin()
    for _ in range(20):  # it falls by more than a tenth each time
        progress.lower(0.8 * progress.primal, np.ones(2))
        assert not progress.over()
    slow = begin()
    looks = 1
    while not slow.over(gap=0.95**looks):  # of its own measure half as much as asked
        looks += 1
    assert slow.best.n_iter == 100  # two small falls are one that counts


def test_a_gap_below_zero_is_no_fall_each_time() -> None:
    progress = begin(close=lambda primal, dual: False)  # as a certificate may say that knows better
    progress.lift(1.0 + 1e-15, np.ones(3))
    while not progress.over():
        pass
    assert (progress.best.n_iter, progress.stuck) == (5, True)


@pytest.mark.parametrize("holds", [True, False])
def test_a_long_fit_ends_where_its_certificate_holds_or_its_gap_crawls(holds: bool) -> None:
    progress = begin(max_iter=10_000, falls=0.001, holds=lambda best: holds)
    progress.lower(1.0, np.ones(2))
    while not progress.over():
        progress.lower(0.998 * progress.primal, np.ones(2))
    assert progress.best.n_iter == (0 if holds else 100)
    assert (progress.best.converged, progress.stuck) == (holds, not holds)


def test_it_ends_when_asked_when_stuck_and_at_max_iter() -> None:
    assert begin(Watch(DESIGN, report=lambda _: True)).over()
    progress = begin()
    assert not progress.over()
    progress.stuck = True
    assert progress.over()
    short = begin(max_iter=2, patience=50)
    assert [short.over() for _ in range(3)] == [False, False, True]
    assert begin(max_iter=0).over()


def test_iterations_of_the_first_solver_count_and_its_solution_is_the_start() -> None:
    watch, seen = Watch(DESIGN), {}

    def second(problem: Any, **options: Any) -> Solution:
        seen.update(options)
        options["watch"](3, 1.0, 0.5, lambda: np.zeros(2))
        return Solution(np.ones(2), np.ones(3), n_iter=3)

    first = Solution(np.zeros(2), np.zeros(3), n_iter=7)
    found = hand_over(second, None, first, tol=0.1, max_iter=12, watch=watch)
    assert found.n_iter == 10
    assert (seen["start"], seen["max_iter"], seen["tol"]) == (first, 5, 0.1)
    assert watch.history["iteration"].tolist() == [10]
    assert watch.iterations_before == 0
    hand_over(second, None, first, max_iter=5, watch=watch)
    assert seen["max_iter"] == 0


@pytest.mark.parametrize("scaled", [False, True])
def test_conjugate_gradients_solve_and_tell(scaled: bool) -> None:
    rng = np.random.default_rng(0)
    X, along = rng.normal(size=(30, 8)), rng.normal(size=8)
    A, b = X.T @ X + 0.1 * np.eye(8), rng.normal(size=8)
    scale = A.diagonal().copy() if scaled else None
    products = []

    def product(d: Any) -> tuple[Any, Any]:
        products.append(d)
        return A @ d, X @ d

    x, told = conjugate_gradient(product, b, enough=1e-11, max_iter=100, scale=scale)
    assert_allclose(A @ x, b, atol=1e-10)
    assert_allclose(told, X @ x, atol=1e-10)
    assert len(products) <= 10
    x, number = conjugate_gradient(
        lambda d: (A @ d, float(along @ d)), b, enough=0.5, max_iter=100, scale=scale
    )
    assert 0.0 < np.linalg.norm(A @ x - b) <= 0.5
    assert number == pytest.approx(along @ x)


def test_a_direction_without_bend_ends_them() -> None:
    x, told = conjugate_gradient(lambda d: (0.0 * d, 0.0), np.ones(3), enough=0.0, max_iter=5)
    assert not x.any()
    assert told == 0.0
