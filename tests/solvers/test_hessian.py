"""The Hessian that is brought up to date: equal to one from scratch, for fewer rows read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from toprank.designs import as_design
from toprank.solvers._hessian import Hessian


def rows(n: int = 200, d: int = 7) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d))


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_it_follows_the_curvature(form: Any) -> None:
    X, rng = rows(), np.random.default_rng(1)
    hessian, c = Hessian(as_design(form(X), 1)), rng.integers(0, 3, 200) / 100.0
    for changed in (0, 200, 1, 30, 60, 5, 99, 0, 150, *[20] * 40):
        c[rng.permutation(200)[:changed]] = rng.integers(0, 3, changed) / 100.0
        np.testing.assert_allclose(hessian.at(c)[0], (X.T * c) @ X, rtol=1e-12, atol=1e-13)


def test_it_reads_only_what_changed() -> None:
    design = as_design(rows(), 1)
    hessian, c = Hessian(design), np.ones(200)
    hessian.at(c)
    before = design.entries_read
    c[:3], c[3:5] = 2.0, 0.0
    hessian.at(c)
    assert design.entries_read - before == 3 * 5 * 7  # a Gram matrix counts as two products
    before = design.entries_read
    hessian.at(c)
    assert design.entries_read == before


def test_rows_without_curvature_are_never_read() -> None:
    X = rows()
    X[150:] = 1e300  # whose products overflow
    c = np.where(np.arange(200) < 150, 0.01, 0.0)
    np.testing.assert_allclose(
        Hessian(as_design(X, 1)).at(c)[0], 0.01 * X[:150].T @ X[:150], rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("size", [1e8, 1e150])
def test_a_huge_row_leaves_no_rounding_behind(size: float) -> None:
    X = rows()
    X[0, :3] *= size
    hessian, c = Hessian(as_design(X, 1)), np.full(200, 0.01)
    hessian.at(c)
    c[0] = 0.0
    np.testing.assert_allclose(hessian.at(c)[0], (X.T * c) @ X, rtol=1e-12, atol=1e-13)


def test_digits_are_not_lost_little_by_little() -> None:
    X, rng = rows(), np.random.default_rng(2)
    hessian, c = Hessian(as_design(X, 1)), np.full(200, 1.0)
    for _ in range(2000):
        c[rng.integers(0, 200, 20)] = rng.choice([0.0, 1e-3, 1.0, 1e3], 20)
        sums, border = hessian.at(c)
    np.testing.assert_allclose(sums, (X.T * c) @ X, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(border, X.T @ c, rtol=1e-11, atol=1e-9)


def test_it_outlives_a_fit_where_the_data_are_the_same() -> None:
    X, rng = rows(), np.random.default_rng(3)
    design, c, scores = as_design(X, 1), np.full(200, 0.01), X @ np.arange(7.0)
    hessian = Hessian(design)
    assert hessian.keep(scores) is None
    hessian.at(c)
    kept = hessian.keep(scores)
    assert kept is not None
    assert kept.fits(scores * (1 + 1e-13))
    assert not kept.fits(scores[1:])
    assert not kept.fits(scores + 1e-6 * rng.standard_normal(200))
    before = design.entries_read
    c[:10] = 0.0
    again, border = Hessian(design, kept).at(c)
    assert design.entries_read - before == 3 * 10 * 7
    np.testing.assert_allclose(again, (X.T * c) @ X, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(border, X.T @ c, rtol=1e-12, atol=1e-13)
    # What was kept is as it was.
    np.testing.assert_allclose(kept.gram, 0.01 * X.T @ X, rtol=1e-12, atol=1e-13)


def test_scores_of_zero_tell_nothing() -> None:
    hessian = Hessian(as_design(rows(), 1))
    hessian.at(np.ones(200))
    kept = hessian.keep(np.zeros(200))
    assert kept is not None
    assert not kept.fits(np.zeros(200))
