"""Squash against its formula, and the columns that formulas forget."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from toprank.features import BinsAndPairs, Squash

RNG = np.random.default_rng(0)
X = RNG.standard_t(2, (200, 4)) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 5e3, 0.0, -1.0]


@parametrize_with_checks([Squash(), BinsAndPairs()])
def test_scikit_learn_finds_no_fault(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("bound", [3.0, 0.5])
def test_every_value_is_the_formula(bound: float) -> None:
    squashed = Squash(bound).fit_transform(X)
    for column, made in zip(X.T, squashed.T, strict=True):
        low, middle, high = np.percentile(column, [25, 50, 75])
        z = (column - middle) / (high - low)
        assert_allclose(made, z / np.sqrt(1 + (z / bound) ** 2), rtol=1e-12, atol=1e-15)
    assert np.abs(squashed).max() < bound


def test_a_column_of_mostly_one_value_is_scaled_by_its_deviation() -> None:
    column = np.zeros(100)
    column[:10] = 7.0
    made = Squash().fit(column[:, None])
    assert_allclose(made.scale_, np.sqrt(np.mean(column**2)))
    assert len(np.unique(made.transform(column[:, None]))) == 2


@pytest.mark.parametrize("value", [0.0, 3.7, 1e100, -1e-100])
def test_a_constant_column_becomes_zero(value: float) -> None:
    made = Squash().fit(np.full((9, 1), value))
    assert made.scale_ == 1.0
    assert_array_equal(made.transform(np.full((2, 1), value)), 0.0)


def test_huge_values_neither_overflow_nor_warn() -> None:
    column = np.array([0.0] * 8 + [1e200, -1e200])[:, None]
    assert np.isfinite(Squash().fit_transform(column)).all()


def test_missing_values_count_for_nothing_and_stay() -> None:
    holed = X.copy()
    holed[::7, 1] = np.nan
    holed[:, 3] = np.nan
    made, whole = Squash().fit(holed), Squash().fit(holed[~np.isnan(holed[:, 1])][:, :3])
    assert_allclose(made.center_[1], whole.center_[1])
    assert_allclose(made.scale_[1], whole.scale_[1])
    assert_array_equal(np.isnan(made.transform(holed)), np.isnan(holed))


def test_narrow_floats_stay_narrow() -> None:
    narrow = X.astype(np.float32)
    made = Squash().fit(narrow).transform(narrow)
    assert made.dtype == np.float32
    assert_allclose(made, Squash().fit_transform(X), atol=1e-5)


def test_sparse_rows_are_refused() -> None:
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        Squash().fit(sparse.csr_array(X))


def test_copies_and_pickles_are_alike() -> None:
    made = Squash(2.0).fit(X)
    assert clone(made).bound == 2.0
    assert_array_equal(pickle.loads(pickle.dumps(made)).transform(X), made.transform(X))
    assert_array_equal(made.get_feature_names_out(["a", "b", "c", "d"]), ["a", "b", "c", "d"])
