"""`Matrix`: products against NumPy for every storage, the same bits for any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from toprank._core import Matrix

Array = NDArray[np.float64]

SHAPES = [(37, 5), (1, 7), (23, 1), (1, 1), (400, 12), (601, 30)]


def framed(X: Any, order: str, rows: slice, columns: slice, shape: tuple[int, int]) -> Any:
    """X as a view of a larger array that holds NaN all around: a stray read would show."""
    frame = np.full(shape, np.nan, dtype=X.dtype, order=order)  # type: ignore[call-overload]
    frame[rows, columns] = X
    return frame[rows, columns]


def memory_mapped(X: Any, folder: Path) -> Any:
    path = folder / f"{X.dtype}-{X.shape}.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def read_only(X: Any) -> Any:
    X = X.copy()
    X.setflags(write=False)
    return X


def csr(X: Any, kind: type[np.integer[Any]], change: Callable[[Any], Any] = np.asarray) -> Matrix:
    stored = sparse.csr_array(X)
    return Matrix.csr(
        change(stored.data),
        change(stored.indices.astype(kind)),
        change(stored.indptr.astype(np.int64)),
        X.shape[1],
    )


STORAGES: dict[str, Callable[[Any, Path], Matrix]] = {
    "rows": lambda X, _: Matrix.dense(X.copy()),
    "columns": lambda X, _: Matrix.dense(np.asfortranarray(X)),
    "every other row": lambda X, _: Matrix.dense(
        framed(X, "C", np.s_[1::2], np.s_[:], (2 * len(X), X.shape[1]))
    ),
    "rows backwards": lambda X, _: Matrix.dense(X[::-1].copy()[::-1]),
    "middle columns of rows": lambda X, _: Matrix.dense(
        framed(X, "C", np.s_[:], np.s_[2:-1], (len(X), X.shape[1] + 3))
    ),
    "middle rows of columns": lambda X, _: Matrix.dense(
        framed(X, "F", np.s_[2:-3], np.s_[:], (len(X) + 5, X.shape[1]))
    ),
    "every other column of columns": lambda X, _: Matrix.dense(
        framed(X, "F", np.s_[:], np.s_[::2], (len(X), 2 * X.shape[1]))
    ),
    "read-only": lambda X, _: Matrix.dense(read_only(X)),
    "read-only columns": lambda X, _: Matrix.dense(read_only(np.asfortranarray(X))),
    "memory-mapped": lambda X, folder: Matrix.dense(memory_mapped(X, folder)),
    "csr, int32": lambda X, _: csr(X, np.int32),
    "csr, int64": lambda X, _: csr(X, np.int64),
    "csr, read-only": lambda X, _: csr(X, np.int32, read_only),
}
storages = pytest.mark.parametrize("storage", STORAGES)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def some_rows(shape: tuple[int, int], dtype: Any, seed: int = 0) -> Any:
    """Normal entries, two in five of them zero."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * (rng.random(shape) < 0.6)).astype(dtype)


def subsets(n: int) -> dict[str, NDArray[np.int64] | None]:
    """Row subsets; the unordered one names rows more than once."""
    rng = np.random.default_rng(n)
    return {
        "all": None,
        "none": np.empty(0, dtype=np.int64),
        "one": np.array([n - 1]),
        "unordered": rng.integers(0, n, size=n + 3),
    }


def assert_sums(actual: Array, truth: Array, magnitude: Array) -> None:
    """Equal up to the rounding of sums whose terms add up to `magnitude` in absolute value."""
    assert actual.shape == truth.shape
    assert actual.dtype == np.float64
    assert (np.abs(actual - truth) <= 1e-13 * magnitude).all()


@storages
@dtypes
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_against_numpy(
    storage: str, dtype: Any, shape: tuple[int, int], tmp_path: Path
) -> None:
    X = some_rows(shape, dtype)
    matrix = STORAGES[storage](X, tmp_path)
    rng = np.random.default_rng(1)
    w = rng.standard_normal(shape[1])
    for rows in subsets(shape[0]).values():
        dense = X.astype(np.float64) if rows is None else X[rows].astype(np.float64)
        size = np.abs(dense)
        v = rng.standard_normal(len(dense)) * (rng.random(len(dense)) < 0.8)
        assert_sums(matrix.scores(w, rows, 2), dense @ w, size @ np.abs(w))
        assert_sums(matrix.pull_back(v, rows, 2), dense.T @ v, size.T @ np.abs(v))
        c = np.abs(v)
        gram = matrix.gram(c, rows, 2)
        assert_sums(gram, dense.T @ (c[:, None] * dense), size.T @ (c[:, None] * size))
        assert (gram == gram.T).all()


