"""Dates, reasons and numbers as the report prints them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from toprank.report.head_rows import _told
from toprank.report.words import count_words, reason_digits, reason_words, signed


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (np.datetime64("2018-07-25", "us"), "2018-07-25"),
        (np.datetime64("2018-07-25", "ns"), "2018-07-25"),
        (np.datetime64("2018-07-25", "s"), "2018-07-25"),
        (np.datetime64("2018-07-25T10:00", "ns"), "2018-07-25 10:00:00"),
        (np.datetime64("2018-07-25T10:30:10.5", "ms"), "2018-07-25 10:30:10.500"),
        (np.datetime64("NaT"), "(missing)"),
        (pd.Timestamp("2018-07-25"), "2018-07-25"),
        (datetime.date(2018, 7, 25), "2018-07-25"),
        (datetime.datetime(2018, 7, 25, 10), "2018-07-25 10:00:00"),
        ("2018-07-25 00:00:00", "2018-07-25 00:00:00"),  # a text stays what it is
    ],
)
def test_a_date_has_no_midnight(cell: Any, said: str) -> None:
    assert _told(cell) == said


def row(*adds: float) -> dict[str, Any]:
    return {"why": [{"column": f"c{j}", "value": "1", "adds": own} for j, own in enumerate(adds)]}


def test_reasons_that_print_as_zero_are_left_out() -> None:
    rows = [row(3.0, -0.004, 0.2), row(-0.003)]
    digits = reason_digits(rows)
    assert [reason_words(own["why"], digits) for own in rows] == [
        [("c0 = 1", "+3.00", 3.0), ("c2 = 1", "+0.20", 0.2)],
        [],
    ]


def test_small_contributions_have_digits_enough() -> None:
    rows = [row(0.00042, -0.0001)]
    assert [own[1] for own in reason_words(rows[0]["why"], reason_digits(rows))] == [
        "+0.00042",
        "-0.00010",
    ]
    assert reason_digits([row(0.0)]) == reason_digits([]) == 2


def test_numbers() -> None:
    assert [signed(value, 2) for value in (0.004, -0.004, -0.0, 1.0, -1.0)] == [
        "0.00", "0.00", "0.00", "+1.00", "-1.00",
    ]  # fmt: skip
    assert count_words(1, "model") == "1 model"
    assert count_words(1200, "row") == "1,200 rows"
