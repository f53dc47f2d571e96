"""The columns of rows of any kind, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def names_of(X: Any) -> list[str]:
    """Return the names of the columns, or x0, x1, ..."""
    names = getattr(X, "columns", None)
    return [f"x{j}" for j in range(X.shape[1])] if names is None else [str(name) for name in names]


def cells_of(X: Any, rows: NDArray[np.intp] | None = None) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every column of a dense table, with its name; of some rows if they are given."""
    names = getattr(X, "columns", None)
    if names is None:
        table = np.asarray(X)
        for j in range(table.shape[1]):
            yield f"x{j}", table[:, j] if rows is None else table[rows, j]
        return
    for name in names:
        cells = np.asarray(X[name])
        yield str(name), cells if rows is None else cells[rows]


def as_numbers(cells: NDArray[Any]) -> NDArray[np.float64] | None:
    """Numbers, dates and truth values as floats, NaN where they are missing; None for words."""
    if cells.dtype.kind in "mM":
        numbers = cells.astype("int64").astype(np.float64)
        numbers[np.isnat(cells)] = np.nan
        return numbers
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    try:
        return np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=np.float64)
    except (TypeError, ValueError):
        return None


def as_codes(cells: NDArray[Any]) -> tuple[NDArray[np.intp], list[str]]:
    """Categories as numbers from 0, and what they are; missing ones are one of them."""
    words = np.array(["" if is_missing(cell) else str(cell) for cell in cells], dtype=object)
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(word, len(known)) for word in words], dtype=np.intp)
    return codes, list(known)


def is_missing(cell: Any) -> bool:
    """None, NaN, NaT, or the NA of pandas, of which not even a comparison is true or false."""
    same = cell == cell
    return cell is None or not (isinstance(same, bool | np.bool_) and same)


__all__ = ["as_codes", "as_numbers", "cells_of", "is_missing", "names_of"]
