"""Columns far from zero: where only differences of scores count, their offset changes nothing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from toprank import (
    ASRankSVM,
    InfinitePush,
    PNormPush,
    RankSVM,
    RectPush,
    RectPushApp,
    ReverseRectPush,
    TopPush,
)
from toprank.designs import DenseDesign, SparseDesign

RANKERS = {
    "InfinitePush": InfinitePush(1.0, tol=1e-7),
    "InfinitePush, dual-descent": InfinitePush(1.0, tol=1e-7, solver="dual-descent"),
    "TopPush": TopPush(1.0, tol=1e-7),
    "TopPush, dual-descent": TopPush(1.0, tol=1e-7, solver="dual-descent"),
    "TopPush, paper": TopPush(1.0, tol=1e-7, solver="paper"),
    "RectPush": RectPush(1.0, tol=1e-7),
    "RectPush, dual-descent": RectPush(1.0, tol=1e-7, solver="dual-descent"),
    "ReverseRectPush": ReverseRectPush(1.0, tol=1e-7),
    "RectPushApp": RectPushApp(1.0, tol=1e-7),
    "PNormPush": PNormPush(1.0, tol=1e-7),
    "RankSVM": RankSVM(1.0, tol=1e-7),
    "RankSVM, squared": RankSVM(1.0, tol=1e-7, loss="squared_hinge"),
    "ASRankSVM": ASRankSVM(1.0, tol=1e-7, strategy="random"),
}
shift_invariant = pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS.keys())
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def rows(seed: int, n: int = 20, d: int = 10) -> tuple[Any, Any]:
    """Numbers of few digits, so that an offset costs them none: the problem stays the same."""
    data = np.round(np.random.default_rng(seed).normal(size=(n, d)) * 2**16) / 2**16
    y = (np.arange(n) < 0.3 * n).astype(int)
    data[y == 1] += 1.0  # else the optimum may be w = 0
    return data, y


def fit(ranker: Any, *data: Any) -> Any:
    if "random_state" in ranker.get_params():
        ranker = clone(ranker).set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return clone(ranker).fit(*data)


@shift_invariant
@forms
@pytest.mark.parametrize("offset", [1e4, 1e5, -1e6])
def test_an_offset_changes_nothing(ranker: Any, form: Any, offset: float) -> None:
    for seed in range(3):
        data, y = rows(seed)
        plain, moved = fit(ranker, form(data), y), fit(ranker, form(data + offset), y)
        assert_allclose(moved.certificate_.primal, plain.certificate_.primal, rtol=1e-6)
        assert moved.trivial_ == plain.trivial_
        # Scores of the rows as they are given, offset and all, lose the digits of the offset.
        scores = moved.decision_function(form(data + offset))
        w = moved.coef_[0]
        rounding = 1e-14 * abs(offset) * np.abs(w).sum()
        assert_allclose(scores, data @ w + offset * w.sum() + moved.intercept_, atol=rounding)
        assert_allclose(scores, plain.decision_function(form(data)), atol=5e-3)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
def test_the_threshold_is_where_the_method_puts_it(offset: float) -> None:
    data, y = rows(0, n=60)
    data = data + offset
    top = fit(RANKERS["TopPush"], data, y)
    assert (top.predict(data)[y == 0] == 0).all()
    assert top.predict(data)[y == 1].any()
    reverse = fit(RANKERS["ReverseRectPush"], data, y)
    assert (reverse.predict(data)[y == 1] == 1).all()
    svm = fit(RANKERS["RankSVM"], data, y)
    assert svm.predict(data).sum() == y.sum()


@shift_invariant
@pytest.mark.parametrize("constant", [1.0, 1e6])
def test_a_constant_column_does_no_harm(ranker: Any, constant: float) -> None:
    data, y = rows(1)
    plain = fit(ranker, data, y)
    wider = fit(ranker, np.column_stack([np.full(len(y), constant), data]), y)
    assert_allclose(wider.certificate_.primal, plain.certificate_.primal, rtol=1e-6)
    assert abs(wider.coef_[0, 0]) * constant < 1e-3


def test_float32_rows_keep_their_digits() -> None:
    data, y = rows(2)
    moved = (data + 1e4).astype(np.float32)
    exact = fit(InfinitePush(1.0, tol=1e-7), moved.astype(np.float64) - 1e4, y)
    ranker = fit(InfinitePush(1.0, tol=1e-7), moved, y)
    assert_allclose(ranker.certificate_.primal, exact.certificate_.primal, rtol=1e-6)


def test_a_warm_start_goes_on_from_columns_far_from_zero() -> None:
    data, y = rows(0, n=200)
    data += 1e5
    ranker = fit(TopPush(1e-3, tol=1e-7, warm_start=True), data, y)
    cold = ranker.n_iter_
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        ranker.fit(data, y)
    assert ranker.n_iter_ < cold


def test_rows_of_weight_zero_do_not_decide_what_is_taken_off() -> None:
    data, y = rows(0, n=60)
    weight = np.where(np.arange(60) % 2, 0.0, 1.0)
    strange = data + 1e5
    strange[weight == 0] = 0.0
    ranker = clone(RANKERS["InfinitePush"])
    given = ranker.fit(strange, y, sample_weight=weight)
    absent = fit(ranker, data[weight > 0], y[weight > 0])
    assert_allclose(given.certificate_.primal, absent.certificate_.primal, rtol=1e-6)


def test_nothing_is_copied_where_columns_are_near_zero() -> None:
    data, _ = rows(0, n=500)
    data[:, 0] = 1.0
    data[:, 1] = data[:, 2] > 1.0
    for design in (DenseDesign(data), SparseDesign(sparse.csr_array(data))):
        assert design.centred() is design
        assert design.entries_read == 0


def test_a_single_huge_row_does_not_hide_an_offset() -> None:
    data, _ = rows(0, n=50)
    data += 1e5
    data[7] = 1e12
    design = DenseDesign(data).centred()
    assert design.offset is not None
    assert_allclose(design.offset, np.median(data, axis=0), rtol=1e-5)


def test_sparse_columns_are_moved_where_every_row_stores_them() -> None:
    data, _ = rows(0, n=50, d=3)
    data += 1e5
    data[3, 1] = 0.0
    design = SparseDesign(sparse.csr_array(data))
    moved = design.centred()
    assert moved.offset is not None
    assert_array_equal(moved.offset != 0, [True, False, True])
    assert_allclose(moved.take(np.arange(50)), data - moved.offset, atol=1e-10)
    assert_array_equal(design.X.toarray(), data)


def test_columns_in_fortran_order_stay_in_it() -> None:
    data, _ = rows(0, n=50)
    moved = DenseDesign(np.asfortranarray(data + 1e5)).centred()
    assert isinstance(moved, DenseDesign)
    assert moved.X.flags.f_contiguous