@dtypes
@pytest.mark.parametrize("storage", ["rows", "columns", "csr, int32", "csr, int64"])
@pytest.mark.parametrize("shape", [(2_600, 50), (42_000, 50)], ids=["1.3e5", "2.1e6"])
def test_products_have_the_same_bits_for_any_number_of_threads(
    storage: str, dtype: Any, shape: tuple[int, int], tmp_path: Path
) -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal(shape).astype(dtype)
    matrix = STORAGES[storage](X, tmp_path)
    w, v = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    X = X.astype(np.float64)
    for rows in (None, rng.permutation(shape[0])):
        v_rows, dense = (v, X) if rows is None else (v[rows], X[rows])
        products = {
            matrix.scores: (w, dense @ w),
            matrix.pull_back: (v_rows, dense.T @ v_rows),
            matrix.gram: (np.abs(v_rows), dense.T @ (np.abs(v_rows)[:, None] * dense)),
        }
        for product, (argument, truth) in products.items():
            alone = product(argument, rows, 1)
            # Sums of 21000 terms of size one: their rounding is far below 1e-9.
            np.testing.assert_allclose(alone, truth, rtol=1e-12, atol=1e-9)
            for n_threads in (2, 3, 8):
                assert product(argument, rows, n_threads).tobytes() == alone.tobytes()


@pytest.mark.parametrize("storage", STORAGES)
def test_float32_entries_are_summed_in_float64(storage: str, tmp_path: Path) -> None:
    # In single precision 2^25 + 1 is 2^25, so that sums in it lose every 1.
    row = np.array([[2.0**25, 1.0, -(2.0**25)]], dtype=np.float32)
    assert STORAGES[storage](row, tmp_path).scores(np.ones(3), None, 1) == [1.0]
    column = STORAGES[storage](row.T, tmp_path)
    assert column.pull_back(np.ones(3), None, 1) == [1.0]
    assert column.gram(np.array([1.0, 1.0, 0.0]), None, 1) == [[2.0**50 + 1.0]]

    X = some_rows((300, 20), np.float32, seed=3)
    narrow, wide = (STORAGES[storage](Y, tmp_path) for Y in (X, X.astype(np.float64)))
    for product, size in (("scores", 20), ("pull_back", 300), ("gram", 300)):
        positive = np.random.default_rng(4).random(size)
        one, other = (getattr(x, product)(positive, None, 1) for x in (narrow, wide))
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_the_matrix_keeps_its_arrays_alive() -> None:
    X = some_rows((50, 4), np.float64)
    matrices = [Matrix.dense(X.copy()), csr(X, np.int32)]
    for _ in range(20):  # what was freed would be handed out again here
        np.full((50, 4), np.nan)
    for matrix in matrices:
        np.testing.assert_allclose(matrix.scores(np.ones(4), None, 1), X.sum(axis=1), atol=1e-14)


@pytest.mark.parametrize("storage", ["rows", "columns", "csr, int32"])
def test_wrong_lengths_rows_and_dtypes_are_refused(storage: str, tmp_path: Path) -> None:
    matrix = STORAGES[storage](some_rows((6, 4), np.float64), tmp_path)
    four, six = np.ones(4), np.ones(6)
    for wrong in (np.ones(3), np.ones(5), np.empty(0)):
        with pytest.raises(ValueError, match="w has one entry a column"):
            matrix.scores(wrong, None, 1)
        with pytest.raises(ValueError, match="v has one entry a row"):
            matrix.pull_back(wrong, None, 1)
        with pytest.raises(ValueError, match="c has one entry a row"):
            matrix.gram(wrong, None, 1)
    with pytest.raises(ValueError, match="v has one entry a row"):
        matrix.pull_back(six, np.array([0, 1]), 1)
    for rows in (np.array([0, 6]), np.array([-1, 2])):
        for call in (
            lambda rows: matrix.scores(four, rows, 1),
            lambda rows: matrix.pull_back(np.ones(2), rows, 1),
            lambda rows: matrix.gram(np.ones(2), rows, 1),
        ):
            with pytest.raises(IndexError, match="row out of range"):
                call(rows)
    for wrong_kind in (four.astype(np.float32), np.ones(8)[::2], np.ones((4, 1)), np.ones(4, int)):
        with pytest.raises(TypeError):
            matrix.scores(wrong_kind, None, 1)
    with pytest.raises(TypeError):
        matrix.scores(four, np.array([0, 1], dtype=np.int32), 1)


