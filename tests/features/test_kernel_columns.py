"""KernelColumns against the kernel itself, and against scikit-learn's Nystroem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from toprank.features import KernelColumns

RNG = np.random.default_rng(3)
X = RNG.normal(size=(200, 4))


@parametrize_with_checks([KernelColumns(), KernelColumns(5, columns=False)])
def test_scikit_learn_finds_no_fault(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("gamma", [None, 2.0])
def test_products_are_the_kernel_where_its_rows_were_taken(gamma: float | None) -> None:
    made = KernelColumns(100, gamma=gamma, columns=False, random_state=0).fit(X)
    assert made.gamma_ == (0.25 if gamma is None else gamma)
    rows = made.rows_
    assert {tuple(row) for row in rows} <= {tuple(row) for row in X}
    assert len(rows) == 100
    own = made.transform(rows)
    # Times the number of columns; but for the directions that were left out, with less than a
    # millionth of the largest eigenvalue: by the Schur complement no row has more of one than its
    # root.
    kernel = rbf_kernel(rows, gamma=made.gamma_)
    least = 1e-6 * np.linalg.eigvalsh(kernel)[-1]
    assert_allclose(own @ own.T / 4, kernel, atol=least)
    others = rbf_kernel(X, rows, gamma=made.gamma_)
    assert_allclose(made.transform(X) @ own.T / 4, others, atol=np.sqrt(least))


def test_it_is_nystroem_turned() -> None:
    kernel = Nystroem(gamma=0.25, n_components=20, random_state=0)
    theirs = kernel.fit_transform(X)
    ours = KernelColumns(20, columns=False, random_state=0).fit(X)
    assert_array_equal(ours.rows_, kernel.components_)  # the same rows of the same seed
    assert_allclose(ours.transform(X) @ ours.transform(X).T / 4, theirs @ theirs.T, atol=1e-4)


def test_columns_come_first_and_rows_do_not_hang_on_their_neighbours() -> None:
    made = KernelColumns(random_state=0).fit(X)
    assert len(made.rows_) == 100  # half of the rows
    out = made.transform(X)
    assert_array_equal(out[:, :4], X)
    assert_allclose(made.transform(X[7:8])[0], out[7], rtol=1e-9, atol=1e-9)
    many = np.tile(X, (30, 1))  # more than a block
    assert_allclose(made.transform(many)[-200:], out, rtol=1e-9, atol=1e-9)
    names = made.get_feature_names_out()
    assert len(names) == out.shape[1]
    assert list(names[3:5]) == ["x3", "kernel0"]


def test_rows_that_repeat_and_columns_that_do_not_move_bring_no_columns() -> None:
    twice = np.repeat(X[:10], 20, axis=0)
    out = KernelColumns(100, columns=False, random_state=0).fit_transform(twice)
    assert out.shape[1] <= 10
    assert np.isfinite(out).all()
    constant = KernelColumns(columns=False).fit_transform(np.ones((9, 2)))
    assert_allclose(constant, np.sqrt(2.0) * np.ones((9, 1)))
    assert KernelColumns().fit_transform([[1.0]]).shape == (1, 2)


def test_half_the_digits_stay_half() -> None:
    wide = KernelColumns(50, random_state=0).fit(X)
    narrow = KernelColumns(50, random_state=0).fit(X.astype(np.float32))
    out = narrow.transform(X.astype(np.float32))
    assert out.dtype == np.float32
    assert_allclose(out, wide.transform(X), atol=1e-4)
    assert_allclose(out @ out.T, wide.transform(X) @ wide.transform(X).T, atol=1e-3)


def test_what_is_no_number_is_named() -> None:
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        KernelColumns().fit(holed)
    with pytest.raises(TypeError, match="dense"):
        KernelColumns().fit(sparse.csr_array(X))
