"""The Hessian that is brought up to date: equal to one from scratch, for fewer rows read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.problems import Solution
from toprank.solvers.row_hessians import Hessian
from toprank.solvers.starts import same_data


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


def test_it_outlives_a_fit() -> None:
    X = rows()
    design, c = as_design(X, 1), np.full(200, 0.01)
    hessian = Hessian(design)
    assert hessian.keep() is None
    hessian.at(c)
    kept = hessian.keep()
    assert kept is not None
    before = design.entries_read
    c[:10] = 0.0
    again, border = Hessian(design, kept).at(c)
    assert design.entries_read - before == 3 * 10 * 7
    np.testing.assert_allclose(again, (X.T * c) @ X, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(border, X.T @ c, rtol=1e-12, atol=1e-13)
    # What was kept is as it was.
    np.testing.assert_allclose(kept.gram, 0.01 * X.T @ X, rtol=1e-12, atol=1e-13)


def test_it_doubts_what_it_inherited_where_steps_are_poor() -> None:
    X, c = rows(), np.full(200, 0.01)
    other = Hessian(as_design(2 * X, 1))
    other.at(c)
    hessian = Hessian(as_design(X, 1), other.keep())
    hessian.doubt(gap=0.1, gap_before=1.0)
    np.testing.assert_allclose(hessian.at(c)[0], 0.04 * X.T @ X, rtol=1e-12, atol=1e-13)
    hessian.doubt(gap=0.9, gap_before=1.0)
    np.testing.assert_allclose(hessian.at(c)[0], 0.01 * X.T @ X, rtol=1e-12, atol=1e-13)


def test_the_same_data_are_known_by_their_scores() -> None:
    rng = np.random.default_rng(3)
    split, scores = Split.of(np.arange(200) < 60), rng.standard_normal(200)
    start = Solution(w=np.ones(3), proof=np.zeros(200), scores=scores)
    assert same_data(start, scores * (1 + 1e-13), split)
    assert not same_data(start, scores[1:], split)
    assert not same_data(start, scores[::-1], split)
    assert not same_data(start, scores + 1e-6 * rng.standard_normal(200), split)
    assert not same_data(Solution(w=np.ones(3), proof=np.zeros(200)), scores, split)
    nothing = Solution(w=np.zeros(3), proof=np.zeros(200), scores=np.zeros(200))
    assert not same_data(nothing, np.zeros(200), split)