def test_what_is_not_a_matrix_is_refused() -> None:
    X = np.ones((6, 4))
    for wrong in (X.astype(np.int64), X.astype(np.float16), X.astype(complex)):
        with pytest.raises(ValueError, match="float32 or float64"):
            Matrix.dense(wrong)
    for wrong in (X[0], X[None]):
        with pytest.raises(ValueError, match="two dimensions"):
            Matrix.dense(wrong)
    with pytest.raises(ValueError, match="contiguous rows or columns"):
        Matrix.dense(np.ones((6, 4))[::2, ::2])

    data, indices, indptr = np.ones(3), np.array([0, 1, 2]), np.array([0, 1, 3])
    for arguments, message in (
        ((data, indices[:2], indptr), "one length"),
        ((data, indices, indptr[:0]), "one entry more than rows"),
        ((np.ones(6)[::2], indices, indptr), "contiguous"),
        ((data, np.arange(6)[::2], indptr), "contiguous"),
        ((data.astype(np.int64), indices, indptr), "data is float32 or float64"),
        ((data, indices.astype(np.int16), indptr), "int32 or int64"),
        ((data, indices.astype(np.float64), indptr), "int32 or int64"),
    ):
        with pytest.raises(ValueError, match=message):
            Matrix.csr(*arguments, 3)
    with pytest.raises(TypeError):
        Matrix.csr(data, indices, indptr.astype(np.int32), 3)


@dtypes
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_inspect_names_the_first_flaw_and_its_place(dtype: Any, kind: Any) -> None:
    def inspect(data: Any, indices: Any, indptr: Any, limit: float = 100.0) -> Any:
        data, indices = np.array(data, dtype=dtype), np.array(indices, dtype=kind)
        matrix = Matrix.csr(data, indices, np.array(indptr), 4)
        return matrix.inspect(len(data), limit, 1)

    data, indices, indptr = [1.0, -2.0, 3.0, 4.0, 5.0], [0, 2, 3, 0, 1], [0, 2, 2, 5]
    assert inspect(data, indices, indptr) == ("none", -1, -1, False)  # 3, 0, 1 is no order
    assert inspect(data, [0, 2, 0, 1, 3], indptr) == ("none", -1, -1, True)
    assert inspect(data, [0, 0, 0, 1, 3], indptr)[3] is False  # twice the same column
    assert inspect([], [], [0, 0, 0]) == ("none", -1, -1, True)
    assert inspect([], [], [0]) == ("none", -1, -1, True)

    for pointers, row in (([1, 2, 2, 5], 0), ([0, 2, 1, 5], 1), ([0, 2, 2, 6], 2)):
        assert inspect(data, indices, pointers)[:2] == ("pointers", row)
    assert inspect(data, indices, [0, 9, 2, 5])[:2] == ("pointers", 0)
    assert inspect(data, indices, [0, 2, -2, 5])[:2] == ("pointers", 1)

    assert inspect(data, [0, 4, 3, 0, 1], indptr)[:3] == ("index", 0, 1)
    assert inspect(data, [0, 2, 3, 0, -1], indptr)[:3] == ("index", 2, 4)
    for bad in (np.nan, np.inf, -np.inf, 100.5, -100.5):
        assert inspect([1.0, -2.0, 3.0, bad, 5.0], indices, indptr)[:3] == ("value", 2, 3)
    assert inspect([100.0, -100.0, 3.0, 4.0, 5.0], indices, indptr)[0] == "none"


