"""`PairDescent`: what must hold of its bounds, weights and duals, whatever is asked of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from support.examples import examples
from toprank._core import Matrix, PairDescent
from truth import reference as truth

Array = NDArray[np.float64]
STORAGES = {
    "float64": lambda X: Matrix.dense(X),
    "float32": lambda X: Matrix.dense(X.astype(np.float32)),
    "csr float64": lambda X: as_csr(X, np.float64, np.int32),
    "csr float32": lambda X: as_csr(X, np.float32, np.int64),
}
storages = pytest.mark.parametrize("storage", STORAGES)


def as_csr(X: Array, dtype: Any, index: Any) -> Matrix:
    x = sparse.csr_array(X.astype(dtype))
    return Matrix.csr(x.data, x.indices.astype(index), x.indptr.astype(np.int64), X.shape[1])


class Pairs:
    """Pairs and points of rows that are exact in float32; some come twice, some have equal rows."""

    def __init__(self, seed: int, n: int = 12, d: int = 4, count: int = 40) -> None:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d)) + (np.arange(n) < n // 2)[:, None] * rng.normal(size=d)
        X = (X * (rng.random(X.shape) < 0.8)).astype(np.float32).astype(np.float64)
        X[-1] = X[0]
        self.X, self.n = X, n
        self.first, self.second = rng.integers(-1, n, count), rng.integers(-1, n, count)
        self.first[self.second == -1] = np.maximum(self.first[self.second == -1], 0)
        self.first[:4], self.second[:4] = [0, 0, 1, 2], [n - 1, 5, -1, 2]  # equal, twice, point
        self.first[4], self.second[4] = 0, 5
        self.bounds = rng.exponential(size=count)
        self.bounds[rng.random(count) < 0.1] = 0.0
        with_zero = np.vstack([X, np.zeros(d)])
        self.Z = with_zero[self.first] - with_zero[self.second]

    def descent(self, storage: str = "float64", seed: int = 0) -> PairDescent:
        return PairDescent(STORAGES[storage](self.X), seed)

    def filled(self, storage: str = "float64", seed: int = 0) -> PairDescent:
        core = self.descent(storage, seed)
        core.add(self.first, self.second, self.bounds, np.zeros(len(self.first)))
        return core

    def primal(self, w: Array) -> float:
        return 0.5 * w @ w + self.bounds @ np.maximum(1.0 - self.Z @ w, 0.0)

    def dual(self, a: Array) -> float:
        w = self.Z.T @ a
        return float(a.sum() - 0.5 * w @ w)

    def optimum(self) -> float:
        return truth.hinge_optimum(self.Z, self.bounds)


@storages
def test_pairs_that_come_in_lots_are_all_there(storage: str) -> None:
    # While they are few beside a sparse matrix, copies of their rows are read; then no more.
    pairs = Pairs(8, n=600, count=120)
    core, seen = pairs.descent(storage), 0
    for begin in range(0, 120, 15):
        lot = slice(begin, begin + 15)
        core.add(pairs.first[lot], pairs.second[lot], pairs.bounds[lot], np.zeros(15))
        core.epoch()
        seen += 15
        np.testing.assert_allclose(core.weights, core.duals @ pairs.Z[:seen], atol=1e-12)
    _, primal, dual = core.solve(1e-9, 10**6)
    assert primal == pytest.approx(pairs.primal(core.weights), rel=1e-9)
    assert primal - dual <= 1e-9 * primal


@storages
@pytest.mark.parametrize("factor", [0.3, 1.0, 7.0])
def test_scaling_scales_bounds_duals_and_weights(storage: str, factor: float) -> None:
    pairs = Pairs(3)
    core = pairs.filled(storage)
    core.epoch()
    w, duals = core.weights, core.duals
    core.scale(factor)
    np.testing.assert_array_equal(core.duals, factor * duals)
    np.testing.assert_allclose(core.weights, factor * w, rtol=1e-14)
    at_bound = duals == pairs.bounds
    assert 0 < at_bound.sum() < len(duals)
    pairs.bounds = factor * pairs.bounds
    np.testing.assert_array_equal(core.duals[at_bound], pairs.bounds[at_bound])
    _, primal, dual = core.solve(1e-9, 10**6)
    assert primal == pytest.approx(pairs.primal(core.weights), rel=1e-9)
    assert primal - dual <= 1e-9 * primal
    assert (core.duals <= pairs.bounds).all()
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="factor"):
            core.scale(wrong)


@storages
def test_the_gap_brackets_the_optimum_after_any_number_of_epochs(storage: str) -> None:
    pairs = Pairs(0)
    core, best = pairs.filled(storage), pairs.optimum()
    for _ in range(6):
        _, primal, dual = core.solve(0.0, 1)
        assert dual <= best + 1e-9 <= primal + 2e-9
        assert primal == pytest.approx(pairs.primal(core.weights), rel=1e-12)
        assert dual == pytest.approx(pairs.dual(core.duals), rel=1e-12)
    _, primal, dual = core.solve(1e-9, 10_000)
    assert primal - dual <= 1e-9 * primal
    assert primal == pytest.approx(best, rel=1e-8)


@examples(25)
@given(seed=st.integers(0, 10_000), epochs=st.integers(0, 8), n=st.integers(6, 20))
def test_the_gap_is_never_less_than_what_is_lost(seed: int, epochs: int, n: int) -> None:
    pairs = Pairs(seed, n=n)
    core = pairs.filled(seed=seed)
    _, primal, dual = core.solve(0.0, epochs)
    assert primal - dual >= pairs.primal(core.weights) - pairs.optimum() - 1e-8
    w = pairs.Z.T @ core.duals
    assert core.weights == pytest.approx(w * (core.weights @ w) / (w @ w or 1.0), abs=1e-12)
    assert (core.duals >= 0).all()
    assert (core.duals <= pairs.bounds).all()


@storages
def test_pairs_added_in_lots_are_those_added_at_once(storage: str) -> None:
    pairs = Pairs(1)
    core, duals = pairs.descent(storage), np.linspace(-1.0, 2.0, 40)
    core.add(*(x[2:3] for x in (pairs.first, pairs.second, pairs.bounds, duals)))  # a point first
    order = np.append(2, np.delete(np.arange(40), 2))
    for lot in (slice(1, 5), slice(5, 39), slice(39, 40)):
        lots = (x[order][lot] for x in (pairs.first, pairs.second, pairs.bounds, duals))
        core.add(*lots)
    assert core.n_pairs == 40
    assert core.duals.tolist() == np.clip(duals, 0.0, pairs.bounds)[order].tolist()
    assert core.weights == pytest.approx(pairs.Z[order].T @ core.duals, abs=1e-12)
    _, primal, _ = core.solve(1e-9, 10_000)
    assert primal == pytest.approx(pairs.optimum(), rel=1e-8)


@storages
def test_new_bounds_take_the_duals_that_were_at_the_old_ones_with_them(storage: str) -> None:
    pairs = Pairs(2)
    core = pairs.filled(storage)
    core.solve(1e-6, 10_000)
    before = core.duals
    at_bound = (before >= pairs.bounds) & (pairs.bounds > 0)
    assert at_bound.any()
    assert (~at_bound & (before > 0)).any()
    new = pairs.bounds * np.random.default_rng(0).uniform(0.3, 3.0, 40) + 0.1
    core.set_bounds(new)
    assert core.duals.tolist() == np.where(at_bound, new, np.minimum(before, new)).tolist()
    assert core.weights == pytest.approx(pairs.Z.T @ core.duals, abs=1e-12)
    pairs.bounds = new
    _, primal, _ = core.solve(1e-9, 10_000)
    assert primal == pytest.approx(pairs.optimum(), rel=1e-8)


@storages
def test_epochs_raise_the_dual_and_their_violations_vanish(storage: str) -> None:
    pairs = Pairs(3)
    core = pairs.filled(storage)
    violations, duals = [], [0.0]
    for _ in range(300):
        violations.append(core.epoch())
        duals.append(pairs.dual(core.duals))
    assert (np.diff(duals) >= -1e-12).all()
    assert violations[0] >= 0.5
    assert violations[-1] < 1e-9


@storages
def test_a_pair_of_equal_rows_goes_to_its_bound(storage: str) -> None:
    pairs = Pairs(4)
    core = pairs.descent(storage)
    core.add(np.array([0, 3]), np.array([pairs.n - 1, 3]), np.array([2.0, 0.5]), np.zeros(2))
    assert core.solve(1e-12, 10)[1:] == (2.5, 2.5)
    assert core.duals.tolist() == [2.0, 0.5]
    assert not core.weights.any()


@storages
def test_almost_equal_sparse_rows_keep_the_digits_of_their_difference(storage: str) -> None:
    X = np.array([[1024.0, 1.0, 0.0], [1024.0, 0.0, 2.0**-12]])
    core = PairDescent(STORAGES[storage](X), 0)
    core.add(np.array([0]), np.array([1]), np.array([10.0]), np.zeros(1))
    core.solve(1e-12, 5)
    assert core.duals[0] == pytest.approx(1.0 / (1.0 + 2.0**-24), rel=1e-14)


def test_weights_are_stretched_where_that_is_worth_it() -> None:
    """Where bounds are high a margin that is a little short costs much."""
    pairs = Pairs(12)
    pairs.bounds[:] = 0.0
    pairs.bounds[pairs.Z @ pairs.Z[5] > 0.5 * pairs.Z[5] @ pairs.Z[5]] = 1e3  # within a cone
    core = pairs.filled()
    for _ in range(4):
        _, primal, dual = core.solve(1e-9, 1)
        w = pairs.Z.T @ core.duals
        at = np.linspace(0.0, 3.0, 30_001)
        best = min(pairs.primal(t * w) for t in at)
        assert primal == pytest.approx(pairs.primal(core.weights), rel=1e-12)
        assert primal <= min(best + 0.06 * (best - dual), pairs.primal(w)) + 1e-12


def test_separable_rows_end_without_a_loss() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 5)) + 6.0 * np.outer(np.repeat([1.0, -1.0], 30), np.eye(5)[0])
    first, second = (side.ravel() for side in np.meshgrid(np.arange(30), np.arange(30, 60)))
    core = PairDescent(Matrix.dense(X), 0)
    core.add(first, second, np.full(900, 1e3), np.zeros(900))
    epochs, primal, dual = core.solve(1e-6, 1000)
    assert epochs < 200
    assert primal - dual <= 1e-6 * primal
    assert ((X[first] - X[second]) @ core.weights >= 1.0 - 1e-3).all()


@storages
def test_kept_differences_and_rows_read_twice_give_the_same(storage: str) -> None:
    """Above 128 MB the differences of dense rows are not kept."""
    pairs = Pairs(6, d=3)
    wide = np.zeros((pairs.n, 600_000))
    wide[:, [0, 77_777, 599_999]] = pairs.X
    core = PairDescent(STORAGES[storage](wide), 0)
    rest = np.zeros(40)
    for lot in (slice(0, 20), slice(20, 40)):  # 96 MB, then twice that
        core.add(*(x[lot] for x in (pairs.first, pairs.second, pairs.bounds, rest)))
        core.epoch()
    _, primal, _ = core.solve(1e-9, 1000)
    assert primal == pytest.approx(pairs.optimum(), rel=1e-8)


@storages
def test_the_same_seed_gives_the_same_result(storage: str) -> None:
    pairs = Pairs(7)
    runs = [pairs.filled(storage, seed) for seed in (3, 3, 4)]
    for core in runs:
        core.solve(1e-3, 2)
    assert runs[0].weights.tolist() == runs[1].weights.tolist()
    assert runs[0].weights.tolist() != runs[2].weights.tolist()


def test_no_pairs_at_all() -> None:
    core = Pairs(8).descent()
    assert core.solve(1e-3, 5)[1:] == (0.0, 0.0)
    assert core.epoch() == 0.0
    assert core.duals.shape == (0,)


def test_what_is_read_is_counted() -> None:
    pairs = Pairs(9)
    core = pairs.filled("csr float64")
    before = core.entries_read
    core.solve(0.0, 0)  # a look at all pairs, and no more
    rows = np.append(pairs.first, pairs.second)
    assert core.entries_read - before == (pairs.X[rows[rows >= 0]] != 0).sum()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"first": [12, 1]}, "out of range"),
        ({"second": [-2, 1]}, "out of range"),
        ({"first": [-1, 1], "second": [-1, 0]}, "one side"),
        ({"bounds": [-1.0, 1.0]}, "not negative"),
        ({"bounds": [np.inf, 1.0]}, "finite"),
        ({"duals": [np.nan, 1.0]}, "finite"),
        ({"first": [0, 1, 2]}, "one length"),
    ],
)
def test_what_is_no_pair_is_refused(change: dict[str, Any], error: str) -> None:
    parts: dict[str, Any] = {"first": [0, 1], "second": [2, 3], "bounds": [1.0, 1.0]}
    parts |= {"duals": [0.0, 0.0]} | change
    core = Pairs(10).descent()
    with pytest.raises((ValueError, IndexError), match=error):
        core.add(*(np.array(parts[name]) for name in ("first", "second", "bounds", "duals")))
    assert core.n_pairs == 0


def test_bounds_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one bound a pair"):
        Pairs(11).filled().set_bounds(np.ones(3))
