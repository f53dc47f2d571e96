"""Checks of single arguments: the value comes back, or a sentence that names the argument."""

from __future__ import annotations

from collections.abc import Collection
from math import inf, isfinite, nan
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_number(value: Any) -> bool:
    """Whether it is a real number; a truth value is not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return a whole number of at least `least`."""
    if not is_number(value) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an int of at least {least}, got {value!r}.")
    return int(value)


def check_number(
    name: str, value: Any, low: float, high: float = inf, *, ends: str = "[]"
) -> float:
    """Return a finite number from `low` to `high`; `ends` says by its brackets which end counts."""
    number = _as_float(value)
    above = low <= number if ends[0] == "[" else low < number
    below = number <= high if ends[1] == "]" else number < high
    if above and below and isfinite(number):
        return number
    if high == inf:
        wanted = f"a finite number {'of at least' if ends[0] == '[' else 'above'} {low:g}"
    else:
        wanted = f"a number in {ends[0]}{low:g}, {high:g}{ends[1]}"
    raise ValueError(f"{name} must be {wanted}, got {value!r}.")


def _as_float(value: Any) -> float:
    """A number as a float, infinite if no float is as large; NaN for what is no number."""
    try:
        return float(value) if is_number(value) else nan
    except OverflowError:
        return inf


def check_above_zero(**parameters: float) -> None:
    """Refuse what is not a finite number above zero."""
    for name, value in parameters.items():
        check_number(name, value, 0.0, ends="(]")


def check_share(**parameters: float) -> None:
    """Refuse what does not lie strictly between zero and one."""
    for name, value in parameters.items():
        check_number(name, value, 0.0, 1.0, ends="()")


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def check_values(name: str, given: Any, *, above_zero: bool) -> list[float]:
    """A list of numbers, none of them negative."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a list of numbers: {error}.") from error
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{name} must be a list of numbers, got shape {values.shape}.")
    good = (values > 0.0) if above_zero else (values >= 0.0) & np.isfinite(values)
    if not good.all():
        place = int(np.argmin(good))
        least = "above 0" if above_zero else "0 or above, and finite"
        raise ValueError(f"{name}[{place}] is {values[place]:g}: it must be {least}.")
    return [float(value) for value in values]