def test_int64_indices_give_the_same_bits_as_int32() -> None:
    X = some_rows((60, 7), np.float64)
    narrow, wide = csr(X, np.int32), csr(X, np.int64)
    w, v = np.linspace(-1.0, 1.0, 7), np.linspace(-1.0, 1.0, 60)
    for _ in range(2):
        assert (wide.scores(w, None, 2) == narrow.scores(w, None, 2)).all()
        assert (wide.pull_back(v, None, 2) == narrow.pull_back(v, None, 2)).all()


@pytest.mark.parametrize("index", [2**31, 2**32 + 1, -(2**32) + 1])
def test_an_index_beyond_32_bits_is_out_of_range_not_truncated(index: int) -> None:
    matrix = Matrix.csr(np.ones(2), np.array([1, index]), np.array([0, 2]), 4)
    assert matrix.inspect(2, 100.0, 1)[:3] == ("index", 0, 1)


def test_int64_indices_are_read_of_at_most_two_to_the_31_columns() -> None:
    matrix = Matrix.csr(np.ones(2), np.array([1, 2**31]), np.array([0, 2]), 2**32)
    assert matrix.inspect(2, 100.0, 1)[0] == "none"
    with pytest.raises(ValueError, match=r"fewer than 2\^31 columns"):
        matrix.squared_norms(None, 1)


@dtypes
@pytest.mark.parametrize("n_threads", [1, 3])
def test_inspect_finds_the_first_of_two_flaws_in_a_large_matrix(dtype: Any, n_threads: int) -> None:
    n, width = 60_000, 20  # enough entries for threads
    data = np.ones(n * width, dtype=dtype)
    indices = np.tile(np.arange(width), n)
    indptr = np.arange(0, n * width + 1, width)
    matrix = Matrix.csr(data, indices, indptr, width)
    assert matrix.inspect(len(data), 10.0, n_threads) == ("none", -1, -1, True)
    data[[8_500 * width + 3, 7_000 * width + 5]] = np.nan, 11.0
    assert matrix.inspect(len(data), 10.0, n_threads)[:3] == ("value", 7_000, 7_000 * width + 5)
    indices[[100 * width + 1]] = width
    assert matrix.inspect(len(data), 10.0, n_threads)[:3] == ("index", 100, 100 * width + 1)


@dtypes
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 101.0, -101.0])
@pytest.mark.parametrize("shape", [(7, 5), (4_000, 40)], ids=str)
def test_first_unusable_is_first_in_the_order_of_memory(
    dtype: Any, order: Any, bad: float, shape: tuple[int, int]
) -> None:
    X = np.full(shape, 100.0, dtype=dtype, order=order)
    matrix = Matrix.dense(X)
    upper_right, lower_left = (shape[0] - 3, 1), (shape[0] - 2, 0)
    for n_threads in (1, 2, 8):
        assert matrix.first_unusable(100.0, n_threads) == (-1, -1)
    X[upper_right] = bad
    for n_threads in (1, 2, 8):
        assert matrix.first_unusable(100.0, n_threads) == upper_right
    X[lower_left] = bad
    for n_threads in (1, 2, 8):
        first = upper_right if order == "C" else lower_left
        assert matrix.first_unusable(100.0, n_threads) == first


def test_first_unusable_looks_at_the_view_only() -> None:
    X = framed(np.ones((5, 3)), "C", np.s_[1::2], np.s_[2:-1], (10, 6))
    assert Matrix.dense(X).first_unusable(10.0, 1) == (-1, -1)
    X = framed(np.ones((5, 3)), "F", np.s_[1:-1], np.s_[::2], (7, 6))
    assert Matrix.dense(X).first_unusable(10.0, 1) == (-1, -1)
    # Beyond the range of float32 the limit is that range.
    assert Matrix.dense(np.ones((2, 2), np.float32)).first_unusable(1e300, 1) == (-1, -1)
    assert Matrix.dense(np.full((2, 2), np.inf, np.float32)).first_unusable(1e300, 1) == (0, 0)


def test_each_kind_of_matrix_has_its_own_inspection() -> None:
    X = np.eye(3)
    with pytest.raises(TypeError, match="only a CSR matrix"):
        Matrix.dense(X).inspect(9, 1.0, 1)
    with pytest.raises(TypeError, match="inspect"):
        csr(X, np.int32).first_unusable(1.0, 1)
