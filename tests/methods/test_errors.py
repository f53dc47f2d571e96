"""What is refused, in one clear sentence that names the place; and odd data that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from support.toy_rows import overlapping
from support.versions import names_of_polars
from toprank import TopPush

X, Y = overlapping(10, 20, 4, shift=2.0)
NAMES = ["age", "height", "weight", "dose"]


def with_entry(value: float, dtype: Any = np.float64) -> Any:
    """X with one entry replaced, at row 7, column 2."""
    changed = X.astype(dtype)
    changed[7, 2] = value
    return changed


def polars_frame(x: Any) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(NAMES, x.T, strict=True)))


FORMS = [
    pytest.param(np.ascontiguousarray, "", id="C order"),
    pytest.param(np.asfortranarray, "", id="F order"),
    pytest.param(lambda x: np.repeat(x, 2, axis=1)[:, ::2], "", id="strided"),
    pytest.param(sparse.csr_array, "", id="CSR"),
    pytest.param(sparse.csc_array, "", id="CSC"),
    pytest.param(sparse.coo_array, "", id="COO"),
    pytest.param(lambda x: x.tolist(), "", id="list"),
    pytest.param(lambda x: pd.DataFrame(x, columns=NAMES), r" \('weight'\)", id="pandas"),
    pytest.param(polars_frame, r" \('weight'\)", id="polars", marks=names_of_polars),
]
VALUES = [
    (np.nan, r"Input X contains NaN: row 7, column 2{}\. .*SimpleImputer"),
    (np.inf, r"Input X contains infinity: row 7, column 2{}\. "),
    (-np.inf, r"Input X contains infinity: row 7, column 2{}\. "),
    (1e200, r"Input X contains 1e\+200, whose square overflows: row 7, column 2{}\. .*Scaler"),
    (-1e200, r"Input X contains -1e\+200, whose square overflows: row 7, column 2{}\. "),
]


@pytest.mark.parametrize(("value", "message"), VALUES)
@pytest.mark.parametrize(("form", "name"), FORMS)
def test_an_unusable_entry_is_named(
    form: Callable[[Any], Any], name: str, value: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message.format(name)):
        TopPush().fit(form(with_entry(value)), Y)
    fitted = TopPush().fit(form(X), Y)
    with pytest.raises(ValueError, match=message.format(name)):
        fitted.decision_function(form(with_entry(value)))


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_an_unusable_entry_is_named_in_float32(form: Any) -> None:
    with pytest.raises(ValueError, match="NaN: row 7, column 2"):
        TopPush().fit(form(with_entry(np.nan, np.float32)), Y)
    with pytest.raises(ValueError, match="infinity: row 7, column 2"):
        TopPush().fit(form(with_entry(np.inf, np.float32)), Y)


def test_missing_values_of_a_nullable_column_are_named() -> None:
    table = pd.DataFrame(X, columns=NAMES).astype("Float64")
    table.loc[7, "weight"] = pd.NA
    with pytest.raises(ValueError, match=r"NaN: row 7, column 2 \('weight'\)"):
        TopPush().fit(table, Y)


PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"alpha": -1.0}, r"'alpha' .* must be a float in the range \(0.0, inf\). Got -1.0"),
    ({"alpha": 0}, "'alpha' .* Got 0"),
    ({"alpha": np.nan}, "'alpha' .* Got nan"),
    ({"alpha": np.inf}, "'alpha' .* Got inf"),
    ({"alpha": "1"}, "'alpha' .* Got '1'"),
    ({"tol": 0.0}, "'tol' .* Got 0.0"),
    ({"tol": np.nan}, "'tol' .* Got nan"),
    ({"max_iter": 0}, "'max_iter' .* Got 0"),
    ({"max_iter": 1.5}, "'max_iter' .* Got 1.5"),
    ({"n_threads": 0}, "'n_threads' .* Got 0"),
    ({"random_state": "x"}, "'random_state' .* Got 'x'"),
    ({"loss": "hinge"}, "'loss' .*squared_hinge.* Got 'hinge'"),
    ({"solver": "lbfgs"}, "'solver' .*dual-descent.* Got 'lbfgs'"),
    ({"stopping": "never"}, "'stopping' .*change.* Got 'never'"),
    ({"stopping": "change"}, "stopping='change' is a rule of solver='paper'"),
    ({"stopping": "relative"}, "stopping='relative' is a rule of solver='paper'"),
    ({"stopping": "change", "solver": "newton"}, "stopping='change' .*stopping='gap'"),
    ({"stopping": "change", "solver": "dual-descent"}, "stopping='change' .*stopping='gap'"),
    (
        {"solver": "paper", "loss": "logistic"},
        "solver='paper' is for loss='squared_hinge', got loss='logistic'",
    ),
    (
        {"solver": "paper", "loss": "exponential"},
        "solver='paper' is for loss='squared_hinge', got loss='exponential'",
    ),
]


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS)
def test_a_wrong_parameter_is_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TopPush(**parameters).fit(X, Y)


SHAPES: list[tuple[Any, Any, str]] = [
    (X[:0], Y[:0], r"0 sample\(s\) .*minimum of 1"),
    (X[:, :0], Y, r"0 feature\(s\) .*minimum of 1"),
    (sparse.csr_array((0, 4)), Y[:0], r"0 sample\(s\) .*minimum of 1"),
    (sparse.csr_array((30, 0)), Y, r"0 feature\(s\) .*minimum of 1"),
    (X[:, 0], Y, "Expected 2D array, got 1D array"),
    (X[np.newaxis], Y, "dim 3.* <= 2"),
    (3.0, Y, "Expected 2D array, got scalar"),
    (X * 1j, Y, "Complex data not supported: X must hold real numbers.$"),
    (sparse.csr_array(X * 1j), Y, "Complex data not supported: X must hold real numbers.$"),
    (np.full(X.shape, "tall"), Y, "could not convert string to float: .*tall"),
    (X, Y[:-1], "inconsistent numbers of samples: X has 30 rows, y has 29 labels"),
    (X, None, "requires y to be passed"),
    (X, np.c_[Y, Y], r"y should be a 1d array, got an array of shape \(30, 2\)"),
    (X, np.where(Y, 1.0, np.nan), "Input y contains NaN"),
    (X, np.where(Y, 1.0, np.inf), "Input y contains infinity"),
    (X, np.array([0, 1, None] * 10, dtype=object), "y contains None: row 2 has no label"),
    (X, np.array([0, 1, "a"] * 10, dtype=object), "y mixes labels that cannot be ordered"),
    (X, np.ones(30, dtype=int), "y holds one class only, 1: .*positive and negative rows"),
    (X, ["spam"] * 30, "y holds one class only, 'spam'"),
    (X, np.arange(30) % 3, "Only binary .*y holds 3 classes; make one of them the positive"),
    (X, X[:, 0], "Unknown label type: continuous"),
]


@pytest.mark.parametrize(("data", "labels", "message"), SHAPES)
def test_a_wrong_shape_or_label_is_named(data: Any, labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TopPush().fit(data, labels)


def one_weight(value: float) -> Any:
    return np.where(np.arange(30) == 4, value, 1.0)


WEIGHTS: list[tuple[Any, str]] = [
    (one_weight(-2.0), r"sample_weight\[4\] is -2: .*not negative"),
    (one_weight(np.nan), r"sample_weight\[4\] is nan: weights must be finite"),
    (one_weight(np.inf), r"sample_weight\[4\] is inf: weights must be finite"),
    (np.ones(29), r"sample_weight has shape \(29,\), but X has 30 rows"),
    (np.ones((30, 1)), r"sample_weight has shape \(30, 1\), but X has 30 rows"),
    (["heavy"] * 30, "sample_weight must hold numbers: .*heavy"),
    (1.0 - Y, "no positive row with a weight above zero"),
    (1.0 * Y, "no negative row with a weight above zero"),
    (0.0 * Y, "no positive row with a weight above zero"),
]


@pytest.mark.parametrize(("weight", "message"), WEIGHTS)
def test_a_wrong_weight_is_named(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TopPush().fit(X, Y, sample_weight=weight)


def corrupt(form: Any, **arrays: Callable[[Any], Any]) -> Any:
    """A sparse form of X with some of its arrays changed behind its back."""
    matrix = form(X)
    for name, change in arrays.items():
        setattr(matrix, name, change(getattr(matrix, name).copy()))
    return matrix


def at(place: int, value: int) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


def shorter(array: Any) -> Any:
    return array[:-1]


CSR, CSC, COO = sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix


def BSR(x: Any) -> Any:
    return sparse.bsr_matrix(x, blocksize=(2, 2))


CORRUPT: list[tuple[Any, dict[str, Any], str]] = [
    (CSR, {"indices": at(5, 4)}, "CSR matrix: index 4 in row 1 is out of range for 4 columns"),
    (CSR, {"indices": at(5, -1)}, "CSR matrix: index -1 in row 1 is out of range"),
    (CSR, {"indptr": at(3, 2)}, "CSR matrix: the pointers of row 2 run backwards"),
    (CSR, {"indptr": at(30, 500)}, "CSR matrix: the pointers of row 29 .* past the stored"),
    (CSR, {"indptr": at(0, -4)}, "CSR matrix: the pointers of row 0"),
    (CSR, {"indptr": shorter}, r"CSR matrix: shape \(30, 4\) does not go with 30 pointers"),
    (CSR, {"indices": shorter}, "CSR matrix: .* 119 indices and 120 values"),
    (CSR, {"data": shorter}, "CSR matrix: .* 120 indices and 119 values"),
    (CSC, {"indices": at(35, 30)}, "CSC matrix: index 30 in column 1 is out of range for 30 rows"),
    (CSC, {"indptr": at(1, 70)}, "CSC matrix: the pointers of column 1 run backwards"),
    (BSR, {"indices": at(3, 2)}, "BSR matrix: index 2 in block row 1 .* for 2 block columns"),
    (BSR, {"indptr": at(2, 900)}, "BSR matrix: the pointers of block row 1"),
    (COO, {"col": at(3, 9)}, "COO matrix: column 9 is out of range for 4 columns"),
    (COO, {"row": at(3, -2)}, "COO matrix: row -2 is out of range for 30 rows"),
]


@pytest.mark.parametrize(("form", "arrays", "message"), CORRUPT)
def test_a_corrupt_sparse_matrix_is_refused_not_read(
    form: Any, arrays: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"X is a corrupt {message}"):
        TopPush().fit(corrupt(form, **arrays), Y)
    with pytest.raises(ValueError, match=f"X is a corrupt {message}"):
        TopPush().fit(X, Y).predict(corrupt(form, **arrays))


def test_a_corrupt_list_of_lists_is_refused() -> None:
    matrix = sparse.lil_matrix(X)
    matrix.rows[3][0] = 99
    with pytest.raises(ValueError, match="index 99 in row 3 is out of range for 4 columns"):
        TopPush().fit(matrix, Y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_width_at_prediction_must_be_that_of_the_fit(form: Any) -> None:
    ranker = TopPush().fit(form(X), Y)
    for width in (3, 5):
        wrong = form(np.resize(X, (6, width)))
        for method in (ranker.predict, ranker.decision_function, ranker.rank):
            with pytest.raises(ValueError, match=f"X has {width} features, .* expecting 4"):
                method(wrong)


@pytest.mark.parametrize("method", ["predict", "decision_function", "rank", "score"])
def test_an_unfitted_ranker_says_so(method: str) -> None:
    arguments = (X, Y) if method == "score" else (X,)
    with pytest.raises(NotFittedError, match="TopPush instance is not fitted yet"):
        getattr(TopPush(), method)(*arguments)


def test_a_failed_fit_leaves_a_fresh_ranker_unfitted() -> None:
    ranker = TopPush()
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(with_entry(np.nan), Y)
    with pytest.raises(NotFittedError):
        ranker.predict(X)


ODD: list[tuple[str, Any, Any]] = [
    ("constant column", np.c_[X, np.full(30, 3.0)], None),
    ("zero column", np.c_[X, np.zeros(30)], None),
    ("column twice", np.c_[X, X], None),
    ("zero rows", np.where(np.arange(30)[:, np.newaxis] % 5 == 0, 0.0, X), None),
    ("rows twice", np.where(np.arange(30)[:, np.newaxis] < 15, np.roll(X, 1, axis=0), X), None),
    ("zero weights", X, np.arange(30) % 4 > 0),
    ("large entries", 1e80 * X, None),
    ("tiny entries", 1e-80 * X, None),
]


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "exponential"])
@pytest.mark.parametrize(("_", "data", "weight"), ODD, ids=[odd[0] for odd in ODD])
def test_odd_data_are_fitted(_: str, data: Any, weight: Any, loss: str, form: Any) -> None:
    ranker = TopPush(1e-2 * float(np.abs(data).max()) ** 2, loss=loss)
    ranker.fit(form(data), Y, sample_weight=weight)
    assert np.isfinite(ranker.coef_).all()
    assert np.isfinite(ranker.decision_function(form(data))).all()
    assert ranker.certificate_.holds(ranker.tol)
    if data.shape[1] == 2 * X.shape[1]:
        assert_array_equal(np.round(ranker.coef_[0, :4] - ranker.coef_[0, 4:], 9), 0)
    elif data.shape[1] > X.shape[1] and not data[:, -1].any():
        assert ranker.coef_[0, -1] == 0
