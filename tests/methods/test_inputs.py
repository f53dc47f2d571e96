"""Everything that is accepted, and that its form changes nothing but the rounding."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_limits

from support.toy_rows import overlapping
from toprank import PositiveLabelWarning, TopPush

CLOUD, Y = overlapping(40, 160, 8, shift=1.5)
# Small whole numbers, half of them zero: exact in every dtype.
X = np.clip(np.round(4 * CLOUD), -100, 100) * (np.random.default_rng(3).random(CLOUD.shape) < 0.6)


def ranker(**options: Any) -> TopPush:
    return TopPush(**{"alpha": 0.1, "tol": 1e-12, "random_state": 0, **options})


EXPECTED = ranker().fit(X, Y)


def read_only(x: Any) -> Any:
    x = x.copy()
    x.flags.writeable = False
    return x


def wide_indices(x: Any) -> Any:
    matrix = sparse.csr_array(x)
    matrix.indices, matrix.indptr = matrix.indices.astype("int64"), matrix.indptr.astype("int64")
    return matrix


def unsorted_with_duplicates(x: Any) -> Any:
    """Every entry stored as two halves, in an order of its own, with explicit zeros."""
    matrix = sparse.coo_array(x + 1000.0)
    order = np.random.default_rng(4).permutation(2 * matrix.nnz)
    data, row, col = (np.tile(part, 2)[order] for part in (matrix.data, matrix.row, matrix.col))
    data = (data - 1000.0) / 2
    order = np.argsort(row, kind="stable")
    indptr = np.searchsorted(row[order], np.arange(x.shape[0] + 1))
    result = sparse.csr_array((data[order], col[order], indptr), shape=x.shape)
    assert not result.has_sorted_indices
    return result


def frame(x: Any) -> Any:
    return pd.DataFrame(x).rename(columns=str)


FORMS: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: x.tolist(),
    "tuple of rows": lambda x: tuple(tuple(row) for row in x),
    "F order": np.asfortranarray,
    "strided": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "float32": lambda x: x.astype(np.float32),
    "float32 F": lambda x: np.asfortranarray(x, dtype=np.float32),
    "float16": lambda x: x.astype(np.float16),
    "longdouble": lambda x: x.astype(np.longdouble),
    "big endian": lambda x: x.astype(">f8"),
    "int8": lambda x: x.astype(np.int8),
    "int64": lambda x: x.astype(np.int64),
    "object": lambda x: x.astype(object),
    "pandas": frame,
    "pandas mixed": lambda x: frame(x).astype({"0": "float32", "1": "int64", "2": "Int64"}),
    "pandas sparse": lambda x: frame(x).astype(pd.SparseDtype(float, 0.0)),
    "polars": lambda x: pl.DataFrame(dict(zip("abcdefgh", x.T, strict=True))),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "csc_matrix": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_array,
    "csr float32": lambda x: sparse.csr_array(x.astype(np.float32)),
    "csr int8": lambda x: sparse.csr_array(x.astype(np.int8)),
    "csr int64 indices": wide_indices,
    "csr unsorted, duplicates": unsorted_with_duplicates,
}


def parts(data: Any) -> list[bytes]:
    """The bytes of what the caller handed over."""
    if sparse.issparse(data) and data.format in ("csr", "csc", "bsr"):
        return [data.data.tobytes(), data.indices.tobytes(), data.indptr.tobytes()]
    if isinstance(data, np.ndarray) and data.dtype != object:
        return [data.tobytes()]
    return [repr(data).encode()]


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_the_data_does_not_matter(form: str) -> None:
    data = FORMS[form](X)
    before = parts(data)
    fitted = ranker().fit(data, Y)
    assert_allclose(fitted.coef_, EXPECTED.coef_, rtol=1e-7)
    assert_allclose(fitted.intercept_, EXPECTED.intercept_, rtol=1e-7)
    assert_allclose(fitted.certificate_.primal, EXPECTED.certificate_.primal, rtol=1e-11)
    assert_allclose(fitted.decision_function(data), EXPECTED.decision_function(X), atol=1e-8)
    assert parts(data) == before


@pytest.mark.parametrize("form", ["csr unsorted, duplicates", "csr int64 indices", "float32 F"])
def test_dual_descent_takes_them_as_well(form: str) -> None:
    data = FORMS[form](X)
    before = parts(data)
    fitted = ranker(solver="dual-descent", tol=1e-8).fit(data, Y)
    assert_allclose(fitted.certificate_.primal, EXPECTED.certificate_.primal, rtol=1e-7)
    assert parts(data) == before


def test_yes_or_no_features() -> None:
    data = CLOUD > 1.5
    expected = TopPush().fit(data.astype(float), Y)
    assert_array_equal(TopPush().fit(data, Y).coef_, expected.coef_)
    assert_allclose(TopPush().fit(sparse.csr_array(data), Y).coef_, expected.coef_, rtol=1e-7)


def test_memory_mapped_files_are_read_in_place(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_array_equal(ranker().fit(mapped, Y).coef_, EXPECTED.coef_)
    matrix = sparse.csr_array(X)
    stored = {}
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(matrix, name))
        stored[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    mapped = sparse.csr_array(
        (stored["data"], stored["indices"], stored["indptr"]), shape=X.shape, copy=False
    )
    assert_allclose(ranker().fit(mapped, Y).coef_, EXPECTED.coef_, rtol=1e-7)


LABELS: dict[str, Any] = {
    "-1, 1": 2 * Y - 1,
    "bool": Y.astype(bool),
    "float": Y.astype(float),
    "words": np.where(Y, "spam", "ham"),
    "objects": np.where(Y, "spam", "ham").astype(object),
    "list": Y.tolist(),
    "pandas": pd.Series(Y),
    "pandas words": pd.Series(np.where(Y, "spam", "ham")),
    "pandas category": pd.Series(np.where(Y, "spam", "ham"), dtype="category"),
    "polars": pl.Series(Y),
    "uint8": Y.astype(np.uint8),
}


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
@pytest.mark.parametrize("form", LABELS)
def test_the_form_of_the_labels_does_not_matter(form: str) -> None:
    labels = LABELS[form]
    fitted = ranker().fit(X, labels)
    assert_array_equal(fitted.coef_, EXPECTED.coef_)
    assert_array_equal(fitted.classes_, np.unique(np.asarray(labels)))
    assert_array_equal(fitted.predict(X) == fitted.classes_[1], EXPECTED.predict(X) == 1)
    assert fitted.score(X, labels) == EXPECTED.score(X, Y)


def test_the_greater_label_is_the_positive_one() -> None:
    swapped = ranker().fit(-X, 1 - Y)
    assert swapped.certificate_.primal != pytest.approx(EXPECTED.certificate_.primal, rel=1e-3)
    with pytest.warns(PositiveLabelWarning, match=r"y holds -5 .* 0 is taken as the positive"):
        renamed = ranker().fit(X, np.where(Y, 0, -5))
    assert_array_equal(renamed.coef_, EXPECTED.coef_)


def test_a_column_of_labels_is_taken_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="column-vector y"):
        fitted = ranker().fit(X, Y[:, np.newaxis])
    assert_array_equal(fitted.coef_, EXPECTED.coef_)


@pytest.mark.parametrize("form", [list, tuple, pd.Series, pl.Series, np.float32])
def test_the_form_of_the_weights_does_not_matter(form: Any) -> None:
    weight = np.random.default_rng(5).integers(1, 4, len(Y)).astype(float)
    expected = ranker().fit(X, Y, sample_weight=weight)
    assert_array_equal(ranker().fit(X, Y, sample_weight=form(weight)).coef_, expected.coef_)


def peak(run: Callable[[], Any]) -> int:
    """The most memory in use at once during a run, beyond what was in use before."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def large(form: str) -> tuple[Any, Any]:
    """About 50 MB of float32 values."""
    if form.startswith("CSR"):
        n, d, each = 125_000, 200, 100
        indices = np.arange(n * each, dtype=np.int32) % each
        indices += np.repeat(np.arange(n, dtype=np.int32) % each, each)
        indptr = np.arange(0, n * each + 1, each)
        data = np.random.default_rng(0).random(n * each, dtype=np.float32)
        data[: each * n // 4] += 0.2
        return sparse.csr_array((data, indices, indptr), shape=(n, d)), np.arange(n) < n // 4
    X = np.random.default_rng(0).standard_normal((250_000, 50), dtype=np.float32)
    X[:50_000] += 0.5
    y = np.arange(len(X)) < 50_000
    return (np.asfortranarray(X) if form == "F" else X), y


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("form", ["C", "F", "CSR"])
def test_float32_is_not_copied_to_float64(form: str) -> None:
    X, y = large(form)
    size = 4 * (X.nnz if form == "CSR" else X.size)
    assert size > 49e6
    fitted = TopPush(0.1, max_iter=2)
    assert peak(lambda: fitted.fit(X, y)) < 1.5 * size
    assert peak(lambda: fitted.decision_function(X)) < 1.5 * size


def bitwise_equal(one: TopPush, other: TopPush) -> bool:
    return one.coef_.tobytes() == other.coef_.tobytes() and one.certificate_ == other.certificate_


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("solver", ["newton", "dual-descent"])
def test_the_number_of_threads_changes_not_a_bit(solver: str, form: Any) -> None:
    X, y = overlapping(500, 9500, 25, shift=1.0)  # enough rows for several threads to be used
    fits = [
        TopPush(1e-2, solver=solver, n_threads=n, random_state=0, tol=0.01).fit(form(X), y)
        for n in (1, 2, 3, 8)
    ]
    assert all(bitwise_equal(fits[0], other) for other in fits[1:])
    assert_array_equal(fits[0].decision_function(form(X)), fits[3].decision_function(form(X)))


@pytest.mark.parametrize("solver", ["newton", "dual-descent"])
def test_the_number_of_blas_threads_changes_not_a_bit(solver: str) -> None:
    X, y = overlapping(300, 1200, 300, shift=0.1)
    fits = []
    for n in (1, 2, 4):
        with threadpool_limits(n, user_api="blas"):
            fits.append(TopPush(1e-2, solver=solver, random_state=0, tol=0.01).fit(X, y))
    assert all(bitwise_equal(fits[0], other) for other in fits[1:])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "exponential"])
