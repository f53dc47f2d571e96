"""Rows that a feature maker is given: dense numbers, or a word about the cell that is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ..inputs.cells import first_no_number, refuse_no_numbers, unusable

Array = NDArray[np.float64]


def check_rows(maker: Any, X: Any, *, reset: bool, missing: bool, infinite: bool = False) -> Array:
    """Return the rows in float32 or float64, without infinities unless `infinite` allows them.

    Unless values may be `missing`, there is no NaN either, and products of two values are finite.
    """
    refuse_no_numbers(X)
    try:
        rows: Array = validate_data(
            maker, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False
        )
    except (TypeError, ValueError) as error:
        if found := first_no_number(X):
            raise type(error)(f"{found} ({error})") from error
        raise
    if missing and infinite:
        return rows
    most = np.sqrt(np.finfo(rows.dtype).max)
    if not missing and rows.min() >= -most and rows.max() <= most:  # without a copy
        return rows
    wrong = np.isinf(rows) if missing else ~(np.abs(rows) <= most)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        names = getattr(maker, "feature_names_in_", None)
        raise ValueError(unusable(float(rows[row, column]), row, column, names))
    return rows


__all__ = ["check_rows"]
