"""Cells that hold no number: refused by the name of their column, with what to do."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from support.toy_rows import overlapping
from toprank import ASCRC, ASRankSVM, HeadRanker, RankBoost, SoftRankBoost, TopPush, methods
from toprank.metrics import auc
from toprank.selection import compare

X, Y = overlapping(10, 20, 3, shift=2.0)
PANDAS = pd.DataFrame(X, columns=["a", "b", "c"])
POLARS = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})

WORDS = r"X holds 'Rome', which is no number: row 0, column 3 \('city'\)\. .*OneHotEncoder"
DATES = r"Column 3 \('when'\) of X holds dates or times .*Take them apart"
TABLES: list[tuple[Any, str]] = [
    (PANDAS.assign(city="Rome"), WORDS),
    (PANDAS.assign(city="Rome").astype({"city": "category"}), WORDS),
    (PANDAS.assign(city="Rome").astype({"city": "string"}), WORDS),
    (POLARS.with_columns(city=pl.lit("Rome")), WORDS),
    (POLARS.with_columns(city=pl.lit("Rome").cast(pl.Categorical)), WORDS),
    (PANDAS.assign(when=pd.Timestamp("2024-01-01")), DATES),
    (PANDAS.assign(when=pd.Timestamp("2024-01-01", tz="UTC")), DATES),
    (PANDAS.assign(when=pd.Timedelta("1 day")), DATES),
    (PANDAS.assign(city="Rome", when=pd.Timestamp("2024-01-01"))[["a", "b", "c", "when"]], DATES),
    (POLARS.with_columns(when=pl.lit(date(2024, 1, 1))), DATES),
    (POLARS.with_columns(when=pl.lit(timedelta(days=1))), DATES),
    (np.full((30, 2), np.datetime64("2024-01-01")), r"X holds dates or times \(datetime64\[D\]\)"),
    (np.full((30, 2), np.timedelta64(3, "D")), r"X holds dates or times \(timedelta64\[D\]\)"),
    (np.array([[1, 10**400]] * 30, dtype=object), "too large for a float: row 0, column 1"),
    ([[1.0, "tall"]] * 30, "X holds 'tall', which is no number: row 0, column 1"),
]


@pytest.mark.parametrize(("table", "message"), TABLES)
def test_the_column_is_named(table: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TopPush().fit(table, Y)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (date(2024, 1, 1), r"dates or times\. Take them apart .*Row 0, column 3 \('d'\)"),
        (pd.NA, r"no value in row 0, column 3 \('d'\)\. Fill missing values first"),
        ({}, r"X holds \{\}, which is no number: row 0, column 3 \('d'\)"),
    ],
)
def test_so_it_is_for_objects(value: Any, message: str) -> None:
    column = pd.Series([value] * len(X), dtype=object)
    with pytest.raises(TypeError, match=message):
        TopPush().fit(PANDAS.assign(d=column), Y)


def test_scoring_names_the_column_too() -> None:
    ranker = TopPush().fit(X, Y)
    with pytest.raises(ValueError, match="X holds 'tall', which is no number: row 1, column 2"):
        ranker.decision_function([[1.0, 2.0, 3.0], [1.0, 2.0, "tall"]])


def test_numbers_in_objects_are_numbers() -> None:
    expected = TopPush().fit(X, Y).coef_
    np.testing.assert_array_equal(TopPush().fit(X.astype(object), Y).coef_, expected)
    table = TopPush().fit(PANDAS.astype(object), Y)  # whose columns, not rows, lie together
    np.testing.assert_allclose(table.coef_, expected, rtol=1e-12)


def test_what_lies_under_a_mask_is_not_used() -> None:
    mask = np.zeros(X.shape, dtype=bool)
    mask[7, 2] = True
    with pytest.raises(ValueError, match=r"masked at row 7, column 2: .*X\.filled\(np\.nan\)"):
        TopPush().fit(np.ma.masked_array(X, mask), Y)
    open_mask = TopPush().fit(np.ma.masked_array(X), Y)
    np.testing.assert_array_equal(open_mask.coef_, TopPush().fit(X, Y).coef_)


@pytest.mark.parametrize("form", [sparse.coo_array, sparse.csr_array])
def test_a_sparse_array_of_one_dimension_is_refused(form: Any) -> None:
    try:
        line = form(np.ones(3))
    except ValueError:
        pytest.skip("this SciPy has no such array")
    if line.ndim != 1:
        pytest.skip("this SciPy makes two dimensions of it")
    message = r"Expected 2D array, got 1D array instead: X is a sparse array of shape \(3,\)"
    with pytest.raises(ValueError, match=message):
        TopPush().fit(line, Y)
    with pytest.raises(ValueError, match=message):
        TopPush().fit(X, Y).predict(line)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(30, np.datetime64("2024-01-01")), r"these are dates or times \(datetime64\[D\]\)"),
        (pd.Series(pd.Timedelta("1 day"), index=range(30)), "these are dates or times"),
        (np.array([10**400] * 30, dtype=object), "too large to convert to float"),
    ],
)
def test_weights_are_numbers(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"sample_weight must hold numbers: .*{message}"):
        TopPush().fit(X, Y, sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight must be numbers"):
        auc(Y, X[:, 0], sample_weight=weight)


@pytest.mark.parametrize("value", [10**400, np.datetime64("2024-01-01"), np.timedelta64(1, "D")])
def test_scores_are_numbers(value: Any) -> None:
    scores = np.array([value] * 30, dtype=object if isinstance(value, int) else None)
    with pytest.raises(ValueError, match="scores must be real numbers"):
        auc(Y, scores)


@pytest.mark.parametrize("estimator", [ASRankSVM, ASCRC])
def test_more_epochs_than_can_be_counted_are_refused(estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"'max_iter' .* must be an int in the range \[1, 92"):
        estimator(max_iter=10**30).fit(X, Y)
    assert estimator(max_iter=2**63 - 1, random_state=0).fit(X, Y).certificate_.holds(1e-3)


@pytest.mark.parametrize("estimator", [RankBoost, SoftRankBoost])
@pytest.mark.parametrize("rankers", ["stumps", "linear"])
def test_a_booster_says_how_it_takes_missing_values(estimator: Any, rankers: str) -> None:
    gaps = X.copy()
    gaps[7, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"NaN: row 7, column 2\. .*Or set weak_learners='thresholds'"
    ):
        estimator(weak_learners=rankers).fit(gaps, Y)
    assert estimator(weak_learners="thresholds").fit(gaps, Y).score(gaps, Y) > 0.9
    with pytest.raises(ValueError, match=r"NaN: row 7, column 2\. .*Or let toprank\.features"):
        TopPush().fit(gaps, Y)


N_ROWS = len(X)
DAY, NOON = np.datetime64("2024-01-01"), datetime(2024, 1, 1, 12)
GAPS = np.where(np.arange(N_ROWS) == 3, np.nan, X[:, 0])
TEXT = ["a", "b"] * (N_ROWS // 2)
NUMBERS: dict[str, Any] = {"a": X[:, 0], "b": X[:, 1]}


def objects(value: Any) -> Any:
    cells = X[:, :2].astype(object)
    cells[4, 1] = value
    return cells


def arrow(column: Any) -> Any:
    return pa.table({**NUMBERS, "d": pa.array(column)})


def pandas(column: Any, dtype: Any = None) -> Any:
    return pd.DataFrame(NUMBERS).assign(d=pd.array(column, dtype=dtype))


def polars(column: Any, dtype: Any = None) -> Any:
    return pl.DataFrame(NUMBERS).with_columns(pl.Series("d", column, dtype=dtype))


#: A table for every path by which a cell is refused.
REFUSED: dict[str, Any] = {
    "text in objects": objects("x"),
    "text in strings": np.array([["1", "x"]] * N_ROWS),
    "bytes": np.array([[b"1", b"x"]] * N_ROWS),
    "text in a list": [[1.0, "x"]] * N_ROWS,
    "text in one dimension": pd.Series(TEXT),
    "pandas text": pandas(TEXT, object),
    "pandas string": pandas(TEXT, "string"),
    "pandas category": pandas(TEXT, "category"),
    "pandas interval": pandas(pd.interval_range(0, N_ROWS)),
    "pandas arrow text": pandas(TEXT, pd.ArrowDtype(pa.string())),
    "pandas arrow dictionary": pandas(TEXT, pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "polars text": polars(TEXT),
    "polars categorical": polars(TEXT, pl.Categorical),
    "polars enum": polars(TEXT, pl.Enum(["a", "b"])),
    "polars binary": polars([b"x"] * N_ROWS),
    "arrow text": arrow(TEXT),
    "arrow dictionary": arrow(TEXT).set_column(2, "d", pa.array(TEXT).dictionary_encode()),
    "arrow batch": arrow(TEXT).to_batches()[0],
    "NaN": np.column_stack([X[:, 0], GAPS]),
    "NaN in float32": np.column_stack([X[:, 0], GAPS]).astype(np.float32),
    "NaN in CSR": sparse.csr_array(np.column_stack([X[:, 0], GAPS])),
    "NaN in CSC": sparse.csc_array(np.column_stack([X[:, 0], GAPS])),
    "None in objects": objects(None),
    "None in a list": [[1.0, None]] * N_ROWS,
    "pd.NA in objects": objects(pd.NA),
    "a mask": np.ma.masked_invalid(np.column_stack([X[:, 0], GAPS])),
    "pandas NaN": pandas(GAPS, "float64"),
    "pandas Int64": pandas([1, None] * (N_ROWS // 2), "Int64"),
    "pandas boolean": pandas([True, None] * (N_ROWS // 2), "boolean"),
    "pandas category with a gap": pandas([1, None] * (N_ROWS // 2), "category"),
    "pandas sparse NaN": pd.DataFrame({"a": pd.arrays.SparseArray(GAPS)}),
    "pandas arrow null": pandas([1.5, None] * (N_ROWS // 2), pd.ArrowDtype(pa.float64())),
    "polars null": polars([1.5, None] * (N_ROWS // 2)),
    "polars nothing": polars([None] * N_ROWS),
    "arrow null": arrow([1.5, None] * (N_ROWS // 2)),
    "datetime64": np.full((N_ROWS, 2), DAY),
    "timedelta64": np.full((N_ROWS, 2), DAY - DAY),
    "datetime64 in objects": objects(DAY),
    "timedelta64 in objects": objects(DAY - DAY),
    "datetime64 in a list": [[1.0, DAY]] * N_ROWS,
    "dates in a list": [[date(2024, 1, 1)]] * N_ROWS,
    "NaT in objects": objects(pd.NaT),
    "a timestamp in objects": objects(pd.Timestamp("2024-01-01")),
    "pandas period": pandas(pd.period_range("2024-01-01", periods=N_ROWS)),
    "pandas arrow time": pandas([time(1)] * N_ROWS, pd.ArrowDtype(pa.time64("us"))),
    "pandas arrow timestamp": pandas(
        [datetime(2024, 1, 1)] * N_ROWS, pd.ArrowDtype(pa.timestamp("us"))
    ),
    "polars time": polars([time(1)] * N_ROWS),
    "arrow timestamp": arrow([NOON] * N_ROWS),
    "arrow date": arrow([date(2024, 1, 1)] * N_ROWS),
    "arrow duration": arrow([timedelta(days=1)] * N_ROWS),
    "arrow time": arrow([time(1)] * N_ROWS),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_every_refusal_names_what_takes_such_a_table(kind: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        TopPush().fit(REFUSED[kind], Y)
    assert str(caught.value).count("Or let toprank.features.table_pipeline ") == 1
    assert "pyarrow.lib" not in str(caught.value)


SINGLE = [getattr(methods, name) for name in methods.__all__]


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", SINGLE, ids=lambda one: one.__name__)
def test_every_method_names_it_in_fit_and_in_scoring(estimator: Any) -> None:
    ranker = estimator()
    fitted = estimator().fit(X[:, :2], Y)
    kinds = ["text in objects", "NaN", "datetime64"]
    if ranker.__sklearn_tags__().input_tags.allow_nan:
        kinds.remove("NaN")
    for kind in kinds:
        with pytest.raises(ValueError, match=r"toprank\.features\.table_pipeline"):
            ranker.fit(REFUSED[kind], Y)
        for method in (fitted.decision_function, fitted.predict, fitted.rank):
            with pytest.raises(ValueError, match=r"toprank\.features\.table_pipeline"):
                method(REFUSED[kind])


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(X, columns=["a", "b", "a"]),
        pa.table([X[:, 0], X[:, 1], X[:, 2]], names=["a", "b", "a"]),
    ],
    ids=["pandas", "arrow"],
)
def test_two_columns_of_one_name_are_refused(table: Any) -> None:
    for fit in (
        TopPush().fit,
        HeadRanker(candidates="linear", cv=2).fit,
        partial(compare, [TopPush()]),
    ):
        with pytest.raises(ValueError, match=r"^Two columns of X are named 'a': rename one\.$"):
            fit(table, Y)


def test_numbers_of_arrow_are_numbers() -> None:
    expected = TopPush().fit(X, Y)
    table = TopPush().fit(pa.table(list(X.T), names=["a", "b", "c"]), Y)
    np.testing.assert_allclose(table.coef_, expected.coef_, rtol=1e-12)
