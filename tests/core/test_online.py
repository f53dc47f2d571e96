"""The compiled loops of the online methods: their steps are those of plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from support.toy_rows import as_matrix
from toprank._core import BufferedDescent, Matrix, MomentDescent, ProximalDescent
from truth import reference as truth
from truth.online_steps import moment_steps, oam_steps, spam_steps

ALPHA = 0.05
storages = pytest.mark.parametrize(
    ("storage", "dtype", "index"),
    [
        ("dense", np.float64, None),
        ("dense", np.float32, None),
        *(("csr", dtype, index) for dtype in (np.float64, np.float32) for index in ("i4", "i8")),
    ],
)
weighted = pytest.mark.parametrize("weighted", [False, True])


def rows(n: int = 60) -> tuple[Any, Any, Any, Any]:
    """Float32-exact rows, a third of the entries zero, two rows alike; signs, weights, an order."""
    X, positive = truth.rows_of_two_classes(3, m=n // 3, n=n - n // 3, d=7)
    rng = np.random.default_rng(3)
    X = (X * (rng.random(X.shape) < 0.67)).astype(np.float32).astype(np.float64)
    sign = np.where(positive, 1.0, -1.0)
    X[np.flatnonzero(positive)[1]] = X[np.flatnonzero(~positive)[2]]
    X[5] = 0.0
    order = np.concatenate([rng.permutation(n), rng.permutation(n)])
    return X, sign, rng.uniform(0.3, 2.0, n), order


def spam_core(X: Any, order: Any, matrix: Matrix, sign: Any, v: Any, **rules: Any) -> Any:
    means = np.array([X[sign < 0].mean(axis=0), X[sign > 0].mean(axis=0)])
    share = float((sign > 0).mean())
    beta = 2 * share * (1 - share) * ALPHA
    core = ProximalDescent(np.zeros(X.shape[1]), 0, rules["eta"], rules["cap"], beta, share)
    below, above = (np.ascontiguousarray(X @ mean) for mean in means)
    taken = core.run(matrix, order, sign, v, 0.0, 0.0, above, below)
    plain = spam_steps(X, sign, order, means=means, share=share, alpha=ALPHA, weight=v, **rules)
    return core, taken, plain


@storages
@weighted
@pytest.mark.parametrize("cap", [0.02, np.inf])
def test_proximal_steps_are_those_of_numpy(
    storage: str, dtype: Any, index: Any, weighted: bool, cap: float
) -> None:
    X, sign, v, order = rows()
    v = v if weighted else np.ones(len(X))
    matrix = as_matrix(X, storage, dtype, index)
    core, taken, plain = spam_core(X, order, matrix, sign, v, eta=0.3, cap=cap)
    assert taken == len(order)
    assert_allclose(core.w, plain[-1], rtol=0, atol=1e-12 * np.abs(plain).max())
    assert_allclose(core.total / taken, plain.mean(axis=0), rtol=0, atol=1e-12)


def test_many_proximal_steps_lose_no_digits() -> None:
    # Long enough for the scale of w to be taken into v again and again.
    X, sign, v, _ = rows()
    order = np.random.default_rng(0).integers(0, len(X), 20_000)
    core, _, plain = spam_core(X, order, as_matrix(X, "csr"), sign, v, eta=5.0, cap=0.05)
    assert_allclose(core.w, plain[-1], rtol=0, atol=1e-12 * np.abs(plain).max())
    assert_allclose(core.total / len(order), plain.mean(axis=0), rtol=0, atol=1e-12)


def moment_core(n: int, eta: float | None, adaptive: bool, state: Any = None) -> MomentDescent:
    fresh = {
        "w": np.zeros(n),
        "squares": np.zeros(n),
        "sizes": np.zeros(2),
        "weight": np.zeros(2),
        "mean": np.zeros(2 * n),
        "scatter": np.zeros(n * (n + 1)),
    }
    known = {name: getattr(state, name) for name in fresh} if state is not None else fresh
    return MomentDescent(ALPHA, eta or 0.0, adaptive, **known)


@storages
@weighted
@pytest.mark.parametrize(("eta", "adaptive"), [(0.01, False), (None, False), (0.1, True)])
def test_moment_steps_are_those_of_numpy(
    storage: str, dtype: Any, index: Any, weighted: bool, eta: float | None, adaptive: bool
) -> None:
    X, sign, v, order = rows()
    v = v if weighted else np.ones(len(X))
    plain = moment_steps(X, sign, order, alpha=ALPHA, eta=eta, adaptive=adaptive, weight=v)
    core = moment_core(X.shape[1], eta, adaptive)
    matrix = as_matrix(X, storage, dtype, index)
    for first, last in ((0, 1), (1, 50), (50, 120)):
        assert core.run(matrix, order[first:last], sign, v) == last - first
        assert_allclose(core.w, plain[last - 1], rtol=0, atol=1e-12 * np.abs(plain).max())


def test_the_moments_are_those_of_the_rows_read() -> None:
    X, sign, v, order = rows()
    X = X + 1e3  # an offset must not cost the covariance its digits
    for storage, digits in (("dense", 1e-9), ("csr", 1e-7)):
        core = moment_core(X.shape[1], None, False)
        core.run(as_matrix(X, storage), order[:60], sign, v)
        lower = np.tril_indices(X.shape[1])
        scatter = core.scatter.reshape(2, -1)
        for k, side in enumerate((sign < 0, sign > 0)):
            mean = np.average(X[side], axis=0, weights=v[side])
            Z = X[side] - mean
            assert core.weight[k] == pytest.approx(v[side].sum())
            assert_allclose(core.mean.reshape(2, -1)[k], mean, rtol=1e-12)
            assert_allclose(scatter[k], ((v[side, None] * Z).T @ Z)[lower], atol=digits)


def buffered_core(n: int, C: float, size: int, sequential: bool, state: Any = None) -> Any:
    fresh = {
        "w": np.zeros(n),
        "n_read": np.zeros(2, dtype=np.int64),
        "weight": np.zeros(2),
        "row_weights": np.zeros(0),
        "data": np.zeros(0),
        "indices": np.zeros(0, dtype=np.int64),
        "indptr": np.zeros(1, dtype=np.int64),
    }
    known = {name: getattr(state, name) for name in fresh} if state is not None else fresh
    return BufferedDescent(C, size, sequential, 7, **known)


def kept_rows(core: Any, n: int) -> Any:
    parts = (core.data, core.indices, core.indptr)
    return sparse.csr_array(parts, shape=(len(core.indptr) - 1, n)).toarray()


@storages
@weighted
@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize(("size", "C"), [(100, 0.01), (6, 0.01), (6, 1.0), (1, 0.1)])
def test_buffered_steps_are_those_of_numpy(
    storage: str, dtype: Any, index: Any, weighted: bool, sequential: bool, size: int, C: float
) -> None:
    X, sign, v, order = rows()
    v = v if weighted else np.ones(len(X))
    rules = {"C": C, "size": size, "sequential": sequential, "seed": 7, "weight": v}
    plain, buffers = oam_steps(X, sign, order, **rules)
    matrix = as_matrix(X, storage, dtype, index)
    core = buffered_core(X.shape[1], C, size, sequential)
    for first, last in ((0, 1), (1, 50), (50, 120)):
        assert core.run(matrix, order[first:last], sign, v) == last - first
        assert_allclose(core.w, plain[last - 1], rtol=0, atol=1e-11 * np.abs(plain).max())
    assert_array_equal(kept_rows(core, X.shape[1]), X[[*buffers[-1.0], *buffers[1.0]]])


@pytest.mark.parametrize("order_of_forms", [("dense", "csr"), ("csr", "dense")])
def test_a_state_goes_on_in_another_form(order_of_forms: tuple[str, str]) -> None:
    X, sign, v, order = rows()
    plain, _ = oam_steps(X, sign, order, C=0.1, size=6, sequential=True, seed=7, weight=v)
    core = None
    moments = None
    for storage, part in zip(order_of_forms, (order[:45], order[45:]), strict=True):
        core = buffered_core(X.shape[1], 0.1, 6, True, core)
        core.run(as_matrix(X, storage), part, sign, v)
        moments = moment_core(X.shape[1], 0.01, False, moments)
        moments.run(as_matrix(X, storage), part, sign, v)
    assert_allclose(core.w, plain[-1], rtol=0, atol=1e-11 * np.abs(plain).max())
    expected = moment_steps(X, sign, order, alpha=ALPHA, eta=0.01, weight=v)
    assert_allclose(moments.w, expected[-1], rtol=0, atol=1e-12 * np.abs(expected).max())


def test_rows_are_kept_with_equal_chances() -> None:
    # 4 of 40 rows of a class: each is kept in a tenth of the runs.
    X = np.eye(41)
    sign = np.where(np.arange(41) < 40, 1.0, -1.0)
    matrix, v, n_runs = as_matrix(X, "csr"), np.ones(41), 4000
    counts = np.zeros(41)
    for seed in range(n_runs):
        core = BufferedDescent(
            1e-9,
            4,
            True,
            seed * 1_000_003,
            w=np.zeros(41),
            n_read=np.zeros(2, dtype=np.int64),
            weight=np.zeros(2),
            row_weights=np.zeros(0),
            data=np.zeros(0),
            indices=np.zeros(0, dtype=np.int64),
            indptr=np.zeros(1, dtype=np.int64),
        )
        core.run(matrix, np.arange(40), sign, v)
        counts[core.indices] += 1
    assert counts.sum() == 4 * n_runs
    spread = np.sqrt(n_runs * 0.1 * 0.9)
    assert np.abs(counts[:40] - 0.1 * n_runs).max() < 4.5 * spread


def test_an_overflow_ends_the_run_and_is_told() -> None:
    X, sign, v, order = rows()
    matrix = as_matrix(X, "dense")
    zeros = np.zeros(len(X))
    proximal = ProximalDescent(np.zeros(X.shape[1]), 0, 1e30, np.inf, 0.0, 0.5)
    assert proximal.run(matrix, order, sign, v, 0.0, 0.0, zeros, zeros) < len(order)
    assert moment_core(X.shape[1], 1e30, False).run(matrix, order, sign, v) < len(order)
    huge = as_matrix(1e100 * X, "dense")
    assert moment_core(X.shape[1], 1e300, True).run(huge, order, sign, v) < len(order)
    core = buffered_core(X.shape[1], 1e308, 5, False)
    assert core.run(as_matrix(1e10 * X, "dense"), order, sign, v) < len(order)


def test_what_does_not_fit_together_is_refused() -> None:
    X, sign, v, order = rows()
    matrix, n = as_matrix(X, "dense"), X.shape[1]
    moments, buffered = moment_core(n, 0.1, False), buffered_core(n, 0.1, 5, True)
    proximal = ProximalDescent(np.zeros(n), 0, 1.0, 1.0, 0.1, 0.5)
    scores = (0.0, 0.0, np.zeros(len(X)), np.zeros(len(X)))
    for core, more in ((moments, ()), (buffered, ()), (proximal, scores)):
        for row in (-1, len(X)):
            with pytest.raises(IndexError, match="row out of range"):
                core.run(matrix, np.array([0, row]), sign, v, *more)
        with pytest.raises(ValueError, match="one sign"):
            core.run(matrix, order, sign[:-1], v, *more)
        with pytest.raises(ValueError, match="above zero"):
            core.run(matrix, order, sign, 0.0 * v, *more)
        with pytest.raises(ValueError, match="one entry a column"):
            core.run(as_matrix(X[:, :5], "dense"), order, sign, v, *more)
        with pytest.raises(TypeError, match="C-ordered"):
            core.run(Matrix.dense(np.asfortranarray(X)), order, sign, v, *more)
        assert not core.w.any()
    with pytest.raises(ValueError, match="one a row"):
        proximal.run(matrix, order, sign, v, 0.0, 0.0, np.zeros(3), np.zeros(len(X)))
    for wrong in ((-1, 1.0, 1.0, 0.1, 0.5), (0, 0.0, 1.0, 0.1, 0.5), (0, 1.0, 1.0, 0.1, 1.0)):
        with pytest.raises(ValueError, match=r"steps|share"):
            ProximalDescent(np.zeros(n), *wrong)
    good = {name: getattr(moments, name) for name in ("w", "squares", "sizes", "weight")}
    with pytest.raises(ValueError, match="triangle"):
        MomentDescent(ALPHA, 0.1, False, **good, mean=moments.mean, scatter=np.zeros(n * n))
    with pytest.raises(ValueError, match="eta"):
        MomentDescent(ALPHA, 0.0, True, **good, mean=moments.mean, scatter=moments.scatter)
    kept = {"w": np.zeros(n), "weight": np.ones(2), "row_weights": np.ones(1), "data": np.ones(1)}
    counts = np.array([1, 0], dtype=np.int64)
    for index, ends, message in (
        ([n], [0, 1], "index out of range"),
        ([0], [0, 2], "go together"),
        ([0], [0, 1, 1], "as far as they have room"),
    ):
        with pytest.raises(ValueError, match=message):
            BufferedDescent(
                1.0,
                5,
                True,
                0,
                **kept,
                n_read=counts,
                indices=np.array(index),
                indptr=np.array(ends),
            )
