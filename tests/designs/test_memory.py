"""Designs: products and rows against `toarray()`, and what they say they have read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed
from scipy import sparse

from toprank._core import DualDescent
from toprank.designs import DenseDesign, MemoryDesign, SparseDesign, Windows, as_design
from toprank.designs.base import resolve_threads


def some_rows() -> Any:
    rng = np.random.default_rng(0)
    return rng.integers(-3, 4, size=(9, 5)) * (rng.random((9, 5)) < 0.5) / 4.0


X = some_rows()

FORMS: dict[str, Callable[[], Any]] = {
    "rows": X.copy,
    "columns": lambda: np.asfortranarray(X),
    "float32 rows": lambda: X.astype(np.float32),
    "float32 columns": lambda: np.asfortranarray(X, dtype=np.float32),
    "every other row and column": lambda: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2],
    "rows and columns backwards": lambda: X[::-1, ::-1].copy()[::-1, ::-1],
    "whole numbers": lambda: (4 * X).astype(np.int64),
    "half precision": lambda: X.astype(np.float16),
    "the other byte order": lambda: X.astype(">f8"),
    "a field of records": lambda: in_records(X),
    "unaligned": lambda: unaligned(X),
    "csr_array": lambda: sparse.csr_array(X),
    "csr_matrix": lambda: sparse.csr_matrix(X.astype(np.float32)),
    "csr, int64": lambda: csr_with_long_indices(X),
}
forms = pytest.mark.parametrize("form", FORMS)


def csr_with_long_indices(dense: Any) -> Any:
    stored = sparse.csr_array(dense)
    stored.indices, stored.indptr = stored.indices.astype(np.int64), stored.indptr.astype(np.int64)
    return stored


def in_records(dense: Any) -> Any:
    """A view whose rows are no whole number of entries apart."""
    records = np.zeros(len(dense), dtype=[("x", np.float64, dense.shape[1]), ("id", np.int32)])
    records["x"] = dense
    return records["x"]


def unaligned(dense: Any) -> Any:
    """An array that begins at an odd address."""
    buffer = np.zeros(dense.nbytes + 1, dtype=np.uint8)
    view = np.ndarray(dense.shape, dtype=np.float64, buffer=buffer.data, offset=1)
    view[...] = dense
    return view


def truth_of(form: str) -> Any:
    return 4 * X if form == "whole numbers" else X


@forms
def test_products_and_rows_against_the_dense_matrix(form: str) -> None:
    design, dense = as_design(FORMS[form](), 1), truth_of(form)
    assert design.shape == dense.shape
    w, v = np.arange(5.0) - 2, np.arange(9.0) - 4
    rows = np.array([7, 0, 7])
    # Entries are quarters: every sum is exact.
    assert design.scores(w).tolist() == (dense @ w).tolist()
    assert design.scores(w, rows).tolist() == (dense[rows] @ w).tolist()
    assert design.pull_back(v).tolist() == (dense.T @ v).tolist()
    assert design.pull_back(v[:3], rows).tolist() == (dense[rows].T @ v[:3]).tolist()
    squares = v**2  # their roots are exact
    assert design.gram(squares).tolist() == (dense.T @ (squares[:, None] * dense)).tolist()
    some = squares[:3, None] * dense[rows]
    assert design.gram(squares[:3], rows).tolist() == (dense[rows].T @ some).tolist()
    assert design.gram_diagonal(squares).tolist() == (squares @ dense**2).tolist()
    twice = squares[:3] @ dense[rows] ** 2
    assert design.gram_diagonal(squares[:3], rows).tolist() == twice.tolist()
    none = design.gram_diagonal(squares[:0], rows[:0])
    assert none.tolist() == [0.0] * dense.shape[1]
    taken = design.take(rows)
    assert taken.dtype == np.float64
    assert taken.tolist() == dense[rows].tolist()
    assert design.take(np.empty(0, dtype=np.int64)).shape == (0, 5)


@forms
def test_passes_count_the_entries_read(form: str) -> None:
    design, dense = as_design(FORMS[form](), 1), truth_of(form)
    stored = np.count_nonzero(dense, axis=1) if sparse.issparse(FORMS[form]()) else np.full(9, 5)
    assert design.n_entries == stored.sum()
    assert design.passes == 0.0
    rows = np.array([1, 4, 4])
    share = stored[rows].sum() / stored.sum()
    expected = 0.0
    for call, cost in (
        (lambda: design.scores(np.ones(5)), 1.0),
        (lambda: design.scores(np.ones(5), rows), share),
        (lambda: design.pull_back(np.ones(9)), 1.0),
        (lambda: design.pull_back(np.ones(3), rows), share),
        (lambda: design.gram(np.ones(9)), 2.0),
        (lambda: design.gram(np.ones(3), rows), 2 * share),
        (lambda: design.gram_diagonal(np.ones(9)), 1.0),
        (lambda: design.gram_diagonal(np.ones(3), rows), share),
        (lambda: design.take(rows), share),
    ):
        call()
        expected += cost
        assert design.passes == pytest.approx(expected, rel=1e-12)


def test_two_designs_do_not_share_their_count() -> None:
    first, second = DenseDesign(X, 1), DenseDesign(X, 1)
    first.scores(np.ones(5))
    assert (first.passes, second.passes) == (1.0, 0.0)


def test_a_matrix_without_entries_has_passes() -> None:
    design = SparseDesign(sparse.csr_array((3, 2)), 1)
    assert design.scores(np.ones(2)).tolist() == [0.0] * 3
    assert design.pull_back(np.ones(3)).tolist() == [0.0] * 2
    assert design.passes == 0.0


@forms
def test_sums_over_windows_of_pairs(form: str) -> None:
    rng = np.random.default_rng(1)
    design, truth = as_design(FORMS[form](), 1), truth_of(form)
    rows, others = np.array([0, 3, 4, 8]), np.array([1, 2, 5, 6, 7])
    windows = Windows(
        rows, rng.random(4), np.array([0, 0, 2, 4]), np.array([0, 3, 4, 4]), others, rng.random(5)
    )
    total = np.zeros((5, 5))
    in_rows, in_others = np.zeros(4), np.zeros(5)
    for a in range(4):
        for b in range(windows.first[a], windows.last[a]):
            weight = windows.weights[a] * windows.other_weights[b]
            z = truth[rows[a]] - truth[others[b]]
            total += weight * np.outer(z, z)
            in_rows[a] += weight
            in_others[b] += weight
    np.testing.assert_allclose(design.window_gram(windows), total, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(windows.degrees()[0], in_rows, atol=1e-15)
    np.testing.assert_allclose(windows.degrees()[1], in_others, atol=1e-15)


@forms
def test_some_of_the_rows_are_a_design(form: str) -> None:
    part = as_design(FORMS[form](), 1).subset(np.array([7, 0, 2]))
    np.testing.assert_array_equal(part.take(np.arange(3)), truth_of(form)[[7, 0, 2]])


def test_windows_that_do_not_fit_are_refused() -> None:
    matrix = as_design(sparse.csr_array(X)).matrix
    rows, others, one = np.array([0, 1]), np.array([2, 3]), np.ones(2)
    for first, last, why in (
        ([0, 0], [3, 2], "lies among the others"),
        ([1, 0], [2, 2], "do not go back"),
        ([0], [1], "one window and one weight"),
    ):
        with pytest.raises(ValueError, match=why):
            matrix.window_cross(rows, np.array(first), np.array(last), one, others, one)
    with pytest.raises(TypeError, match="sparse"):
        DenseDesign(X).matrix.window_cross(rows, rows * 0, rows * 0, one, others, one)


@pytest.mark.parametrize("form", [form for form in FORMS if "rows" in form or "columns" in form])
def test_float_arrays_in_one_order_are_not_copied(form: str) -> None:
    array = FORMS[form]()
    kept = "every" not in form and "backwards" not in form
    assert np.shares_memory(as_design(array, 1).X, array) is kept


@forms
def test_by_rows_is_what_row_kernels_can_read(form: str) -> None:
    design, dense = as_design(FORMS[form](), 1), truth_of(form)
    assert isinstance(design, MemoryDesign)
    matrix = design.by_rows()
    w = np.arange(5.0)
    assert matrix.scores(w, None, 1).tolist() == (dense @ w).tolist()
    positives, negatives = np.arange(4), np.arange(4, 9)
    p, q = np.full(len(positives), 0.25), np.full(len(negatives), 0.25)
    core = DualDescent(matrix, positives, negatives, p, q, 1.0, "squared_hinge", False, 0)
    core.epoch(np.inf)


def test_the_form_decides_the_design() -> None:
    assert isinstance(as_design(X), DenseDesign)
    assert isinstance(as_design(sparse.csr_array(X)), SparseDesign)


def test_threads_as_given_then_by_the_environment_then_one_a_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 5, 6}, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert resolve_threads(7) == 7
    assert resolve_threads(None) == 3
    assert DenseDesign(X).n_threads == 3
    assert SparseDesign(sparse.csr_array(X), 2).n_threads == 2
    for useless in ("", "0", "-2", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", useless)
        assert resolve_threads(None) == 5
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert resolve_threads(None) == 5
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert resolve_threads(None) == 4
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert resolve_threads(None) == 1


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])  # loky sets OMP_NUM_THREADS
def test_a_worker_of_a_pool_takes_one_thread(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    told = Parallel(n_jobs=2, backend=backend)(delayed(resolve_threads)(None) for _ in range(2))
    assert told == [1, 1]
