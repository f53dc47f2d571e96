"""Cells that hold no number: refused by the name of their column, with what to do."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from support.toy_rows import overlapping
from toprank import ASCRC, ASRankSVM, RankBoost, SoftRankBoost, TopPush
from toprank.metrics import auc

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
    with pytest.raises(ValueError, match=r"NaN: row 7, column 2\. .*Or set rankers='thresholds'"):
        estimator(rankers=rankers).fit(gaps, Y)
    assert estimator(rankers="thresholds").fit(gaps, Y).score(gaps, Y) > 0.9
    with pytest.raises(ValueError, match=r"NaN: row 7, column 2\. .*SimpleImputer\.$"):
        TopPush().fit(gaps, Y)
