"""Whether a column of Python objects holds numbers, categories or dates: by its cells."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from ..inputs.table_columns import is_missing


def kind_of_cells(cells: Iterable[Any]) -> str:
    """The kind of a column of Python objects: numbers or dates if all cells that are there are."""
    kinds = {_kind(cell) for cell in cells if not is_missing(cell)}
    return kinds.pop() if len(kinds) == 1 else "category"


def _kind(cell: Any) -> str:
    if isinstance(cell, Real | Decimal | np.bool_):
        return "number"
    return "date" if isinstance(cell, date | np.datetime64) else "category"


__all__ = ["is_missing", "kind_of_cells"]
