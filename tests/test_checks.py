"""Checks of single arguments: what passes comes back, what does not is named."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from toprank.inputs.arguments import (
    check_above_zero,
    check_choice,
    check_count,
    check_number,
    check_share,
)


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_counts_of_any_integer_type_pass(value: Any) -> None:
    found = check_count("n", value, least=3)
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize("value", [2, 3.0, True, np.True_, "3", None, float("nan")])
def test_what_is_no_count_is_named(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^n must be an int of at least 3, got ") as raised:
        check_count("n", value, least=3)
    assert repr(value) in str(raised.value)


@pytest.mark.parametrize(
    ("low", "high", "ends", "inside", "outside", "says"),
    [
        (0, 1, "[]", (0, 1, 0.5), (-1e-9, 1 + 1e-9), r"a number in \[0, 1\]"),
        (0, 1, "(]", (1, 0.5, np.float32(0.5)), (0, 2), r"a number in \(0, 1\]"),
        (0, 0.5, "()", (0.1, Fraction(1, 3)), (0, 0.5), r"a number in \(0, 0.5\)"),
        (0, np.inf, "[]", (0, 1e300), (-1, 10**400), "a finite number of at least 0"),
        (0, np.inf, "(]", (1e-300,), (0, -1), "a finite number above 0"),
    ],
)
def test_numbers_lie_in_their_interval(
    low: float, high: float, ends: str, inside: Any, outside: Any, says: str
) -> None:
    for value in inside:
        found = check_number("x", value, low, high, ends=ends)
        assert found == float(value)
        assert type(found) is float
    for value in (*outside, np.nan, np.inf, -np.inf, True, np.False_, "1", None, [1.0]):
        with pytest.raises(ValueError, match=f"^x must be {says}, got "):
            check_number("x", value, low, high, ends=ends)


def test_the_one_that_is_wrong_is_named() -> None:
    check_above_zero(a=1.0, b=2)
    with pytest.raises(ValueError, match=r"^b must be a finite number above 0, got 0\.$"):
        check_above_zero(a=1.0, b=0)
    check_share(a=0.5, b=0.1)
    with pytest.raises(ValueError, match=r"^b must be a number in \(0, 1\), got 1\.$"):
        check_share(a=0.5, b=1)


def test_choices_are_listed() -> None:
    check_choice("loss", "hinge", ("hinge", None))
    with pytest.raises(ValueError, match=r"^loss must be one of 'hinge', None, got 'hing'\.$"):
        check_choice("loss", "hing", ("hinge", None))
