"""Tables of every library are read alike, and coded alike."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from tests.support.raw_tables import raw_table

from toprank.features.frames import as_kind, columns_of, natural
from toprank.features.table_coder import CodedNumbers, TableCoder

TABLE = raw_table()
KINDS = ["number", "category", "category", "date", "date", "category", "number", None, None]


def coded(X: Any) -> Any:
    read = columns_of(X)
    return TableCoder().fit(read).transform(read)


@pytest.mark.parametrize(
    "library",
    [
        pl.from_pandas,
        pa.Table.from_pandas,
        pa.RecordBatch.from_pandas,
        lambda table: table.convert_dtypes(),
        lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
        lambda table: table.astype(object),
        lambda table: table.to_numpy(dtype=object),
    ],
)
def test_every_library_gives_the_same_codes(library: Callable[[Any], Any]) -> None:
    assert_array_equal(coded(library(TABLE)), coded(TABLE))


def test_columns_are_coded_as_by_hand() -> None:
    coder = TableCoder().fit(columns_of(TABLE))
    assert coder.kinds == KINDS
    codes = coder.transform(columns_of(TABLE))
    own = {name: codes[:, group] for name, group in zip(TABLE, coder.groups(), strict=True)}
    assert_array_equal(own["age"][:, 0], TABLE["age"])
    counts = TABLE["job"].value_counts()
    order = sorted(counts.index, key=lambda word: (-counts[word], word))
    by_hand = TABLE["job"].map({word: k for k, word in enumerate(order)}).astype(float)
    assert_array_equal(own["job"][:, 0], by_hand)
    days = (TABLE["since"].dt.floor("D") - pd.Timestamp("1970-01-01")).dt.days
    assert_array_equal(own["since"][:, 0], days)
    assert_array_equal(own["since"][:, 3], TABLE["since"].dt.day_of_week)
    assert_array_equal(own["day"][:, 1], pd.to_datetime(TABLE["day"]).dt.month)
    assert own["empty"].shape[1] == own["currency"].shape[1] == 0


def test_rare_and_new_words_share_a_code() -> None:
    words = ["a"] * 30 + ["b"] * 20 + ["c"] * 3 + [None] * 5
    coder = TableCoder().fit(columns_of(pd.DataFrame({"x": words})))
    new = coder.transform(columns_of(pd.DataFrame({"x": ["b", "c", "never", None, "a"]})))
    assert_array_equal(new[:, 0], [1.0, 2.0, 2.0, np.nan, 0.0])
    assert coder.levels.tolist() == [3]


def test_rows_that_do_not_count_name_no_words() -> None:
    table = columns_of(pd.DataFrame({"x": ["a"] * 20 + ["b"] * 20 + ["c"] * 20}))
    coder = TableCoder().fit(table, np.arange(60) < 40)
    assert coder.words == {0: ["a", "b"]}


def test_numbers_are_filled_flagged_and_spread() -> None:
    rows = np.array([[1.0, 0], [np.nan, 1], [3.0, 1], [8.0, np.nan]] * 10)
    numbers = CodedNumbers(np.array([0, 3])).fit(rows)
    made = numbers.transform(np.vstack([rows[:4], [[2.0, 2.0]]]))
    by_hand = [
        [1.0, 0, 1, 0, 0],
        [3.0, 1, 0, 1, 0],
        [3.0, 0, 0, 1, 0],
        [8.0, 0, 0, 0, 1],
        [2.0, 0, 0, 0, 0],
    ]
    assert_array_equal(made, by_hand)
    whole = np.array([[1.0, 2.0], [3.0, 4.0]])
    plain = CodedNumbers(np.zeros(2, dtype=int)).fit(whole)
    assert plain.unchanged
    assert plain.transform(whole) is whole
    assert_array_equal(plain.transform(np.array([[np.nan, 7.0]])), [[2.0, 7.0]])


def test_the_typical_row_has_a_date_that_exists() -> None:
    coder = TableCoder().fit(columns_of(TABLE))
    row = coder.typical(coder.transform(columns_of(TABLE)))
    groups = dict(zip(TABLE, coder.groups(), strict=True))
    days, month, day, weekday, _ = row[groups["since"]]
    then = date(1970, 1, 1) + timedelta(days=int(days))
    assert (month, day, weekday) == (then.month, then.day, then.weekday())
    assert row[groups["age"][0]] == TABLE["age"].median()
    assert row[groups["region"][0]] == 0.0


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ({"age": "x"}, "'age' of X held numbers in fit, and holds 'x' in row 0"),
        ({"age": TABLE["age"].astype(str)}, "'age' of X held numbers in fit, and holds"),
        ({"since": "soon"}, "'since' of X held dates in fit, and holds 'soon' in row 0"),
        ({"since": 3.0}, "'since' of X held dates in fit, and holds numbers"),
        ({"job": TABLE["since"]}, "'job' of X held categories in fit, and holds dates"),
        ({"since": TABLE["since"].dt.tz_localize("UTC")}, "has a time zone, and had none"),
        ({"age": np.inf}, "'age' of X holds inf in row 0"),
        ({"day": "2021-13-40"}, "'2021-13-40' in row 0, which is no date"),
    ],
)
def test_a_column_that_changed_is_named(new: dict[str, Any], words: str) -> None:
    coder = TableCoder().fit(columns_of(TABLE))
    with pytest.raises(ValueError, match=words):
        coder.transform(columns_of(TABLE.assign(**new)))


def test_columns_that_hold_nothing_new_are_missing() -> None:
    coder = TableCoder().fit(columns_of(TABLE))
    made = coder.transform(columns_of(TABLE.assign(age=None, job=None, since=None)))
    groups = dict(zip(TABLE, coder.groups(), strict=True))
    assert np.isnan(made[:, np.concatenate([groups[k] for k in ("age", "job", "since")])]).all()


def test_numbers_and_truth_values_pass_as_words_of_a_category() -> None:
    coder = TableCoder().fit(columns_of(pd.DataFrame({"x": ["1"] * 20 + ["2"] * 20})))
    assert_array_equal(coder.transform(columns_of(pd.DataFrame({"x": [2.0, 1.0]})))[:, 0], [1, 0])


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(TypeError, match=r"LazyFrame.*collect\(\)"):
        columns_of(pl.from_pandas(TABLE).lazy())
    with pytest.raises(ValueError, match="columns of X are named 'age': rename one"):
        columns_of(pd.concat([TABLE, TABLE[["age"]]], axis=1))
    for lists in (
        pd.DataFrame({"x": [[1], [2]]}),
        pl.DataFrame({"x": [[1], [2]]}),
        pa.table({"x": [[1], [2]]}),
    ):
        with pytest.raises(TypeError, match=r"'x' of X holds .*, of which nothing can be made"):
            columns_of(lists)


def test_zones_are_in_utc() -> None:
    at = pd.Series(pd.to_datetime(["2024-01-01 23:30", "2024-01-02 00:00"])).dt.tz_localize(
        "US/Eastern"
    )
    objects = np.array([moment.to_pydatetime() for moment in at], dtype=object)
    for X in (
        at.to_frame("x"),
        pl.DataFrame({"x": at}),
        pd.DataFrame({"x": objects}, dtype=object),
    ):
        (column,) = columns_of(X).columns
        assert column.zoned
        assert column.values[0] == np.datetime64("2024-01-02T04:30", "us")
    texts = pd.DataFrame({"x": ["2024-01-01T23:30:00-05:00", "2024-01-02T05:00:00Z"]})
    column = natural(columns_of(texts).columns[0], "x")
    assert column is not None
    assert column.values[0] == np.datetime64("2024-01-02T04:30", "us")
    utc = datetime(2024, 1, 2, 4, 30, tzinfo=UTC)
    assert as_kind(columns_of(np.array([[utc]], dtype=object)).columns[0], column, "x").values[
        0
    ] == np.datetime64("2024-01-02T04:30", "us")
