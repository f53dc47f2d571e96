"""Triviality against a linear programme, and every proof checked again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from support.shared_files import shared_data
from toprank.datasets import load_german, load_spambase
from toprank.theory import Triviality, is_trivial
from truth.reference import in_hull

Array = NDArray[np.float64]


def check_proof(answer: Triviality, X: Any, y: Any, weight: Any = None) -> None:
    """Check either proof in plain NumPy."""
    X, y = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float), np.asarray(y)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    kept = weight > 0
    mean = np.average(X[(y == 1) & kept], axis=0, weights=weight[(y == 1) & kept])
    if answer.trivial:
        assert answer.direction is None
        q = answer.weights
        assert q is not None
        assert (q >= 0).all()
        assert q.sum() == pytest.approx(1.0, abs=1e-12)
        assert not q[(y == 1) | ~kept].any()
        assert np.linalg.norm(q @ X - mean) <= 1.01e-10 * answer.scale
        assert np.linalg.norm(q @ X - mean) == pytest.approx(
            answer.distance, abs=1e-13 * answer.scale
        )
    else:
        assert answer.weights is None
        w = answer.direction
        assert w is not None
        assert np.linalg.norm(w) == pytest.approx(1.0)
        margin = w @ mean - (X[(y == 0) & kept] @ w).max()
        assert margin > 0
        assert margin == pytest.approx(answer.distance, rel=1e-3)


def small_problem(seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Few rows, sometimes on a lattice so that means fall on faces, sometimes each twice."""
    rng = np.random.default_rng(seed)
    d, m, n = rng.integers(1, 6), rng.integers(1, 5), rng.integers(1, 13)
    X = rng.standard_normal((m + n, d))
    X[:m] *= 0.4
    if seed % 3 == 1:
        X = (2 * X).round() / 2
    if seed % 3 == 2:
        X[m + n // 2 :] = X[m : m + n - n // 2]
    return X, np.repeat([1, 0], [m, n])


@pytest.mark.parametrize("block", range(5))
def test_the_answer_is_that_of_a_linear_programme(block: int) -> None:
    answers = []
    for seed in range(60 * block, 60 * (block + 1)):
        X, y = small_problem(seed)
        answer = is_trivial(sparse.csr_array(X) if seed % 2 else X, y)
        check_proof(answer, X, y)
        assert answer.trivial == in_hull(X[y == 1].mean(axis=0), X[y == 0]), seed
        answers.append(answer.trivial)
    assert 0.1 < np.mean(answers) < 0.9


@pytest.mark.parametrize("offset", [1e-3, 1e-6, 1e-8])
def test_a_mean_just_outside_a_face_is_outside(offset: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        corners = rng.standard_normal((4, 4))
        inside = rng.dirichlet(np.ones(4)) @ corners
        normal = np.linalg.svd(corners[1:] - corners[0])[2][-1]
        X = np.vstack([inside + offset * normal, inside, corners])
        outside = is_trivial(X[[0, 2, 3, 4, 5]], [1, 0, 0, 0, 0])
        assert not outside.trivial
        assert 0.1 * offset < outside.distance < 1.000001 * offset  # a lower bound
        assert is_trivial(X[1:], [1, 0, 0, 0, 0]).trivial


def test_one_negative() -> None:
    check_proof(is_trivial([[1.0, 2.0], [1.0, 2.0]], [1, 0]), np.full((2, 2), [1.0, 2.0]), [1, 0])
    assert is_trivial([[1.0, 2.0], [1.0, 2.0]], [1, 0]).trivial
    assert not is_trivial([[1.0, 2.0], [1.0, 2.0 + 1e-9]], [1, 0]).trivial
    assert is_trivial(np.zeros((2, 3)), [1, 0]).trivial


def test_weights_move_the_mean_and_zero_removes_a_row() -> None:
    X, y = np.array([[0.0], [4.0], [1.0], [2.0]]), [1, 1, 0, 0]
    assert not is_trivial(X, y, sample_weight=[1, 3, 1, 1]).trivial
    assert is_trivial(X, y, sample_weight=[5, 3, 1, 1]).trivial
    assert not is_trivial(X, y, sample_weight=[5, 3, 1, 0]).trivial
    check_proof(is_trivial(X, y, [5, 3, 1, 2]), X, y, [5, 3, 1, 2])


def test_neither_scale_nor_shift_nor_units_change_the_answer() -> None:
    rng = np.random.default_rng(3)
    for seed in range(15):
        X, y = small_problem(3 * seed)
        expected = is_trivial(X, y).trivial
        units = 10.0 ** rng.integers(-3, 4, size=X.shape[1])
        for changed in (1e-8 * X, 1e8 * X, X + 100.0, X * units):
            assert is_trivial(changed, y).trivial == expected


def test_bundled_data() -> None:
    for load, trivial in ((load_german, True), (load_spambase, False)):
        X, y = load(return_X_y=True)
        answer = is_trivial(X, y)
        assert answer.trivial == trivial
        check_proof(answer, X, y)


@pytest.mark.parametrize("name", ["a9a", "ijcnn1", "magic"])
def test_real_data_with_trivial_optima(name: str) -> None:
    X, y = shared_data(name)
    answer = is_trivial(X, y)
    assert answer.trivial
    check_proof(answer, X, (y == y.max()).astype(int))


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="one class only"):
        is_trivial([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="NaN"):
        is_trivial([[0.0], [np.nan]], [1, 0])
