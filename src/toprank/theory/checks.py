"""Checks of the numbers that bounds are computed from."""

from __future__ import annotations

from math import inf, isnan
from numbers import Integral, Real


def check_above_zero(**parameters: float) -> None:
    """Refuse what is not a finite number above zero."""
    for name, value in parameters.items():
        if not isinstance(value, Real) or not 0.0 < float(value) < inf:
            raise ValueError(f"{name} must be a finite number above zero, got {value!r}.")


def check_not_negative(**parameters: float) -> None:
    """Refuse what is not a finite number from zero on."""
    for name, value in parameters.items():
        if not isinstance(value, Real) or not 0.0 <= float(value) < inf:
            raise ValueError(f"{name} must be a finite number, not negative, got {value!r}.")


def check_count(**parameters: int) -> None:
    """Refuse what is not a whole number from one on."""
    for name, value in parameters.items():
        if not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name} must be a whole number, one or more, got {value!r}.")


def check_share(**parameters: float) -> None:
    """Refuse what does not lie between zero and one."""
    for name, value in parameters.items():
        if not isinstance(value, Real) or isnan(value) or not 0.0 < float(value) < 1.0:
            raise ValueError(f"{name} must lie between 0 and 1, got {value!r}.")