def test_the_order_of_rows_and_columns_does_not_matter(loss: str, form: Any) -> None:
    rng = np.random.default_rng(6)
    rows, columns = rng.permutation(len(Y)), rng.permutation(X.shape[1])
    expected = ranker(loss=loss).fit(form(X), Y)
    moved = ranker(loss=loss).fit(form(X[rows]), Y[rows])
    assert_allclose(moved.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    moved = ranker(loss=loss).fit(form(X[:, columns]), Y)
    assert_allclose(moved.coef_, expected.coef_[:, columns], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-6, 0.5, 3.0, 1e6])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "exponential"])
def test_scaled_features_go_with_scaled_alpha(loss: str, factor: float) -> None:
    expected = ranker(loss=loss).fit(X, Y)
    scaled = ranker(loss=loss, alpha=0.1 * factor**2).fit(factor * X, Y)
    assert_allclose(factor * scaled.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(scaled.certificate_.primal, expected.certificate_.primal, rtol=1e-10)


def test_a_column_joined_on_changes_the_optimum_only_downwards() -> None:
    narrower = ranker().fit(X[:, :-2], Y)
    assert EXPECTED.certificate_.primal < narrower.certificate_.primal
    assert_allclose(
        ranker().fit(np.c_[X, np.zeros(len(X))], Y).coef_[0, :-1], EXPECTED.coef_[0], rtol=1e-7
    )
