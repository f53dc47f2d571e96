"""Tables as they come: columns of every type, missing values, categories never seen."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from support.versions import names_of_polars
from toprank import LogisticRank
from toprank.features import DateParts, table_pipeline

N = 60
RNG = np.random.default_rng(1)
DAYS = [date(2024, 1, 31) + timedelta(days=17 * k) for k in range(N)]
COLUMNS: dict[str, list[Any]] = {
    "age": [None if k % 9 == 0 else float(k) for k in range(N)],
    "calls": [k % 5 for k in range(N)],
    "member": [k % 2 == 0 for k in range(N)],
    "job": [None if k % 11 == 0 else "abc"[k % 3] for k in range(N)],
    "since": [None if k % 13 == 0 else day for k, day in enumerate(DAYS)],
}
Y = (np.arange(N) % 3 == 0).astype(int)
NAMES = [
    "age", "calls", "member", "missingindicator_age",
    "job_(missing)", "job_a", "job_b", "job_c",
    "since_days", "since_month", "since_day", "since_weekday",
]  # fmt: skip


def pandas_frame() -> pd.DataFrame:
    frame = pd.DataFrame(COLUMNS)
    return frame.assign(since=pd.to_datetime(frame["since"]))


def nullable_frame() -> pd.DataFrame:
    frame = pandas_frame()
    return frame.assign(
        age=frame["age"].astype("Float64"),
        calls=frame["calls"].astype("Int64"),
        member=frame["member"].astype("boolean"),
        job=frame["job"].astype("category"),
    )


FRAMES = [
    pytest.param(pandas_frame, id="pandas"),
    pytest.param(nullable_frame, id="nullable"),
    pytest.param(lambda: pl.DataFrame(COLUMNS), id="polars", marks=names_of_polars),
]


@pytest.mark.parametrize("make", FRAMES)
def test_a_table_of_every_type_becomes_the_same_numbers(make: Any) -> None:
    frame = make()
    pipeline = table_pipeline(min_frequency=1).fit(frame, Y)
    assert list(pipeline.get_feature_names_out()[: len(NAMES)]) == NAMES
    made = pipeline.transform(frame)
    named = dict(zip(pipeline.get_feature_names_out(), made.T, strict=True))
    ages = [age for age in COLUMNS["age"] if age is not None]
    assert_allclose(named["age"], [np.median(ages) if a is None else a for a in COLUMNS["age"]])
    assert_array_equal(named["missingindicator_age"], [a is None for a in COLUMNS["age"]])
    assert_array_equal(named["member"], COLUMNS["member"])
    for word in "abc":
        assert_array_equal(named[f"job_{word}"], [job == word for job in COLUMNS["job"]])
    assert_array_equal(named["job_(missing)"], [job is None for job in COLUMNS["job"]])
    there = [k for k, day in enumerate(COLUMNS["since"]) if day is not None]
    assert_array_equal(named["since_month"][there], [DAYS[k].month for k in there])
    assert_array_equal(named["since_day"][there], [DAYS[k].day for k in there])
    assert_array_equal(named["since_weekday"][there], [DAYS[k].weekday() for k in there])
    since = [(DAYS[k] - date(1970, 1, 1)).days for k in there]
    assert_array_equal(named["since_days"][there], since)


def test_rare_categories_are_pooled_and_new_ones_with_them() -> None:
    frame = pd.DataFrame({"job": ["clerk"] * 40 + ["nurse"] * 17 + ["smith", "miner", "baker"]})
    pipeline = table_pipeline(min_frequency=5).fit(frame, Y)
    assert list(pipeline.get_feature_names_out()) == [
        "job_clerk", "job_nurse", "job_infrequent_sklearn",
    ]  # fmt: skip
    new = pipeline.transform(pd.DataFrame({"job": ["smith", "pilot", "clerk", None]}))
    assert_array_equal(new, [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 0, 1]])


def test_a_new_category_without_a_pool_is_none_of_them() -> None:
    frame = pd.DataFrame({"job": ["clerk", "nurse"] * 30})
    made = table_pipeline(min_frequency=1).fit(frame, Y).transform(pd.DataFrame({"job": ["x"]}))
    assert_array_equal(made, [[0, 0]])


def test_a_column_may_mix_types() -> None:
    frame = pd.DataFrame({"code": [1, "a", None, 2.5] * 15})
    names = table_pipeline(min_frequency=1).fit(frame, Y).get_feature_names_out()
    assert list(names) == ["code_(missing)", "code_1", "code_2.5", "code_a"]


def test_an_empty_column_stays_without_a_warning() -> None:
    frame = pd.DataFrame({"none": [np.nan] * N, "age": np.arange(N)})
    assert np.isfinite(table_pipeline().fit(frame, Y).transform(frame)).all()


def test_an_array_is_all_numbers() -> None:
    rows = RNG.normal(size=(N, 3))
    assert_array_equal(table_pipeline().fit_transform(rows, Y), rows)


def test_the_ranker_is_the_last_step() -> None:
    pipeline = table_pipeline(LogisticRank(1e-2)).fit(pandas_frame(), Y)
    again = pickle.loads(pickle.dumps(pipeline))
    frame = pandas_frame()
    assert_array_equal(again.decision_function(frame), pipeline.decision_function(frame))
    assert list(clone(pipeline).named_steps) == ["numbers", "ranker"]


def test_times_have_hours_and_spans_have_days() -> None:
    frame = pd.DataFrame(
        {
            "at": [datetime(2024, 5, 1, 13, 30), datetime(2024, 5, 2)],
            "span": pd.to_timedelta(["36h", "1D"]),
            "zoned": pd.to_datetime(["2024-05-01 23:00", None]).tz_localize("America/New_York"),
        }
    )
    parts = DateParts().fit(frame)
    names = list(parts.get_feature_names_out())
    made = dict(zip(names, parts.transform(frame).T, strict=True))
    assert_array_equal(made["at_hour"], [13.5, 0])
    assert_array_equal(made["span_days"], [1.5, 1])
    assert_array_equal(made["zoned_day"], [2, np.nan])  # in UTC
    assert "span_month" not in names


def test_dates_of_every_year_are_what_they_are() -> None:
    """The year 9999 stands for never in many a table; nanoseconds end at 2262."""
    cells = [date(1600, 2, 29), date(2024, 5, 1), date(9999, 12, 31)]
    moments = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in cells]
    seconds = np.array(cells, dtype="datetime64[s]")
    expected = [[(day - date(1970, 1, 1)).days, day.month, day.day, day.weekday()] for day in cells]
    for table in (
        seconds[:, None],
        np.array(cells, dtype="datetime64[D]")[:, None],
        np.array(cells, dtype=object)[:, None],
        np.array(moments, dtype=object)[:, None],
        pd.DataFrame({"until": seconds}),
        pd.DataFrame({"until": pd.Series(seconds).dt.tz_localize("UTC")}),
        pl.DataFrame({"until": cells}),
    ):
        assert_array_equal(DateParts().fit(table).transform(table), expected)


def test_what_is_no_date_is_named() -> None:
    with pytest.raises(ValueError, match=r"Column 0 \('job'\) holds no dates"):
        DateParts().fit(pd.DataFrame({"job": ["clerk"]}))


def test_numbers_are_no_dates() -> None:
    with pytest.raises(ValueError, match=r"Column 0 \('paid'\) holds numbers, no dates"):
        DateParts().fit(pd.DataFrame({"paid": [1, 2]}))
    parts = DateParts().fit(pd.DataFrame({"paid": DAYS}))
    assert np.isnan(parts.transform(pd.DataFrame({"paid": [np.nan, np.nan]}))).all()


def test_dates_are_what_they_were() -> None:
    plain = pd.DataFrame({"at": pd.to_datetime(["2024-05-01 23:00", None])})
    zoned = plain.assign(at=plain["at"].dt.tz_localize("Asia/Tokyo"))
    spans = plain.assign(at=pd.to_timedelta(["1D", "2D"]))
    with pytest.raises(ValueError, match=r"\('at'\) has no time zone, and had one in fit"):
        DateParts().fit(zoned).transform(plain)
    with pytest.raises(ValueError, match=r"\('at'\) has a time zone, and had none in fit"):
        DateParts().fit(plain).transform(zoned)
    with pytest.raises(ValueError, match=r"\('at'\) held dates in fit, and holds spans"):
        DateParts().fit(plain).transform(spans)
    objects = zoned.astype(object)
    assert_array_equal(
        DateParts().fit(zoned).transform(objects), DateParts().fit(zoned).transform(zoned)
    )


def test_columns_of_objects_are_what_their_cells_are() -> None:
    typed = pandas_frame()
    objects = typed.astype(object)
    pipeline = table_pipeline(min_frequency=1).fit(objects, Y)
    assert_array_equal(
        pipeline.transform(objects), table_pipeline(min_frequency=1).fit_transform(typed, Y)
    )
    lists = [[float(k), k % 2 == 0, "ab"[k % 2]] for k in range(N)]
    names = table_pipeline().fit(lists, Y).get_feature_names_out()
    assert list(names) == ["x0", "x1", "x2_a", "x2_b"]


def test_whole_numbers_are_the_same_category_as_floats() -> None:
    codes = pd.DataFrame({"code": pd.Categorical([k % 3 for k in range(N)])})
    pipeline = table_pipeline(min_frequency=1).fit(codes, Y)
    floats = codes.assign(code=pd.Categorical([float(k % 3) for k in range(N)]))
    assert_array_equal(pipeline.transform(floats), pipeline.transform(codes))


@pytest.mark.parametrize(
    ("cell", "message"),
    [("old", "Column 'age' held numbers in fit, and holds 'old' in row 5"),
     (np.inf, "Column 'age' is infinite in row 5")],
)  # fmt: skip
def test_a_cell_that_is_no_number_is_named(cell: Any, message: str) -> None:
    frame = pandas_frame()
    pipeline = table_pipeline().fit(frame, Y)
    wrong = frame.assign(age=[cell if k == 5 else float(k) for k in range(N)])
    with pytest.raises(ValueError, match=message):
        pipeline.transform(wrong)
