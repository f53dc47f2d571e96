"""Columns of Arrow of every type: what they are taken for, and the numbers, dates and words."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from toprank import LogisticRank
from toprank.features import table_pipeline
from toprank.features.arrow import codes_of, dates_of, numbers_of, plain_type, words_of_codes
from toprank.files.columns import (
    as_kinds,
    check_columns,
    fingerprint_of,
    frame_of,
    labels_of,
    refuse_missing_label,
    words_of,
)
from toprank.files.errors import TableError
from toprank.files.model import preprocessing_of


def words(column: Any) -> list[Any]:
    return words_of_codes(*codes_of(column)).tolist()


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([1, 2]), "number"),
        (pa.array([1.5, 2.0]), "number"),
        (pa.array([Decimal("1.5")]), "number"),
        (pa.array([True, False]), "category"),
        (pa.array(["a"]).dictionary_encode(), "category"),
        (pa.array([1, 2]).dictionary_encode(), "category"),
        (pa.array([True]).cast(pa.bool_()), "category"),
        (pa.array([date(2024, 1, 31)]), "date"),
        (pa.array([datetime(2024, 1, 31)]), "date"),
        (pa.array([timedelta(days=1)]), "date"),
        (pa.array([time(10, 30)]), None),
        (pa.array(["a"]), "text"),
        (pa.array(["a"], pa.large_string()), "text"),
        (pa.array(["a"], pa.string_view()), "text"),
        (pa.array([b"a"]), None),
        (pa.array([[1]]), None),
    ],
)
def test_what_a_type_is_taken_for(column: Any, kind: str | None) -> None:
    assert plain_type(column) == kind


@pytest.mark.parametrize("chunks", [False, True])
def test_words_of_cells(chunks: bool) -> None:
    for cells, expected in (
        (["a", None, "b", "a"], ["a", None, "b", "a"]),
        ([2.0, None, 0.5], ["2", None, "0.5"]),
        ([np.nan, 3.0], [None, "3"]),
        ([True, None, False], ["True", None, "False"]),
        (["true", "FALSE", "True"], ["True", "False", "True"]),
        ([3, None, -1], ["3", None, "-1"]),
    ):
        column: Any = pa.array(cells, from_pandas=False)
        if chunks:
            column = pa.chunked_array([column[:1], column[1:]])
        assert words(column) == expected
    assert words(pa.array(["b", None, "a"]).dictionary_encode()) == ["b", None, "a"]


def test_numbers_of_cells() -> None:
    for column, expected in (
        (pa.array([1, None, 3]), [1.0, np.nan, 3.0]),
        (pa.array([2**53 + 1]), [2.0**53]),
        (pa.array([Decimal("1.25"), None]), [1.25, np.nan]),
        (pa.array([True, False]), [1.0, 0.0]),
        (pa.array(["1.5", None]), [1.5, np.nan]),
        (pa.array(["1.5"]).dictionary_encode(), [1.5]),
        (pa.chunked_array([[1.0], [2.0]]), [1.0, 2.0]),
        (["1", " 2 "], [1.0, 2.0]),
    ):
        floats, bad = numbers_of(column)
        np.testing.assert_array_equal(floats, expected)
        assert floats.dtype == np.float64
        assert not bad.any()
    floats, bad = numbers_of(pa.array([[1], None]))
    assert np.isnan(floats).all()
    assert bad.tolist() == [True, False]


def test_dates_of_cells() -> None:
    day = np.datetime64("2024-01-31", "us")
    for column, expected in (
        (pa.array([date(2024, 1, 31), None]), [day, np.datetime64("NaT")]),
        (pa.array([datetime(2024, 1, 31)], pa.timestamp("s")), [day]),
        (pa.array(["2024-01-31", None]).dictionary_encode(), [day, np.datetime64("NaT")]),
        (pa.array(["2024-01-31T02:00:00+02:00", "2024-01-31"]), [day, day]),
        (pa.array(["2024-01-31"], pa.large_string()), [day]),
        (pa.array(["2024-01-31T00:00:00.000001001"]), [day + np.timedelta64(1, "us")]),
        (pa.array([datetime(2024, 1, 31)], pa.timestamp("us", tz="Asia/Tokyo")), [day]),
        (pa.array([timedelta(days=2), None]), [np.timedelta64(2, "D"), np.timedelta64("NaT")]),
    ):
        times, bad = dates_of(column)
        np.testing.assert_array_equal(times, np.array(expected, dtype=times.dtype))
        assert not bad.any()
    times, bad = dates_of(pa.array(["soon", None, "2024-01-31", "late"]))
    assert bad.tolist() == [True, False, False, True]
    assert times[2] == day


@pytest.mark.parametrize("year", [1600, 1677, 2263, 3000, 9999])
def test_dates_of_every_year_are_kept(year: int) -> None:
    """Nanoseconds would reach from 1677 to 2262."""
    far, near = date(year, 1, 1), date(2024, 1, 31)
    for column in (
        pa.array([far, None, near]),
        pa.array([far, None, near], pa.date64()),
        pa.array([far, None, near]).cast(pa.timestamp("us")),
        pa.array([str(far), None, str(near)]),
    ):
        times, bad = dates_of(column)
        assert not bad.any()
        expected = np.array([far, "NaT", near], dtype="datetime64[us]")
        np.testing.assert_array_equal(times, expected)


def test_what_is_neither_a_date_nor_a_text_is_no_date() -> None:
    for column in (
        pa.array([5, None]),
        pa.array([0.5, None]),
        pa.array([True, None]),
        pa.array([time(10, 30), None]),
        pa.array([[1], None]),
    ):
        times, bad = dates_of(column)
        assert np.isnat(times).all()
        assert bad.tolist() == [True, False]
    times, bad = dates_of(pa.nulls(2))
    assert np.isnat(times).all()
    assert not bad.any()


def test_spans_that_microseconds_do_not_reach() -> None:
    spans, bad = dates_of(pa.array([10**15, None, 60], pa.duration("s")))
    assert bad.tolist() == [True, False, False]
    assert np.isnat(spans[:2]).all()
    assert spans[2] == np.timedelta64(1, "m")


def test_words_in_a_frame_are_missing_where_they_were() -> None:
    (batch,) = pa.table({"w": ["b", None, "a"], "x": [1, None, 2]}).to_batches()
    frame = frame_of(as_kinds(batch, {"w": "category", "x": "number"}, "t", 0))
    assert frame["w"].isna().tolist() == [False, True, False]
    assert frame["w"].dropna().tolist() == ["b", "a"]
    np.testing.assert_array_equal(frame["x"], [1.0, np.nan, 2.0])


class Named:
    """A table that has a name and columns."""

    name = "t.csv"
    columns = ("y",)


def test_a_missing_label_is_told_by_its_row() -> None:
    (batch,) = pa.table({"y": ["a", "b", None]}).to_batches()
    with pytest.raises(TableError, match=r"^t\.csv, row 3, column 'y': the label is missing\.$"):
        labels_of(batch, "y", Named())  # type: ignore[arg-type]
    with pytest.raises(TableError, match=r"row 13, column 'y'"):
        labels_of(batch, "y", Named(), 10)  # type: ignore[arg-type]
    with pytest.raises(TableError, match=r"^t\.svm, row 2: the label is missing\.$"):
        words_of(np.array([1.0, np.nan]), "t.svm")
    refuse_missing_label(np.zeros(3, dtype=bool), "t", 0)


def test_columns_that_are_lacking_are_counted() -> None:
    (batch,) = pa.table({"a": [1], "b": [2]}).to_batches()
    for kinds, told in (
        ("ak", "has no column 'k', which the model was trained on"),
        ("abkl", "has none of the columns 'k', 'l', which the model was trained on"),
        ("akl", "is not such a table .*: 2 of 3 columns are missing: 'k', 'l'"),
        ("abcdefghijkl", ".*: 10 of 12 columns are missing: 'c', .*, 'j' and 2 more"),
    ):
        with pytest.raises(TableError, match=rf"t\.csv {told}\."):
            as_kinds(batch, dict.fromkeys(kinds, "number"), "t.csv", 0)
    others = [f"o{k}" for k in range(9)]
    with pytest.raises(TableError, match=r"; it has 'o0', .*'o7', which the model does not use\.$"):
        check_columns(batch, {"k": "number"}, "t.csv", others)


def test_dates_beyond_those_of_python_are_told() -> None:
    far = pa.array([10**15], pa.timestamp("s"))
    (batch,) = pa.table({"d": far}).to_batches()
    with pytest.raises(TableError, match=r"row 1, column 'd': \S.* is no date, such as 2025"):
        as_kinds(batch, {"d": "date"}, "t", 0)


@pytest.mark.parametrize("left", ["number", "category", "date"])
def test_a_model_of_some_kinds_of_columns_is_told(left: str) -> None:
    n = 60
    columns = {
        "number": np.arange(n) % 7 + 0.5,
        "category": np.where(np.arange(n) % 3 == 0, "a", "b"),
        "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), unit="D"),
    }
    del columns[left]
    model = table_pipeline(LogisticRank()).fit(pd.DataFrame(columns), np.arange(n) % 2)
    lines = preprocessing_of(model) or []
    assert [line["column"] for line in lines] == list(columns)
    assert [line["kind"] for line in lines] == list(columns)
    for line in lines:
        if line["kind"] == "date":
            assert line["parts"]
        elif line["kind"] == "category":
            assert line["categories"] == ["a", "b"]


def test_a_fingerprint_is_of_bytes_that_no_version_changes() -> None:
    """Models keep it: names, words in their order, places among them from 0 on, -1 for none."""
    words = (np.array([1, 0, -1]), ["b", "a"])
    found = fingerprint_of({"w": words, "x": np.array([-0.0, 1.5, np.nan])}, ["no", "yes", "no"])
    pieces = [
        *(b"\nw\n", b"a\nb", np.array([0, 1, -1], dtype=np.int64).tobytes()),
        *(b"\nx\n", np.array([0.0, 1.5, np.nan]).tobytes()),
        *(b"no\nyes", np.array([0, 1, 0], dtype=np.int64).tobytes()),
    ]
    assert found == sha256(b"".join(pieces)).hexdigest()


def test_fingerprints_of_dates_and_of_sparse_rows() -> None:
    from scipy import sparse

    days = np.array(["2024-01-31", "NaT"], dtype="datetime64[ns]")
    found = fingerprint_of({"d": days}, [0, 1])
    assert fingerprint_of({"d": days.copy()}, [0, 1]) == found
    assert fingerprint_of({"d": days + np.timedelta64(1, "ns")}, [0, 1]) != found
    X = sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
    found = fingerprint_of(X, [0, 1])
    narrow = sparse.csr_array(
        (X.data.astype(np.float32), X.indices.astype(np.int32), X.indptr.astype(np.int32)),
        shape=X.shape,
    )
    assert fingerprint_of(narrow, [0, 1]) == found
    wider = sparse.csr_array((X.data, X.indices, X.indptr), shape=(2, 3))
    for other in (2 * X, X[::-1], wider, X[:, ::-1]):
        assert fingerprint_of(other, [0, 1]) != found
    # Words that are the same in another order, with one that is nowhere.
    one = (np.array([0, 1, 2, -1]), ["a", "b", "c"])
    same = (np.array([2, 0, 1, -1]), ["b", "c", "a"])
    assert fingerprint_of({"w": one}, [0]) == fingerprint_of({"w": same}, [0])
    last = (np.array([0, 1, 2, 2]), ["a", "b", "c"])
    assert fingerprint_of({"w": one}, [0]) != fingerprint_of({"w": last}, [0])
