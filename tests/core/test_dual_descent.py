"""`DualDescent`: what must hold of its bounds, weights and duals after every round."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from toprank._core import DualDescent, Matrix
from toprank.inputs.class_split import Split
from truth import reference as truth

Array = NDArray[np.float64]
Bounds = tuple[float, float, float]

losses = pytest.mark.parametrize("loss", [*truth.SMOOTH, *truth.RECTIFIED, "hinge"])
storages = pytest.mark.parametrize("storage", ["dense", "csr"])
ALPHA = 0.1


def rows_and_split(seed: int, weighted: bool = False) -> tuple[Array, Split]:
    """Float32-exact rows of which a third of the entries are zero."""
    X, positive = truth.rows_of_two_classes(seed, m=12, n=40, d=9)
    rng = np.random.default_rng(seed)
    X = (X * (rng.random(X.shape) < 0.67)).astype(np.float32).astype(np.float64)
    return X, Split.of(positive, rng.uniform(0.2, 3.0, len(X)) if weighted else None)


def as_matrix(X: Array, storage: str, dtype: Any = np.float64) -> Matrix:
    if storage == "dense":
        return Matrix.dense(X.astype(dtype))
    stored = sparse.csr_array(X.astype(dtype))
    return Matrix.csr(stored.data, stored.indices, stored.indptr.astype(np.int64), X.shape[1])


def descent(
    matrix: Matrix,
    split: Split,
    loss: str,
    seed: int = 0,
    alpha: float = ALPHA,
) -> DualDescent:
    kind, _, plain = loss.rpartition(" ")
    rows = split.pos, split.neg, split.p, split.q
    return DualDescent(matrix, *rows, alpha, plain, kind == "rectified", seed)


def rounds(core: DualDescent, count: int, n_threads: int = 1) -> Iterator[Bounds]:
    """Every part of a round in turn; the bounds after each."""
    for _ in range(count):
        largest = core.epoch(math.inf)
        core.sweep_hard(1)
        core.settle()
        core.subspace_step()
        core.update_bias(largest)
        bounds = core.check(n_threads)
        core.rebuild(bounds[2])
        yield bounds


@losses
@storages
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_what_weights_and_duals_say(
    loss: str, storage: str, weighted: bool, seed: int
) -> None:
    X, split = rows_and_split(seed, weighted)
    core = descent(as_matrix(X, storage), split, loss)
    last_primal, last_dual = truth.at_zero(loss), 0.0
    for round_, (primal, dual, violation) in enumerate(rounds(core, 60)):
        assert dual <= primal * (1 + 1e-12)
        assert primal <= last_primal
        assert dual >= last_dual
        assert violation >= 0
        last_primal, last_dual = primal, dual
        if round_ > 9 and round_ % 7 != 3:  # the first ones, some between, and the last
            continue
        # The kernel keeps w up to date by steps, so its values carry their rounding.
        w, a, delta = core.best_weights, *np.split(core.best_duals, [len(split.pos)])
        close = {"rel": 1e-10}
        assert primal == pytest.approx(truth.primal_value(X, split, loss, ALPHA, w), **close)
        assert (a >= 0).all()
        assert (delta >= 0).all()
        if loss.endswith("logistic") or loss == "hinge":
            assert (a <= split.p * (1 + 1e-15)).all()
        assert a.sum() == pytest.approx(delta.sum(), rel=1e-12)
        assert dual == pytest.approx(truth.dual_value(X, split, loss, ALPHA, a, delta), **close)
        # P - D >= alpha/2 |w - w'|^2 with w' the weights of the dual point.
        apart = w - truth.dual_weights(X, split, ALPHA, a, delta)
        assert 0.5 * ALPHA * float(apart @ apart) <= (primal - dual) + 1e-10 * primal
    assert (last_primal - last_dual) <= 1e-5 * last_primal


@losses
@storages
def test_a_seed_gives_one_result_and_every_seed_the_same_optimum(loss: str, storage: str) -> None:
    X, split = rows_and_split(0)
    runs = []
    for seed in (3, 3, 4):
        core = descent(as_matrix(X, storage), split, loss, seed)
        runs.append((list(rounds(core, 60)), core.best_weights, core.best_duals, core.bias))
    (one, w, y, bias), (same, w_same, y_same, bias_same), (other, *_) = runs
    assert one == same
    assert w.tobytes() == w_same.tobytes()
    assert y.tobytes() == y_same.tobytes()
    assert bias == bias_same
    assert one[0] != other[0]
    for primal, dual in ((one[-1][0], other[-1][1]), (other[-1][0], one[-1][1])):
        assert dual <= primal <= dual + 1e-5 * primal


@losses
@storages
def test_float32_storage_of_the_same_numbers_gives_the_same_result(loss: str, storage: str) -> None:
    X, split = rows_and_split(1)
    narrow, wide = (
        descent(as_matrix(X, storage, dtype), split, loss) for dtype in (np.float32, np.float64)
    )
    # Not to the bit: sums may be cut into lanes otherwise. Paths of equal seeds stay together.
    np.testing.assert_allclose(list(rounds(narrow, 12)), list(rounds(wide, 12)), atol=1e-9)
    np.testing.assert_allclose(narrow.best_weights, wide.best_weights, atol=1e-7)


@losses
def test_the_check_does_not_depend_on_the_number_of_threads(loss: str) -> None:
    X, positive = truth.rows_of_two_classes(0, m=500, n=5_000, d=30)
    split = Split.of(positive)
    alone, team = (descent(Matrix.dense(X), split, loss) for _ in range(2))
    assert list(rounds(alone, 3, n_threads=1)) == list(rounds(team, 3, n_threads=3))
    assert alone.best_weights.tobytes() == team.best_weights.tobytes()


@losses
@storages
def test_restart_takes_over_duals_and_bias(loss: str, storage: str) -> None:
    X, split = rows_and_split(2)
    first = descent(as_matrix(X, storage), split, loss)
    *_, (primal, dual, _) = rounds(first, 20)
    duals = first.best_duals

    again, twin = (descent(as_matrix(X, storage), split, loss) for _ in range(2))
    for core in (again, twin):
        core.restart(duals, first.bias)
        assert core.bias == first.bias
    at_once = again.check(1)
    # Duals are moved inside the domain by up to 1e-9 of their weight.
    assert at_once[1] == pytest.approx(dual, rel=1e-8)
    a, delta = np.split(duals, [len(split.pos)])
    w = truth.dual_weights(X, split, ALPHA, a, delta)
    assert at_once[0] <= truth.primal_value(X, split, loss, ALPHA, w) * (1 + 1e-8)
    np.testing.assert_allclose(again.best_duals, duals, atol=1e-8)
    # Two cores in the same state go the same way, and it is not away from the optimum.
    twin.check(1)
    after = list(rounds(again, 5))
    assert after == list(rounds(twin, 5))
    assert after[-1][0] <= primal * (1 + 1e-5)
    assert after[-1][1] >= dual * (1 - 1e-8)


@losses
@pytest.mark.parametrize("counts", [(1, 1), (1, 7), (3, 2)], ids=str)
def test_bounds_are_true_where_few_rows_make_the_steps_dependent(
    loss: str, counts: tuple[int, int]
) -> None:
    for seed in range(8):
        X, positive = truth.rows_of_two_classes(seed, *counts, d=3)
        split = Split.of(positive)
        core = descent(Matrix.dense(X), split, loss)
        for primal, dual, _ in rounds(core, 30):
            a, delta = np.split(core.best_duals, [len(split.pos)])
            # Rounding in a handful of rows: far below what any tolerance of a fit asks for.
            assert dual == pytest.approx(
                truth.dual_value(X, split, loss, ALPHA, a, delta), rel=1e-9, abs=1e-12
            ), seed
            assert dual <= primal * (1 + 1e-9), seed


def test_a_row_that_shrinks_away_comes_back_when_the_list_is_rebuilt() -> None:
    X, split = rows_and_split(0)
    core = descent(as_matrix(X, "csr"), split, "squared_hinge")
    for _ in rounds(core, 3):
        pass
    everything = core.entries_read
    core.epoch(math.inf)
    core.rebuild(1e3)
    full = core.hard_entries
    assert full == np.count_nonzero(X[split.neg])
    core.epoch(0.0)  # whatever has no dual and no reason to get one leaves
    assert 0 < core.hard_entries < full
    core.rebuild(1e3)
    assert core.hard_entries == full
    assert core.entries_read > everything


@storages
@losses
def test_rows_of_zeros_and_empty_columns_are_legal(storage: str, loss: str) -> None:
    X, split = rows_and_split(1)
    X[split.pos[:2]] = X[split.neg[:3]] = X[:, 4] = 0.0
    core = descent(as_matrix(X, storage), split, loss)
    *_, (primal, dual, _) = rounds(core, 40)
    assert dual <= primal <= dual * (1 + 1e-4)
    assert core.best_weights[4] == 0.0
    value = truth.primal_value(X, split, loss, ALPHA, core.best_weights)
    assert primal == pytest.approx(value, rel=1e-10)


def test_wrong_arguments_are_refused() -> None:
    X, split = rows_and_split(0)
    matrix = as_matrix(X, "dense")
    good = (matrix, split.pos, split.neg, split.p, split.q, ALPHA, "logistic", False, 0)

    def replaced(place: int, value: Any) -> Any:
        return (*good[:place], value, *good[place + 1 :])

    for place, value, error, message in (
        (0, Matrix.dense(np.asfortranarray(X)), TypeError, "C-ordered"),
        (1, np.append(split.pos[1:], len(X)), IndexError, "row out of range"),
        (2, -np.ones_like(split.neg), IndexError, "row out of range"),
        (3, split.p[1:], ValueError, "one entry a positive row"),
        (4, split.q[1:], ValueError, "one entry a negative row"),
        (6, "absolute", ValueError, "unknown loss"),
    ):
        with pytest.raises(error, match=message):
            DualDescent(*replaced(place, value))
    none = np.empty(0, dtype=np.int64), np.empty(0)
    with pytest.raises(ValueError, match="both classes need a row"):
        DualDescent(matrix, split.pos, none[0], split.p, none[1], *good[5:])
    with pytest.raises(ValueError, match="a rectified loss is smooth"):
        descent(matrix, split, "rectified hinge")
    with pytest.raises(ValueError, match="one dual a row"):
        DualDescent(*good).restart(np.ones(3), 0.0)


@pytest.mark.parametrize("loss", ["squared_hinge", "rectified squared_hinge", "hinge"])
def test_rows_that_are_almost_equal_settle_in_few_epochs(loss: str) -> None:
    # Twelve negatives have a twin: one at a time they hand their duals over slowly.
    rng = np.random.default_rng(5)
    X = np.abs(rng.standard_normal((600, 900))) * (rng.random((600, 900)) < 0.03)
    X[588:] = X[576:588] + 0.1 * X[564:576]
    X /= np.linalg.norm(X, axis=1)[:, None]
    split = Split.of(np.arange(600) < 100, None)

    def gap(settles: bool) -> float:
        core = descent(as_matrix(X, "csr"), split, loss, alpha=1e-3)
        for _ in range(30):
            largest = core.epoch(math.inf)
            core.sweep_hard(1)
            if settles:
                core.settle()
            core.subspace_step()
            core.update_bias(largest)
        primal, dual, _ = core.check(1)
        return (primal - dual) / primal

    assert gap(True) < 0.2 * gap(False)
