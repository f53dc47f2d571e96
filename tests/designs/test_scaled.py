"""Scaled columns against the matrix they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from toprank.designs import ScaledDesign, Windows, as_design

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 5)) * (RNG.random((12, 5)) < 0.7)
SCALE = np.array([0.5, 2.0, -1.0])


@pytest.mark.parametrize("columns", [[0, 2, 3], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_products(form: Any, columns: list[int]) -> None:
    scale = np.resize(SCALE, len(columns))
    truth = X[:, columns] * scale
    base = as_design(form(X))
    design = ScaledDesign(base, np.array(columns), scale)
    rows = np.array([1, 4, 11])
    rng = np.random.default_rng(1)
    w, v, c = rng.normal(size=len(columns)), rng.normal(size=12), rng.uniform(size=12)
    assert design.shape == truth.shape
    assert_allclose(design.scores(w), truth @ w)
    assert_allclose(design.scores(w, rows), truth[rows] @ w)
    assert_allclose(design.pull_back(v), truth.T @ v)
    assert_allclose(design.pull_back(v[rows], rows), truth[rows].T @ v[rows])
    assert_allclose(design.gram(c), truth.T @ (c[:, np.newaxis] * truth), atol=1e-13)
    assert_allclose(design.gram_diagonal(c), c @ truth**2)
    assert_allclose(design.squared_norms(rows), (truth[rows] ** 2).sum(axis=1))
    assert_allclose(design.take(rows), truth[rows])
    assert_allclose(design.subset(rows).scores(w), truth[rows] @ w)
    assert_allclose(base.scores(design.weights_of_base(w)), truth @ w)
    assert design.entries_read == base.entries_read > 0
    windows = Windows(
        np.array([0, 1, 2]),
        np.ones(3),
        np.array([0, 0, 1]),
        np.array([1, 3, 3]),
        np.array([5, 6, 7]),
        np.array([1.0, 2.0, 1.0]),
    )
    pairs = [(0, 5, 1), (1, 5, 1), (1, 6, 2), (1, 7, 1), (2, 6, 2), (2, 7, 1)]
    gram = sum(k * np.outer(truth[a] - truth[b], truth[a] - truth[b]) for a, b, k in pairs)
    assert_allclose(design.window_gram(windows), gram, atol=1e-12)
